/*
 * Bulk: writes all rows of an empty family, several times faster than puts.
 *
 * Rows are added in any order. They become visible all at once at commit, or
 * not at all. They bypass the log and the memtable: they are sorted and written
 * once, as the SST files and value filters that the store would have in the
 * end. After commit nothing remains to be flushed, compacted or filtered, and
 * the rows are on disk. Rows added in the order of their keys are not sorted;
 * they are written while more are added. If a few come late, the files that
 * they fall into are written again.
 *
 * Life:    create -> add ... -> commit or not -> destroy
 * Memory:  about 100 MiB, however many and large the rows, plus the memory that
 *          building filters takes
 * Disk:    a directory `bulk-...` in the store holds rows that do not fit into
 *          memory, about their own size, and the SST files being written. It is
 *          removed with the bulk. If the process is killed, the next open for
 *          writing removes it.
 * Threads: a bulk is used by one thread at a time, except progress and cancel.
 *          It starts threads itself. Any number of bulks may exist at once.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_BULK_H
#define COLANDER_BULK_H

#include "core/core.h"

#ifdef __cplusplus
extern "C" {
#endif

struct colander_family;

struct colander_bulk;

/* Begins a bulk of `family`, which is created if it does not exist. Fails with
 * INVALID if the family has a row, and with READ_ONLY if the store is open for
 * reading. Destroy the bulk before the family handle is closed. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_bulk_create(struct colander_family *family,
                     struct colander_bulk **bulk, struct colander_error *err);

/* Adds a row; copies it. If a key is added twice, the later row replaces the
 * earlier one. Fails with INVALID or LIMIT, as a put does, if the key or the
 * row may not be stored; the bulk can continue without that row. After any
 * other failure it can only be destroyed. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_bulk_add(struct colander_bulk *bulk, struct colander_slice key,
                  struct colander_slice row, struct colander_error *err);

/*
 * Makes all rows visible at once, and on disk. Snapshots taken before do not
 * see them. Call it at most once; afterwards only destroy is allowed.
 * *row_count, unless `row_count` is NULL, is the number of rows in the family.
 *
 * Fails with INVALID if another writer has put a row into the family since
 * create, and with DROPPED if the family was dropped. After a failure the store
 * has nothing of the bulk. During the last step writes and new finds wait: a
 * tenth of a second for a hundred SST files.
 */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_bulk_commit(struct colander_bulk *bulk, uint64_t *row_count,
                     struct colander_error *err);

/* The progress of a bulk. */
struct colander_bulk_progress {
    uint64_t added_count; /* rows added */
    uint64_t
        built_count; /* of these, rows in final SST files, and rows replaced
                      * by later ones; reaches added_count during commit */
};

/* Returns the progress. May be called from any thread. */
COLANDER_API void
colander_bulk_progress(const struct colander_bulk *bulk,
                       struct colander_bulk_progress *progress);

/* Makes the current or next add or commit fail with CANCELLED, except in a
 * commit's last step. May be called from any thread and any signal handler. */
COLANDER_API void colander_bulk_cancel(struct colander_bulk *bulk);

/* Frees the bulk, and removes what was not committed. NULL is allowed. */
COLANDER_API void colander_bulk_destroy(struct colander_bulk *bulk);

#ifdef __cplusplus
}
#endif

#endif

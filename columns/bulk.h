/*
 * Bulk: the rows of a family that has none, several times faster than by puts.
 *
 * Rows are added in any order, and appear all at once at commit, or not at
 * all. They do not go through the log and the memtable: they are sorted, and
 * written once, as the SST files that the store would have in the end, with
 * their value filters. So after commit nothing is to be flushed, compacted or
 * filtered, and it is on disk. Rows that come in the order of their keys need
 * no sorting, and are written while others are added; where some come late, the
 * files between whose keys they belong are written once more.
 *
 * Life:    create -> add ... -> commit or not -> destroy
 * Memory:  some 100 MiB, however many and large the rows, and what filters
 *          take that are being built
 * Disk:    what does not fit waits in a directory `bulk-...` in the store,
 *          about as large as the rows that came in no order; the SST files are
 *          written beside it, also those that are to be written once more.
 *          It goes with the bulk; what a killed process leaves, at the next
 *          open for writing
 * Threads: a bulk is used by one thread at a time, but for progress and cancel.
 *          It has threads of its own. Any number of bulks at once
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

/*
 * Begins a bulk of `family`, which is created when it does not exist. INVALID
 * when it has a row; READ_ONLY in a store that is open for reading. *bulk is
 * destroyed before the family handle is closed.
 */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_bulk_create(struct colander_family *family,
                     struct colander_bulk **bulk, struct colander_error *err);

/*
 * Adds a row; copies. Of two rows of one key the one added later stays. Checks
 * key and row as a put does: one that is INVALID or over a LIMIT is not added,
 * and the bulk goes on. After any other failure it can only be destroyed.
 */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_bulk_add(struct colander_bulk *bulk, struct colander_slice key,
                  struct colander_slice row, struct colander_error *err);

/* The same for a row that was checked, as for colander_batch_put_checked. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_bulk_add_checked(struct colander_bulk *bulk, struct colander_slice key,
                          struct colander_slice row,
                          struct colander_error *err);

/*
 * Lets all rows appear: snapshots that were taken before do not see them. They
 * survive a lost machine when it returns. *row_count (if given): how many the
 * family has. Once, and then the bulk can only be destroyed.
 *
 * INVALID when somebody has written to the family meanwhile and it has a row,
 * DROPPED when it is gone: then, as after any failure, nothing of the bulk is
 * in the store. In the last step writes and new finds wait, a tenth of a second
 * for a hundred SST files.
 */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_bulk_commit(struct colander_bulk *bulk, uint64_t *row_count,
                     struct colander_error *err);

/* How far a bulk is. Any thread. */
struct colander_bulk_progress {
    uint64_t added_count; /* rows added */
    uint64_t built_count; /* of those in SST files for good, or replaced by a
                           * later one: grows during the commit up to the
                           * other */
};

COLANDER_API void
colander_bulk_progress(const struct colander_bulk *bulk,
                       struct colander_bulk_progress *progress);

/* Makes the add or commit under way, or the next one, say CANCELLED; it is too
 * late for that in a commit's last step. Any thread, also a signal handler. */
COLANDER_API void colander_bulk_cancel(struct colander_bulk *bulk);

/* Forgets and removes what was not committed. NULL is allowed. */
COLANDER_API void colander_bulk_destroy(struct colander_bulk *bulk);

#ifdef __cplusplus
}
#endif

#endif

/*
 * Bulk heads: rows of a bulk that arrive in the order of their keys. They are
 * written once, to SST files.
 *
 * A head takes runs (row_run.h) as long as the keys of each are above all
 * previous keys, which is usual for numbered or dated rows. After the first run
 * that is different it takes none. If a later row belongs between the keys of a
 * file, the file is withdrawn and its rows are merged with the others.
 *
 * Life:    init -> take ... -> finish -> settle -> release
 * Threads: one thread calls take and finish; any thread the rest, one at a time
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_COLUMNS_BULK_BULK_HEAD_H
#define COLANDER_COLUMNS_BULK_BULK_HEAD_H

#include "columns/bulk/row_merge.h"
#include "core/bulk_files.h"
#include "core/sst.h"

struct bulk_head {
    struct bulk_files *files;
    uint64_t sst_size;
    const atomic_bool *is_cancelled;
    bool is_over;          /* takes no more */
    struct bulk_sst *sst;  /* the last of `list`, while it is written */
    struct row_file *list; /* in the order of their keys */
    size_t count;
    size_t capacity;
};

/* Pointers are borrowed until release. */
void bulk_head_init(struct bulk_head *head, struct bulk_files *files,
                    uint64_t sst_size, const atomic_bool *is_cancelled);

/* Removes the file that is being written. Call it after the thread that takes
 * has ended. */
void bulk_head_release(struct bulk_head *head);

/* Writes the rows of a sorted run to files. Sets *is_taken to false if it does
 * not, and the caller has to keep them. Fails with CANCELLED after that is
 * set. */
COLANDER_CHECKED enum colander_code bulk_head_take(struct bulk_head *head,
                                                   const struct row_run *run,
                                                   bool *is_taken,
                                                   struct colander_error *err);

/* Finishes the last file. */
COLANDER_CHECKED enum colander_code
bulk_head_finish(struct bulk_head *head, struct colander_error *err);

/*
 * Withdraws the files in which late rows belong. The rows of `last` (sorted),
 * which the head never got, count too. The *kept files that stay come first in
 * the list, and the withdrawn ones after them.
 */
COLANDER_CHECKED enum colander_code
bulk_head_settle(struct bulk_head *head, const struct row_run *last,
                 size_t *kept, struct colander_error *err);

#endif

/*
 * Bulk heads: rows of a bulk that come in the order of their keys, turned into
 * SST files at once, and so written once.
 *
 * A head takes runs (row_run.h) as long as each has keys above those of all
 * before, as rows have that are numbered or dated as they come. From the first
 * that has not, it takes none. Files between whose keys rows come late are
 * withdrawn, and their rows merged with the others.
 *
 * Life:    init -> take ... -> finish -> settle -> release
 * Threads: take and finish are for one thread; the rest for any, one at a time
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_COLUMNS_BULK_HEAD_H
#define COLANDER_COLUMNS_BULK_HEAD_H

#include "columns/row_merge.h"
#include "core/sst.h"

#include <stdatomic.h>

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

/* Removes the file that is being written: by the thread that took, or after
 * finish. */
void bulk_head_release(struct bulk_head *head);

/* Writes the rows of a sorted run to files; *is_taken false: somebody else has
 * to keep them. CANCELLED once that is set. */
COLANDER_CHECKED enum colander_code bulk_head_take(struct bulk_head *head,
                                                   const struct row_run *run,
                                                   bool *is_taken,
                                                   struct colander_error *err);

/* Finishes the last file; not `is_well`: removes it. */
COLANDER_CHECKED enum colander_code
bulk_head_finish(struct bulk_head *head, bool is_well,
                 struct colander_error *err);

/*
 * Withdraws the files in which late rows belong; those of `last` (sorted),
 * which were never handed to it, count as well. The files that stay come first
 * in the list, *kept of them; those behind are withdrawn.
 */
COLANDER_CHECKED enum colander_code
bulk_head_settle(struct bulk_head *head, const struct row_run *last,
                 size_t *kept, struct colander_error *err);

#endif

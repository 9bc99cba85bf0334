/*
 * Row merges: the rows of several sorted sources, in the order of their keys.
 * Of rows with one key, that of the latest source.
 *
 * Memory: `memory`, the largest row, and what reading a file takes
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_COLUMNS_BULK_ROW_MERGE_H
#define COLANDER_COLUMNS_BULK_ROW_MERGE_H

#include "columns/bulk/row_run.h"
#include "columns/spill_file.h"
#include "core/bulk_files.h"
#include "core/sst.h"

#include <stdatomic.h>

/* Fails with CANCELLED if the bulk was cancelled. */
COLANDER_CHECKED static inline enum colander_code
bulk_check_cancelled(const atomic_bool *is_cancelled,
                     struct colander_error *err)
{
    if (!atomic_load_explicit(is_cancelled, memory_order_relaxed))
        return COLANDER_OK;
    return COLANDER_FAIL(err, COLANDER_CANCELLED, "the bulk was cancelled");
}

/* An SST file of sorted rows. */
struct row_file {
    struct colander_buffer first; /* key, */
    struct colander_buffer last;
    uint64_t row_count;
    uint64_t size;
    bool is_withdrawn; /* its rows move to other files */
};

/* Sources, from the oldest to the latest, all borrowed: files, regions, and
 * rows in memory. */
struct row_sources {
    const struct bulk_files *withdrawn; /* has the files */
    const struct row_file *files;       /* in the order of their keys */
    size_t file_count;                  /* may be 0 */
    const struct spill_region *regions;
    size_t region_count;
    const struct row_run *run; /* sorted; NULL: none */
};

struct row_merge;

/* Merges the keys from `from` (included) to `until` (excluded); empty: no
 * bound. `memory` is the size of all buffers. */
COLANDER_CHECKED enum colander_code
row_merge_create(const struct row_sources *sources, struct colander_slice from,
                 struct colander_slice until, size_t memory,
                 struct row_merge **merge, struct colander_error *err);

/* NULL is allowed. */
void row_merge_destroy(struct row_merge *merge);

/* Steps to the next row. Valid until the next call. At the end *key is {NULL,
 * 0}. *passed is the number of rows of the sources that are done since the last
 * call. */
COLANDER_CHECKED enum colander_code row_merge_next(struct row_merge *merge,
                                                   struct colander_slice *key,
                                                   struct colander_slice *row,
                                                   size_t *passed,
                                                   struct colander_error *err);

#endif

/*
 * Row merges: the rows of several sorted sources as one, in the order of their
 * keys; of equal keys that of the latest source.
 *
 * Memory: what it is given, the largest row, and what reading a file takes
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_COLUMNS_ROW_MERGE_H
#define COLANDER_COLUMNS_ROW_MERGE_H

#include "columns/row_run.h"
#include "columns/spill_file.h"
#include "core/sst.h"

/* An SST file of sorted rows. */
struct row_file {
    struct colander_buffer first; /* key, */
    struct colander_buffer last;
    uint64_t row_count;
    uint64_t size;
    bool is_withdrawn; /* its rows are to be in other files */
};

/* What is merged, borrowed: files, which all are older than the rest, regions,
 * the later ones behind, and the latest rows, in memory. */
struct row_sources {
    const struct bulk_files *withdrawn; /* whose are the files */
    const struct row_file *files;       /* in the order of their keys */
    size_t file_count;                  /* may be none */
    const struct spill_region *regions;
    size_t region_count;
    const struct row_run *run; /* sorted; NULL: none */
};

struct row_merge;

/* Of the keys from `from` on and below `until`; empty: no bound. `memory` is
 * for buffers. */
COLANDER_CHECKED enum colander_code
row_merge_create(const struct row_sources *sources, struct colander_slice from,
                 struct colander_slice until, size_t memory,
                 struct row_merge **merge, struct colander_error *err);

/* NULL is allowed. */
void row_merge_destroy(struct row_merge *merge);

/* The next row, borrowed until the next call; at the end *key is {NULL, 0}.
 * *passed: rows of the sources that are done with since the last call. */
COLANDER_CHECKED enum colander_code row_merge_next(struct row_merge *merge,
                                                   struct colander_slice *key,
                                                   struct colander_slice *row,
                                                   size_t *passed,
                                                   struct colander_error *err);

#endif

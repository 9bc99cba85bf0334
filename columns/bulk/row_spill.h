/*
 * Row spills: any number of runs of rows on disk.
 *
 * ROW_SPILL_FAN_IN runs of one level are merged into one run of the next level,
 * so that the number of runs, and the memory to read all of them, is bounded.
 * Each level has its own file.
 *
 * Life: init -> add ... -> look -> release
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_COLUMNS_BULK_ROW_SPILL_H
#define COLANDER_COLUMNS_BULK_ROW_SPILL_H

#include "columns/bulk/row_merge.h"

#define ROW_SPILL_LEVELS 4
#define ROW_SPILL_FAN_IN 256

/* The size of all buffers while runs are merged. */
#define ROW_SPILL_MEMORY (UINT32_C(24) << 20)

struct row_spill {
    const char *directory; /* borrowed */
    size_t fan_in;
    int fds[ROW_SPILL_LEVELS];
    uint64_t ends[ROW_SPILL_LEVELS]; /* of the files */
    struct spill_region *regions;    /* in the order in which they came, so
                                      * their levels never ascend */
    size_t count;
    size_t capacity;
};

void row_spill_init(struct row_spill *spill, const char *directory,
                    size_t fan_in);

/* Adds a sorted run. Fails with CANCELLED after `is_cancelled` is set. */
COLANDER_CHECKED enum colander_code
row_spill_add(struct row_spill *spill, const struct row_run *run,
              const atomic_bool *is_cancelled, struct colander_error *err);

/* Returns the bytes of the runs from `first` on. Sets *rows to their rows. */
uint64_t row_spill_bytes(const struct row_spill *spill, size_t first,
                         uint64_t *rows);

void row_spill_release(struct row_spill *spill);

#endif

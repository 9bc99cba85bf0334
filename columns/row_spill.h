/*
 * Row spills: runs of rows on disk, as many as there are rows for.
 *
 * When there are many of one size they are merged into one, so that neither
 * their number nor what reading all of them takes grows with the rows. Runs of
 * a size are in a file of their own.
 *
 * Life: init -> add ... -> look -> release
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_COLUMNS_ROW_SPILL_H
#define COLANDER_COLUMNS_ROW_SPILL_H

#include "columns/row_merge.h"

#include <stdatomic.h>

/* Each a size: the second holds ROW_SPILL_FAN_IN runs of the first, ... */
#define ROW_SPILL_LEVELS 4
#define ROW_SPILL_FAN_IN 256

/* For buffers, while runs are merged. */
#define ROW_SPILL_MEMORY (UINT32_C(24) << 20)

struct row_spill {
    const char *directory; /* borrowed */
    size_t fan_in;
    int fds[ROW_SPILL_LEVELS];
    uint64_t ends[ROW_SPILL_LEVELS]; /* of the files */
    struct spill_region *regions;    /* in the order in which they came */
    size_t *levels;                  /* of the regions: never ascend */
    size_t count;
    size_t capacity;
};

void row_spill_init(struct row_spill *spill, const char *directory,
                    size_t fan_in);

/* Adds a sorted run. CANCELLED once `is_cancelled` is set. */
COLANDER_CHECKED enum colander_code
row_spill_add(struct row_spill *spill, const struct row_run *run,
              const atomic_bool *is_cancelled, struct colander_error *err);

/* Rows in it, and their bytes. */
uint64_t row_spill_rows(const struct row_spill *spill);
uint64_t row_spill_bytes(const struct row_spill *spill);

void row_spill_release(struct row_spill *spill);

#endif

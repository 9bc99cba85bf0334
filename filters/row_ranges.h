/*
 * Row ranges: sets of rows of a part, as ascending runs.
 *
 * A row is a number: the index of its key among the keys of one part of an SST.
 * All operations but adding keep the runs ascending, separate and not empty.
 *
 * Life:   ROW_RANGES_EMPTY -> add, order, intersect -> release
 * Memory: caller-owned
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_FILTERS_ROW_RANGES_H
#define COLANDER_FILTERS_ROW_RANGES_H

#include "core/core.h"

struct row_range {
    uint32_t first;
    uint32_t end; /* the first row after it */
};

struct row_ranges {
    struct row_range *ranges;
    size_t count;
    size_t capacity;
};

#define ROW_RANGES_EMPTY                                                       \
    {                                                                          \
        NULL, 0, 0                                                             \
    }

void row_ranges_release(struct row_ranges *ranges);

/* Removes the runs and keeps the memory. */
static inline void
row_ranges_clear(struct row_ranges *ranges)
{
    ranges->count = 0;
}

/* Appends [first, end). Merges it with the last run if it begins inside or
 * right after it. Runs may be added out of order; then row_ranges_order must be
 * called before anything else. */
COLANDER_CHECKED enum colander_code row_ranges_add(struct row_ranges *ranges,
                                                   uint32_t first, uint32_t end,
                                                   struct colander_error *err);

/* Brings the runs in order, and merges those that overlap or touch. */
void row_ranges_order(struct row_ranges *ranges);

/* Keeps only the rows that are also in `other`. */
COLANDER_CHECKED enum colander_code
row_ranges_intersect(struct row_ranges *ranges, const struct row_ranges *other,
                     struct colander_error *err);

/* Keeps only the rows in [first, end). Never fails. */
void row_ranges_clip(struct row_ranges *ranges, uint32_t first, uint32_t end);

/* Returns the number of rows. */
uint64_t row_ranges_rows(const struct row_ranges *ranges);

#endif

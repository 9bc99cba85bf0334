/*
 * Row ranges: which rows of a part may match, as ascending runs.
 *
 * A row here is a number: the place of a key among the keys of one part of an
 * SST. Every operation keeps the runs ascending, apart, and not empty.
 *
 * Life:   ROW_RANGES_EMPTY -> add, unite, intersect -> release
 * Memory: owned by whoever declared it
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_FILTERS_ROW_RANGES_H
#define COLANDER_FILTERS_ROW_RANGES_H

#include "core/core.h"

struct row_range {
    uint32_t first;
    uint32_t end; /* the first row behind it */
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

/* Forgets the runs, keeps the memory. */
static inline void
row_ranges_clear(struct row_ranges *ranges)
{
    ranges->count = 0;
}

/* Adds [first, end) at the end: `first` is not below the last run's first. What
 * overlaps or touches the last run grows it. */
COLANDER_CHECKED enum colander_code row_ranges_add(struct row_ranges *ranges,
                                                   uint32_t first, uint32_t end,
                                                   struct colander_error *err);

/* Leaves in `ranges` what is in it or in `other`. */
COLANDER_CHECKED enum colander_code
row_ranges_unite(struct row_ranges *ranges, const struct row_ranges *other,
                 struct colander_error *err);

/* Adds the runs of `other` out of order. Before anything else is done with
 * `ranges`, all that was added so is put in order. */
COLANDER_CHECKED enum colander_code
row_ranges_gather(struct row_ranges *ranges, const struct row_ranges *other,
                  struct colander_error *err);
void row_ranges_order(struct row_ranges *ranges);

/* Leaves in `ranges` what is in both. */
COLANDER_CHECKED enum colander_code
row_ranges_intersect(struct row_ranges *ranges, const struct row_ranges *other,
                     struct colander_error *err);

/* Leaves in `ranges` what is in [first, end). Never fails. */
void row_ranges_clip(struct row_ranges *ranges, uint32_t first, uint32_t end);

/* How many rows are in it. */
uint64_t row_ranges_rows(const struct row_ranges *ranges);

#endif

/*
 * Quantiles within 1 %: a DDSketch. A number is counted with those that have
 * about its size: each counter has those from one power of 1.0202 to the next.
 * The counters depend on the numbers only, not on their order.
 *
 * Life:   zeroed -> add, merge -> value -> release
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_COLUMNS_GROUPS_QUANTILES_H
#define COLANDER_COLUMNS_GROUPS_QUANTILES_H

#include "columns/columns.h"

struct quantile_counter {
    int32_t place; /* in the order of the numbers */
    uint64_t count;
};

struct quantiles {
    struct quantile_counter *counters; /* sorted; owned */
    size_t count;
    size_t capacity;
    uint64_t number_count;
};

/* Adds a number of the type INTEGER, UNSIGNED or DOUBLE. *bytes grows with the
 * memory that is taken. */
COLANDER_CHECKED enum colander_code
quantiles_add(struct quantiles *quantiles, const struct colander_value *number,
              size_t *bytes, struct colander_error *err);

/* Adds the numbers of another sketch. */
COLANDER_CHECKED enum colander_code
quantiles_merge(struct quantiles *quantiles, const struct quantiles *other,
                size_t *bytes, struct colander_error *err);

/* Appends the sketch as bytes (FORMAT.md). */
COLANDER_CHECKED enum colander_code
quantiles_encode(const struct quantiles *quantiles, struct colander_buffer *out,
                 struct colander_error *err);

/* Adds the sketch that was encoded so. Fails with INVALID for other bytes. */
COLANDER_CHECKED enum colander_code
quantiles_add_encoded(struct quantiles *quantiles,
                      struct colander_slice encoded, size_t *bytes,
                      struct colander_error *err);

/* Returns a double within 1 % of the number of which a part `quantile` (0 to 1)
 * are less; null without numbers. */
struct colander_value quantiles_value(const struct quantiles *quantiles,
                                      double quantile);

void quantiles_release(struct quantiles *quantiles);

#endif

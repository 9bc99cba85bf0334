/*
 * Exact sums of numbers. Their order does not matter: integers are added in 128
 * bits, and doubles in a number of fixed point that has all bits which a double
 * may have. Only the result is rounded, once.
 *
 * The fixed point number is a window of digits of 32 bits, which grows with the
 * numbers that are added: those of one column mostly need four.
 *
 * Life:   zeroed -> add, merge -> value, average -> release
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_COLUMNS_GROUPS_EXACT_SUM_H
#define COLANDER_COLUMNS_GROUPS_EXACT_SUM_H

#include "columns/columns.h"

struct exact_sum {
    __int128 integers;
    uint64_t count;  /* numbers */
    int64_t *digits; /* of the doubles; NULL: none; owned */
    uint8_t first;   /* the place of the lowest digit */
    uint8_t digit_count;
    uint8_t specials; /* which of NaN and the infinities were added */
    bool has_doubles;
    uint32_t loose; /* additions since digits were last carried */
};

/* Adds a number. *bytes grows with the memory that the sum takes. */
COLANDER_CHECKED enum colander_code
exact_sum_add(struct exact_sum *sum, const struct colander_value *number,
              size_t *bytes, struct colander_error *err);

/* Adds another sum. */
COLANDER_CHECKED enum colander_code exact_sum_merge(struct exact_sum *sum,
                                                    struct exact_sum *other,
                                                    size_t *bytes,
                                                    struct colander_error *err);

/* Appends the sum as bytes (FORMAT.md). *bytes as above. */
COLANDER_CHECKED enum colander_code
exact_sum_encode(struct exact_sum *sum, struct colander_buffer *out,
                 size_t *bytes, struct colander_error *err);

/* Adds the sum that was encoded so. Fails with INVALID for other bytes. */
COLANDER_CHECKED enum colander_code
exact_sum_add_encoded(struct exact_sum *sum, struct colander_slice encoded,
                      size_t *bytes, struct colander_error *err);

/* Returns the sum: an integer if all numbers were integers and it has 64 bits,
 * otherwise the nearest double. */
struct colander_value exact_sum_value(struct exact_sum *sum);

/* Returns the average; null without numbers. */
struct colander_value exact_sum_average(struct exact_sum *sum);

void exact_sum_release(struct exact_sum *sum);

#endif

/*
 * Scalars for tests: shortcuts for creating them, and random numbers near the
 * limits of the numeric types.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_COLUMNS_SOME_VALUES_H
#define TESTS_COLUMNS_SOME_VALUES_H

#include "columns/columns.h"

#include "support/cases.h"
#include "support/random.h"

#include <float.h>
#include <math.h>

static inline uint64_t
any_bits(void)
{
    return random_next(random_state());
}

static inline unsigned
below(unsigned end)
{
    return (unsigned)random_below(random_state(), end);
}

static inline struct colander_value
bytes_of(enum colander_type type, const void *data, size_t size)
{
    struct colander_value value =
        colander_string(colander_slice_of(data, size));

    value.type = type;
    return value;
}

static inline struct colander_value
extension_of(int8_t type, const char *data, size_t size)
{
    struct colander_value value = bytes_of(COLANDER_EXTENSION, data, size);

    value.extension_type = type;
    return value;
}

static inline double
double_of_bits(uint64_t bits)
{
    double number;

    memcpy(&number, &bits, sizeof(number));
    return number;
}

/* Returns `number`, or an adjacent double. */
static inline double
nudge(double number)
{
    switch (below(4)) {
    case 0:
        return nextafter(number, (double)INFINITY);
    case 1:
        return nextafter(number, (double)-INFINITY);
    default:
        return number;
    }
}

static inline struct colander_value
random_double(void)
{
    static const double special[] = {
        0.0,    -0.0,    0x1p-1074, -0x1p-1074, DBL_MIN,   DBL_MAX, -DBL_MAX,
        0x1p53, -0x1p53, 0x1p63,    -0x1p63,    0x1p64,    -0x1p64, 0.5,
        -0.5,   NAN,     -NAN,      INFINITY,   -INFINITY, -DBL_MIN};

    switch (below(4)) {
    case 0:
        return colander_double(nudge(special[below(COUNT(special))]));
    case 1:
        return colander_double(
            nudge(ldexp(below(2) ? 1 : -1, (int)below(70) - 2)));
    case 2:
        return colander_double((int)below(9) - 4 + 0.25 * below(4));
    default:
        return colander_double(double_of_bits(any_bits()));
    }
}

/* Returns a number that may equal the number `value`, or is adjacent to it. */
static inline struct colander_value
neighbour_of_number(struct colander_value value)
{
    if (value.type == COLANDER_INTEGER)
        return colander_double(nudge((double)value.integer));
    if (value.type == COLANDER_UNSIGNED)
        return colander_double(nudge((double)value.natural));
    if (value.number >= -0x1p63 && value.number < 0x1p63)
        return colander_integer((int64_t)value.number);
    if (value.number >= 0x1p63 && value.number < 0x1p64)
        return colander_unsigned((uint64_t)value.number);
    return colander_double(nudge(value.number));
}

#endif

/*
 * Values for tests of orders: those whose order is often implemented wrongly.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_FILTERS_ORDER_VALUES_H
#define TESTS_FILTERS_ORDER_VALUES_H

#include "filters/order.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <time.h>

#include <cmocka.h>

#include "support/cases.h"
#include "support/random.h"

static inline uint64_t
below(uint64_t end)
{
    return random_below(random_state(), end);
}

/* The maximum size of values; many have each size. */
#define BYTES_MAX 12
static uint8_t bytes[1u << 16];

static inline void
fill_bytes(void)
{
    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (uint8_t)("\0\0abcz\x7f"
                             "ab"[below(9)]);
}

static inline struct colander_value
any_bytes(enum colander_type type)
{
    size_t start = (size_t)below(sizeof(bytes) - BYTES_MAX);
    struct colander_value value = colander_string(
        colander_slice_of(bytes + start, (size_t)below(BYTES_MAX + 1)));

    value.type = type;
    if (type == COLANDER_EXTENSION)
        value.extension_type = (int8_t)("\x00\x01\x7f\x80\xf0"[below(5)]);
    return value;
}

/* The bytes of texts, valid as long as a model. */
static uint8_t text_bytes[1u << 24];
static size_t text_size;

static inline struct colander_value
keep_text(enum colander_type type, const void *data, size_t size)
{
    struct colander_value value;

    assert_true(size <= sizeof(text_bytes) - text_size);
    memcpy(text_bytes + text_size, data, size);
    value = colander_string(colander_slice_of(text_bytes + text_size, size));
    value.type = type;
    text_size += size;
    return value;
}

/* "2016-06-27T00:00:11.080Z", that many seconds after the start of 2016. */
static inline struct colander_value
iso_date(uint64_t second, unsigned millisecond)
{
    time_t instant = (time_t)(1451606400 + second);
    char text[32];
    struct tm parts;

    assert_non_null(gmtime_r(&instant, &parts));
    assert_int_equal(strftime(text, 20, "%Y-%m-%dT%H:%M:%S", &parts), 19);
    (void)snprintf(text + 19, 6, ".%03uZ", millisecond % 1000);
    return keep_text(COLANDER_STRING, text, 24);
}

static const double doubles[] = {
    0.0,      -0.0,      NAN,     INFINITY,  -INFINITY, 1.0,    -1.0,
    0.5,      1e300,     -1e300,  5e-324,    -5e-324,   0x1p53, 0x1p53 + 2,
    -0x1p53,  0x1p63,    -0x1p63, 0x1p64,    0x1.8p63,  1e-300, 1.5,
    0x1p1023, -0x1p1023, 0x1p62,  123456.75,
};

static const int64_t integers[] = {
    0,
    1,
    -1,
    2,
    INT64_MAX,
    INT64_MIN,
    INT64_C(1) << 53,
    -(INT64_C(1) << 53),
    INT64_C(1) << 62,
    123456,
};

static inline struct colander_value
any_number(void)
{
    uint64_t bits = random_next(random_state());
    int64_t base = integers[below(COUNT(integers))];
    struct colander_value value;

    switch (below(5)) {
    case 0:
        return colander_double(doubles[below(COUNT(doubles))]);
    case 1:
        memcpy(&value.number, &bits, sizeof(bits));
        return colander_double(value.number);
    case 2:
        return colander_unsigned(bits | (below(2) << 63));
    case 3:
        return colander_integer((int64_t)(bits >> below(64)));
    default:
        return colander_integer((int64_t)((uint64_t)base + below(9) - 4));
    }
}

/* A scalar of any type. */
static inline struct colander_value
any_scalar(void)
{
    switch (below(8)) {
    case 0:
        return colander_null();
    case 1:
        return colander_boolean(below(2) == 0);
    case 2:
        return any_bytes(COLANDER_STRING);
    case 3:
        return any_bytes(COLANDER_BINARY);
    case 4:
        return any_bytes(COLANDER_EXTENSION);
    case 5:
        return colander_timestamp(integers[below(COUNT(integers))],
                                  (uint32_t)below(1000000000));
    default:
        return any_number();
    }
}

#endif

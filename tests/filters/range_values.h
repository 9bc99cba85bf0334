/*
 * Random values of every type, and the values next to them.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_FILTERS_RANGE_VALUES_H
#define TESTS_FILTERS_RANGE_VALUES_H

#include "columns/columns.h"
#include "support/cases.h"
#include "support/random.h"

#include <math.h>

#define VALUE_SIZE 80

struct sample {
    struct colander_value value;
    uint8_t bytes[VALUE_SIZE]; /* of the value */
};

enum kind { INTEGERS, DOUBLES, TIMES, TEXTS, BINARIES, OTHERS, KINDS };

static inline struct colander_value
random_integer(uint64_t *random)
{
    const int64_t near = (int64_t)random_below(random, 5) - 2;

    switch (random_below(random, 8)) {
    case 0:
        return colander_integer(near);
    case 1:
        return colander_integer((INT64_C(1) << 53) + near);
    case 2:
        return colander_integer(-(INT64_C(1) << 53) + near);
    case 3:
        return colander_unsigned((uint64_t)INT64_MAX + (uint64_t)near);
    case 4:
        return near > 0 ? colander_integer(INT64_MIN + near - 1)
                        : colander_unsigned(UINT64_MAX + (uint64_t)near);
    default:
        return colander_integer((int64_t)random_next(random) >>
                                random_below(random, 64));
    }
}

static inline struct colander_value
random_double(uint64_t *random)
{
    static const double some[] = {
        0.0,     -0.0,       HUGE_VAL,      -HUGE_VAL, 0x1p53,
        -0x1p53, 0x1p63,     -0x1p63,       0x1p64,    5e-324,
        1e308,   0x1p53 + 2, 0x1p63 - 1024, -5e-324,   1.7976931348e308};
    const uint64_t choice = random_below(random, 4 * COUNT(some));

    if (choice < COUNT(some))
        return colander_double(some[choice]);
    if (choice == COUNT(some))
        return colander_double(NAN);
    return colander_double(ldexp((double)(int64_t)random_next(random),
                                 -(int)random_below(random, 100)));
}

static inline struct colander_value
random_time(uint64_t *random)
{
    static const uint32_t nanoseconds[] = {0, 1, 999999999, 500000000};
    const uint32_t nanosecond =
        random_below(random, 2) == 0
            ? nanoseconds[random_below(random, COUNT(nanoseconds))]
            : (uint32_t)random_below(random, 1000000000);

    if (random_below(random, 8) == 0)
        return colander_timestamp((int64_t)random_next(random) >>
                                      random_below(random, 64),
                                  nanosecond);
    return colander_timestamp(1500000000 + (int64_t)random_below(random, 20000),
                              nanosecond);
}

/* Many begin with the same bytes, which may be many. */
static inline struct colander_value
random_string(uint64_t *random, uint8_t bytes[VALUE_SIZE])
{
    static const char *const beginnings[] = {
        "",
        "http://www.example.org/with/a/long/beginning/",
        "http://www.example.org/with/another/beginning/",
        "http://",
        "\xc3\xa9t\xc3\xa9 ",
        "\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f"};
    const char *beginning = beginnings[random_below(random, COUNT(beginnings))];
    char *text = (char *)bytes;

    switch (random_below(random, 4)) {
    case 0:
        snprintf(text, VALUE_SIZE, "%s", beginning);
        break;
    case 1:
        snprintf(text, VALUE_SIZE, "%s%c%c", beginning,
                 (char)('a' + random_below(random, 4)),
                 (char)('a' + random_below(random, 26)));
        break;
    default:
        snprintf(text, VALUE_SIZE, "%s%u", beginning,
                 (unsigned)random_below(random, 100000));
        break;
    }
    return colander_text(text);
}

static inline struct colander_value
random_binary(uint64_t *random, uint8_t bytes[VALUE_SIZE])
{
    const uint64_t size =
        random_below(random, random_below(random, 4) == 0 ? 24 : 5);

    for (uint64_t i = 0; i < size; i++)
        bytes[i] = random_below(random, 3) == 0
                       ? (uint8_t)random_next(random)
                       : (uint8_t) - (int)random_below(random, 2);
    return colander_binary(colander_slice_of(bytes, size));
}

static inline struct colander_value
random_other(uint64_t *random, uint8_t bytes[VALUE_SIZE])
{
    struct colander_value value;

    switch (random_below(random, 3)) {
    case 0:
        return colander_null();
    case 1:
        return colander_boolean(random_below(random, 2) == 0);
    default:
        value = random_binary(random, bytes);
        value.type = COLANDER_EXTENSION;
        value.extension_type = (int8_t)random_below(random, 3);
        return value;
    }
}

static inline struct colander_value
random_of_kind(enum kind kind, uint64_t *random, uint8_t bytes[VALUE_SIZE])
{
    switch (kind) {
    case INTEGERS:
        return random_integer(random);
    case DOUBLES:
        return random_double(random);
    case TIMES:
        return random_time(random);
    case TEXTS:
        return random_string(random, bytes);
    case BINARIES:
        return random_binary(random, bytes);
    default:
        return random_other(random, bytes);
    }
}

/* Makes the value another one, which is next to it if that is possible. */
static inline void
make_neighbour(struct sample *sample, uint64_t *random)
{
    struct colander_value *value = &sample->value;
    const bool is_up = random_below(random, 2) == 0;
    size_t *size = &value->bytes.size;

    switch (value->type) {
    case COLANDER_INTEGER:
        if (value->integer != (is_up ? INT64_MAX : INT64_MIN))
            value->integer += is_up ? 1 : -1;
        break;
    case COLANDER_UNSIGNED:
        if (value->natural != (is_up ? UINT64_MAX : 0))
            *value = colander_unsigned(is_up ? value->natural + 1
                                             : value->natural - 1);
        break;
    case COLANDER_DOUBLE:
        value->number = nextafter(value->number, is_up ? HUGE_VAL : -HUGE_VAL);
        break;
    case COLANDER_TIMESTAMP:
        if (value->nanosecond != (is_up ? 999999999 : 0))
            value->nanosecond += is_up ? 1 : UINT32_MAX;
        break;
    case COLANDER_STRING:
    case COLANDER_BINARY:
    case COLANDER_EXTENSION:
        if (is_up && *size < VALUE_SIZE)
            sample->bytes[(*size)++] = '\0';
        else if (*size > 0 && sample->bytes[*size - 1] < 0x80)
            --*size;
        break;
    default:
        break;
    }
}

static inline void
sample_set(struct sample *sample, struct colander_value value)
{
    sample->value = value;
    if (!colander_type_has_bytes(value.type))
        return;
    memcpy(sample->bytes, value.bytes.data, value.bytes.size);
    sample->value.bytes.data = sample->bytes;
}

#endif

/*
 * Orders: ranks of values.
 *
 * They follow colander_value_compare (invariant I3): different values may have
 * one rank, but never the opposite order.
 *
 * The rank of a text is its first seven bytes behind the beginning that most
 * texts of its column share. A text that does not begin so comes before or
 * after all that do, and gets the least or the greatest rank.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filters/order/order_code.h"

#include <math.h>

/* No number has the nearest double of another one below this. */
#define EXACT_MAX 0x1p53

#define SIGN_BIT (UINT64_C(1) << 63)

/* Only NaN is as high as this; infinity is far below. */
#define RANK_OF_NAN UINT64_MAX

/* Numbers become the nearest double, so the order of two numbers never changes
 * to the opposite. */
static uint64_t
word_of_number(double number)
{
    uint64_t bits;

    if (number != number)
        return RANK_OF_NAN;
    number += 0.0; /* changes -0.0 to 0.0 */
    memcpy(&bits, &number, sizeof(bits));
    return (bits & SIGN_BIT) != 0 ? ~bits : bits | SIGN_BIT;
}

static double
number_of_word(uint64_t word)
{
    const uint64_t bits = (word & SIGN_BIT) != 0 ? word ^ SIGN_BIT : ~word;
    double number;

    memcpy(&number, &bits, sizeof(number));
    return number;
}

uint64_t
order_word(struct colander_slice bytes, uint8_t fill)
{
    uint8_t word[ORDER_WORD_BYTES + 1];

    memset(word, fill, sizeof(word));
    if (bytes.size > 0)
        memcpy(word, bytes.data,
               bytes.size < ORDER_WORD_BYTES ? bytes.size : ORDER_WORD_BYTES);
    return bytes_get_be64(word);
}

struct order_value
order_value_of(const struct colander_value *value)
{
    struct order_value of = {.type = value->type};

    if (colander_type_is_number(value->type))
        of.type = COLANDER_INTEGER;
    if (value->type == COLANDER_MAP)
        of.type = COLANDER_ARRAY;
    switch (value->type) {
    case COLANDER_INTEGER:
        of.word = word_of_number((double)value->integer);
        break;
    case COLANDER_UNSIGNED:
        of.word = word_of_number((double)value->natural);
        break;
    case COLANDER_DOUBLE:
        of.word = word_of_number(value->number);
        break;
    case COLANDER_TIMESTAMP:
        of.word = (uint64_t)value->second ^ SIGN_BIT;
        break;
    case COLANDER_EXTENSION:
        of.word = (uint64_t)((uint8_t)value->extension_type ^ 0x80u) << 56 |
                  order_word(value->bytes, 0) >> 8;
        break;
    case COLANDER_BOOLEAN:
        of.word = value->boolean;
        of.is_exact = true;
        break;
    case COLANDER_STRING:
    case COLANDER_BINARY:
        of.bytes = value->bytes;
        break;
    default:
        break;
    }
    if (of.type == COLANDER_INTEGER)
        of.is_exact = fabs(number_of_word(of.word)) < EXACT_MAX;
    return of;
}

struct order_span
order_span_of(const struct colander_value *low,
              const struct colander_value *high)
{
    struct order_span span = {order_value_of(low == NULL ? high : low),
                              order_value_of(high == NULL ? low : high)};

    if (low == NULL) {
        span.low.word = 0;
        span.low.bytes.size = 0;
    }
    if (high == NULL) {
        span.high.word = UINT64_MAX;
        span.high.fill = UINT8_MAX;
        span.high.bytes.size = 0;
    }
    return span;
}

struct order_span
order_span_of_prefix(const struct colander_value *prefix)
{
    struct order_span span = {order_value_of(prefix), order_value_of(prefix)};

    span.high.fill = UINT8_MAX;
    return span;
}

/* Returns the rank, or that before or behind it if no other value has it. */
static uint64_t
shifted(const struct order_value *value, uint64_t rank, bool is_exact)
{
    if (!is_exact || rank == (value->shift < 0 ? 0 : UINT64_MAX))
        return rank;
    return rank + (uint64_t)value->shift;
}

uint64_t
order_rank(const struct order_value *value, struct colander_slice beginning,
           bool has_zeros)
{
    struct colander_slice bytes = value->bytes;
    size_t shared;
    int order;

    if (value->type != COLANDER_STRING && value->type != COLANDER_BINARY)
        return shifted(value, value->word, value->is_exact);
    shared = bytes.size < beginning.size ? bytes.size : beginning.size;
    order = shared == 0 ? 0 : memcmp(bytes.data, beginning.data, shared);
    if (order == 0 && bytes.size < beginning.size)
        order = value->fill == 0 ? -1 : 1;
    if (order != 0)
        return order < 0 ? 0 : UINT64_MAX;
    if (bytes.size > 0)
        bytes.data += shared;
    bytes.size -= shared;
    return shifted(value, order_word(bytes, value->fill),
                   value->fill == 0 && bytes.size < ORDER_WORD_BYTES &&
                       !has_zeros);
}

bool
order_value_of_rank(enum colander_type type, uint64_t rank, bool is_descending,
                    struct colander_slice text, struct colander_value *value)
{
    memset(value, 0, sizeof(*value));
    value->type = type;
    switch (type) {
    case COLANDER_BOOLEAN:
        value->boolean = rank != 0;
        return true;
    case COLANDER_INTEGER:
        *value = colander_double(number_of_word(rank));
        return true;
    case COLANDER_TIMESTAMP:
        *value = colander_timestamp((int64_t)(rank ^ SIGN_BIT),
                                    is_descending ? 0 : 999999999);
        return true;
    case COLANDER_STRING:
    case COLANDER_BINARY:
        value->bytes = text;
        return true;
    case COLANDER_ARRAY:
        return true;
    default:
        return false;
    }
}

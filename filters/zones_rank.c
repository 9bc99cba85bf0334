/*
 * Zones: ranks of values.
 *
 * colander_value_compare is what they keep to (invariant I3): values of one
 * rank may differ, but never stand the other way round.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filters/zones.h"

#define SIGN_BIT (UINT64_C(1) << 63)

static inline uint64_t
get_big(const uint8_t *bytes, size_t size)
{
    uint64_t bits = 0;

    for (size_t i = 0; i < size; i++)
        bits = bits << 8 | bytes[i];
    return bits;
}

/* The first 8 bytes, as if zeros followed. */
static inline uint64_t
rank_of_bytes(struct colander_slice bytes)
{
    size_t size = bytes.size;

    if (size >= 8)
        return get_big(bytes.data, 8);
    /* Twice four bytes, which agree where they overlap. */
    if (size >= 4)
        return get_big(bytes.data, 4) << 32 | get_big(bytes.data + size - 4, 4)
                                                  << (8 * (8 - size));
    return size == 0 ? 0 : get_big(bytes.data, size) << (8 * (8 - size));
}

/* Nothing but NaN is as high as this: infinity is far below. */
#define RANK_OF_NAN UINT64_MAX

static inline uint64_t
rank_of_double(double number)
{
    uint64_t bits;

    if (number != number)
        return RANK_OF_NAN;
    number += 0.0; /* of the zeros, the positive one */
    memcpy(&bits, &number, sizeof(bits));
    return (bits & SIGN_BIT) != 0 ? ~bits : bits | SIGN_BIT;
}

/* Numbers by the nearest double: what is between two of them goes to one of
 * them, and so never past a number in between. */
static inline struct zone_rank
rank_of_number(double number)
{
    struct zone_rank rank = {COLANDER_INTEGER, rank_of_double(number)};

    return rank;
}

static inline uint64_t
rank_of_extension(const struct colander_value *value)
{
    uint64_t type = (uint8_t)value->extension_type ^ 0x80u;

    return type << 56 | rank_of_bytes(value->bytes) >> 8;
}

struct zone_rank
zone_rank_of(const struct colander_value *value)
{
    struct zone_rank rank = {(uint8_t)value->type, 0};

    switch (value->type) {
    case COLANDER_INTEGER:
        return rank_of_number((double)value->integer);
    case COLANDER_UNSIGNED:
        return rank_of_number((double)value->natural);
    case COLANDER_DOUBLE:
        return rank_of_number(value->number);
    case COLANDER_STRING:
    case COLANDER_BINARY:
        rank.prefix = rank_of_bytes(value->bytes);
        return rank;
    case COLANDER_TIMESTAMP:
        rank.prefix = (uint64_t)value->second ^ SIGN_BIT;
        return rank;
    case COLANDER_EXTENSION:
        rank.prefix = rank_of_extension(value);
        return rank;
    case COLANDER_BOOLEAN:
        /* A span of both takes no bytes so: see the ends in FORMAT.md. */
        rank.prefix = value->boolean ? UINT64_MAX : 0;
        return rank;
    case COLANDER_MAP:
        rank.type = COLANDER_ARRAY;
        return rank;
    default:
        return rank;
    }
}

struct zone_rank
zone_rank_of_prefix_end(const struct colander_value *prefix)
{
    struct zone_rank rank = zone_rank_of(prefix);

    if (prefix->bytes.size < 8)
        rank.prefix |= UINT64_MAX >> (8 * prefix->bytes.size);
    return rank;
}

struct zone_rank
zone_rank_least(const struct colander_value *value)
{
    struct zone_rank rank = zone_rank_of(value);

    rank.prefix = 0;
    return rank;
}

struct zone_rank
zone_rank_largest(const struct colander_value *value)
{
    struct zone_rank rank = zone_rank_of(value);

    rank.prefix = UINT64_MAX;
    return rank;
}

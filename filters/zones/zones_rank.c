/*
 * Zones: ranks of values, and points of those that are not strings.
 *
 * They follow colander_value_compare (invariant I3): different values may have
 * one point, but never the opposite order.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filters/zones/zones_code.h"

#define SIGN_BIT (UINT64_C(1) << 63)

/* Only NaN is as high as this; infinity is far below. */
#define RANK_OF_NAN UINT64_MAX

static inline uint64_t
rank_of_double(double number)
{
    uint64_t bits;

    if (number != number)
        return RANK_OF_NAN;
    number += 0.0; /* changes -0.0 to 0.0 */
    memcpy(&bits, &number, sizeof(bits));
    return (bits & SIGN_BIT) != 0 ? ~bits : bits | SIGN_BIT;
}

/* Numbers become the nearest double, so the order of two numbers never changes
 * to the opposite. */
static inline struct zones_point
point_of_number(double number)
{
    struct zones_point point = {COLANDER_INTEGER, rank_of_double(number)};

    return point;
}

static inline uint64_t
rank_of_extension(const struct colander_value *value)
{
    uint64_t type = (uint8_t)value->extension_type ^ 0x80u;

    return type << 56 | zones_word(value->bytes.data, value->bytes.size) >> 8;
}

struct zones_point
zones_point_of(const struct colander_value *value)
{
    struct zones_point point = {(uint8_t)value->type, 0};

    switch (value->type) {
    case COLANDER_INTEGER:
        return point_of_number((double)value->integer);
    case COLANDER_UNSIGNED:
        return point_of_number((double)value->natural);
    case COLANDER_DOUBLE:
        return point_of_number(value->number);
    case COLANDER_TIMESTAMP:
        point.prefix = (uint64_t)value->second ^ SIGN_BIT;
        return point;
    case COLANDER_EXTENSION:
        point.prefix = rank_of_extension(value);
        return point;
    case COLANDER_BOOLEAN:
        /* A span of both then takes no bytes: see the ends in FORMAT.md. */
        point.prefix = value->boolean ? UINT64_MAX : 0;
        return point;
    case COLANDER_MAP:
        point.type = COLANDER_ARRAY;
        return point;
    default:
        return point;
    }
}

struct zone_rank
zone_rank_of(const struct colander_value *value)
{
    struct zones_point point = zones_point_of(value);
    struct zone_rank rank = {point.type, 0, point.prefix, {NULL, 0}};

    if (zones_is_text(rank.type))
        rank.bytes = value->bytes;
    return rank;
}

struct zone_rank
zone_rank_of_prefix_end(const struct colander_value *prefix)
{
    struct zone_rank rank = zone_rank_of(prefix);

    rank.fill = UINT8_MAX;
    return rank;
}

struct zone_rank
zone_rank_least(const struct colander_value *value)
{
    struct zone_rank rank = {zones_point_of(value).type, 0, 0, {NULL, 0}};

    return rank;
}

struct zone_rank
zone_rank_largest(const struct colander_value *value)
{
    struct zone_rank rank = zone_rank_least(value);

    rank.fill = UINT8_MAX;
    rank.prefix = UINT64_MAX;
    return rank;
}

/*
 * Zone blocks: strings as numbers.
 *
 * Bytes: filters/FORMAT.md, "Zone blocks"
 *
 * SPDX-License-Identifier: MIT
 */
#include "filters/zones/zones_strings.h"

/* The position of a string among the numbers. */
struct place {
    uint64_t number; /* its own, or the next one above it */
    bool is_between; /* it has none of its own */
};

bool
zones_strings_init(struct zones_strings *strings)
{
    uint64_t count = 1;

    for (unsigned i = 0; i < strings->place_count; i++) {
        uint8_t least = strings->places[2 * i];
        uint8_t largest = strings->places[2 * i + 1];
        uint64_t base = (uint64_t)(largest - least) + 1;

        if (least > largest || count > ZONES_NUMBERS_MAX / base)
            return false;
        count *= base;
    }
    if (strings->has_empty)
        count++;
    strings->count = count;
    strings->shift = (unsigned)__builtin_clzll(count);
    return true;
}

/* Compares the beginning of a string with that of all strings. */
static int
begin_order(const struct zones_strings *strings, const struct zone_rank *rank)
{
    size_t size = rank->bytes.size;
    int order = 0;

    if (size > strings->begin_size)
        size = strings->begin_size;
    if (size > 0)
        order = memcmp(rank->bytes.data, strings->begin, size);
    if (order == 0 && size < strings->begin_size)
        order = rank->fill == 0 ? -1 : 1;
    return order;
}

/* Finds the position of a string after the common beginning; `order` is the
 * order of the beginnings. Once the order is decided, the remaining digits are
 * zeros, below the string or in the next number above it. */
static struct place
place_of(const struct zones_strings *strings, int order,
         struct colander_slice rest, uint8_t fill)
{
    struct place place = {order > 0, false};

    for (unsigned i = 0; i < strings->place_count; i++) {
        uint8_t least = strings->places[2 * i];
        uint8_t largest = strings->places[2 * i + 1];
        uint8_t byte = i < rest.size ? rest.data[i] : fill;

        if (order == 0) {
            order = (byte > largest) - (byte < least);
            place.number += order > 0;
        }
        place.number *= (uint64_t)(largest - least) + 1;
        if (order == 0)
            place.number += (uint64_t)(byte - least);
    }
    place.number += strings->has_empty;
    place.is_between = order != 0;
    return place;
}

static struct zones_point
point_of(const struct zones_strings *strings, uint8_t type, struct place place,
         bool is_high)
{
    struct zones_point point = {type, 0};

    if (place.is_between && is_high) {
        if (place.number-- == 0) {
            point.type = (uint8_t)(type - 1);
            point.prefix = UINT64_MAX;
            return point;
        }
    } else if (place.is_between && place.number == strings->count) {
        point.type = (uint8_t)(type + 1);
        return point;
    }
    point.prefix = place.number << strings->shift;
    if (is_high)
        point.prefix |= (UINT64_C(1) << strings->shift) - 1;
    return point;
}

struct zones_point
zones_strings_point(const struct zones_strings *strings,
                    const struct zone_rank *rank, bool is_high)
{
    struct place place = {0, false};
    struct colander_slice rest = {NULL, 0};
    int order;

    if (rank->bytes.size == 0 && rank->fill == 0 && strings->has_empty)
        return point_of(strings, rank->type, place, is_high);
    order = begin_order(strings, rank);
    if (rank->bytes.size > strings->begin_size)
        rest = colander_slice_of(rank->bytes.data + strings->begin_size,
                                 rank->bytes.size - strings->begin_size);
    place = place_of(strings, order, rest, rank->fill);
    return point_of(strings, rank->type, place, is_high);
}

struct zones_point
zones_strings_window_point(const struct zones_strings *strings, uint8_t type,
                           const uint64_t words[ZONES_WINDOW_WORDS],
                           bool is_high)
{
    uint8_t rest[ZONES_PLACES_MAX];

    for (size_t i = 0; i < ZONES_PLACES_MAX; i++)
        rest[i] = (uint8_t)(words[i / 8] >> (56 - 8 * (i % 8)));
    return point_of(
        strings, type,
        place_of(strings, 0, colander_slice_of(rest, sizeof(rest)), 0),
        is_high);
}

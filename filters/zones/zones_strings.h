/*
 * Zone blocks: strings and binaries of a column, as numbers that keep their
 * order.
 *
 * Strings of a column often share a beginning, and after it use few different
 * bytes at each place: digits, hyphens. The shared beginning is stored once,
 * and for each place after it the smallest and largest byte. So a string is a
 * number with one digit for each place, each to its own base: 8 bytes can
 * distinguish instants that are written in 24. The empty string has a separate
 * number below all others.
 *
 * A string in a query may lie between two numbers, or outside all. It is then
 * rounded according to its role in the query, so that no extra runs pass.
 *
 * Bytes: filters/FORMAT.md, "Zone blocks"
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_FILTERS_ZONES_ZONES_STRINGS_H
#define COLANDER_FILTERS_ZONES_ZONES_STRINGS_H

#include "filters/zones/zones_code.h"

#define ZONES_BEGIN_MAX 255 /* longer beginnings are cut */
#define ZONES_PLACES_MAX 24

/* Words of a string that are kept after the common beginning while a part is
 * written: as numbers, so that comparing is fast. */
#define ZONES_WINDOW_WORDS (ZONES_PLACES_MAX / 8)

struct zones_strings {
    const uint8_t *begin;  /* what all but the empty share; borrowed */
    const uint8_t *places; /* smallest and largest byte of each; borrowed */
    unsigned begin_size;
    unsigned place_count;
    bool has_empty;
    unsigned shift; /* moves a number to the upper bits of a prefix */
    uint64_t count; /* of numbers */
};

/* Fills `shift` and `count` from the other members; false: such places cannot
 * have been written. */
COLANDER_CHECKED bool zones_strings_init(struct zones_strings *strings);

/* Returns the point of a string or binary as the low or high end of a span. One
 * outside all strings gets the type before or after its own. */
struct zones_point zones_strings_point(const struct zones_strings *strings,
                                       const struct zone_rank *rank,
                                       bool is_high);

/* Returns the point of a string that continues after the common beginning with
 * the bytes in `words`, the highest first. */
struct zones_point
zones_strings_window_point(const struct zones_strings *strings, uint8_t type,
                           const uint64_t words[ZONES_WINDOW_WORDS],
                           bool is_high);

#endif

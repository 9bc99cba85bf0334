/*
 * Zone blocks: strings and binaries of a column, as numbers that keep their
 * order.
 *
 * Strings of a column often begin alike, and behind that few bytes are in use
 * at each place: digits, hyphens. What all of them begin with is kept once, and
 * of the places behind it the least and the largest byte. So a string is a
 * number with as many digits as there are places, each to a base of its own:
 * 8 bytes tell instants apart that are written in 24.
 *
 * The empty string has no part in that; it has a number below all others.
 *
 * A string asked for may be between two numbers, or outside all: then it is
 * rounded as what it is asked for says, so that nothing is found in vain.
 *
 * Bytes: filters/FORMAT.md, "Zone blocks"
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_FILTERS_ZONES_STRINGS_H
#define COLANDER_FILTERS_ZONES_STRINGS_H

#include "filters/zones_code.h"

#define ZONES_BEGIN_MAX 255 /* longer beginnings are cut */
#define ZONES_PLACES_MAX 24

/* So many bytes of a string are kept behind the common beginning while a part
 * is written: as numbers, so that comparing takes few steps. */
#define ZONES_WINDOW_WORDS (ZONES_PLACES_MAX / 8)

struct zones_strings {
    const uint8_t *begin;  /* what all begin with but the empty; borrowed */
    const uint8_t *places; /* least and largest byte of each; borrowed */
    unsigned begin_size;
    unsigned place_count;
    bool has_empty;
    unsigned shift; /* a number fills the upper bits of a prefix */
    uint64_t count; /* of numbers */
};

/* Fills `shift` and `count` from what else there is; false: such places were
 * never written. */
COLANDER_CHECKED bool zones_strings_init(struct zones_strings *strings);

/* Where a string or binary stands, as the low or the high end of a span. One
 * that is outside all strings gets the type before or behind its own. */
struct zones_point zones_strings_point(const struct zones_strings *strings,
                                       const struct zone_rank *rank,
                                       bool is_high);

/* Where a string stands that goes on behind the common beginning with the bytes
 * in `words`, the highest first. */
struct zones_point
zones_strings_window_point(const struct zones_strings *strings, uint8_t type,
                           const uint64_t words[ZONES_WINDOW_WORDS],
                           bool is_high);

#endif

/*
 * Zone blocks: what those who write and those who read them share.
 *
 * Within a column ranks are one 64-bit *line*: the prefix alone when all its
 * scalars are of one type, else the type and the upper 60 bits of the prefix.
 * The span of the column in the part is kept by the leading bytes of its ends,
 * and spans of runs as offsets in it, of `width` bytes each, the low end
 * rounded down and the high end up.
 *
 * Bytes: filters/FORMAT.md, "Zone blocks"
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_FILTERS_ZONES_CODE_H
#define COLANDER_FILTERS_ZONES_CODE_H

#include "filters/zones.h"

/* flags, run bits, columns u16, rows u32 */
#define ZONES_HEADER_SIZE 8
#define ZONES_HEADER_IS_CUT 1u /* columns were left out */

/* path hash u64, offset of the column u32; ascending */
#define ZONES_ENTRY_SIZE 12

/* The first byte of a column; its upper half is the width of an offset, 0 where
 * spans of runs are not kept. */
enum zones_flags {
    ZONES_RUNS_ALL = 0,    /* the column is in all runs, or may be */
    ZONES_RUNS_BITMAP = 1, /* a bit for each run tells */
    ZONES_RUNS_LIST = 2,   /* a list of runs, as gaps */
    ZONES_RUNS_MASK = 3,
    ZONES_HAS_NULL = 4,
    ZONES_HAS_SPAN = 8, /* it has scalars other than null */
    ZONES_WIDTH_SHIFT = 4,
};

#define ZONES_WIDTH_MAX 8

/* The span of a column in the part, on its line. */
struct zones_frame {
    uint64_t low;
    uint64_t high;
    uint8_t low_type;
    uint8_t high_type;
};

/* Where a rank of a type in the frame is on the line. */
static inline uint64_t
zones_line(const struct zones_frame *frame, struct zone_rank rank)
{
    if (frame->low_type == frame->high_type)
        return rank.prefix;
    return (uint64_t)rank.type << 60 | rank.prefix >> 4;
}

/* How many bits offsets of `width` bytes leave out. */
static inline unsigned
zones_shift(const struct zones_frame *frame, unsigned width)
{
    uint64_t range = frame->high - frame->low;
    unsigned bits = range == 0 ? 0 : 64 - (unsigned)__builtin_clzll(range);

    return bits > 8 * width ? bits - 8 * width : 0;
}

#endif

/*
 * Zone blocks: what those who write and those who read them share.
 *
 * Where a value stands in a column is its *point*: its type and 64 bits. Those
 * of strings and binaries come from what the column's strings have in common
 * (zones_strings.h), those of others from the value alone. Within a column
 * points are one 64-bit *line*: the prefix alone when all its scalars are of
 * one type, else the type and the upper 60 bits of the prefix. The span of the
 * column in the part is kept by the leading bytes of its ends, and spans of
 * runs as offsets in it, of `width` bytes each, the low end rounded down and
 * the high end up.
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

/* In the byte that counts the places of strings. */
#define ZONES_HAS_EMPTY 0x80u

/* Numbers of strings, without that of the empty one. */
#define ZONES_NUMBERS_MAX (UINT64_C(1) << 62)

/* The image of a value in a column, which keeps the order. */
struct zones_point {
    uint8_t type; /* as in struct zone_rank */
    uint64_t prefix;
};

static inline bool
zones_point_is_below(struct zones_point a, struct zones_point b)
{
    return a.type != b.type ? a.type < b.type : a.prefix < b.prefix;
}

static inline bool
zones_is_text(unsigned type)
{
    return type == COLANDER_STRING || type == COLANDER_BINARY;
}

/* The point of a value that is no string and no binary. */
struct zones_point zones_point_of(const struct colander_value *value);

static inline uint64_t
zones_get_big(const uint8_t *bytes, size_t size)
{
    uint64_t bits = 0;

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    if (size == sizeof(bits)) {
        memcpy(&bits, bytes, sizeof(bits));
        return __builtin_bswap64(bits);
    }
#endif
    for (size_t i = 0; i < size; i++)
        bits = bits << 8 | bytes[i];
    return bits;
}

/* The first 8 bytes, as if zeros followed. */
static inline uint64_t
zones_word(const uint8_t *bytes, size_t size)
{
    if (size >= 8)
        return zones_get_big(bytes, 8);
    /* Twice four bytes, which agree where they overlap. */
    if (size >= 4)
        return zones_get_big(bytes, 4) << 32 |
               zones_get_big(bytes + size - 4, 4) << (8 * (8 - size));
    return size == 0 ? 0 : zones_get_big(bytes, size) << (8 * (8 - size));
}

/* The span of a column in the part, on its line. */
struct zones_frame {
    uint64_t low;
    uint64_t high;
    uint8_t low_type;
    uint8_t high_type;
};

/* Whether strings or binaries may be in a span: then what they have in common
 * stands behind it. */
static inline bool
zones_frame_has_text(const struct zones_frame *frame)
{
    return frame->low_type <= COLANDER_BINARY &&
           frame->high_type >= COLANDER_STRING;
}

/* Where a point of a type in the frame is on the line. */
static inline uint64_t
zones_line(const struct zones_frame *frame, struct zones_point point)
{
    if (frame->low_type == frame->high_type)
        return point.prefix;
    return (uint64_t)point.type << 60 | point.prefix >> 4;
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

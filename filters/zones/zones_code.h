/*
 * Zone blocks: shared by writers and readers.
 *
 * The *point* of a value in a column is its type and 64 bits. For strings and
 * binaries these depend on what the column's strings share (zones_strings.h),
 * for others only on the value. Within a column, points become one 64-bit
 * *line*: the prefix alone if all scalars have one type, else the type and the
 * upper 60 bits of the prefix. The span of the column in the part is stored as
 * the leading bytes of its ends. Spans of runs are offsets in it, of `width`
 * bytes each, the low end rounded down and the high end rounded up.
 *
 * Bytes: filters/FORMAT.md, "Zone blocks"
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_FILTERS_ZONES_ZONES_CODE_H
#define COLANDER_FILTERS_ZONES_ZONES_CODE_H

#include "filters/zones.h"

/* flags, run bits, columns u16, rows u32 */
#define ZONES_HEADER_SIZE 8
#define ZONES_HEADER_IS_CUT 1u /* columns are missing */

/* path hash u64, offset of the column u32; ascending */
#define ZONES_ENTRY_SIZE 12

/* The first byte of a column. Its upper half is the width of an offset, 0 if
 * spans of runs are not stored. */
enum zones_flags {
    ZONES_RUNS_ALL = 0,    /* the column is in all runs, or may be */
    ZONES_RUNS_BITMAP = 1, /* a bit for each run */
    ZONES_RUNS_LIST = 2,   /* a list of runs, as gaps */
    ZONES_RUNS_MASK = 3,
    ZONES_HAS_NULL = 4,
    ZONES_HAS_SPAN = 8, /* it has scalars other than null */
    ZONES_WIDTH_SHIFT = 4,
};

#define ZONES_WIDTH_MAX 8

/* In the byte with the number of places of strings. */
#define ZONES_HAS_EMPTY 0x80u

/* Numbers of strings, not counting the empty one. */
#define ZONES_NUMBERS_MAX (UINT64_C(1) << 62)

/* A value's image in a column, which keeps the order. */
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

/* Returns the point of a value that is not a string or binary. */
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

/* Returns the first 8 bytes, padded with zeros. */
static inline uint64_t
zones_word(const uint8_t *bytes, size_t size)
{
    if (size >= 8)
        return zones_get_big(bytes, 8);
    /* Two reads of four bytes, which agree where they overlap. */
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

/* Returns whether strings or binaries may be in the span. Then what they share
 * is stored after it. */
static inline bool
zones_frame_has_text(const struct zones_frame *frame)
{
    return frame->low_type <= COLANDER_BINARY &&
           frame->high_type >= COLANDER_STRING;
}

/* Returns the position on the line of a point whose type is in the frame. */
static inline uint64_t
zones_line(const struct zones_frame *frame, struct zones_point point)
{
    if (frame->low_type == frame->high_type)
        return point.prefix;
    return (uint64_t)point.type << 60 | point.prefix >> 4;
}

/* Returns how many low bits offsets of `width` bytes omit. */
static inline unsigned
zones_shift(const struct zones_frame *frame, unsigned width)
{
    uint64_t range = frame->high - frame->low;
    unsigned bits = range == 0 ? 0 : 64 - (unsigned)__builtin_clzll(range);

    return bits > 8 * width ? bits - 8 * width : 0;
}

#endif

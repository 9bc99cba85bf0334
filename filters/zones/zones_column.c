/*
 * Zone blocks: codes a column.
 *
 * Each column gets the shortest code that still prunes. That is tested with the
 * ends of its own spans, because they resemble the queries that prune. Spans of
 * runs are stored if they rule out a good part of those queries, as coarsely as
 * makes little difference. For strings, as many places are stored as such
 * offsets can distinguish.
 *
 * Bytes: filters/FORMAT.md, "Zone blocks"
 *
 * SPDX-License-Identifier: MIT
 */
#include "filters/zones/zones_column.h"

/* Queries that are tested on a column to see what its runs are worth. */
#define PROBES 32

/* Runs are stored if fewer than 3 in 4 tests of a query on a run pass. */
#define KEPT_PART 3
#define KEPT_WHOLE 4

/* A width suffices if it lets an eighth more pass. */
#define COARSER_PART 8

/* Bytes of a line's ends that are kept after the common ones. The part's span
 * is then at most 1/65,536 too wide. */
#define END_BYTES 3

/* How many numbers of strings are distinguished if runs are not stored, and how
 * many bits more than offsets have if they are. */
#define PART_NUMBERS (1u << 16)
#define SPARE_BITS 10

/* The first byte, types and sizes, ends, what strings have in common, count of
 * runs. */
#define COLUMN_HEAD_MAX                                                        \
    (3 + 2 * 8 + 2 + ZONES_BEGIN_MAX + 2 * ZONES_PLACES_MAX + 5)

/* The code of a column. */
struct coding {
    struct zones_strings strings;
    struct zones_frame frame;
    unsigned width;
    uint8_t places[2 * ZONES_PLACES_MAX];
};

/* The stored ends of a span: the leading bytes of each. Omitted are zeros of
 * the low end and ones of the high end. */
struct ends {
    unsigned low_size;
    unsigned high_size;
};

/* Rounds the frame outward to the bytes that are stored. */
static struct ends
frame_cut(struct zones_frame *frame)
{
    struct ends ends = {8, 8};
    unsigned kept = END_BYTES;
    uint64_t rest;

    while (kept < 8 &&
           (frame->low ^ frame->high) >> (8 * (7 + END_BYTES - kept)) == 0)
        kept++;
    rest = kept == 8 ? 0 : UINT64_MAX >> (8 * kept);
    frame->low &= ~rest;
    frame->high |= rest;
    while (ends.low_size > 0 &&
           (frame->low >> (8 * (8 - ends.low_size)) & 0xff) == 0)
        ends.low_size--;
    while (ends.high_size > 0 &&
           (frame->high >> (8 * (8 - ends.high_size)) & 0xff) == 0xff)
        ends.high_size--;
    return ends;
}

/* --------------------------------------------------------------- width --- */

static size_t
span_count(const struct zones_column *column)
{
    size_t count = 0;

    for (size_t i = 0; i < column->run_count; i++)
        count += zones_run_has_span(&column->runs[i]);
    return count;
}

/* Returns how many spans of runs contain `probe`, ignoring `shift` bits. */
static uint64_t
holders(const struct zones_column *column, uint64_t probe, unsigned shift)
{
    uint64_t count = 0;

    probe >>= shift;
    for (size_t i = 0; i < column->run_count; i++) {
        const struct zones_run *run = &column->runs[i];

        count += (unsigned)(run->low >> shift <= probe) &
                 (unsigned)(run->high >> shift >= probe);
    }
    return count;
}

/* Returns how many runs pass for the low and high ends of some spans; *asked is
 * the number of tests. */
static uint64_t
passing(const struct zones_column *column, unsigned shift, uint64_t *asked)
{
    size_t step = (span_count(column) + PROBES - 1) / PROBES;
    size_t number = 0;
    uint64_t count = 0;

    *asked = 0;
    for (size_t i = 0; i < column->run_count; i++) {
        const struct zones_run *run = &column->runs[i];

        if (!zones_run_has_span(run) || number++ % step != 0)
            continue;
        count += holders(column, number / step % 2 == 0 ? run->low : run->high,
                         shift);
        *asked += column->run_count;
    }
    return count;
}

/* Returns the bytes of an offset; 0: spans of runs are not worth storing. */
static unsigned
width_of(const struct zones_column *column, const struct zones_frame *frame)
{
    uint64_t asked;
    uint64_t least = passing(column, 0, &asked);

    if (least * KEPT_WHOLE >= asked * KEPT_PART)
        return 0;
    for (unsigned width = 1; width < ZONES_WIDTH_MAX; width++) {
        unsigned shift = zones_shift(frame, width);

        if (shift == 0 ||
            passing(column, shift, &asked) <= least + least / COARSER_PART)
            return width;
    }
    return ZONES_WIDTH_MAX;
}

/* -------------------------------------------------------------- coding --- */

static uint8_t *
put_little(uint8_t *bytes, uint64_t bits, size_t size)
{
    for (size_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)(bits >> (8 * i));
    return bytes + size;
}

static uint8_t *
put_varint(uint8_t *bytes, uint32_t bits)
{
    for (; bits >= 0x80; bits >>= 7)
        *bytes++ = (uint8_t)(bits | 0x80);
    *bytes++ = (uint8_t)bits;
    return bytes;
}

static size_t
varint_size(uint32_t bits)
{
    size_t size = 1;

    for (; bits >= 0x80; bits >>= 7)
        size++;
    return size;
}

static size_t
list_size(const struct zones_column *column)
{
    size_t size = 0;
    uint32_t next = 0;

    for (size_t i = 0; i < column->run_count; i++) {
        size += varint_size(column->runs[i].index - next);
        next = column->runs[i].index + 1;
    }
    return size;
}

static size_t
bitmap_size(uint32_t run_count)
{
    return (run_count + 7) / 8;
}

/* Returns how to store which runs have the column. */
static enum zones_flags
runs_kind(const struct zones_column *column, uint32_t run_count, unsigned width)
{
    uint32_t absent_count = run_count - column->run_count;

    if (absent_count == 0 || (width == 0 && absent_count < run_count / 16))
        return ZONES_RUNS_ALL;
    return list_size(column) < bitmap_size(run_count) ? ZONES_RUNS_LIST
                                                      : ZONES_RUNS_BITMAP;
}

static uint8_t *
put_runs(uint8_t *end, const struct zones_column *column, uint32_t run_count,
         enum zones_flags kind)
{
    uint32_t next = 0;

    if (kind == ZONES_RUNS_BITMAP)
        memset(end, 0, bitmap_size(run_count));
    for (size_t i = 0; i < column->run_count; i++) {
        uint32_t index = column->runs[i].index;

        if (kind == ZONES_RUNS_LIST)
            end = put_varint(end, index - next);
        else if (kind == ZONES_RUNS_BITMAP)
            end[index / 8] |= (uint8_t)(1u << index % 8);
        next = index + 1;
    }
    return kind == ZONES_RUNS_BITMAP ? end + bitmap_size(run_count) : end;
}

static uint8_t *
put_ends(uint8_t *end, const struct zones_frame *frame, struct ends ends)
{
    *end++ = (uint8_t)(frame->low_type << 4 | frame->high_type);
    *end++ = (uint8_t)(ends.low_size << 4 | ends.high_size);
    for (unsigned i = 0; i < ends.low_size; i++)
        *end++ = (uint8_t)(frame->low >> (56 - 8 * i));
    for (unsigned i = 0; i < ends.high_size; i++)
        *end++ = (uint8_t)(frame->high >> (56 - 8 * i));
    return end;
}

static uint8_t *
put_offsets(uint8_t *end, const struct zones_column *column,
            const struct zones_frame *frame, unsigned width)
{
    unsigned shift = zones_shift(frame, width);

    for (size_t i = 0; i < column->run_count; i++) {
        const struct zones_run *run = &column->runs[i];
        bool is_empty = !zones_run_has_span(run);

        end = put_little(end, is_empty ? UINT64_MAX : run->low >> shift, width);
        end = put_little(end, run->high >> shift, width);
    }
    return end;
}

static uint8_t *
put_strings(uint8_t *end, const struct zones_strings *strings)
{
    size_t places_size = 2 * (size_t)strings->place_count;

    *end++ = (uint8_t)strings->begin_size;
    memcpy(end, strings->begin, strings->begin_size);
    end += strings->begin_size;
    *end++ = (uint8_t)(strings->place_count |
                       (strings->has_empty ? ZONES_HAS_EMPTY : 0));
    memcpy(end, strings->places, places_size);
    return end + places_size;
}

/* Finds the frame, its stored ends and the width. Distinguishes `enough`
 * strings. */
static struct ends
coding_fit(struct coding *coding, struct zones_column *column, uint64_t enough)
{
    struct ends ends;

    zones_column_strings(column, coding->places, enough, &coding->strings);
    coding->frame = zones_column_points(column, &coding->strings);
    ends = frame_cut(&coding->frame);
    zones_column_offsets(column, &coding->frame);
    coding->width = width_of(column, &coding->frame);
    return ends;
}

/* Chooses the code of the column's spans, and writes that of the part. */
static uint8_t *
put_span(uint8_t *end, struct zones_column *column, struct coding *coding)
{
    struct ends ends;

    zones_column_settle(column, coding->places);
    ends = coding_fit(coding, column, ZONES_NUMBERS_MAX);
    if (column->has_text && coding->width == 0)
        ends = coding_fit(coding, column, PART_NUMBERS);
    else if (column->has_text && 8 * coding->width + SPARE_BITS < 62)
        ends = coding_fit(coding, column,
                          UINT64_C(1) << (8 * coding->width + SPARE_BITS));
    end = put_ends(end, &coding->frame, ends);
    return zones_frame_has_text(&coding->frame)
               ? put_strings(end, &coding->strings)
               : end;
}

uint8_t *
zones_column_put(uint8_t *end, struct zones_column *column, uint32_t run_count)
{
    struct coding coding = {.width = 0};
    uint8_t *flags = end++;
    enum zones_flags kind;

    *flags = column->has_null ? ZONES_HAS_NULL : 0;
    if (span_count(column) > 0) {
        *flags |= ZONES_HAS_SPAN;
        end = put_span(end, column, &coding);
        *flags |= (uint8_t)(coding.width << ZONES_WIDTH_SHIFT);
    }
    kind = runs_kind(column, run_count, coding.width);
    *flags |= (uint8_t)kind;
    if (kind != ZONES_RUNS_ALL)
        end = put_varint(end, column->run_count);
    if (coding.width > 0)
        end = put_offsets(end, column, &coding.frame, coding.width);
    return put_runs(end, column, run_count, kind);
}

/* Room for any code of the column; a list is never longer than a bitmap. */
size_t
zones_column_size_max(const struct zones_column *column, uint32_t run_count)
{
    return COLUMN_HEAD_MAX + (size_t)column->run_count * (2 * ZONES_WIDTH_MAX) +
           bitmap_size(run_count);
}

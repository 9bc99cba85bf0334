/*
 * Zone blocks: how a column is coded.
 *
 * Each column gets the shortest code that still prunes. What that is, is tried
 * on ends of its own spans: they are what questions that prune ask for. Spans
 * of runs are kept if they turn away a good part of those questions, and as
 * coarse as changes little in that.
 *
 * Bytes: filters/FORMAT.md, "Zone blocks"
 *
 * SPDX-License-Identifier: MIT
 */
#include "filters/zones_column.h"

#include "filters/zones_code.h"

/* Questions tried on a column to see what its runs are worth. */
#define PROBES 32

/* Runs are kept if of all tries of a question on a run fewer than 3 in 4 say
 * maybe. */
#define KEPT_PART 3
#define KEPT_WHOLE 4

/* A width will do that adds an eighth to what says maybe. */
#define COARSER_PART 8

/* The bytes of a line's ends that are kept behind those in common: the part's
 * span is then at most a 65,536th too wide. */
#define END_BYTES 3

/* The first byte, types and sizes, ends, count of runs. */
#define COLUMN_HEAD_MAX (3 + 2 * 8 + 5)

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

/* The ends of a span as they are kept: the leading bytes of each. What is cut
 * is zeros below and ones above. */
struct ends {
    unsigned low_size;
    unsigned high_size;
};

/* Rounds the frame outward to the bytes that are kept. */
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

/* The span of all runs together; false: they have none. */
static bool
part_span(const struct zones_column *column, struct zone_span *span)
{
    zone_span_clear(span);
    for (size_t i = 0; i < column->run_count; i++) {
        const struct zones_run *run = &column->runs[i];
        struct zone_rank low = {run->low_type, run->low};
        struct zone_rank high = {run->high_type, run->high};

        if (run->low_type != ZONE_TYPE_NONE)
            zone_span_widen(span, low, high);
    }
    return span->low.type != ZONE_TYPE_NONE;
}

static struct zones_frame
frame_of(const struct zone_span *span)
{
    struct zones_frame frame = {0, 0, span->low.type, span->high.type};

    frame.low = zones_line(&frame, span->low);
    frame.high = zones_line(&frame, span->high);
    return frame;
}

/* Makes the ends of all runs offsets in the frame. */
static void
runs_to_offsets(struct zones_column *column, const struct zones_frame *frame)
{
    for (size_t i = 0; i < column->run_count; i++) {
        struct zones_run *run = &column->runs[i];
        struct zone_rank low = {run->low_type, run->low};
        struct zone_rank high = {run->high_type, run->high};

        /* An empty one stays so, its low end above its high end. */
        if (run->low_type == ZONE_TYPE_NONE)
            continue;
        run->low = zones_line(frame, low) - frame->low;
        run->high = zones_line(frame, high) - frame->low;
    }
}

static size_t
span_count(const struct zones_column *column)
{
    size_t count = 0;

    for (size_t i = 0; i < column->run_count; i++)
        count += column->runs[i].low_type != ZONE_TYPE_NONE;
    return count;
}

/* How many spans of runs hold `probe`, with `shift` bits left out. */
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

/* How many runs say maybe when the low and high ends of some spans are asked
 * for; and how many runs were asked, in *asked. */
static uint64_t
maybes(const struct zones_column *column, unsigned shift, uint64_t *asked)
{
    size_t step = (span_count(column) + PROBES - 1) / PROBES;
    size_t number = 0;
    uint64_t count = 0;

    *asked = 0;
    for (size_t i = 0; i < column->run_count; i++) {
        const struct zones_run *run = &column->runs[i];

        if (run->low_type == ZONE_TYPE_NONE || number++ % step != 0)
            continue;
        count += holders(column, number / step % 2 == 0 ? run->low : run->high,
                         shift);
        *asked += column->run_count;
    }
    return count;
}

/* The bytes of an offset; 0: spans of runs are not worth keeping. */
static unsigned
width_of(const struct zones_column *column, const struct zones_frame *frame)
{
    uint64_t asked;
    uint64_t least = maybes(column, 0, &asked);

    if (least * KEPT_WHOLE >= asked * KEPT_PART)
        return 0;
    for (unsigned width = 1; width < ZONES_WIDTH_MAX; width++) {
        unsigned shift = zones_shift(frame, width);

        if (shift == 0 ||
            maybes(column, shift, &asked) <= least + least / COARSER_PART)
            return width;
    }
    return ZONES_WIDTH_MAX;
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

/* How it is told in which of all runs the column is. */
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
        bool is_empty = run->low_type == ZONE_TYPE_NONE;

        end = put_little(end, is_empty ? UINT64_MAX : run->low >> shift, width);
        end = put_little(end, run->high >> shift, width);
    }
    return end;
}

/* Codes a column, whose runs are offsets afterwards; returns the end. */
uint8_t *
zones_column_put(uint8_t *end, struct zones_column *column, uint32_t run_count)
{
    uint8_t *flags = end++;
    struct zone_span span;
    struct zones_frame frame = {0, 0, 0, 0};
    unsigned width = 0;
    enum zones_flags kind;

    *flags = column->has_null ? ZONES_HAS_NULL : 0;
    if (part_span(column, &span)) {
        struct ends ends;

        *flags |= ZONES_HAS_SPAN;
        frame = frame_of(&span);
        ends = frame_cut(&frame);
        end = put_ends(end, &frame, ends);
        runs_to_offsets(column, &frame);
        width = width_of(column, &frame);
        *flags |= (uint8_t)(width << ZONES_WIDTH_SHIFT);
    }
    kind = runs_kind(column, run_count, width);
    *flags |= (uint8_t)kind;
    if (kind != ZONES_RUNS_ALL)
        end = put_varint(end, column->run_count);
    if (width > 0)
        end = put_offsets(end, column, &frame, width);
    return put_runs(end, column, run_count, kind);
}

/* Room for any code of the column; a list is never longer than a bitmap. */
size_t
zones_column_size_max(const struct zones_column *column, uint32_t run_count)
{
    return COLUMN_HEAD_MAX + (size_t)column->run_count * (2 * ZONES_WIDTH_MAX) +
           bitmap_size(run_count);
}

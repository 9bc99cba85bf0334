/*
 * Zones: searches them.
 *
 * The query is put on the line of the column and rounded like the spans of its
 * runs; then a run takes two comparisons. A byte is read only after it was
 * found to be inside the block. A damaged block causes at most a wrong answer
 * or CORRUPT.
 *
 * Bytes: filters/FORMAT.md, "Zone blocks"
 *
 * SPDX-License-Identifier: MIT
 */
#include "filters/zones/zones_strings.h"

/* No part has so many rows that runs need more. */
#define RUN_BITS_MAX 24

struct header {
    bool is_cut;
    unsigned run_bits;
    uint32_t run_count;
    uint32_t column_count;
};

/* Bytes that were not read yet. */
struct bytes {
    const uint8_t *next;
    const uint8_t *end;
};

/* A column, read up to its spans of runs. */
struct column {
    unsigned flags;
    unsigned width;
    struct zones_frame frame;
    uint32_t run_count; /* runs that have it */
    const uint8_t *offsets;
    struct bytes runs; /* which runs: a bitmap or list */
};

static inline uint64_t
get_little(const uint8_t *bytes, size_t size)
{
    uint64_t bits = 0;

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    if (size == sizeof(bits)) {
        memcpy(&bits, bytes, sizeof(bits));
        return bits;
    }
#endif
    for (size_t i = 0; i < size; i++)
        bits |= (uint64_t)bytes[i] << (8 * i);
    return bits;
}

static size_t
left(const struct bytes *bytes)
{
    return (size_t)(bytes->end - bytes->next);
}

static bool
read_varint(struct bytes *bytes, uint32_t *number)
{
    uint64_t bits = 0;

    for (unsigned shift = 0; shift < 35; shift += 7) {
        uint8_t byte;

        if (bytes->next == bytes->end)
            return false;
        byte = *bytes->next++;
        bits |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            *number = (uint32_t)bits;
            return bits <= UINT32_MAX;
        }
    }
    return false;
}

static bool
header_read(struct colander_slice block, uint32_t row_count,
            struct header *header)
{
    const uint8_t *bytes = block.data;
    uint64_t last;

    if (block.size < ZONES_HEADER_SIZE || bytes[0] > ZONES_HEADER_IS_CUT ||
        bytes[1] > RUN_BITS_MAX || get_little(bytes + 4, 4) != row_count)
        return false;
    header->is_cut = bytes[0] == ZONES_HEADER_IS_CUT;
    header->run_bits = bytes[1];
    header->column_count = (uint32_t)get_little(bytes + 2, 2);
    last = (UINT64_C(1) << header->run_bits) - 1;
    header->run_count = (uint32_t)((row_count + last) >> header->run_bits);
    return header->column_count <=
           (block.size - ZONES_HEADER_SIZE) / ZONES_ENTRY_SIZE;
}

/* Finds where the column begins in the block; false: it is not listed. */
static bool
directory_find(struct colander_slice block, const struct header *header,
               uint64_t path_hash, size_t *offset)
{
    const uint8_t *entries = block.data + ZONES_HEADER_SIZE;
    uint32_t low = 0;
    uint32_t high = header->column_count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const uint8_t *entry = entries + (size_t)middle * ZONES_ENTRY_SIZE;
        uint64_t hash = get_little(entry, 8);

        if (hash == path_hash) {
            *offset = get_little(entry + 8, 4);
            return true;
        }
        if (hash < path_hash)
            low = middle + 1;
        else
            high = middle;
    }
    return false;
}

/* Reads the leading bytes of an end of the frame; `fill` replaces the others.
 */
static bool
end_read(struct bytes *bytes, unsigned size, uint8_t fill, uint64_t *end)
{
    if (size > 8 || left(bytes) < size)
        return false;
    *end = 0;
    for (unsigned i = 0; i < 8; i++)
        *end = *end << 8 | (i < size ? bytes->next[i] : fill);
    bytes->next += size;
    return true;
}

static bool
frame_read(struct bytes *bytes, struct zones_frame *frame)
{
    uint8_t types;
    uint8_t sizes;

    if (left(bytes) < 2)
        return false;
    types = *bytes->next++;
    sizes = *bytes->next++;
    frame->low_type = types >> 4;
    frame->high_type = types & 0xf;
    return end_read(bytes, sizes >> 4, 0, &frame->low) &&
           end_read(bytes, sizes & 0xf, 0xff, &frame->high) &&
           frame->low_type <= frame->high_type && frame->low <= frame->high;
}

/* Reads what strings and binaries share. */
static bool
strings_read(struct bytes *bytes, struct zones_strings *strings)
{
    uint8_t places;

    if (left(bytes) < 1)
        return false;
    strings->begin_size = *bytes->next++;
    if (left(bytes) < strings->begin_size + 1)
        return false;
    strings->begin = bytes->next;
    bytes->next += strings->begin_size;
    places = *bytes->next++;
    strings->has_empty = (places & ZONES_HAS_EMPTY) != 0;
    strings->place_count = places & ~ZONES_HAS_EMPTY;
    if (strings->place_count > ZONES_PLACES_MAX ||
        left(bytes) < 2 * strings->place_count)
        return false;
    strings->places = bytes->next;
    bytes->next += 2 * strings->place_count;
    return zones_strings_init(strings);
}

static bool
span_read(struct bytes *bytes, struct zones_frame *frame,
          struct zones_strings *strings)
{
    return frame_read(bytes, frame) &&
           (!zones_frame_has_text(frame) || strings_read(bytes, strings));
}

static bool
column_read(struct bytes bytes, uint32_t run_count, struct column *column,
            struct zones_strings *strings)
{
    size_t size;

    memset(column, 0, sizeof(*column));
    if (left(&bytes) < 1)
        return false;
    column->flags = *bytes.next++;
    column->width = column->flags >> ZONES_WIDTH_SHIFT;
    if (column->width > ZONES_WIDTH_MAX ||
        (column->flags & ZONES_RUNS_MASK) > ZONES_RUNS_LIST)
        return false;
    if ((column->flags & ZONES_HAS_SPAN) == 0) {
        if (column->width > 0)
            return false;
    } else if (!span_read(&bytes, &column->frame, strings)) {
        return false;
    }
    column->run_count = run_count;
    if ((column->flags & ZONES_RUNS_MASK) != ZONES_RUNS_ALL &&
        (!read_varint(&bytes, &column->run_count) ||
         column->run_count > run_count))
        return false;
    size = (size_t)column->run_count * 2 * column->width;
    if (left(&bytes) < size)
        return false;
    column->offsets = bytes.next;
    bytes.next += size;
    column->runs = bytes;
    return true;
}

/* Returns the point of an end of the query in the column. */
static struct zones_point
point_for(const struct zones_frame *frame, const struct zones_strings *strings,
          const struct zone_rank *rank, bool is_high)
{
    struct zones_point point = {rank->type, rank->prefix};

    if (zones_is_text(rank->type) && zones_frame_has_text(frame))
        point = zones_strings_point(strings, rank, is_high);
    return point;
}

/* A run passes if its span reaches up to `low` and down to `high`. If an end of
 * the query lies between two numbers of strings, `low` is the upper of them: a
 * run that has both may have the value. */
struct test {
    uint64_t low;
    uint64_t high;
    bool has_spans; /* false: every run that has the column passes */
};

/* Puts the query on the line; false: it is outside the frame. */
static bool
test_line(const struct zones_frame *frame, const struct zones_strings *strings,
          const struct zone_span *span, struct test *test)
{
    struct zones_point low = point_for(frame, strings, &span->low, false);
    struct zones_point high = point_for(frame, strings, &span->high, true);

    if (low.type > frame->high_type || high.type < frame->low_type)
        return false;
    test->low =
        low.type < frame->low_type ? frame->low : zones_line(frame, low);
    test->high =
        high.type > frame->high_type ? frame->high : zones_line(frame, high);
    return test->low <= frame->high && test->high >= frame->low;
}

/* Fills `test`; false: no run can hold a value of `span`. */
static bool
test_of(const struct column *column, const struct zones_strings *strings,
        const struct zone_span *span, struct test *test)
{
    const struct zones_frame *frame = &column->frame;
    unsigned shift;

    memset(test, 0, sizeof(*test));
    if ((column->flags & ZONES_HAS_NULL) != 0 &&
        span->low.type == COLANDER_NULL)
        return true;
    if ((column->flags & ZONES_HAS_SPAN) == 0 ||
        !test_line(frame, strings, span, test))
        return false;
    if (column->width == 0)
        return true;
    shift = zones_shift(frame, column->width);
    test->has_spans = true;
    test->low = test->low < frame->low ? 0 : (test->low - frame->low) >> shift;
    test->high = (test->high > frame->high ? frame->high - frame->low
                                           : test->high - frame->low) >>
                 shift;
    return true;
}

/* Reads an offset, with one load if enough bytes follow. */
static uint64_t
get_offset(const struct column *column, const uint8_t *offset)
{
    unsigned width = column->width;

    if (column->runs.end - offset < 8)
        return get_little(offset, width);
    return get_little(offset, 8) & UINT64_MAX >> (64 - 8 * width);
}

static bool
run_passes(const struct column *column, const struct test *test, uint32_t index)
{
    unsigned width = column->width;
    const uint8_t *offset = column->offsets + (size_t)index * 2 * width;
    uint64_t low;
    uint64_t high;

    if (!test->has_spans)
        return true;
    low = get_offset(column, offset);
    high = get_offset(column, offset + width);
    return low <= high && low <= test->high && high >= test->low;
}

/* Finds the next run that has the column, from *run on; false: none. */
static bool
run_next(struct column *column, uint32_t run_count, uint32_t *run)
{
    uint32_t gap;

    switch (column->flags & ZONES_RUNS_MASK) {
    case ZONES_RUNS_ALL:
        return *run < run_count;
    case ZONES_RUNS_LIST:
        if (!read_varint(&column->runs, &gap) || gap >= run_count - *run)
            return false;
        *run += gap;
        return true;
    default:
        for (; *run < run_count; ++*run) {
            if (*run / 8 >= left(&column->runs))
                return false;
            if ((column->runs.next[*run / 8] >> *run % 8 & 1) != 0)
                return true;
        }
        return false;
    }
}

/* Rows of adjacent runs, not added yet. */
struct pending {
    uint64_t first;
    uint64_t end;
};

static enum colander_code
pending_add(const struct pending *pending, uint32_t row_count,
            struct row_ranges *ranges, struct colander_error *err)
{
    uint64_t end = pending->end < row_count ? pending->end : row_count;

    if (pending->first >= end)
        return COLANDER_OK;
    return row_ranges_add(ranges, (uint32_t)pending->first, (uint32_t)end, err);
}

static enum colander_code
damaged(struct colander_error *err)
{
    return COLANDER_FAIL(err, COLANDER_CORRUPT, "zone block is damaged");
}

static enum colander_code
runs_find(const struct column *found, const struct test *asked,
          const struct header *header, uint32_t row_count,
          struct row_ranges *ranges, struct colander_error *err)
{
    struct column column = *found; /* a local copy, which the compiler can keep
                                    * in registers */
    struct test test = *asked;
    struct pending pending = {0, 0};
    uint32_t run = 0;

    for (uint32_t i = 0; i < column.run_count; i++, run++) {
        uint64_t first;

        if (!run_next(&column, header->run_count, &run))
            return damaged(err);
        if (!run_passes(&column, &test, i))
            continue;
        first = (uint64_t)run << header->run_bits;
        if (first != pending.end) {
            enum colander_code code =
                pending_add(&pending, row_count, ranges, err);

            if (code != COLANDER_OK)
                return code;
            pending.first = first;
        }
        pending.end = first + (UINT64_C(1) << header->run_bits);
    }
    return pending_add(&pending, row_count, ranges, err);
}

/* Searches the column at `offset` of the block. */
static enum colander_code
column_find(struct colander_slice block, const struct header *header,
            uint32_t row_count, size_t offset, const struct zone_span *span,
            struct row_ranges *ranges, struct colander_error *err)
{
    const struct pending all = {0, row_count};
    struct zones_strings strings;
    struct column column;
    struct bytes bytes;
    struct test test;

    if (offset < ZONES_HEADER_SIZE || offset >= block.size)
        return damaged(err);
    bytes.next = block.data + offset;
    bytes.end = block.data + block.size;
    if (!column_read(bytes, header->run_count, &column, &strings))
        return damaged(err);
    if (!test_of(&column, &strings, span, &test))
        return COLANDER_OK;
    if (!test.has_spans && (column.flags & ZONES_RUNS_MASK) == ZONES_RUNS_ALL)
        return pending_add(&all, row_count, ranges, err);
    return runs_find(&column, &test, header, row_count, ranges, err);
}

enum colander_code
zones_find(struct colander_slice block, uint32_t row_count, uint64_t path_hash,
           const struct zone_span *span, struct row_ranges *ranges,
           struct colander_error *err)
{
    const struct pending all = {0, row_count};
    struct header header;
    size_t offset;

    if (!header_read(block, row_count, &header))
        return damaged(err);
    if (!directory_find(block, &header, path_hash, &offset))
        return header.is_cut ? pending_add(&all, row_count, ranges, err)
                             : COLANDER_OK;
    return column_find(block, &header, row_count, offset, span, ranges, err);
}

enum colander_code
zones_find_any(struct colander_slice block, uint32_t row_count,
               const struct zone_span *span, struct row_ranges *ranges,
               struct colander_error *err)
{
    const struct pending all = {0, row_count};
    enum colander_code code = COLANDER_OK;
    struct header header;

    if (!header_read(block, row_count, &header))
        return damaged(err);
    if (header.is_cut)
        return pending_add(&all, row_count, ranges, err);
    for (uint32_t i = 0; i < header.column_count && code == COLANDER_OK; i++) {
        const uint8_t *entry =
            block.data + ZONES_HEADER_SIZE + (size_t)i * ZONES_ENTRY_SIZE;

        code = column_find(block, &header, row_count, get_little(entry + 8, 4),
                           span, ranges, err);
    }
    return code;
}

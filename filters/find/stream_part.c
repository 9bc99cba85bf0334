/*
 * Streams of parts: rows that a filter points to.
 *
 * Rows are read directly (filters/direct.h), and their blocks are fetched some
 * rows ahead. Where they cannot be, a run of one
 * or two rows whose keys are in the filter returns those keys without reading
 * the SST. Longer runs, and runs in files that have one anchor for each
 * segment, are then read by a cursor on the SST.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filters/find/stream.h"
#include "filters/row_keys.h"

#include <stdlib.h>

/* Verifying this many rows costs less than reading them first. */
#define ROWS_BY_KEY 2

struct part_stream {
    struct stream stream;
    const struct filter_file *filter;
    const struct filter_part *part;
    size_t place;      /* runs begun, in the find's order */
    uint32_t row;      /* next row of the current run, read by number */
    uint32_t row_left; /* how many are left */
    bool is_long;      /* its rows are evaluated on the way, */
    bool are_doubtful; /* and so are all that are read by number */

    /* Keys of rows, or anchors. */
    struct cached_block *block;
    uint32_t block_first; /* its first unit */
    struct row_keys_reader keys;

    /* The current segment, if `is_reading`. */
    struct sst *sst;
    struct engine_cursor *cursor;
    bool is_reading;
    struct colander_buffer low;  /* lower bound of its keys, included */
    struct colander_buffer high; /* upper bound, excluded */

    /* Rows that come next, unless they were passed over. */
    struct direct_place ahead[STREAM_AHEAD_MAX];
    uint32_t ahead_count;
    uint32_t ahead_next;

    /* Of rows that are located once the stream is reached. */
    struct hash_hints hints;
    struct row_range bounds;
    struct row_ranges located;

    size_t range_count;
    const struct row_range *ranges; /* runs of rows, ascending: `located`, or */
    struct row_range own[];
};

/* ---------------------------------------------------------------- ahead --- */

static void
drop_ahead(struct part_stream *part)
{
    while (part->ahead_next < part->ahead_count)
        direct_place_release(part->stream.find->filters,
                             &part->ahead[part->ahead_next++]);
    part->ahead_next = part->ahead_count = 0;
}

static void
add_ahead(struct part_stream *part, uint32_t row)
{
    part->ahead[part->ahead_count++] =
        direct_place_of(part->stream.file, part->part->first_row + row);
}

/* Lists the rows that come next, from those of the current run on. */
static void
list_ahead(struct part_stream *part)
{
    const bool is_reverse = part->stream.find->request->is_reverse;
    uint32_t left = part->row_left;
    uint32_t row = part->row;
    size_t place = part->place;

    while (part->ahead_count < part->stream.ahead_max) {
        const struct row_range *range;

        if (left > 0) {
            add_ahead(part, row);
            row += is_reverse ? UINT32_MAX : 1;
            left--;
            continue;
        }
        if (place == part->range_count)
            return;
        range =
            &part->ranges[is_reverse ? part->range_count - 1 - place : place];
        place++;
        left = range->end - range->first;
        row = is_reverse ? range->end - 1 : range->first;
    }
}

static bool
is_direct(const struct part_stream *part)
{
    return part->stream.place != LEVELS_NONE && part->filter->span_count > 0;
}

static void
fetch_first(struct stream *stream, unsigned step)
{
    struct part_stream *part = (struct part_stream *)stream;

    if (!is_direct(part))
        return;
    if (step == 0)
        list_ahead(part);
    direct_fetch(stream->find->filters, stream->file, part->ahead,
                 part->ahead_count, step);
}

/* Returns the place of the row that was taken last. */
static struct direct_place *
find_place(struct part_stream *part, uint32_t row)
{
    if (part->ahead_next < part->ahead_count &&
        part->ahead[part->ahead_next].number == part->part->first_row + row)
        return &part->ahead[part->ahead_next++];
    drop_ahead(part);
    add_ahead(part, row);
    list_ahead(part);
    for (unsigned step = 0; step < DIRECT_STEPS; step++)
        direct_fetch(part->stream.find->filters, part->stream.file, part->ahead,
                     part->ahead_count, step);
    return &part->ahead[part->ahead_next++];
}

static void
close_part(struct stream *stream)
{
    struct part_stream *part = (struct part_stream *)stream;

    direct_release(stream->find->filters, &stream->row);
    drop_ahead(part);
    engine_cursor_close(part->cursor);
    sst_close(part->sst);
    row_keys_reader_release(&part->keys);
    block_cache_release(part->filter->cache, part->block);
    colander_buffer_release(&part->low);
    colander_buffer_release(&part->high);
    row_ranges_release(&part->located);
    free(part);
}

/* ----------------------------------------------------------------- keys --- */

/* Reads the key of a unit into part->keys.key. */
static enum colander_code
read_unit_key(struct part_stream *part, uint32_t unit,
              struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    if (part->block == NULL || unit < part->block_first ||
        unit - part->block_first >= part->keys.count) {
        block_cache_release(part->filter->cache, part->block);
        part->block = NULL;
        code = filter_file_block(part->filter, part->part, FILTER_KEYS, unit,
                                 &part->block, &part->block_first, err);
        if (code == COLANDER_OK)
            code = row_keys_open(&part->keys, part->block->bytes, err);
    }
    if (code != COLANDER_OK)
        return code;
    return row_keys_get(&part->keys, unit - part->block_first, err);
}

static enum colander_code
copy_unit_key(struct part_stream *part, uint32_t unit,
              struct colander_buffer *into, struct colander_error *err)
{
    enum colander_code code = read_unit_key(part, unit, err);

    colander_buffer_clear(into);
    if (code == COLANDER_OK)
        code = colander_buffer_append(into, part->keys.key.data,
                                      part->keys.key.size, err);
    return code;
}

/* ------------------------------------------------------------- segments --- */

/* Fills `low` and `high` with the bounds of the keys in a run of rows, or, if
 * only every so many rows have a key in the filter, in some more rows. */
static enum colander_code
find_bounds(struct part_stream *part, const struct row_range *range,
            struct colander_error *err)
{
    const struct locator_shape *shape = &part->part->shape;
    const struct colander_slice last = part->part->last_key;
    const uint32_t end = (range->end + shape->fine - 1) / shape->fine;
    enum colander_code code;

    code = copy_unit_key(part, range->first / shape->fine, &part->low, err);
    if (code != COLANDER_OK)
        return code;
    if (end * shape->fine < shape->row_count)
        return copy_unit_key(part, end, &part->high, err);
    colander_buffer_clear(&part->high);
    code = colander_buffer_append(&part->high, last.data, last.size, err);
    if (code == COLANDER_OK)
        code = colander_buffer_append(&part->high, "", 1, err);
    return code;
}

static enum colander_code
begin_segment(struct part_stream *part, const struct row_range *range,
              struct colander_error *err)
{
    const struct stream_find *find = part->stream.find;
    const struct colander_slice from = find->from;
    const struct colander_slice until = find->until;
    struct colander_slice start;
    enum colander_code code = COLANDER_OK;

    if (part->cursor == NULL)
        code = stream_open_cursor(find, part->stream.file, &part->sst,
                                  &part->cursor, err);
    if (code == COLANDER_OK)
        code = find_bounds(part, range, err);
    if (code != COLANDER_OK)
        return code;
    if (!find->request->is_reverse) {
        start = colander_buffer_slice(&part->low);
        if (colander_slice_compare(start, from) < 0)
            start = from;
    } else {
        start = colander_buffer_slice(&part->high);
        if (until.size != 0 && colander_slice_compare(until, start) < 0)
            start = until;
    }
    part->is_reading = true;
    find->request->explain->segments_read++;
    return engine_cursor_seek(part->cursor, start, find->request->is_reverse,
                              err);
}

/* Returns whether a key is past the segment in the find's order, or past the
 * find's range. Reading began inside both. */
static bool
is_past(const struct part_stream *part, struct colander_slice key)
{
    return colander_slice_compare(key, colander_buffer_slice(&part->low)) < 0 ||
           colander_slice_compare(key, colander_buffer_slice(&part->high)) >=
               0 ||
           !stream_has_key(part->stream.find, key);
}

/* Returns the next match of the segment. At its end, clears is_reading. */
static enum colander_code
read_segment(struct part_stream *part, struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;
    bool is_match = false;

    while (code == COLANDER_OK && !is_match) {
        struct colander_slice key;
        struct colander_slice row;
        bool is_row;

        code = engine_cursor_next(part->cursor, &is_row, &key, &row, err);
        if (code != COLANDER_OK)
            break;
        if (!is_row || is_past(part, key)) {
            part->is_reading = false;
            break;
        }
        part->stream.key = key;
        code = stream_evaluate(part->stream.find, row, &is_match, err);
    }
    return code;
}

/* ----------------------------------------------------------------- next --- */

/* Begins the next run; false: there is none. */
static bool
next_range(struct part_stream *part, struct row_range *range)
{
    if (part->place == part->range_count)
        return false;
    *range = part->ranges[part->stream.find->request->is_reverse
                              ? part->range_count - 1 - part->place
                              : part->place];
    part->place++;
    return true;
}

static void
begin_rows(struct part_stream *part, const struct row_range *range,
           bool is_long)
{
    const struct candidate_request *request = part->stream.find->request;

    part->row_left = range->end - range->first;
    part->row = request->is_reverse ? range->end - 1 : range->first;
    part->is_long = is_long;
    request->explain->segments_read += is_long;
}

/* Moves past the next row of the run, and returns its number. */
static uint32_t
take_row(struct part_stream *part)
{
    const uint32_t row = part->row;

    part->row_left--;
    if (part->stream.find->request->is_reverse)
        part->row--;
    else
        part->row++;
    return row;
}

/* The rest of the run, with `row`, which was taken, cannot be read by
 * number. */
static enum colander_code
leave_rows(struct part_stream *part, uint32_t row, struct colander_error *err)
{
    struct row_range rest = {row, row + 1 + part->row_left};

    if (!part->is_long) {
        enum colander_code code = read_unit_key(part, row, err);

        if (code == COLANDER_OK)
            part->stream.key = colander_buffer_slice(&part->keys.key);
        return code;
    }
    if (part->stream.find->request->is_reverse)
        rest = (struct row_range){row - part->row_left, row + 1};
    part->row_left = 0;
    part->stream.find->request->explain->segments_read--; /* counted again */
    return begin_segment(part, &rest, err);
}

/* Reads the next row of the run, and returns its key if the row is a candidate:
 * the snapshot sees it, and in a long run it matches. */
static enum colander_code
give_row(struct part_stream *part, bool *is_given, struct colander_error *err)
{
    const struct stream_find *find = part->stream.find;
    struct direct_row *row = &part->stream.row;
    const uint32_t taken = take_row(part);
    enum colander_code code = COLANDER_OK;

    if (is_direct(part))
        code = direct_read(
            find->filters, part->stream.file, find_place(part, taken),
            snapshot_sequence(find->request->snapshot), row, err);
    if (code == COLANDER_OK && row->block == NULL) {
        code = leave_rows(part, taken, err);
        *is_given = !part->is_reading && stream_has_key(find, part->stream.key);
        return code;
    }
    part->stream.is_sst_damaged = code == COLANDER_CORRUPT;
    if (code != COLANDER_OK)
        return code;
    part->stream.key = row->key;
    part->stream.number = part->part->first_row + taken;
    *is_given = row->is_visible && stream_has_key(find, row->key);
    if (!*is_given || !(part->is_long || part->are_doubtful))
        return code;
    code = stream_evaluate(find, row->value, is_given, err);
    if (code == COLANDER_OK && *is_given) { /* counted if it is verified */
        find->request->explain->rows_read--;
        find->request->explain->bytes_read -= row->value.size;
    }
    return code;
}

static enum colander_code
next_part_key(struct stream *stream, struct colander_error *err)
{
    struct part_stream *part = (struct part_stream *)stream;
    enum colander_code code = COLANDER_OK;
    bool is_given = false;
    struct row_range range;

    while (code == COLANDER_OK && !is_given) {
        direct_release(stream->find->filters, &stream->row);
        if (part->is_reading) {
            code = read_segment(part, err);
            is_given = part->is_reading;
        } else if (part->row_left > 0) {
            code = give_row(part, &is_given, err);
        } else if (!next_range(part, &range)) {
            stream->key = colander_slice_of(NULL, 0);
            return COLANDER_OK;
        } else {
            const bool is_long = part->part->shape.fine != 1 ||
                                 range.end - range.first > ROWS_BY_KEY;

            if (!is_long || is_direct(part))
                begin_rows(part, &range, is_long);
            else
                code = begin_segment(part, &range, err);
        }
    }
    return code;
}

/* ----------------------------------------------------------------- open --- */

/* Creates a stream with room for `count` runs. */
static struct part_stream *
make_part(const struct stream_find *find, struct sst_file *file, uint32_t index,
          size_t count)
{
    struct part_stream *created =
        malloc(sizeof(*created) + count * sizeof(created->own[0]));

    if (created == NULL)
        return NULL;
    memset(created, 0, sizeof(*created));
    created->stream.find = find;
    created->stream.next = next_part_key;
    created->stream.close = close_part;
    created->stream.file = file;
    created->filter = file->filter;
    created->part = &file->filter->parts[index];
    created->range_count = count;
    created->ranges = created->own;
    return created;
}

enum colander_code
stream_open_part(const struct stream_find *find, struct sst_file *file,
                 uint32_t index, const struct row_ranges *ranges,
                 bool are_doubtful, struct stream **stream,
                 struct colander_error *err)
{
    const size_t size = ranges->count * sizeof(*ranges->ranges);
    struct part_stream *created = make_part(find, file, index, ranges->count);

    *stream = NULL;
    if (created == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a find");
    created->stream.fetch = fetch_first;
    created->are_doubtful = are_doubtful;
    memcpy(created->own, ranges->ranges, size);
    *stream = &created->stream;
    return COLANDER_OK;
}

/* ------------------------------------------------------------- put off --- */

static enum colander_code
locate(struct stream *stream, struct colander_error *err)
{
    struct part_stream *part = (struct part_stream *)stream;
    struct piece_answers pieces = {.answers = NULL};
    enum colander_code code =
        part_find(part->filter, part->part, stream->find->request->query,
                  &part->hints, &pieces, NULL, &part->located, err);

    piece_answers_release(&pieces);
    if (code != COLANDER_OK)
        return code;
    row_ranges_clip(&part->located, part->bounds.first, part->bounds.end);
    part->ranges = part->located.ranges;
    part->range_count = part->located.count;
    stream->is_put_off = false;
    stream->next = next_part_key;
    return next_part_key(stream, err);
}

static enum colander_code
tell_bound(struct stream *stream, struct colander_error *err)
{
    const struct part_stream *part = (struct part_stream *)stream;
    const struct stream_find *find = stream->find;
    const bool is_reverse = find->request->is_reverse;
    const struct colander_slice end = is_reverse ? find->until : find->from;

    (void)err;
    stream->key = is_reverse ? part->part->last_key : part->part->first_key;
    if (end.size != 0 &&
        (colander_slice_compare(stream->key, end) > 0) == is_reverse)
        stream->key = end;
    stream->is_put_off = true;
    stream->next = locate;
    return COLANDER_OK;
}

enum colander_code
stream_put_off(const struct stream_find *find, struct sst_file *file,
               uint32_t index, const struct hash_hints *hints,
               const struct row_range *bounds, struct stream **stream,
               struct colander_error *err)
{
    struct part_stream *created = make_part(find, file, index, 0);

    *stream = NULL;
    if (created == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a find");
    created->hints = *hints;
    created->bounds = *bounds;
    created->stream.next = tell_bound;
    *stream = &created->stream;
    return COLANDER_OK;
}

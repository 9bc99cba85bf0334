/*
 * Streams of parts: rows that a filter points to.
 *
 * Runs of one or two rows whose keys the filter has are given by those keys,
 * and no SST is read. Longer runs, and runs of files that have an anchor for
 * each segment only, are read from the SST itself.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filters/row_keys.h"
#include "filters/stream.h"

#include <stdlib.h>

/* So many rows are cheaper to verify one by one than to look at first. */
#define ROWS_BY_KEY 2

struct part_stream {
    struct stream stream;
    const struct filter *filter;
    const struct filter_part *part;
    size_t place;      /* runs begun, in the order of the find */
    uint32_t row;      /* the next row of the run under way, by key */
    uint32_t row_left; /* so many of them */

    /* keys of rows and anchors */
    struct cached_block *block;
    uint32_t block_first; /* its first unit */
    uint32_t block_count;
    struct row_keys_reader keys;

    /* the segment under way, if `is_reading` */
    struct sst *sst;
    struct sst_cursor *cursor;
    bool is_reading;
    struct colander_buffer low;  /* its keys are not below this */
    struct colander_buffer high; /* and below this */

    size_t range_count;
    struct row_range ranges[]; /* runs of rows, ascending */
};

static void
close_part(struct stream *stream)
{
    struct part_stream *part = (struct part_stream *)stream;

    sst_cursor_close(part->cursor);
    sst_close(part->sst);
    row_keys_reader_release(&part->keys);
    block_cache_release(part->filter->cache, part->block);
    colander_buffer_release(&part->low);
    colander_buffer_release(&part->high);
    free(part);
}

/* ----------------------------------------------------------------- keys --- */

/* Leaves the key of a unit in part->keys.key. */
static enum colander_code
read_unit_key(struct part_stream *part, uint32_t unit,
              struct colander_error *err)
{
    enum colander_code code;

    if (part->block == NULL || unit < part->block_first ||
        unit - part->block_first >= part->block_count) {
        block_cache_release(part->filter->cache, part->block);
        part->block = NULL;
        code = filter_file_block(part->filter->file, part->filter->cache,
                                 part->part, FILTER_KEYS, unit, &part->block,
                                 &part->block_first, err);
        if (code != COLANDER_OK)
            return code;
        part->block_count = row_keys_count(part->block->bytes);
        if (unit - part->block_first >= part->block_count)
            return COLANDER_FAIL(err, COLANDER_CORRUPT,
                                 "a filter lacks the key of a row");
    }
    code = row_keys_seek(&part->keys, part->block->bytes,
                         unit - part->block_first, err);
    return code == COLANDER_OK ? row_keys_next(&part->keys, err) : code;
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

static enum colander_code
open_sst(struct part_stream *part, struct colander_error *err)
{
    const struct stream_find *find = part->stream.find;
    enum colander_code code;

    if (part->cursor != NULL)
        return COLANDER_OK;
    code = sst_open(find->filters->engine, part->stream.file->number,
                    &part->sst, err);
    if (code == COLANDER_OK)
        code = sst_cursor_open(part->sst, find->request->snapshot,
                               find->request->is_reverse, &part->cursor, err);
    return code;
}

/* Fills `low` and `high` with the bounds of the keys of a run of rows. */
static enum colander_code
find_bounds(struct part_stream *part, const struct row_range *range,
            struct colander_error *err)
{
    const struct locator_shape *shape = &part->part->shape;
    const struct colander_slice last = part->part->last_key;
    enum colander_code code;

    code = copy_unit_key(part, range->first / shape->fine, &part->low, err);
    if (code != COLANDER_OK)
        return code;
    if (range->end < shape->row_count)
        return copy_unit_key(part, (range->end + shape->fine - 1) / shape->fine,
                             &part->high, err);
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
    enum colander_code code = open_sst(part, err);

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
    sst_cursor_seek(part->cursor, start);
    part->is_reading = true;
    find->request->explain->segments_read++;
    return COLANDER_OK;
}

/* Whether a key is past the segment, in the order of the find, or past the
 * find's range: reading began inside both. */
static bool
is_past(const struct part_stream *part, struct colander_slice key)
{
    return colander_slice_compare(key, colander_buffer_slice(&part->low)) < 0 ||
           colander_slice_compare(key, colander_buffer_slice(&part->high)) >=
               0 ||
           !stream_has_key(part->stream.find, key);
}

/* Gives the next row of the segment that matches; at its end is_reading is
 * false. */
static enum colander_code
read_segment(struct part_stream *part, struct colander_error *err)
{
    const struct candidate_request *request = part->stream.find->request;
    enum colander_code code = COLANDER_OK;
    bool is_match = false;

    while (code == COLANDER_OK && !is_match) {
        struct colander_slice key;
        struct colander_slice row;

        if (atomic_load_explicit(request->is_cancelled, memory_order_relaxed))
            return COLANDER_FAIL(err, COLANDER_CANCELLED,
                                 "the find was cancelled");
        code = sst_cursor_next(part->cursor, &key, &row, err);
        if (code != COLANDER_OK)
            break;
        if (key.data == NULL || is_past(part, key)) {
            part->is_reading = false;
            break;
        }
        request->explain->rows_read++;
        request->explain->bytes_read += row.size;
        part->stream.key = key;
        code = colander_predicate_evaluate(request->where, row, &is_match, NULL,
                                           err);
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

/* Gives the next row of the run by its key. */
static enum colander_code
give_row(struct part_stream *part, struct colander_error *err)
{
    enum colander_code code = read_unit_key(part, part->row, err);

    part->row_left--;
    if (part->stream.find->request->is_reverse)
        part->row--;
    else
        part->row++;
    if (code == COLANDER_OK)
        part->stream.key = colander_buffer_slice(&part->keys.key);
    return code;
}

static enum colander_code
next_part_key(struct stream *stream, struct colander_error *err)
{
    struct part_stream *part = (struct part_stream *)stream;
    const bool is_reverse = stream->find->request->is_reverse;
    enum colander_code code = COLANDER_OK;
    struct row_range range;

    while (code == COLANDER_OK) {
        if (part->is_reading) {
            code = read_segment(part, err);
            if (code != COLANDER_OK || part->is_reading)
                return code;
        } else if (part->row_left > 0) {
            code = give_row(part, err);
            if (code == COLANDER_OK &&
                stream_has_key(stream->find, stream->key))
                return code;
        } else if (!next_range(part, &range)) {
            stream->key = colander_slice_of(NULL, 0);
            return COLANDER_OK;
        } else if (part->part->shape.fine == 1 &&
                   range.end - range.first <= ROWS_BY_KEY) {
            part->row_left = range.end - range.first;
            part->row = is_reverse ? range.end - 1 : range.first;
        } else {
            code = begin_segment(part, &range, err);
        }
    }
    return code;
}

enum colander_code
stream_open_part(const struct stream_find *find, struct sst_file *file,
                 uint32_t index, const struct row_ranges *ranges,
                 struct stream **stream, struct colander_error *err)
{
    const size_t size = ranges->count * sizeof(*ranges->ranges);
    struct part_stream *made = malloc(sizeof(*made) + size);

    *stream = NULL;
    if (made == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a find");
    memset(made, 0, sizeof(*made));
    made->stream.find = find;
    made->stream.next = next_part_key;
    made->stream.close = close_part;
    made->stream.file = file;
    made->filter = file->filter;
    made->part = filter_file_part(file->filter->file, index);
    made->range_count = ranges->count;
    memcpy(made->ranges, ranges->ranges, size);
    *stream = &made->stream;
    return COLANDER_OK;
}

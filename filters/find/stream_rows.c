/*
 * Streams of whole sources: an SST without a usable filter, and the rows that
 * are in no SST yet.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/engine.h"
#include "core/zeroed.h"
#include "filters/find/stream.h"

#include <stdlib.h>

struct rows_stream {
    struct stream stream;
    struct sst *sst; /* NULL: unflushed rows, or not opened yet */
    struct engine_cursor *cursor;
};

bool
stream_has_key(const struct stream_find *find, struct colander_slice key)
{
    return (find->from.size == 0 ||
            colander_slice_compare(key, find->from) >= 0) &&
           (find->until.size == 0 ||
            colander_slice_compare(key, find->until) < 0);
}

enum colander_code
stream_open_cursor(const struct stream_find *find, const struct sst_file *file,
                   struct sst **sst, struct engine_cursor **cursor,
                   struct colander_error *err)
{
    enum colander_code code =
        sst_open(find->filters->engine, file->number, sst, err);

    if (code != COLANDER_OK)
        return code;
    return sst_cursor_open(*sst, find->request->snapshot,
                           find->request->is_reverse, cursor, err);
}

enum colander_code
stream_evaluate(const struct stream_find *find, struct colander_slice row,
                bool *is_match, struct colander_error *err)
{
    const struct candidate_request *request = find->request;

    if (atomic_load_explicit(request->is_cancelled, memory_order_relaxed))
        return COLANDER_FAIL(err, COLANDER_CANCELLED, "the find was cancelled");
    request->explain->rows_read++;
    request->explain->bytes_read += row.size;
    return colander_predicate_evaluate(request->where, row, is_match, NULL,
                                       err);
}

static void
close_rows(struct stream *stream)
{
    struct rows_stream *rows = (struct rows_stream *)stream;

    engine_cursor_close(rows->cursor);
    sst_close(rows->sst);
    free(rows);
}

/* Opens the SST and seeks to the start of the find. */
static enum colander_code
open_sst(struct rows_stream *rows, struct colander_error *err)
{
    const struct stream_find *find = rows->stream.find;
    enum colander_code code = stream_open_cursor(
        find, rows->stream.file, &rows->sst, &rows->cursor, err);

    if (code != COLANDER_OK)
        return code;
    return find->request->is_reverse
               ? engine_cursor_seek(rows->cursor, find->until, true, err)
               : engine_cursor_seek(rows->cursor, find->from, false, err);
}

static enum colander_code
step_rows(struct rows_stream *rows, bool *is_row, struct colander_slice *key,
          struct colander_slice *row, struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    if (rows->cursor == NULL)
        code = open_sst(rows, err);
    if (code == COLANDER_OK)
        code = engine_cursor_next(rows->cursor, is_row, key, row, err);
    return code;
}

static enum colander_code
next_row(struct stream *stream, struct colander_error *err)
{
    struct rows_stream *rows = (struct rows_stream *)stream;
    enum colander_code code = COLANDER_OK;
    bool is_match = false;

    while (code == COLANDER_OK && !is_match) {
        struct colander_slice row;
        bool is_row;

        code = step_rows(rows, &is_row, &stream->key, &row, err);
        if (code != COLANDER_OK || !is_row)
            break;
        if (!stream_has_key(stream->find, stream->key)) {
            stream->key = colander_slice_of(NULL, 0); /* seeking began inside
                                                       * the range */
            break;
        }
        code = stream_evaluate(stream->find, row, &is_match, err);
    }
    return code;
}

static struct rows_stream *
make_rows(const struct stream_find *find)
{
    struct rows_stream *created = zeroed(sizeof(*created));

    if (created == NULL)
        return NULL;
    created->stream.find = find;
    created->stream.next = next_row;
    created->stream.close = close_rows;
    return created;
}

enum colander_code
stream_open_sst(const struct stream_find *find, struct sst_file *file,
                struct stream **stream, struct colander_error *err)
{
    struct rows_stream *created = make_rows(find);

    *stream = NULL;
    if (created == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a find");
    created->stream.file = file;
    *stream = &created->stream;
    return COLANDER_OK;
}

enum colander_code
stream_open_unflushed(const struct stream_find *find, struct stream **stream,
                      struct colander_error *err)
{
    const struct candidate_request *request = find->request;
    const struct engine_cursor_options options = {
        .snapshot = request->snapshot,
        .from = find->from,
        .until = find->until,
        .is_reverse = request->is_reverse,
    };
    struct rows_stream *created = make_rows(find);
    enum colander_code code;

    *stream = NULL;
    if (created == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a find");
    code = engine_unflushed_cursor_open(request->family, &options,
                                        &created->cursor, err);
    if (code != COLANDER_OK) {
        close_rows(&created->stream);
        return code;
    }
    *stream = &created->stream;
    return COLANDER_OK;
}

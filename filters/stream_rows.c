/*
 * Streams of whole sources: an SST without a usable filter, and the rows that
 * no SST holds yet.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filters/stream.h"

#include <stdlib.h>

struct rows_stream {
    struct stream stream;
    struct sst *sst;
    struct sst_cursor *sst_cursor;
    struct colander_engine_cursor *unflushed; /* or this */
};

bool
stream_has_key(const struct stream_find *find, struct colander_slice key)
{
    return (find->from.size == 0 ||
            colander_slice_compare(key, find->from) >= 0) &&
           (find->until.size == 0 ||
            colander_slice_compare(key, find->until) < 0);
}

static void
close_rows(struct stream *stream)
{
    struct rows_stream *rows = (struct rows_stream *)stream;

    sst_cursor_close(rows->sst_cursor);
    sst_close(rows->sst);
    colander_engine_cursor_close(rows->unflushed);
    free(rows);
}

/* Opens the SST, and seeks to where the find begins. */
static enum colander_code
open_sst(struct rows_stream *rows, struct colander_error *err)
{
    const struct stream_find *find = rows->stream.find;
    const struct candidate_request *request = find->request;
    enum colander_code code;

    code = sst_open(find->filters->engine, rows->stream.file->number,
                    &rows->sst, err);
    if (code == COLANDER_OK)
        code = sst_cursor_open(rows->sst, request->snapshot,
                               request->is_reverse, &rows->sst_cursor, err);
    if (code == COLANDER_OK)
        sst_cursor_seek(rows->sst_cursor,
                        request->is_reverse ? find->until : find->from);
    return code;
}

static enum colander_code
step_rows(struct rows_stream *rows, struct colander_slice *key,
          struct colander_slice *row, struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    if (rows->unflushed != NULL)
        return colander_engine_cursor_next(rows->unflushed, key, row, err);
    if (rows->sst_cursor == NULL)
        code = open_sst(rows, err);
    if (code == COLANDER_OK)
        code = sst_cursor_next(rows->sst_cursor, key, row, err);
    return code;
}

static enum colander_code
next_row(struct stream *stream, struct colander_error *err)
{
    struct rows_stream *rows = (struct rows_stream *)stream;
    const struct candidate_request *request = stream->find->request;
    enum colander_code code = COLANDER_OK;
    bool is_match = false;

    while (code == COLANDER_OK && !is_match) {
        struct colander_slice row;

        if (atomic_load_explicit(request->is_cancelled, memory_order_relaxed))
            return COLANDER_FAIL(err, COLANDER_CANCELLED,
                                 "the find was cancelled");
        code = step_rows(rows, &stream->key, &row, err);
        if (code != COLANDER_OK || stream->key.data == NULL)
            break;
        if (!stream_has_key(stream->find, stream->key)) {
            stream->key = colander_slice_of(NULL, 0); /* sought at the start */
            break;
        }
        request->explain->rows_read++;
        request->explain->bytes_read += row.size;
        code = colander_predicate_evaluate(request->where, row, &is_match, NULL,
                                           err);
    }
    return code;
}

static struct rows_stream *
make_rows(const struct stream_find *find)
{
    struct rows_stream *made = calloc(1, sizeof(*made));

    if (made == NULL)
        return NULL;
    made->stream.find = find;
    made->stream.next = next_row;
    made->stream.close = close_rows;
    return made;
}

enum colander_code
stream_open_sst(const struct stream_find *find, struct sst_file *file,
                struct stream **stream, struct colander_error *err)
{
    struct rows_stream *made = make_rows(find);

    *stream = NULL;
    if (made == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a find");
    made->stream.file = file;
    *stream = &made->stream;
    return COLANDER_OK;
}

enum colander_code
stream_open_unflushed(const struct stream_find *find, struct stream **stream,
                      struct colander_error *err)
{
    const struct candidate_request *request = find->request;
    const struct colander_engine_cursor_options options = {
        .snapshot = request->snapshot,
        .from = find->from,
        .until = find->until,
        .is_reverse = request->is_reverse,
    };
    struct rows_stream *made = make_rows(find);
    enum colander_code code;

    *stream = NULL;
    if (made == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a find");
    code = engine_unflushed_cursor_open(request->family, &options,
                                        &made->unflushed, err);
    if (code != COLANDER_OK) {
        close_rows(&made->stream);
        return code;
    }
    *stream = &made->stream;
    return COLANDER_OK;
}

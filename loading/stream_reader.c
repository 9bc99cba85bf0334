/*
 * Stream reader: a chunk gets records until it is full, or until it is awaited
 * and there is none at the moment: so a record that comes alone is written at
 * once, and of many each chunk has many.
 *
 * SPDX-License-Identifier: MIT
 */
#include "loading/stream_reader.h"

#include <stdio.h>

#define IDLE_MS 100 /* how long a chunk without a record waits for one */
#define MORE_MS 5   /* and one with records, while others are written */

struct stream_reader {
    const struct colander_load_options *options;
    struct ring *ring;
    struct chunk *chunk; /* being filled */
    bool is_end;
    struct colander_error *err; /* of the chunk */
    char reason[120];           /* why the last record is rejected */
};

/* Adds a record. One that is too large is rejected; its beginning is kept. A
 * row as it is stored may be larger than the record was, or have grown. */
static enum colander_code
add_record(struct stream_reader *reader, struct colander_load_record *record)
{
    const size_t size_max = record->operation == COLANDER_LOAD_OPERATION_ROW
                                ? COLANDER_JSON_SIZE_MAX
                                : reader->options->record_size;
    struct colander_slice *text =
        record->is_null ? &record->key : &record->value;
    const size_t size = text->size;
    struct chunk *chunk = reader->chunk;
    enum colander_code code;

    if (text->size > size_max) {
        (void)snprintf(reader->reason, sizeof(reader->reason),
                       "the record has %zu bytes, more than the record size of "
                       "%zu bytes",
                       text->size, size_max);
        text->size = size_max;
        record->fault = reader->reason;
    }
    if (text->size >= CHUNK_SIZE && !ring_await_others(reader->ring))
        return COLANDER_FAIL(reader->err, COLANDER_CANCELLED, "cancelled");
    if (record->key.size > size_max) /* too long for a key */
        record->key.size = size_max;
    code = chunk_add_record(
        chunk, record, reader->options->stream->partition_by > 0, reader->err);
    if (code == COLANDER_OK && size > size_max)
        chunk->rejects[chunk->reject_count - 1].size = size;
    return code;
}

/* Whether the chunk takes no more records. If rows that are there stay, they
 * are looked up before a chunk is written, so a change is the last of its own:
 * the next one sees it. A retain is, as it deletes what is written. */
static bool
is_full(const struct stream_reader *reader)
{
    const enum colander_load_duplicates duplicates =
        reader->options->duplicates;
    const struct chunk *chunk = reader->chunk;

    return chunk->text.size >= CHUNK_SIZE ||
           (chunk->piece_count > 0 &&
            chunk->pieces[chunk->piece_count - 1].operation ==
                COLANDER_LOAD_OPERATION_RETAIN) ||
           (chunk->has_changes && (duplicates == COLANDER_LOAD_KEEP ||
                                   duplicates == COLANDER_LOAD_REJECT));
}

/* How long to wait for the next record. */
static unsigned
wait_ms(const struct stream_reader *reader)
{
    if (reader->chunk->piece_count == 0)
        return IDLE_MS;
    return ring_is_idle(reader->ring) ? 0 : MORE_MS;
}

/* Adds records until the chunk is full or awaited. *is_stopped: the ring is. */
static enum colander_code
fill(struct stream_reader *reader, bool *is_stopped)
{
    const struct colander_load_stream *stream = reader->options->stream;
    struct chunk *chunk = reader->chunk;
    enum colander_code code = COLANDER_OK;
    bool found = false;

    while (code == COLANDER_OK && !reader->is_end && !is_full(reader)) {
        const bool is_empty = chunk->piece_count == 0;
        const bool is_more = found; /* then another one may be there, too */
        struct colander_load_record record = {.fault = NULL};

        code = stream->next(stream->context, is_more ? 0 : wait_ms(reader),
                            &record, &found, &reader->is_end, reader->err);
        if (code == COLANDER_OK && found) {
            code = add_record(reader, &record);
            chunk->is_broken = code != COLANDER_OK;
        }
        if (found || is_more || code != COLANDER_OK)
            continue;
        if (!is_empty)
            return code;
        *is_stopped = !ring_await_others(reader->ring);
        if (*is_stopped)
            return code;
    }
    return code;
}

/* Adds the marks to be written with the records, whose failure stays. */
static enum colander_code
add_marks(struct stream_reader *reader)
{
    const struct colander_load_stream *stream = reader->options->stream;
    const struct colander_error failure = *reader->err;
    enum colander_code code = COLANDER_OK;
    struct colander_slice value;
    struct colander_slice name;
    bool found = true;

    while (code == COLANDER_OK && found) {
        code =
            stream->mark(stream->context, &name, &value, &found, reader->err);
        if (code == COLANDER_OK && found)
            code = chunk_add_mark(reader->chunk, name, value, reader->err);
    }
    reader->chunk->is_broken = code != COLANDER_OK;
    if (code == COLANDER_OK)
        *reader->err = failure;
    return code;
}

/* Fills one chunk. Returns false if it was the last, or the ring is stopped. */
static bool
fill_one(struct stream_reader *reader)
{
    struct chunk *chunk = ring_take_free(reader->ring);
    bool is_stopped = false;
    bool is_last;
    enum colander_code code;

    if (chunk == NULL)
        return false;
    reader->chunk = chunk;
    reader->err = &chunk->failure;
    code = fill(reader, &is_stopped);
    if (is_stopped)
        return false;
    chunk->failure.code = code;
    if (!chunk->is_broken && add_marks(reader) != COLANDER_OK)
        code = chunk->failure.code;
    chunk->has_end = true;
    is_last = code != COLANDER_OK || reader->is_end;
    chunk->is_last = is_last;
    /* now owned by another thread */
    ring_put(reader->ring, chunk, CHUNK_FILLED);
    return !is_last;
}

void
stream_reader_run(const struct colander_load_options *options,
                  struct ring *ring)
{
    struct stream_reader reader = {.options = options, .ring = ring};

    while (fill_one(&reader))
        continue;
}

/*
 * Reader: a chunk gets the rest of the previous one and more of the file, and
 * is split. The text after its last record moves to the next chunk. If CSV has
 * long names, a chunk takes less text, because rows repeat them. A record
 * larger than a chunk makes the chunk grow, up to the record size. Beyond that
 * the splitter abandons the record, and the rest of it passes in chunks of its
 * bytes only.
 *
 * SPDX-License-Identifier: MIT
 */
#include "loading/reader.h"

#include <inttypes.h>

struct reader {
    struct source *source;
    const struct colander_load_options *options;
    struct ring *ring;
    struct chunk *chunk; /* being filled */
    size_t cut;          /* bytes of its text that are in records */
    size_t rows_size;    /* of the rows of them, approximately */
    size_t names_size;   /* CSV: what the names add to each row */
    bool is_in_rest;     /* of a record that was abandoned */
    bool is_finished;    /* there is no more to split */
    bool is_closed;      /* the chunk takes no more records */
    bool is_broken;      /* the chunk lacks a piece */
    bool has_keys;       /* the schema says what the key is */
    struct colander_buffer key;
    struct colander_error *err; /* of the chunk */
};

/* --------------------------------------------------------------- pieces --- */

/* Generates a key, in case the record has none. */
static enum colander_code
add_key(struct reader *reader)
{
    struct chunk *chunk = reader->chunk;
    enum colander_code code = colander_key_generate(&reader->key, reader->err);

    if (code == COLANDER_OK)
        code = colander_buffer_append(&chunk->keys, reader->key.data,
                                      reader->key.size, reader->err);
    chunk->key_size = reader->key.size;
    return code;
}

/* Adds a piece; one that is not a record is rejected for `reason`. */
static enum colander_code
add_piece(struct reader *reader, enum piece_kind kind,
          const struct split_record *ended, const char *reason)
{
    struct chunk *chunk = reader->chunk;
    struct piece piece = {.kind = kind};
    enum colander_code code = COLANDER_OK;

    piece.offset = ended->record.data == NULL
                       ? (uint32_t)reader->cut
                       : (uint32_t)(ended->record.data - chunk->text.data);
    piece.size = (uint32_t)ended->record.size;
    if (kind != PIECE_RECORD)
        code = chunk_add_reject(chunk, chunk->piece_count, ended->at, reason,
                                reader->err);
    if (code == COLANDER_OK)
        code = chunk_add_piece(chunk, &piece, reader->err);
    if (code == COLANDER_OK && kind == PIECE_RECORD && !reader->has_keys)
        code = add_key(reader);
    if (code != COLANDER_OK)
        reader->is_broken = true;
    reader->cut += ended->size;
    reader->rows_size += ended->size + reader->names_size;
    return code;
}

static struct colander_slice
uncut(const struct reader *reader)
{
    const struct colander_buffer *text = &reader->chunk->text;

    if (text->size == 0) /* its data may be NULL */
        return colander_slice_of(NULL, 0);
    return colander_slice_of(text->data + reader->cut,
                             text->size - reader->cut);
}

/* Takes a record that ended. */
static enum colander_code
add_ended(struct reader *reader, enum split split,
          const struct split_record *ended, const char *reason)
{
    if (reader->is_in_rest) {
        reader->is_in_rest = false;
        return add_piece(reader, PIECE_REST, ended, "");
    }
    if (split == SPLIT_BAD)
        return add_piece(reader, PIECE_BAD, ended, reason);
    return add_piece(reader, PIECE_RECORD, ended, NULL);
}

/* Abandons the record that begins `text`, because it is too large. */
static enum colander_code
abandon(struct reader *reader, struct colander_slice text)
{
    struct split_record ended;
    struct colander_error reason;
    enum piece_kind kind = reader->is_in_rest ? PIECE_REST : PIECE_BAD;

    if (splitter_give_up(&reader->source->splitter, text, &ended, &reason))
        return add_ended(reader, SPLIT_BAD, &ended, reason.message);
    (void)COLANDER_FAIL(&reason, COLANDER_LIMIT,
                        "the record is larger than the record size of %zu "
                        "bytes",
                        reader->options->record_size);
    ended.record = colander_slice_of(text.data, ended.size);
    ended.at = 0;
    reader->is_in_rest = true;
    return add_piece(reader, kind, &ended, reason.message);
}

/* Whether the text is the last line without a line end: the program that writes
 * the file may not have finished it. */
static bool
is_unended(const struct reader *reader, struct colander_slice text)
{
    const struct source *source = reader->source;

    return source->is_end && source->splitter.format == RECORDS_JSONL &&
           !reader->is_in_rest && text.size > 0 &&
           memchr(text.data, '\n', text.size) == NULL;
}

/* Splits the end of a JSON file, after the last record that ends. If a record
 * begins there, the program that writes the file may not have finished it.
 * *split stays MORE if it needs a separate chunk. */
static void
cut_unended(struct reader *reader, struct colander_slice text,
            enum split *split, struct split_record *ended,
            struct colander_error *reason)
{
    struct splitter *splitter = &reader->source->splitter;

    if (text.size > ended->size && !reader->is_in_rest) {
        reader->is_closed = reader->cut + ended->size > 0;
        if (reader->is_closed)
            return;
        reader->chunk->is_unended = true;
    }
    reader->cut += ended->size;
    if (ended->size > 0)
        text =
            colander_slice_of(text.data + ended->size, text.size - ended->size);
    *split = splitter_next(splitter, text, true, ended, reason);
}

/* Ends the load where no record can be found any more: `at` is the byte of the
 * chunk at fault. */
static enum colander_code
stop_at(const struct reader *reader, size_t at,
        const struct colander_error *reason)
{
    const struct chunk *chunk = reader->chunk;
    struct chunk_spot spot = {0, chunk->line, chunk->line_offset};

    chunk_spot_move(&spot, chunk, at);
    return COLANDER_FAIL(reader->err, COLANDER_CORRUPT,
                         "line %" PRIu64 ", column %" PRIu64
                         ": %s, so the next record cannot be found; repair the "
                         "file there",
                         spot.line, chunk->offset + at - spot.begin + 1,
                         reason->message);
}

/* Cuts off what comes next, of which the splitter sees no more than the largest
 * record and a byte that ends it: so the same ones are too large however much
 * was read at once. *is_over: nothing more ends in the text. */
static enum colander_code
cut_next(struct reader *reader, bool *is_over)
{
    struct source *source = reader->source;
    struct colander_slice text = uncut(reader);
    const size_t seen_max = reader->options->record_size + 1;
    const bool sees_all = text.size <= seen_max;
    const bool is_end = source->is_end && sees_all;
    const bool is_json = source->splitter.format == RECORDS_JSON;
    struct split_record ended;
    struct colander_error reason;
    enum split split;

    if (is_unended(reader, text)) {
        reader->is_closed = reader->cut > 0; /* it needs a separate chunk */
        if (reader->is_closed)
            return COLANDER_OK;
        reader->chunk->is_unended = true;
    }
    if (!sees_all)
        text.size = seen_max;
    split = splitter_next(&source->splitter, text, is_end && !is_json, &ended,
                          &reason);
    if (split == SPLIT_MORE && is_end)
        cut_unended(reader, text, &split, &ended, &reason);
    if (split == SPLIT_RECORD || split == SPLIT_BAD)
        return add_ended(reader, split, &ended, reason.message);
    if (split == SPLIT_BROKEN) {
        reader->cut += ended.size;
        return stop_at(reader, reader->cut + ended.at, &reason);
    }
    if (!sees_all && ended.size == 0) {
        /* its pieces have no resume point and need a separate chunk */
        reader->is_closed = reader->cut > 0 && !reader->is_in_rest;
        return reader->is_closed ? COLANDER_OK : abandon(reader, text);
    }
    reader->cut += ended.size;
    reader->is_finished = split == SPLIT_END;
    *is_over = sees_all;
    return COLANDER_OK;
}

/* Whether there is room for more. */
static bool
has_room(const struct reader *reader)
{
    return !reader->is_closed && reader->cut < CHUNK_SIZE &&
           reader->rows_size < CHUNK_ROWS_SIZE;
}

/* Splits the text into records, but not more than a chunk of what was read for
 * a large record. */
static enum colander_code
cut_text(struct reader *reader)
{
    enum colander_code code = COLANDER_OK;
    bool is_over = false;

    while (code == COLANDER_OK && !is_over && has_room(reader))
        code = cut_next(reader, &is_over);
    return code;
}

/* --------------------------------------------------------------- chunks --- */

/* Whether other threads wait for what was read, or a read would wait. */
static bool
is_awaited(const struct reader *reader)
{
    return ring_is_idle(reader->ring) ||
           input_would_wait(reader->source->input);
}

/* Whether the chunk has enough, or is awaited. */
static bool
is_full(const struct reader *reader)
{
    if (reader->cut == 0)
        return false;
    return reader->chunk->text.size >= CHUNK_SIZE || !has_room(reader) ||
           is_awaited(reader);
}

/* How much to read: up to a chunk, or, where one record does not fit it, as
 * much again. 0: the ring was stopped. */
static size_t
read_size(struct reader *reader)
{
    size_t size = reader->chunk->text.size;

    if (size < CHUNK_SIZE)
        return CHUNK_SIZE - size;
    return ring_await_others(reader->ring) ? size : 0;
}

/* Splits what was read before a read failed, and keeps the failure. */
static enum colander_code
cut_before_failure(struct reader *reader)
{
    const struct colander_error failure = *reader->err;
    enum colander_code code = cut_text(reader);

    if (code == COLANDER_OK)
        *reader->err = failure;
    return reader->err->code;
}

/* Reads and splits until the chunk is full. */
static enum colander_code
fill(struct reader *reader)
{
    struct chunk *chunk = reader->chunk;
    struct source *source = reader->source;
    enum colander_code code = cut_text(reader);

    while (code == COLANDER_OK && !reader->is_finished && !is_full(reader)) {
        size_t size = read_size(reader);

        if (size == 0)
            return COLANDER_OK;
        code = source_read(source, &chunk->text, size, reader->err);
        if (code != COLANDER_OK)
            return cut_before_failure(reader);
        if (chunk->text.size >= CHUNK_SIZE || source->is_end ||
            is_awaited(reader))
            code = cut_text(reader);
    }
    return code;
}

/* Moves the text after the last record to the next chunk. */
static enum colander_code
leave_rest(struct reader *reader)
{
    struct colander_slice rest = uncut(reader);
    struct colander_buffer *text = &reader->source->text;
    enum colander_code code;

    colander_buffer_clear(text);
    code = colander_buffer_append(text, rest.data, rest.size, reader->err);
    reader->chunk->text.size = reader->cut;
    return code;
}

/* Of a chunk that lacks a piece, for want of memory, no row is written: the
 * load ends before it, and goes on there when it is resumed. */
static void
forget_pieces(struct reader *reader)
{
    reader->cut = 0;
    reader->chunk->piece_count = 0;
    reader->chunk->reject_count = 0;
    colander_buffer_clear(&reader->chunk->keys);
}

/* Fills one chunk. Returns false if it was the last, or the ring stopped. */
static bool
fill_one(struct reader *reader)
{
    struct source *source = reader->source;
    struct chunk *chunk = ring_take_free(reader->ring);
    enum colander_code code;
    bool is_last;

    if (chunk == NULL)
        return false;
    reader->chunk = chunk;
    reader->cut = 0;
    reader->rows_size = 0;
    reader->is_closed = false;
    reader->is_broken = false;
    reader->err = &chunk->failure;
    chunk->offset = source->offset;
    chunk->line = source->line_number;
    chunk->line_offset = source->line_offset;
    code = colander_buffer_append(&chunk->text, source->text.data,
                                  source->text.size, reader->err);
    if (code == COLANDER_OK)
        code = fill(reader);
    if (reader->is_broken)
        forget_pieces(reader);
    if (code == COLANDER_OK)
        code = leave_rest(reader);
    else
        chunk->text.size = reader->cut;
    source_pass(source, colander_buffer_slice(&chunk->text));
    chunk->end_offset = source->offset;
    chunk->end_line = source->line_number;
    chunk->end_line_offset = source->line_offset;
    chunk->end_state = splitter_state(&source->splitter);
    chunk->has_end = !reader->is_in_rest && !reader->is_broken;
    if (code == COLANDER_OK)
        chunk->failure.code = COLANDER_OK;
    is_last = code != COLANDER_OK || reader->is_finished;
    chunk->is_last = is_last;
    /* now owned by another thread */
    ring_put(reader->ring, chunk, CHUNK_FILLED);
    return !is_last;
}

void
reader_run(struct source *source, const struct colander_load_options *options,
           struct ring *ring)
{
    struct reader reader = {.source = source, .options = options, .ring = ring};

    reader.has_keys =
        options->schema != NULL &&
        (options->schema->key.count > 0 || options->schema->hashes);
    if (source->header != NULL)
        reader.names_size = csv_header_names_size(source->header);
    while (fill_one(&reader))
        continue;
    colander_buffer_release(&reader.key);
}

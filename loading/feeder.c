/*
 * Feeder: see feeder.h.
 *
 * A chunk is filled with what the last one left over, and more of the file,
 * then cut: what is behind its last record goes to the next chunk. Short
 * records of CSV, whose names may be long, fill it with less text. A record
 * that is larger than a chunk makes it grow, up to the largest that is
 * allowed. Beyond that the splitter gives the record up, and the rest of it
 * goes by in chunks that hold nothing else.
 *
 * SPDX-License-Identifier: MIT
 */
#include "loading/feeder.h"

struct feeder {
    struct source *source;
    const struct loading_options *options;
    struct ring *ring;
    struct chunk *chunk; /* being filled */
    size_t cut;          /* of its text, all that is in records */
    size_t rows_size;    /* of the rows that they become, at most about */
    size_t names_size;   /* of CSV: what a row has beside the record */
    bool is_in_rest;     /* of a record that was given up */
    bool is_finished;    /* nothing is left to cut */
    bool is_closed;      /* the chunk: no more goes into it */
    bool is_broken;      /* the chunk: it lacks a piece */
    bool has_keys;       /* the schema names the columns of the key */
    struct colander_buffer key;
    struct colander_error *err; /* of the chunk */
};

/* --------------------------------------------------------------- pieces --- */

/* Makes a key for a record that may have none. */
static enum colander_code
add_key(struct feeder *feeder)
{
    struct chunk *chunk = feeder->chunk;
    enum colander_code code = colander_key_generate(&feeder->key, feeder->err);

    if (code == COLANDER_OK)
        code = colander_buffer_append(&chunk->keys, feeder->key.data,
                                      feeder->key.size, feeder->err);
    chunk->key_size = feeder->key.size;
    return code;
}

static enum colander_code
add_piece(struct feeder *feeder, enum piece_kind kind,
          const struct split_record *ended, const char *reason)
{
    struct chunk *chunk = feeder->chunk;
    struct piece piece = {.kind = kind};
    enum colander_code code = COLANDER_OK;

    piece.offset = ended->record.data == NULL
                       ? (uint32_t)feeder->cut
                       : (uint32_t)(ended->record.data - chunk->text.data);
    piece.size = (uint32_t)ended->record.size;
    piece.fault = (uint32_t)ended->at;
    if (reason != NULL)
        code = chunk_add_reason(chunk, reason, &piece.reason, feeder->err);
    if (code == COLANDER_OK)
        code = chunk_add_piece(chunk, &piece, feeder->err);
    if (code == COLANDER_OK && kind == PIECE_RECORD && !feeder->has_keys)
        code = add_key(feeder);
    if (code != COLANDER_OK)
        feeder->is_broken = true;
    feeder->cut += ended->size;
    feeder->rows_size += ended->size + feeder->names_size;
    return code;
}

static struct colander_slice
uncut(const struct feeder *feeder)
{
    const struct colander_buffer *text = &feeder->chunk->text;

    if (text->size == 0) /* where nothing was read yet it has no bytes */
        return colander_slice_of(NULL, 0);
    return colander_slice_of(text->data + feeder->cut,
                             text->size - feeder->cut);
}

/* Takes a record that ended. */
static enum colander_code
add_ended(struct feeder *feeder, enum split split,
          const struct split_record *ended, const char *reason)
{
    if (feeder->is_in_rest) {
        feeder->is_in_rest = false;
        return add_piece(feeder, PIECE_REST, ended, NULL);
    }
    if (split == SPLIT_BAD)
        return add_piece(feeder, PIECE_BAD, ended, reason);
    return add_piece(feeder, PIECE_RECORD, ended, NULL);
}

/* Gives up the record that begins `text`, which is too large: as a whole, or
 * piece by piece. */
static enum colander_code
give_up(struct feeder *feeder, struct colander_slice text)
{
    struct split_record ended;
    struct colander_error reason;
    enum piece_kind kind = feeder->is_in_rest ? PIECE_REST : PIECE_BAD;

    if (splitter_give_up(&feeder->source->splitter, text, &ended, &reason))
        return add_ended(feeder, SPLIT_BAD, &ended, reason.message);
    (void)COLANDER_FAIL(&reason, COLANDER_LIMIT,
                        "the record is over %zu bytes (see --record-size)",
                        feeder->options->record_size);
    ended.record = colander_slice_of(text.data, ended.size);
    ended.at = 0;
    feeder->is_in_rest = true;
    return add_piece(feeder, kind, &ended,
                     kind == PIECE_BAD ? reason.message : NULL);
}

/* Whether the text is the last line, and has no end yet: who writes the file
 * may not be through with it. */
static bool
is_unended(const struct feeder *feeder, struct colander_slice text)
{
    const struct source *source = feeder->source;

    return source->is_end && source->splitter.format == RECORDS_JSONL &&
           !feeder->is_in_rest && text.size > 0 &&
           memchr(text.data, '\n', text.size) == NULL;
}

/* Cuts off what comes next, of which the splitter sees no more than the largest
 * record and a byte that ends it: so the same ones are too large however much
 * was read at once. *is_over: nothing more ends in the text. */
static enum colander_code
cut_next(struct feeder *feeder, bool *is_over)
{
    struct source *source = feeder->source;
    struct colander_slice text = uncut(feeder);
    const size_t seen_max = feeder->options->record_size + 1;
    const bool sees_all = text.size <= seen_max;
    struct split_record ended;
    struct colander_error reason;
    enum split split;

    if (is_unended(feeder, text)) {
        feeder->is_closed = feeder->cut > 0; /* it has a chunk of its own */
        if (feeder->is_closed)
            return COLANDER_OK;
        feeder->chunk->is_unended = true;
    }
    if (!sees_all)
        text.size = seen_max;
    split = splitter_next(&source->splitter, text, source->is_end && sees_all,
                          &ended, &reason);
    if (split == SPLIT_RECORD || split == SPLIT_BAD)
        return add_ended(feeder, split, &ended, reason.message);
    if (!sees_all && ended.size == 0) {
        /* behind its first pieces is no place: no row goes with them */
        feeder->is_closed = feeder->cut > 0 && !feeder->is_in_rest;
        return feeder->is_closed ? COLANDER_OK : give_up(feeder, text);
    }
    feeder->cut += ended.size;
    feeder->is_finished = split == SPLIT_END;
    *is_over = sees_all;
    return COLANDER_OK;
}

/* Whether there is room for more. */
static bool
has_room(const struct feeder *feeder)
{
    return !feeder->is_closed && feeder->cut < CHUNK_SIZE &&
           feeder->rows_size < CHUNK_ROWS_SIZE;
}

/* Cuts the text into records, up to where none ends; of what was read for a
 * large record no more than a chunk. */
static enum colander_code
cut_text(struct feeder *feeder)
{
    enum colander_code code = COLANDER_OK;
    bool is_over = false;

    while (code == COLANDER_OK && !is_over && has_room(feeder))
        code = cut_next(feeder, &is_over);
    return code;
}

/* --------------------------------------------------------------- chunks --- */

/* Whether the chunk has enough, or nobody should wait for more. */
static bool
is_full(struct feeder *feeder)
{
    if (feeder->cut == 0)
        return false;
    return feeder->chunk->text.size >= CHUNK_SIZE || !has_room(feeder) ||
           ring_is_idle(feeder->ring);
}

/* How much to read: up to a chunk, or, where one record does not fit it, as
 * much again. 0: the ring was stopped. */
static size_t
read_size(struct feeder *feeder)
{
    size_t size = feeder->chunk->text.size;

    if (size < CHUNK_SIZE)
        return CHUNK_SIZE - size;
    return ring_await_others(feeder->ring) ? size : 0;
}

/* Cuts what was read before a read that failed; the failure stays. */
static enum colander_code
cut_before_failure(struct feeder *feeder)
{
    const struct colander_error failure = *feeder->err;
    enum colander_code code = cut_text(feeder);

    if (code == COLANDER_OK)
        *feeder->err = failure;
    return feeder->err->code;
}

/* Reads and cuts until the chunk is full. */
static enum colander_code
fill(struct feeder *feeder)
{
    struct chunk *chunk = feeder->chunk;
    struct source *source = feeder->source;
    enum colander_code code = cut_text(feeder);

    while (code == COLANDER_OK && !feeder->is_finished && !is_full(feeder)) {
        size_t size = read_size(feeder);

        if (size == 0)
            return COLANDER_OK;
        code = source_read(source, &chunk->text, size, feeder->err);
        if (code != COLANDER_OK)
            return cut_before_failure(feeder);
        if (chunk->text.size >= CHUNK_SIZE || source->is_end ||
            ring_is_idle(feeder->ring))
            code = cut_text(feeder);
    }
    return code;
}

/* Takes what is not cut out of the chunk, for the next one. */
static enum colander_code
leave_rest(struct feeder *feeder)
{
    struct colander_slice rest = uncut(feeder);
    struct colander_buffer *text = &feeder->source->text;
    enum colander_code code;

    colander_buffer_clear(text);
    code = colander_buffer_append(text, rest.data, rest.size, feeder->err);
    feeder->chunk->text.size = feeder->cut;
    return code;
}

/* Of a chunk that lacks a piece, for want of memory, no row is written: the
 * load ends before it, and goes on there when it is resumed. */
static void
forget_pieces(struct feeder *feeder)
{
    feeder->cut = 0;
    feeder->chunk->piece_count = 0;
    colander_buffer_clear(&feeder->chunk->keys);
}

/* Fills one chunk; false: it was the last, or nobody wants more. */
static bool
feed_one(struct feeder *feeder)
{
    struct source *source = feeder->source;
    struct chunk *chunk = ring_take_empty(feeder->ring);
    enum colander_code code;
    bool is_last;

    if (chunk == NULL)
        return false;
    feeder->chunk = chunk;
    feeder->cut = 0;
    feeder->rows_size = 0;
    feeder->is_closed = false;
    feeder->is_broken = false;
    feeder->err = &chunk->failure;
    chunk->offset = source->offset;
    chunk->line = source->line_number;
    chunk->line_offset = source->line_offset;
    code = colander_buffer_append(&chunk->text, source->text.data,
                                  source->text.size, feeder->err);
    if (code == COLANDER_OK)
        code = fill(feeder);
    if (feeder->is_broken)
        forget_pieces(feeder);
    if (code == COLANDER_OK)
        code = leave_rest(feeder);
    else
        chunk->text.size = feeder->cut;
    source_pass(source, colander_buffer_slice(&chunk->text));
    chunk->end_offset = source->offset;
    chunk->end_line = source->line_number;
    chunk->end_line_offset = source->line_offset;
    chunk->end_state = splitter_state(&source->splitter);
    chunk->has_end = !feeder->is_in_rest && !feeder->is_broken;
    if (code == COLANDER_OK)
        chunk->failure.code = COLANDER_OK;
    is_last = code != COLANDER_OK || feeder->is_finished;
    chunk->is_last = is_last;
    ring_fill(feeder->ring, chunk); /* it is another's now */
    return !is_last;
}

void
feeder_run(struct source *source, const struct loading_options *options,
           struct ring *ring)
{
    struct feeder feeder = {.source = source, .options = options, .ring = ring};

    feeder.has_keys = options->schema != NULL && options->schema->key.count > 0;
    if (source->header != NULL)
        feeder.names_size = csv_header_names_size(source->header);
    while (feed_one(&feeder))
        continue;
    colander_buffer_release(&feeder.key);
}

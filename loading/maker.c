/*
 * Maker: see maker.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "loading/maker.h"
#include "loading/rows.h"

#include <stdio.h>

bool
maker_keeps_rows(const struct loading_options *options)
{
    return options->is_bulk || options->duplicates != LOADING_REPLACE;
}

/* Whether the record is to blame, and not the world. */
static bool
is_of_record(enum colander_code code)
{
    return code == COLANDER_INVALID || code == COLANDER_LIMIT;
}

/* A batch says which family a row was for: here that goes without saying. */
static void
drop_family(const struct maker *maker, struct colander_error *reason)
{
    char lead[300]; /* a name has 255 bytes at most */

    (void)snprintf(lead, sizeof(lead),
                   "family '%s': ", colander_family_name(maker->family));
    reason_drop(reason, lead);
}

/* Adds a row to the batch, or to those that wait. */
static enum colander_code
add_row(const struct maker *maker, struct chunk *chunk, size_t piece,
        const struct made_row *made, struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    if (maker_keeps_rows(maker->options)) {
        if (!made->is_checked)
            code = colander_row_check(made->row, err);
        return code == COLANDER_OK
                   ? chunk_add_waiting(chunk, piece, made->key, made->row, err)
                   : code;
    }
    if (chunk->batch == NULL)
        code = colander_batch_create(maker->store, &chunk->batch, err);
    if (code == COLANDER_OK && made->is_checked)
        code = colander_batch_put_checked(chunk->batch, maker->family,
                                          made->key, made->row, err);
    else if (code == COLANDER_OK)
        code = colander_batch_put(chunk->batch, maker->family, made->key,
                                  made->row, err);
    if (is_of_record(code))
        drop_family(maker, err);
    return code;
}

/* Makes a row of one record: `index` counts those in the chunk. */
static enum colander_code
make_one(const struct maker *maker, struct rows *rows, struct chunk *chunk,
         size_t piece, size_t index, struct colander_error *err)
{
    struct made_row made;
    enum colander_code code =
        rows_make(rows, chunk_piece(chunk, &chunk->pieces[piece]), &made, err);

    if (code == COLANDER_OK && !made.has_key)
        made.key = colander_slice_of(chunk->keys.data + index * chunk->key_size,
                                     chunk->key_size);
    if (code == COLANDER_OK)
        code = add_row(maker, chunk, piece, &made, err);
    if (is_of_record(code))
        code = chunk_add_reject(chunk, piece, made.fault, err->message, err);
    return code;
}

/* What the thread that cuts the text found to be no record. */
static enum colander_code
reject_bad(struct chunk *chunk, size_t piece, struct colander_error *err)
{
    struct reject reject = {(uint32_t)piece, chunk->pieces[piece].fault,
                            chunk->pieces[piece].reason};

    return chunk_reject(chunk, &reject, err);
}

static enum colander_code
make_rows(const struct maker *maker, struct rows *rows, struct chunk *chunk,
          struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;
    size_t index = 0;

    for (size_t i = 0; i < chunk->piece_count && code == COLANDER_OK; i++) {
        if (chunk->pieces[i].kind == PIECE_RECORD)
            code = make_one(maker, rows, chunk, i, index++, err);
        else
            code = reject_bad(chunk, i, err);
    }
    if (chunk->text.size > 2 * CHUNK_SIZE)
        rows_forget(rows);
    return code;
}

void
maker_run(const struct maker *maker)
{
    struct chunk *chunk;
    struct colander_error err;
    struct rows *rows = NULL;
    enum colander_code code =
        rows_create(maker->source->splitter.format, maker->source->header,
                    maker->options->schema, &rows, &err);

    while ((chunk = ring_take_filled(maker->ring)) != NULL) {
        if (code == COLANDER_OK)
            code = make_rows(maker, rows, chunk, &err);
        if (code != COLANDER_OK) { /* told with the first chunk, and the rest */
            chunk->failure = err;
            chunk->is_broken = true;
        }
        ring_make(maker->ring, chunk);
    }
    rows_destroy(rows);
}

/*
 * Writer: see writer.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "loading/writer.h"
#include "core/quiet_thread.h"
#include "loading/maker.h"
#include "loading/newcomers.h"
#include "loading/rejects.h"

#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

struct writer {
    struct colander_store *store;
    struct colander_family *family;
    const struct loading_options *options;
    struct loading_figures *figures;
    struct rejects rejects;
    struct colander_bulk *bulk;   /* of a bulk load */
    struct colander_batch *batch; /* of rows that waited; of a bulk load, the
                                   * places behind the files */
    struct newcomers *newcomers;  /* tells rows whose key is new */

    const struct source *source; /* of the chunks to come */
    struct colander_slice mark_name;
    struct place place;
    struct place_tail tail; /* before it */
    bool ends_line;         /* rejects are lines */
};

enum colander_code
writer_create(struct colander_store *store, struct colander_family *family,
              const struct loading_options *options, uint64_t rejects_size,
              struct loading_figures *figures, struct writer **writer,
              struct colander_error *err)
{
    struct writer *made = calloc(1, sizeof(*made));
    enum colander_code code;

    *writer = NULL;
    if (made == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a load");
    made->store = store;
    made->family = family;
    made->options = options;
    made->figures = figures;
    code = colander_batch_create(store, &made->batch, err);
    if (code == COLANDER_OK && options->is_bulk)
        code = colander_bulk_create(family, &made->bulk, err);
    if (code == COLANDER_OK)
        code = newcomers_create(family, &made->newcomers, err);
    if (code == COLANDER_OK)
        code =
            rejects_open(&made->rejects, options->rejects, rejects_size, err);
    if (code == COLANDER_OK)
        *writer = made;
    else
        writer_destroy(made);
    return code;
}

void
writer_destroy(struct writer *writer)
{
    if (writer == NULL)
        return;
    rejects_close(&writer->rejects);
    colander_bulk_destroy(writer->bulk);
    colander_batch_destroy(writer->batch);
    newcomers_destroy(writer->newcomers);
    free(writer);
}

/* Whether the last of the rejects are those of the place's file. */
static bool
ends_rejects(const struct writer *writer, const struct place *place)
{
    return place->reject_count > 0 && place->rejects_size > 0 &&
           place->rejects_size == writer->rejects.size;
}

enum colander_code
writer_begin_file(struct writer *writer, const struct source *source,
                  struct colander_slice mark_name, const struct place *place,
                  struct colander_error *err)
{
    writer->source = source;
    writer->mark_name = mark_name;
    memset(&writer->place, 0, sizeof(writer->place));
    if (place != NULL)
        writer->place = *place;
    writer->place.bulk_key_size = 0; /* from now on it is no bulk's */
    writer->place.format = (uint64_t)source->splitter.format;
    writer->tail = source->tail;
    writer->ends_line = source->splitter.format != RECORDS_MSGPACK;
    return rejects_set_header(
        &writer->rejects, colander_buffer_slice(&source->line),
        place != NULL && ends_rejects(writer, place), err);
}

/* -------------------------------------------------------------- rejects --- */

/* A byte of a chunk's text, and the line that it is on. */
struct spot {
    size_t at;
    uint64_t line;
    uint64_t begin; /* where that begins in the file */
};

/* Moves on to byte `at`; back only to the chunk's beginning. */
static void
spot_move(struct spot *spot, const struct chunk *chunk, size_t at)
{
    const uint8_t *text = chunk->text.data;

    if (at < spot->at)
        *spot = (struct spot){0, chunk->line, chunk->line_offset};
    for (size_t i = spot->at; i < at; i++) {
        if (text[i] == '\n') {
            spot->begin = chunk->offset + i + 1;
            spot->line++;
        }
    }
    spot->at = at;
}

static void
complain(const struct writer *writer, const struct chunk *chunk,
         const struct reject *reject, struct spot *spot)
{
    const struct loading_options *options = writer->options;
    const struct piece *piece = &chunk->pieces[reject->piece];
    char text[PATH_MAX + sizeof(((struct colander_error *)0)->message)];

    if (options->complain == NULL)
        return;
    spot_move(spot, chunk, piece->offset + reject->fault);
    snprintf(text, sizeof(text), "%s:%" PRIu64 ":%" PRIu64 ": %s",
             writer->source->file, spot->line,
             chunk->offset + spot->at - spot->begin + 1,
             (const char *)chunk->reasons.data + reject->reason);
    options->complain(options->context, text, true);
}

/* Tells and keeps what was rejected. */
static enum colander_code
put_rejects(struct writer *writer, const struct chunk *chunk,
            struct colander_error *err)
{
    struct spot spot = {0, chunk->line, chunk->line_offset};
    enum colander_code code = COLANDER_OK;

    for (size_t i = 0; i < chunk->reject_count && code == COLANDER_OK; i++) {
        const struct reject *reject = &chunk->rejects[i];
        const struct piece *piece = &chunk->pieces[reject->piece];
        bool goes_on = reject->piece + 1 < chunk->piece_count
                           ? piece[1].kind == PIECE_REST
                           : !chunk->has_end;

        if (piece->kind != PIECE_REST) {
            writer->figures->reject_count++;
            writer->place.reject_count++;
            complain(writer, chunk, reject, &spot);
        }
        code = rejects_put(&writer->rejects, chunk_piece(chunk, piece),
                           writer->ends_line && !goes_on, err);
    }
    return code == COLANDER_OK ? rejects_flush(&writer->rejects, err) : code;
}

/* ----------------------------------------------------------------- rows --- */

static enum colander_code
reject_known(struct writer *writer, struct chunk *chunk,
             const struct waiting_row *waiting, struct colander_slice key,
             struct colander_error *err)
{
    struct colander_buffer text = COLANDER_BUFFER_EMPTY;
    struct colander_error reason;
    enum colander_code code;

    if (writer->options->duplicates == LOADING_KEEP) {
        writer->figures->kept_count++;
        return COLANDER_OK;
    }
    code = colander_json_append_key(&text, key, err);
    if (code == COLANDER_OK) {
        (void)COLANDER_FAIL(&reason, COLANDER_INVALID,
                            "a row with the key %.*s is there already",
                            text.size < 200 ? (int)text.size : 200,
                            (const char *)text.data);
        code = chunk_add_reject(chunk, waiting->piece, 0, reason.message, err);
    }
    colander_buffer_release(&text);
    return code;
}

/* Adds a row to the bulk; the first of a file is to be known by its place. */
static enum colander_code
add_to_bulk(struct writer *writer, struct colander_slice key,
            struct colander_slice row, struct colander_error *err)
{
    struct place *place = &writer->place;
    enum colander_code code =
        colander_bulk_add_checked(writer->bulk, key, row, err);

    if (code == COLANDER_OK && place->bulk_key_size == 0) {
        memcpy(place->bulk_key, key.data, key.size); /* not over the limit */
        place->bulk_key_size = key.size;
    }
    return code;
}

/* Adds a row that waited to where it goes. */
static enum colander_code
take_row(struct writer *writer, struct chunk *chunk, size_t index,
         struct colander_slice key, struct colander_slice row,
         struct colander_error *err)
{
    const struct waiting_row *waiting = &chunk->waiting[index];
    struct colander_batch *batch = writer->batch;
    enum colander_code code;

    if (writer->bulk != NULL)
        code = add_to_bulk(writer, key, row, err);
    else if (writer->options->duplicates == LOADING_PATCH)
        code = colander_batch_patch(batch, writer->family, key, row, err);
    else if (newcomers_has(writer->newcomers, index))
        code = colander_batch_put_checked(batch, writer->family, key, row, err);
    else
        return reject_known(writer, chunk, waiting, key, err);
    if (code == COLANDER_INVALID || code == COLANDER_LIMIT)
        code = chunk_add_reject(chunk, waiting->piece, 0, err->message, err);
    return code;
}

/* Adds the rows that waited to the batch, or to the bulk: those for which there
 * is a place. */
static enum colander_code
take_waiting(struct writer *writer, struct chunk *chunk,
             struct colander_error *err)
{
    const enum loading_duplicates duplicates = writer->options->duplicates;
    const uint8_t *at = chunk->waiting_bytes.data;
    enum colander_code code = COLANDER_OK;

    if (duplicates == LOADING_KEEP || duplicates == LOADING_REJECT)
        code = newcomers_find(writer->newcomers, chunk, err);
    for (size_t i = 0; i < chunk->waiting_count && code == COLANDER_OK; i++) {
        const struct waiting_row *waiting = &chunk->waiting[i];
        struct colander_slice key = colander_slice_of(at, waiting->key_size);
        struct colander_slice row =
            colander_slice_of(at + waiting->key_size, waiting->row_size);

        at += waiting->key_size + waiting->row_size;
        code = take_row(writer, chunk, i, key, row, err);
    }
    return code;
}

/* ---------------------------------------------------------------- place --- */

/* The place behind the chunk. */
static void
move_place(struct writer *writer, const struct chunk *chunk)
{
    struct place *place = &writer->place;

    place->offset = chunk->end_offset;
    place->line = chunk->end_line;
    place->line_offset = chunk->end_line_offset;
    place->state = chunk->end_state;
    place->rejects_size = writer->rejects.size;
    place->is_end = chunk->is_last && chunk->failure.code == COLANDER_OK;
    place_tail_append(&writer->tail, colander_buffer_slice(&chunk->text));
    place_set_tail(place, &writer->tail);
}

/* Whether the place behind the chunk is one to go on from: not behind half a
 * line, which another load may find whole. */
static bool
is_place(const struct writer *writer, const struct chunk *chunk)
{
    if (chunk->is_unended && chunk->reject_count > 0 &&
        !writer->options->is_bulk)
        return false;
    return chunk->has_end && !writer->options->has_no_place;
}

/* Writes what is in the batch, and the place. */
static enum colander_code
commit(struct writer *writer, struct colander_batch *batch,
       const struct chunk *chunk, struct colander_error *err)
{
    const struct loading_options *options = writer->options;
    const size_t count = colander_batch_count(batch);
    enum colander_code code = COLANDER_OK;

    writer->place.row_count += count;
    if (options->is_bulk &&
        (!writer->place.is_end || writer->place.bulk_key_size == 0))
        return COLANDER_OK;
    if (is_place(writer, chunk))
        code = place_mark(&writer->place, batch, writer->family,
                          writer->mark_name, err);
    if (options->is_bulk)
        return code;
    if (code == COLANDER_OK && colander_batch_count(batch) > 0)
        code = colander_batch_commit(batch, COLANDER_AS_STORE, err);
    if (code == COLANDER_OK)
        writer->figures->row_count += count;
    else
        writer->place.row_count -= count;
    return code;
}

/* Patches row by row, where a batch of them failed: some became too large. What
 * is patched twice, after a crash, is as if it had been once. */
static enum colander_code
patch_singly(struct writer *writer, struct chunk *chunk,
             struct colander_error *err)
{
    struct colander_batch *batch = writer->batch;
    const uint8_t *at = chunk->waiting_bytes.data;
    enum colander_code code = COLANDER_OK;

    for (size_t i = 0; i < chunk->waiting_count && code == COLANDER_OK; i++) {
        const struct waiting_row *waiting = &chunk->waiting[i];

        colander_batch_clear(batch);
        code = colander_batch_patch(
            batch, writer->family, colander_slice_of(at, waiting->key_size),
            colander_slice_of(at + waiting->key_size, waiting->row_size), err);
        if (code == COLANDER_OK)
            code = colander_batch_commit(batch, COLANDER_AS_STORE, err);
        if (code == COLANDER_OK) {
            writer->figures->row_count++;
            writer->place.row_count++;
        } else if (code == COLANDER_INVALID || code == COLANDER_LIMIT) {
            code =
                chunk_add_reject(chunk, waiting->piece, 0, err->message, err);
        }
        at += waiting->key_size + waiting->row_size;
    }
    colander_batch_clear(batch);
    return code;
}

/* --------------------------------------------------------------- chunks --- */

static int
compare_rejects(const void *a, const void *b)
{
    const struct reject *first = a;
    const struct reject *second = b;

    return (first->piece > second->piece) - (first->piece < second->piece);
}

/* Writes the rows, and makes a list of those that could not be. */
static enum colander_code
put_rows(struct writer *writer, struct chunk *chunk, struct colander_error *err)
{
    const bool waits = maker_keeps_rows(writer->options);
    struct colander_batch *batch =
        waits || chunk->batch == NULL ? writer->batch : chunk->batch;
    enum colander_code code = COLANDER_OK;

    if (waits)
        code = take_waiting(writer, chunk, err);
    if (chunk->reject_count > 1)
        qsort(chunk->rejects, chunk->reject_count, sizeof(*chunk->rejects),
              compare_rejects);
    if (code == COLANDER_OK)
        code = put_rejects(writer, chunk, err);
    move_place(writer, chunk);
    if (code == COLANDER_OK)
        code = commit(writer, batch, chunk, err);
    if (writer->options->duplicates == LOADING_PATCH &&
        (code == COLANDER_INVALID || code == COLANDER_LIMIT)) {
        chunk->reject_count = 0; /* those were told */
        code = patch_singly(writer, chunk, err);
        if (code == COLANDER_OK)
            code = put_rejects(writer, chunk, err);
        writer->place.rejects_size = writer->rejects.size;
        if (code == COLANDER_OK)
            code = commit(writer, batch, chunk, err);
    }
    return code;
}

enum colander_code
writer_chunk(struct writer *writer, struct chunk *chunk,
             struct colander_error *err)
{
    struct loading_figures *figures = writer->figures;
    enum colander_code code;

    if (chunk->is_broken) {
        *err = chunk->failure;
        return err->code;
    }
    code = put_rows(writer, chunk, err);
    figures->text_size += chunk->text.size;
    if (code == COLANDER_OK && chunk->failure.code != COLANDER_OK) {
        *err = chunk->failure;
        code = err->code;
    }
    if (code == COLANDER_OK &&
        figures->reject_count > writer->options->errors_max)
        code =
            COLANDER_FAIL(err, COLANDER_LIMIT, "more than %" PRIu64 " rejected",
                          writer->options->errors_max);
    return code;
}

/* ----------------------------------------------------------------- bulk --- */

/* A commit of a bulk that runs in a thread of its own, so that it can be looked
 * at and stopped. */
struct bulk_commit {
    struct colander_bulk *bulk;
    enum colander_code code;
    struct colander_error err;
    uint64_t row_count;
};

static void *
commit_bulk(void *context)
{
    struct bulk_commit *commit = context;

    commit->code =
        colander_bulk_commit(commit->bulk, &commit->row_count, &commit->err);
    return NULL;
}

/* Whether the thread ended, within a moment. */
static bool
has_ended(pthread_t thread)
{
    struct timespec until;

    (void)clock_gettime(CLOCK_REALTIME, &until); /* every Linux has it */
    until.tv_nsec += 100000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    return pthread_timedjoin_np(thread, NULL, &until) == 0;
}

static void
show_bulk(struct writer *writer)
{
    const struct loading_options *options = writer->options;
    struct colander_bulk_progress progress;

    if (options->stops != NULL && atomic_load(options->stops))
        colander_bulk_cancel(writer->bulk);
    colander_bulk_progress(writer->bulk, &progress);
    writer->figures->bulk_rows = progress.built_count;
    writer->figures->bulk_all = progress.added_count;
    if (options->progress != NULL)
        options->progress(options->context, writer->figures);
}

enum colander_code
writer_finish(struct writer *writer, struct colander_error *err)
{
    struct bulk_commit commit = {.bulk = writer->bulk};
    enum colander_code code = COLANDER_OK;
    pthread_t thread;
    int failed;

    /* Places count once there are rows: so they go first. */
    if (colander_batch_count(writer->batch) > 0)
        code = colander_batch_commit(writer->batch, COLANDER_SYNC, err);
    if (code != COLANDER_OK)
        return code;
    failed = quiet_thread_create(&thread, commit_bulk, &commit);
    if (failed != 0)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "cannot start a thread: %s", strerror(failed));
    while (!has_ended(thread))
        show_bulk(writer);
    writer->figures->row_count = commit.row_count;
    if (commit.code != COLANDER_OK)
        *err = commit.err;
    return commit.code;
}

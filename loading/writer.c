/* SPDX-License-Identifier: MIT */
#include "loading/writer.h"
#include "columns/unchecked.h"
#include "core/clock.h"
#include "core/thread.h"
#include "loading/key_tally.h"
#include "loading/new_keys.h"
#include "loading/parser.h"
#include "loading/rejects.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>

#define LACKING_MAX 1000 /* records without a key column: see check_keys */

struct writer {
    struct colander_store *store;
    struct colander_family *family;
    const struct colander_load_options *options;
    struct colander_load_stats *stats;
    struct rejects rejects;
    struct colander_bulk *bulk;   /* of a bulk load */
    struct colander_batch *batch; /* of rows that waited; of a bulk load, the
                                   * places behind the files */
    struct new_keys new_keys;     /* which waiting rows have a new key */
    struct key_tally tally;       /* how many rows have */
    uint64_t new_count;           /* of the chunk */
    uint64_t lacking_count;       /* records without the key columns, so far */
    bool has_key;                 /* another record was before */

    const struct source *source; /* of the chunks to come */
    struct colander_slice mark_name;
    struct resume_point point;
    struct resume_point_bytes tail; /* before it */
    struct resume_point_bytes head; /* of the records of the file */
    bool knows_head;                /* it was not opened in the middle */
    bool ends_line;                 /* rejects are lines */
};

/* Whether the keys of rows say which are new. A bulk says it at the end, and
 * rows that must be new are. */
static bool
counts_keys(const struct colander_load_options *options)
{
    return !options->is_bulk && (options->duplicates == COLANDER_LOAD_REPLACE ||
                                 options->duplicates == COLANDER_LOAD_PATCH);
}

enum colander_code
writer_create(struct colander_store *store, struct colander_family *family,
              const struct colander_load_options *options,
              uint64_t rejects_size, struct colander_load_stats *stats,
              struct writer **writer, struct colander_error *err)
{
    struct writer *created = calloc(1, sizeof(*created));
    enum colander_code code;

    *writer = NULL;
    if (created == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a load");
    created->store = store;
    created->family = family;
    created->options = options;
    created->stats = stats;
    code = colander_batch_create(store, &created->batch, err);
    if (code == COLANDER_OK && options->is_bulk)
        code = colander_bulk_create(family, &created->bulk, err);
    if (code == COLANDER_OK)
        code = rejects_open(&created->rejects, options->rejects, rejects_size,
                            err);
    if (code == COLANDER_OK && counts_keys(options))
        code = key_tally_begin(&created->tally, family, err);
    if (code == COLANDER_OK)
        *writer = created;
    else
        writer_destroy(created);
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
    new_keys_release(&writer->new_keys);
    key_tally_release(&writer->tally);
    free(writer);
}

/* Whether the file of rejects ends with rejects of the resume point's file. */
static bool
ends_rejects(const struct writer *writer, const struct resume_point *point)
{
    return point->reject_count > 0 && point->rejects_size > 0 &&
           point->rejects_size == writer->rejects.size;
}

enum colander_code
writer_begin_file(struct writer *writer, const struct source *source,
                  struct colander_slice mark_name,
                  const struct resume_point *point, struct colander_error *err)
{
    writer->source = source;
    writer->mark_name = mark_name;
    memset(&writer->point, 0, sizeof(writer->point));
    if (point != NULL)
        writer->point = *point;
    writer->point.bulk_key_size = 0;
    writer->point.format = (uint64_t)source->splitter.format;
    writer->point.sample_size = source->sample_size;
    writer->point.inode = input_inode(source->input);
    writer->tail = source->tail;
    writer->head = source->tail;
    /* up to that size, the first and the last bytes are the same */
    writer->knows_head = source->tail.size < RESUME_TAIL_MAX;
    writer->ends_line = source->splitter.format != RECORDS_MSGPACK;
    return rejects_set_header(
        &writer->rejects, colander_buffer_slice(&source->line),
        point != NULL && ends_rejects(writer, point), err);
}

/* -------------------------------------------------------------- rejects --- */

static void
report(const struct writer *writer, const struct chunk *chunk,
       const struct reject *reject, struct chunk_spot *spot)
{
    const struct colander_load_options *options = writer->options;
    const struct piece *piece = &chunk->pieces[reject->piece];
    struct colander_load_reject reported;

    if (options->report_reject == NULL)
        return;
    chunk_spot_move(spot, chunk, piece->offset + reject->fault);
    reported.file = writer->source->file;
    reported.line = spot->line;
    reported.column = chunk->offset + spot->at - spot->begin + 1;
    reported.reason = (const char *)chunk->reasons.data + reject->reason;
    options->report_reject(options->context, &reported);
}

/* Reports and keeps rejects. */
static enum colander_code
put_rejects(struct writer *writer, const struct chunk *chunk,
            struct colander_error *err)
{
    struct chunk_spot spot = {0, chunk->line, chunk->line_offset};
    enum colander_code code = COLANDER_OK;

    for (size_t i = 0; i < chunk->reject_count && code == COLANDER_OK; i++) {
        const struct reject *reject = &chunk->rejects[i];
        const struct piece *piece = &chunk->pieces[reject->piece];
        bool goes_on = reject->piece + 1 < chunk->piece_count
                           ? piece[1].kind == PIECE_REST
                           : !chunk->has_end;

        if (piece->kind != PIECE_REST) {
            writer->stats->reject_count++;
            writer->point.reject_count++;
            report(writer, chunk, reject, &spot);
        }
        code = rejects_put(&writer->rejects, chunk_piece(chunk, piece),
                           writer->ends_line && !goes_on, err);
    }
    return code == COLANDER_OK ? rejects_flush(&writer->rejects, err) : code;
}

/* ----------------------------------------------------------------- rows --- */

static enum colander_code
reject_known(struct writer *writer, struct chunk *chunk, size_t index,
             struct colander_error *err)
{
    struct colander_buffer text = COLANDER_BUFFER_EMPTY;
    struct colander_error reason;
    enum colander_code code;

    if (writer->options->duplicates == COLANDER_LOAD_KEEP) {
        writer->stats->kept_count++;
        return COLANDER_OK;
    }
    code =
        colander_json_append_key(&text, chunk_waiting_key(chunk, index), err);
    if (code == COLANDER_OK) {
        (void)COLANDER_FAIL(&reason, COLANDER_INVALID,
                            "there is already a row with the key %.*s",
                            text.size < 200 ? (int)text.size : 200,
                            (const char *)text.data);
        code = chunk_add_reject(chunk, chunk->waiting[index].piece, 0,
                                reason.message, err);
    }
    colander_buffer_release(&text);
    return code;
}

/* Adds a row to the bulk. The resume point has the key of the first one. */
static enum colander_code
add_to_bulk(struct writer *writer, struct colander_slice key,
            struct colander_slice row, struct colander_error *err)
{
    struct resume_point *point = &writer->point;
    enum colander_code code =
        colander_bulk_add_checked(writer->bulk, key, row, err);

    if (code == COLANDER_OK && point->bulk_key_size == 0) {
        memcpy(point->bulk_key, key.data, key.size); /* not over the limit */
        point->bulk_key_size = key.size;
    }
    return code;
}

/* Adds a waiting row to the bulk or the batch, or rejects it. */
static enum colander_code
take_row(struct writer *writer, struct chunk *chunk, size_t index,
         struct colander_error *err)
{
    const struct colander_slice key = chunk_waiting_key(chunk, index);
    const struct colander_slice row = chunk_waiting_row(chunk, index);
    struct colander_batch *batch = writer->batch;
    enum colander_code code;

    if (writer->bulk != NULL)
        code = add_to_bulk(writer, key, row, err);
    else if (writer->options->duplicates == COLANDER_LOAD_PATCH)
        code = colander_batch_patch(batch, writer->family, key, row, err);
    else if (writer->new_keys.is_new[index])
        code = colander_batch_put_checked(batch, writer->family, key, row, err);
    else
        return reject_known(writer, chunk, index, err);
    if (code == COLANDER_INVALID || code == COLANDER_LIMIT)
        code = chunk_add_reject(chunk, chunk->waiting[index].piece, 0,
                                err->message, err);
    return code;
}

/* Adds the waiting rows to the batch or the bulk. */
static enum colander_code
take_waiting(struct writer *writer, struct chunk *chunk,
             struct colander_error *err)
{
    const enum colander_load_duplicates duplicates =
        writer->options->duplicates;
    enum colander_code code = COLANDER_OK;

    if (duplicates == COLANDER_LOAD_KEEP || duplicates == COLANDER_LOAD_REJECT)
        code = new_keys_find(&writer->new_keys, writer->family, chunk, err);
    for (size_t i = 0; i < chunk->waiting_count && code == COLANDER_OK; i++)
        code = take_row(writer, chunk, i, err);
    return code;
}

/* --------------------------------------------------------- resume point --- */

/* Moves the resume point to the end of the chunk. */
static void
move_resume_point(struct writer *writer, const struct chunk *chunk)
{
    struct resume_point *point = &writer->point;

    point->offset = chunk->end_offset;
    point->line = chunk->end_line;
    point->line_offset = chunk->end_line_offset;
    point->state = chunk->end_state;
    point->rejects_size = writer->rejects.size;
    point->is_end = chunk->is_last && chunk->failure.code == COLANDER_OK;
    resume_point_tail_append(&writer->tail,
                             colander_buffer_slice(&chunk->text));
    resume_point_set_tail(point, &writer->tail);
    if (!writer->knows_head)
        return;
    resume_point_head_append(&writer->head,
                             colander_buffer_slice(&chunk->text));
    resume_point_set_head(point, &writer->head);
}

/* Whether a load can be resumed after the chunk: not after half a line, which
 * may be complete next time. */
static bool
is_resume_point(const struct writer *writer, const struct chunk *chunk)
{
    if (chunk->is_unended && chunk->reject_count > 0 &&
        !writer->options->is_bulk)
        return false;
    if (writer->options->follows && chunk->piece_count == 0)
        return false; /* after a header, as in any other file of the log */
    return chunk->has_end;
}

/* Writes the batch and the resume point. */
static enum colander_code
commit(struct writer *writer, struct colander_batch *batch,
       const struct chunk *chunk, struct colander_error *err)
{
    const struct colander_load_options *options = writer->options;
    const size_t count = colander_batch_count(batch);
    enum colander_code code = COLANDER_OK;

    writer->point.row_count += count;
    if (options->is_bulk &&
        (!writer->point.is_end || writer->point.bulk_key_size == 0))
        return COLANDER_OK;
    if (is_resume_point(writer, chunk))
        code = resume_point_mark(&writer->point, batch, writer->family,
                                 writer->mark_name, err);
    if (options->is_bulk)
        return code;
    if (code == COLANDER_OK && colander_batch_count(batch) > 0)
        code = colander_batch_commit(batch, NULL, err);
    if (code == COLANDER_OK) {
        writer->stats->row_count += count;
        writer->stats->new_count += writer->new_count;
        writer->stats->replaced_count += count - writer->new_count;
    } else {
        writer->point.row_count -= count;
    }
    return code;
}

/* Patches row by row after a batch failed because rows became too large.
 * Patching twice, after a crash, has the same effect as once. */
static enum colander_code
patch_singly(struct writer *writer, struct chunk *chunk,
             struct colander_error *err)
{
    struct colander_batch *batch = writer->batch;
    enum colander_code code = COLANDER_OK;

    for (size_t i = 0; i < chunk->waiting_count && code == COLANDER_OK; i++) {
        colander_batch_clear(batch);
        code = colander_batch_patch(batch, writer->family,
                                    chunk_waiting_key(chunk, i),
                                    chunk_waiting_row(chunk, i), err);
        if (code == COLANDER_OK)
            code = colander_batch_commit(batch, NULL, err);
        if (code == COLANDER_OK) {
            writer->stats->row_count++;
            writer->point.row_count++;
        } else if (code == COLANDER_INVALID || code == COLANDER_LIMIT) {
            code = chunk_add_reject(chunk, chunk->waiting[i].piece, 0,
                                    err->message, err);
        }
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

/* Fails if the first records of the load all lack the same column. Drops the
 * later rejects, which do not matter then. */
static enum colander_code
check_keys(struct writer *writer, struct chunk *chunk,
           struct colander_error *err)
{
    for (size_t i = 0; i < chunk->reject_count && !writer->has_key; i++) {
        const struct reject *reject = &chunk->rejects[i];

        writer->has_key = reject->piece != i; /* a row is before it */
        writer->lacking_count += reject->lacks_key && !writer->has_key;
        if (writer->lacking_count < LACKING_MAX)
            continue;
        chunk->reject_count = i + 1;
        return COLANDER_FAIL(
            err, COLANDER_INVALID, "the first 1,000 records have %s",
            (const char *)chunk->reasons.data + reject->reason);
    }
    writer->has_key |= chunk->reject_count < chunk->piece_count;
    return COLANDER_OK;
}

/* Counts the rows of the batch that have a new key. */
static enum colander_code
count_new(struct writer *writer, const struct chunk *chunk,
          const struct colander_batch *batch, struct colander_error *err)
{
    const size_t count = colander_batch_count(batch);
    enum colander_code code = COLANDER_OK;

    writer->new_count = count;
    if (counts_keys(writer->options) && writer->stats->knows_new) {
        code = key_tally_chunk(&writer->tally, chunk, &writer->new_count, err);
        /* others have a generated key */
        writer->new_count += count - chunk->waiting_count;
        writer->stats->knows_new = writer->tally.is_known;
    }
    return code;
}

/* Writes the rows and their rejects. */
static enum colander_code
put_rows(struct writer *writer, struct chunk *chunk, struct colander_error *err)
{
    const bool waits = parser_keeps_rows(writer->options);
    struct colander_batch *batch =
        waits || chunk->batch == NULL ? writer->batch : chunk->batch;
    enum colander_code code = COLANDER_OK;

    if (waits)
        code = take_waiting(writer, chunk, err);
    if (chunk->reject_count > 1)
        qsort(chunk->rejects, chunk->reject_count, sizeof(*chunk->rejects),
              compare_rejects);
    if (code == COLANDER_OK && writer->options->rejects_max >= LACKING_MAX)
        code = check_keys(writer, chunk, err);
    if (writer->lacking_count >= LACKING_MAX) {
        (void)put_rejects(writer, chunk, NULL); /* `err` is set */
        return code;
    }
    if (code == COLANDER_OK)
        code = put_rejects(writer, chunk, err);
    move_resume_point(writer, chunk);
    if (code == COLANDER_OK)
        code = count_new(writer, chunk, batch, err);
    if (code == COLANDER_OK)
        code = commit(writer, batch, chunk, err);
    if (writer->options->duplicates == COLANDER_LOAD_PATCH &&
        (code == COLANDER_INVALID || code == COLANDER_LIMIT)) {
        chunk->reject_count = 0; /* those were reported */
        writer->stats->knows_new = false;
        code = patch_singly(writer, chunk, err);
        if (code == COLANDER_OK)
            code = put_rejects(writer, chunk, err);
        writer->point.rejects_size = writer->rejects.size;
        if (code == COLANDER_OK)
            code = commit(writer, batch, chunk, err);
    }
    return code;
}

enum colander_code
writer_chunk(struct writer *writer, struct chunk *chunk,
             struct colander_error *err)
{
    struct colander_load_stats *stats = writer->stats;
    enum colander_code code;

    if (chunk->is_broken) {
        *err = chunk->failure;
        return err->code;
    }
    code = put_rows(writer, chunk, err);
    stats->text_size += chunk->text.size;
    if (code == COLANDER_OK && chunk->failure.code != COLANDER_OK) {
        *err = chunk->failure;
        code = err->code;
    }
    if (code == COLANDER_OK &&
        stats->reject_count > writer->options->rejects_max)
        code =
            COLANDER_FAIL(err, COLANDER_LIMIT, "more than %" PRIu64 " rejected",
                          writer->options->rejects_max);
    return code;
}

/* ----------------------------------------------------------------- bulk --- */

/* A commit of a bulk in a separate thread, so that it can be watched and
 * cancelled. */
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
    const struct timespec until = clock_after(CLOCK_REALTIME, 100);

    return pthread_timedjoin_np(thread, NULL, &until) == 0;
}

static void
show_bulk(struct writer *writer, const atomic_bool *is_cancelled)
{
    const struct colander_load_options *options = writer->options;
    struct colander_bulk_progress progress;

    if (atomic_load(is_cancelled))
        colander_bulk_cancel(writer->bulk);
    colander_bulk_progress(writer->bulk, &progress);
    writer->stats->bulk_rows = progress.built_count;
    writer->stats->bulk_all = progress.added_count;
    if (options->report_progress != NULL)
        options->report_progress(options->context, writer->stats);
}

enum colander_code
writer_finish(struct writer *writer, const atomic_bool *is_cancelled,
              struct colander_error *err)
{
    struct bulk_commit commit = {.bulk = writer->bulk};
    struct colander_bulk_progress progress;
    struct colander_write_options synced;
    enum colander_code code = COLANDER_OK;
    pthread_t thread;
    int failed;

    /* Resume points count only if there are rows, so they are written first. */
    colander_write_options_init(&synced);
    synced.durability = COLANDER_SYNC;
    if (colander_batch_count(writer->batch) > 0)
        code = colander_batch_commit(writer->batch, &synced, err);
    if (code != COLANDER_OK)
        return code;
    failed = thread_create(&thread, commit_bulk, &commit);
    if (failed != 0)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "cannot start a thread: %s", strerror(failed));
    while (!has_ended(thread))
        show_bulk(writer, is_cancelled);
    writer->stats->row_count = commit.row_count;
    writer->stats->new_count = commit.row_count;
    colander_bulk_progress(writer->bulk, &progress);
    writer->stats->replaced_count = progress.added_count - commit.row_count;
    if (commit.code != COLANDER_OK)
        *err = commit.err;
    return commit.code;
}

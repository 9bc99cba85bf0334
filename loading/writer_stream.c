/*
 * What of a stream goes into the store beside its rows: marks, and rejected
 * records. And what its records delete that retain.
 *
 * A retain deletes rows that were written before it, and none that come later.
 * It may take many batches, so it is a mark itself, written with the rows
 * before it and the place after it, and removed when it is done. A load that
 * finds one ends it before it reads on: those rows that are still there are
 * older than what comes then.
 *
 * Rejected records are written before the rows and marks of their chunk, which
 * may be in a run. If the program is killed between, they are read, rejected
 * and written again, under the same keys.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/runs.h"
#include "columns/utf8.h"
#include "loading/retain_record.h"
#include "loading/writer_inside.h"

#define KEPT_SIZE ((size_t)1 << 20) /* bytes of a rejected record */
#define RETAIN_MARK "retain"        /* a record whose deletes have begun */

enum colander_code
writer_stream_mark(struct writer *writer, const struct chunk *chunk,
                   struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;
    struct colander_slice value;
    struct colander_slice name;
    size_t at = 0;

    while (code == COLANDER_OK && chunk_next_mark(chunk, &at, &name, &value))
        code = writer->run != NULL
                   ? colander_run_mark(writer->run, name, value, err)
                   : colander_batch_mark(writer->batch, writer->family, name,
                                         value, err);
    if (code == COLANDER_OK && chunk->retains) /* it is not in a run */
        code = colander_batch_mark(
            writer->batch, writer->family, colander_slice_text(RETAIN_MARK),
            chunk_piece(chunk, &chunk->pieces[chunk->piece_count - 1]), err);
    return code;
}

/* --------------------------------------------------------------- retain --- */

/* Deletes the rows of a cursor, until the load is cancelled. */
static enum colander_code
delete_all(const struct writer *writer, struct colander_cursor *cursor,
           struct colander_changes *changes, struct colander_error *err)
{
    struct colander_result result;
    enum colander_code code = COLANDER_OK;
    bool is_row = true;

    while (code == COLANDER_OK && is_row) {
        code = colander_cursor_next(cursor, &is_row, &result, err);
        if (code == COLANDER_OK && is_row)
            code = colander_changes_add(changes, result.key, err);
        if (code == COLANDER_OK && atomic_load(writer->is_cancelled))
            code = COLANDER_FAIL(err, COLANDER_CANCELLED, "cancelled");
    }
    return code == COLANDER_OK ? colander_changes_commit(changes, err) : code;
}

static enum colander_code
delete_old(struct writer *writer, const struct colander_predicate *where,
           struct colander_error *err)
{
    const struct colander_slice none = {NULL, 0};
    struct colander_changes *changes = NULL;
    struct colander_cursor *cursor = NULL;
    struct colander_query query;
    enum colander_code code = colander_changes_create(
        writer->family, where, none, NULL, &changes, err);

    colander_query_init(&query);
    query.where = where;
    query.keys_only = true;
    if (code == COLANDER_OK)
        code = colander_family_find(writer->family, &query, &cursor, err);
    if (code == COLANDER_OK)
        code = delete_all(writer, cursor, changes, err);
    if (changes != NULL)
        writer->stats->expired_count += colander_changes_count(changes);
    colander_cursor_close(cursor);
    colander_changes_destroy(changes);
    return code;
}

/* Deletes, and then removes the mark: on disk, so that it is not there again
 * after a power failure when later rows are. */
static enum colander_code
retain(struct writer *writer, struct colander_slice record,
       struct colander_error *err)
{
    const struct colander_slice none = {NULL, 0};
    struct colander_predicate *where = NULL;
    struct colander_write_options options;
    enum colander_code code = retain_record_read(record, &where, err);

    colander_write_options_init(&options);
    options.durability = COLANDER_SYNC;
    if (code == COLANDER_OK)
        code = delete_old(writer, where, err);
    colander_predicate_destroy(where);
    colander_batch_clear(writer->batch);
    if (code == COLANDER_OK)
        code = colander_batch_mark(writer->batch, writer->family,
                                   colander_slice_text(RETAIN_MARK), none, err);
    return code == COLANDER_OK
               ? colander_batch_commit(writer->batch, &options, err)
               : code;
}

enum colander_code
writer_stream_retain(struct writer *writer, const struct chunk *chunk,
                     struct colander_error *err)
{
    writer->stats->retain_count++;
    return retain(writer,
                  chunk_piece(chunk, &chunk->pieces[chunk->piece_count - 1]),
                  err);
}

enum colander_code
colander_load_retains(struct colander_family *family, bool *retains,
                      struct colander_error *err)
{
    struct colander_buffer record = COLANDER_BUFFER_EMPTY;
    const enum colander_code code = colander_family_mark(
        family, colander_slice_text(RETAIN_MARK), &record, retains, err);

    colander_buffer_release(&record);
    return code;
}

enum colander_code
writer_stream_begin(struct writer *writer, struct colander_error *err)
{
    struct colander_buffer record = COLANDER_BUFFER_EMPTY;
    bool found = false;
    enum colander_code code = colander_family_mark(
        writer->family, colander_slice_text(RETAIN_MARK), &record, &found, err);

    if (code == COLANDER_OK && found)
        code = retain(writer, colander_buffer_slice(&record), err);
    colander_buffer_release(&record);
    if (code != COLANDER_OK)
        colander_error_context(err, "a retain that had begun");
    return code;
}

/* -------------------------------------------------------------- rejects --- */

/* Makes the row of a rejected record, borrowed from the builder. Text stays
 * readable. */
static enum colander_code
make_row(struct colander_row_builder *builder, const struct chunk *chunk,
         const struct reject *reject, struct colander_slice *row,
         struct colander_error *err)
{
    const struct colander_load_place *place = &chunk->places[reject->piece];
    struct colander_slice record =
        chunk_piece(chunk, &chunk->pieces[reject->piece]);
    const char *reason = (const char *)chunk->reasons.data + reject->reason;
    const int64_t ms = place->time_ms;

    colander_row_builder_add(builder, "reason", colander_text(reason));
    colander_row_builder_add(builder, "byte",
                             colander_unsigned((uint64_t)reject->fault + 1));
    colander_row_builder_add(
        builder, "time",
        colander_timestamp(ms / 1000, (uint32_t)(ms % 1000) * 1000000));
    colander_row_builder_add(
        builder, "size",
        colander_unsigned(reject->size > 0 ? reject->size : record.size));
    if (record.size > KEPT_SIZE)
        record.size = KEPT_SIZE;
    colander_row_builder_add(builder, "record",
                             colander_utf8_size(record) == record.size
                                 ? colander_string(record)
                                 : colander_binary(record));
    return colander_row_builder_finish(builder, row, err);
}

/* Adds a rejected record to the batch. */
static enum colander_code
add_reject(struct colander_batch *batch, struct colander_family *family,
           const struct chunk *chunk, const struct reject *reject,
           struct colander_error *err)
{
    struct colander_row_builder *builder = colander_row_builder_create();
    struct colander_buffer key = COLANDER_BUFFER_EMPTY;
    struct colander_slice row = {NULL, 0};
    enum colander_code code;

    if (builder == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for rejects");
    code = place_key(&chunk->places[reject->piece], false, &key, err);
    if (code == COLANDER_OK)
        code = make_row(builder, chunk, reject, &row, err);
    if (code == COLANDER_OK)
        code = colander_batch_put(batch, family, colander_buffer_slice(&key),
                                  row, err);
    colander_buffer_release(&key);
    colander_row_builder_destroy(builder);
    return code;
}

enum colander_code
writer_stream_rejects(struct writer *writer, const struct chunk *chunk,
                      struct colander_error *err)
{
    struct colander_write_options options;
    struct colander_batch *batch = NULL;
    enum colander_code code = COLANDER_OK;

    if (chunk->reject_count == 0)
        return COLANDER_OK;
    colander_write_options_init(&options);
    if (writer->run != NULL || writer->options->syncs)
        options.durability = COLANDER_SYNC; /* a run is on disk at its end */
    code = colander_batch_create(writer->store, &batch, err);
    for (size_t i = 0; i < chunk->reject_count && code == COLANDER_OK; i++)
        code = add_reject(batch, writer->options->stream->rejects, chunk,
                          &chunk->rejects[i], err);
    if (code == COLANDER_OK)
        code = colander_batch_commit(batch, &options, err);
    colander_batch_destroy(batch);
    if (code != COLANDER_OK)
        colander_error_context(err, "rejected records");
    return code;
}

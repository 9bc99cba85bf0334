/* SPDX-License-Identifier: MIT */
#include "columns/conditional.h"
#include "columns/runs.h"
#include "columns/unchecked.h"
#include "loading/items.h"
#include "loading/rows.h"
#include "loading/writer_inside.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#define LACKING_MAX 1000 /* records without a column: see check_keys */
#define DROPS_MAX 10     /* of families, while one chunk is written */

/* Whether the keys of rows say which are new. A bulk says it at the end, and
 * rows that must be new are. */
static bool
counts_keys(const struct colander_load_options *options)
{
    return !options->is_bulk && options->partition == NULL &&
           options->sink == NULL &&
           (options->duplicates == COLANDER_LOAD_REPLACE ||
            options->duplicates == COLANDER_LOAD_PATCH);
}

/* A FIFO family drops its oldest files, which are known by their place. */
static bool
may_run(struct colander_store *store,
        const struct colander_load_options *options)
{
    struct colander_options store_options;

    colander_store_options(store, &store_options);
    return options->duplicates == COLANDER_LOAD_REPLACE && !options->follows &&
           !options->is_bulk && options->partition == NULL &&
           options->sink == NULL &&
           store_options.compaction != COLANDER_COMPACTION_FIFO;
}

enum colander_code
writer_create(struct colander_store *store, struct colander_family *family,
              const struct colander_load_options *options,
              const struct load_limits *limits, uint64_t rejects_size,
              const atomic_bool *is_cancelled,
              struct colander_load_stats *stats, struct writer **writer,
              struct colander_error *err)
{
    struct writer *created = calloc(1, sizeof(*created));
    enum colander_code code;

    *writer = NULL;
    if (created == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a load");
    created->store = store;
    created->family = family;
    created->options = options;
    created->limits = limits;
    created->is_cancelled = is_cancelled;
    created->stats = stats;
    created->may_run = may_run(store, options);
    created->partition.store = store;
    created->partition.pattern = family;
    created->partition.column = options->partition;
    created->partition.follows = options->follows || options->stream != NULL;
    if (options->partition != NULL)
        stats->knows_new = options->duplicates == COLANDER_LOAD_KEEP ||
                           options->duplicates == COLANDER_LOAD_REJECT;
    code = colander_batch_create(store, &created->batch, err);
    if (code == COLANDER_OK && options->partition != NULL)
        code = partition_begin(&created->partition, err);
    if (code == COLANDER_OK && options->is_bulk && !writer_take_memory(created))
        code = COLANDER_FAIL(err, COLANDER_BUSY,
                             "other loads use the memory for a bulk: try again "
                             "later");
    if (code == COLANDER_OK && options->is_bulk)
        code = colander_bulk_create(family, &created->run, err);
    if (code == COLANDER_OK)
        code = rejects_open(&created->rejects, options->rejects,
                            options->elsewhere, rejects_size, err);
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
    assert(writer->commit.run == NULL);
    rejects_close(&writer->rejects);
    items_destroy(writer->items);
    writer_sink_destroy(writer->sink);
    colander_bulk_destroy(writer->run);
    while (writer->memory_count > 0)
        writer_give_memory(writer);
    colander_batch_destroy(writer->batch);
    partition_release(&writer->partition);
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
                  const struct resume_point *point, uint64_t id,
                  struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    writer->source = source;
    writer->mark_name = mark_name;
    if (source->splitter.format == RECORDS_ITEMS && writer->items == NULL)
        code = items_create(writer->store, writer->family, writer->options,
                            &writer->items, err);
    if (code != COLANDER_OK)
        return code;
    memset(&writer->point, 0, sizeof(writer->point));
    if (point != NULL)
        writer->point = *point;
    writer->point.bulk_key_size = 0;
    writer->point.format = (uint64_t)source->splitter.format;
    writer->point.sample_size = source->sample_size;
    if (source->input != NULL)
        writer->point.inode = input_inode(source->input);
    if (writer->options->sink != NULL) {
        input_stamp(source->input, &writer->point.size,
                    &writer->point.changed_ns);
        writer->point.spread = writer->options->sink->spread;
        writer->point.record_size = writer->options->record_size;
    }
    writer->tail = source->tail;
    writer->head = source->tail;
    /* up to that size, the first and the last bytes are the same */
    writer->knows_head = source->tail.size < RESUME_TAIL_MAX;
    writer->ends_line = source->splitter.format != RECORDS_MSGPACK;
    if (writer->options->stream != NULL)
        code = writer_stream_begin(writer, err);
    if (code == COLANDER_OK)
        code = rejects_set_header(
            &writer->rejects, colander_buffer_slice(&source->line),
            point != NULL && ends_rejects(writer, point), err);
    return code == COLANDER_OK && writer->options->sink != NULL
               ? writer_sink_begin(writer, id, err)
               : code;
}

/* -------------------------------------------------------------- rejects --- */

static void
report(const struct writer *writer, const struct chunk *chunk,
       const struct reject *reject, struct chunk_spot *spot)
{
    const struct colander_load_options *options = writer->options;
    const struct piece *piece = &chunk->pieces[reject->piece];
    struct colander_load_reject reported = {.file = writer->source->file};

    if (options->report_reject == NULL)
        return;
    if (options->stream != NULL) {
        reported.place = &chunk->places[reject->piece];
        reported.line = 1;
        reported.column = (uint64_t)reject->fault + 1;
    } else {
        chunk_spot_move(spot, chunk, piece->offset + reject->fault);
        reported.line = spot->line;
        reported.column = chunk->offset + spot->at - spot->begin + 1;
    }
    reported.reason = (const char *)chunk->reasons.data + reject->reason;
    reported.lacks_key = reject->lacks_key;
    options->report_reject(options->context, &reported);
}

/* Reports and keeps rejects. */
static enum colander_code
put_rejects(struct writer *writer, const struct chunk *chunk,
            struct colander_error *err)
{
    struct chunk_spot spot = {0, chunk->line, chunk->line_offset};
    enum colander_code code = COLANDER_OK;

    if (writer->options->stream != NULL)
        code = writer_stream_rejects(writer, chunk, err);
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

/* Adds a waiting row to the run or the batch, or rejects it. */
static enum colander_code
take_row(struct writer *writer, struct chunk *chunk, size_t index,
         struct colander_error *err)
{
    const struct colander_slice key = chunk_waiting_key(chunk, index);
    const struct colander_slice row = chunk_waiting_row(chunk, index);
    struct colander_batch *batch = writer->batch;
    struct colander_family *family = chunk->waiting[index].family;
    const uint8_t action = chunk->waiting[index].action;
    enum colander_code code;

    chunk->waiting[index].is_taken = false; /* it may be taken again */
    if (action == ITEM_DELETE)
        code = colander_batch_delete(batch, family, key, err);
    else if (writer->run != NULL)
        code = colander_bulk_add_checked(writer->run, key, row, err);
    else if (action == ITEM_UPDATE ||
             writer->options->duplicates == COLANDER_LOAD_PATCH)
        code = colander_batch_patch(batch, family, key, row, err);
    else if (writer->options->duplicates == COLANDER_LOAD_REPLACE)
        code = colander_batch_put_checked(batch, family, key, row, err);
    else if (writer->new_keys.is_new[index])
        code = colander_batch_change(batch, family, COLANDER_CHANGE_PUT,
                                     COLANDER_IF_ABSENT, key, row, true,
                                     &writer->new_keys.had_rows[index], err);
    else
        return reject_known(writer, chunk, index, err);
    if (code == COLANDER_OK) {
        chunk->waiting[index].is_taken = true;
        writer->taken_count += action != ITEM_DELETE;
        writer->run_size += key.size + row.size;
    } else if (code == COLANDER_INVALID || code == COLANDER_LIMIT) {
        reason_drop(err, "family '%s': ", colander_family_name(family));
        code = chunk_add_reject(chunk, chunk->waiting[index].piece, 0,
                                err->message, err);
    }
    return code;
}

static bool
takes_only_new(const struct writer *writer)
{
    return writer->options->duplicates == COLANDER_LOAD_KEEP ||
           writer->options->duplicates == COLANDER_LOAD_REJECT;
}

/* Adds the waiting rows to the batch or the run. */
static enum colander_code
take_waiting(struct writer *writer, struct chunk *chunk,
             struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    writer->taken_count = 0;
    writer->is_torn = true;
    if (takes_only_new(writer))
        code = new_keys_find(&writer->new_keys, chunk, err);
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

/* Adds the resume point to what is written with it. */
static enum colander_code
mark(struct writer *writer, const struct chunk *chunk,
     struct colander_error *err)
{
    if (writer->options->stream != NULL)
        return writer_stream_mark(writer, chunk, err);
    if (!is_resume_point(writer, chunk))
        return COLANDER_OK;
    return resume_point_mark(&writer->point, writer->batch, writer->run,
                             writer->family, writer->mark_name, err);
}

void
writer_count_rows(struct writer *writer, uint64_t taken, uint64_t new)
{
    writer->stats->row_count += taken;
    writer->stats->new_count += new;
    writer->stats->replaced_count += taken - new;
}

/* Leaves the chunk to the run. Its rows count already, so that progress is
 * steady; those of a bulk are counted at its end. */
static enum colander_code
keep_in_run(struct writer *writer, const struct chunk *chunk,
            struct colander_error *err)
{
    enum colander_code code;

    writer->point.row_count += writer->taken_count;
    code = mark(writer, chunk, err);
    if (code != COLANDER_OK)
        return code;
    writer->run_taken += writer->taken_count;
    writer->run_new += writer->new_count;
    writer->is_torn = false;
    if (writer->may_run)
        writer_count_rows(writer, writer->taken_count, writer->new_count);
    return COLANDER_OK;
}

static enum colander_code
commit_batch(const struct writer *writer, struct colander_error *err)
{
    struct colander_write_options options;

    colander_write_options_init(&options);
    if (writer->options->syncs)
        options.durability = COLANDER_SYNC;
    return colander_batch_commit(writer->batch, &options, err);
}

/* Writes the batch and the resume point. */
static enum colander_code
commit(struct writer *writer, const struct chunk *chunk,
       struct colander_error *err)
{
    const uint64_t count = writer->taken_count;
    struct colander_batch *batch = writer->batch;
    enum colander_code code;

    writer->point.row_count += count;
    code = mark(writer, chunk, err);
    if (code == COLANDER_OK)
        code = writer_run_await(writer, err);
    if (code == COLANDER_OK && colander_batch_count(batch) > 0)
        code = commit_batch(writer, err);
    if (code == COLANDER_OK)
        writer_count_rows(writer, count, writer->new_count);
    else
        writer->point.row_count -= count;
    return code;
}

/* What a chunk has added before its rows are taken. */
struct before {
    uint64_t kept_count;
    size_t reject_count;
};

/* Places and takes the rows of the chunk; once more if a family by time was
 * dropped meanwhile. */
static enum colander_code
take_placed(struct writer *writer, struct chunk *chunk,
            const struct before *before, struct colander_error *err)
{
    const int tries = writer->options->partition == NULL ? 1 : DROPS_MAX;
    enum colander_code code = COLANDER_DROPPED;

    for (int i = 0; i < tries && code == COLANDER_DROPPED; i++) {
        colander_batch_clear(writer->batch);
        writer->stats->kept_count = before->kept_count;
        chunk->reject_count = before->reject_count;
        code = partition_place(&writer->partition, chunk, err);
        if (code == COLANDER_OK)
            code = take_waiting(writer, chunk, err);
    }
    writer->stats->family_count = writer->partition.count;
    return code;
}

/* Puts rejects that were found late, before the place is marked. */
static enum colander_code
put_found(struct writer *writer, struct chunk *chunk,
          struct colander_error *err)
{
    enum colander_code code;

    chunk_sort_rejects(chunk);
    code = put_rejects(writer, chunk, err);
    writer->point.rejects_size = writer->rejects.size;
    return code;
}

/* Commits the chunk; once more if a family by time was dropped meanwhile: by a
 * policy of retention, perhaps. What was rejected or kept stays so. */
static enum colander_code
commit_placed(struct writer *writer, struct chunk *chunk,
              struct colander_error *err)
{
    const int tries = writer->options->partition == NULL ? 0 : DROPS_MAX;
    enum colander_code code = commit(writer, chunk, err);
    bool is_placed = true;

    for (int i = 0; i < tries && code == COLANDER_DROPPED && is_placed; i++) {
        const struct before before = {writer->stats->kept_count, 0};

        chunk_drop_untaken(chunk);
        code = take_placed(writer, chunk, &before, err);
        is_placed = code == COLANDER_OK;
        writer->new_count = writer->taken_count;
        if (code == COLANDER_OK)
            code = put_found(writer, chunk, err);
        if (code == COLANDER_OK)
            code = commit(writer, chunk, err);
    }
    return code;
}

/* Puts rejects that were found by the commit, and marks the place again. */
static enum colander_code
put_late(struct writer *writer, struct chunk *chunk, struct colander_error *err)
{
    enum colander_code code = put_found(writer, chunk, err);

    writer->taken_count = 0;
    writer->new_count = 0;
    return code == COLANDER_OK ? commit(writer, chunk, err) : code;
}

/* Rejects rows whose key another load or program has written since it was
 * looked up, so that the batch left them out. */
static enum colander_code
reject_late(struct writer *writer, struct chunk *chunk,
            struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;
    uint64_t count = 0;

    for (size_t i = 0; i < chunk->waiting_count && code == COLANDER_OK; i++) {
        if (!chunk->waiting[i].is_taken ||
            chunk->waiting[i].action != ITEM_NONE ||
            !writer->new_keys.had_rows[i])
            continue;
        if (count++ == 0)
            chunk->reject_count = 0; /* those were reported */
        code = reject_known(writer, chunk, i, err);
    }
    writer->stats->row_count -= count;
    writer->stats->new_count -= count;
    writer->point.row_count -= count;
    return code == COLANDER_OK && count > 0 ? put_late(writer, chunk, err)
                                            : code;
}

/* Writes row by row after a batch failed because patched rows became too large.
 * Twice, after a crash, has the same effect as once. */
static enum colander_code
write_singly(struct writer *writer, struct chunk *chunk,
             struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    for (size_t i = 0; i < chunk->waiting_count && code == COLANDER_OK; i++) {
        struct waiting_row *waiting = &chunk->waiting[i];

        if (!waiting->is_taken) /* it was rejected or kept */
            continue;
        colander_batch_clear(writer->batch);
        writer->taken_count = 0;
        code = take_row(writer, chunk, i, err);
        if (code == COLANDER_OK && waiting->is_taken)
            code = commit_batch(writer, err);
        if (code == COLANDER_OK) {
            writer_count_rows(writer, writer->taken_count, writer->taken_count);
            writer->point.row_count += writer->taken_count;
        } else if (code == COLANDER_INVALID || code == COLANDER_LIMIT) {
            waiting->is_taken = false;
            code =
                chunk_add_reject(chunk, waiting->piece, 0, err->message, err);
        }
    }
    colander_batch_clear(writer->batch);
    return code;
}

/* Counts the patches and deletes that were written. A null may be two. */
static void
count_changes(const struct writer *writer, const struct chunk *chunk)
{
    const struct waiting_row *waiting = chunk->waiting;
    struct colander_load_stats *stats = writer->stats;

    for (size_t i = 0; i < chunk->waiting_count && chunk->has_changes; i++) {
        if (!waiting[i].is_taken ||
            (i > 0 && waiting[i - 1].piece == waiting[i].piece))
            continue;
        stats->patch_count += waiting[i].action == ITEM_UPDATE;
        stats->delete_count += waiting[i].action == ITEM_DELETE;
    }
}

/* Whether rows of the chunk are patched, so that they may become too large. */
static bool
patches(const struct writer *writer, const struct chunk *chunk)
{
    return writer->options->duplicates == COLANDER_LOAD_PATCH ||
           chunk->has_changes;
}

/* --------------------------------------------------------------- chunks --- */

/* Fails if the first records of the load all lack the same column: of the key,
 * or of the times by which rows have their families. Drops the
 * later rejects, which do not matter then. */
static enum colander_code
check_keys(struct writer *writer, struct chunk *chunk,
           struct colander_error *err)
{
    for (size_t i = 0; i < chunk->reject_count && !writer->has_key; i++) {
        const struct reject *reject = &chunk->rejects[i];

        writer->has_key = reject->piece != i; /* a row is before it */
        writer->lacking_count +=
            (reject->lacks_key || reject->lacks_time) && !writer->has_key;
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

/* Counts the rows that have a new key. */
static enum colander_code
count_new(struct writer *writer, const struct chunk *chunk,
          struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    writer->new_count = writer->taken_count;
    if (counts_keys(writer->options) && writer->stats->knows_new) {
        code = key_tally_chunk(&writer->tally, chunk, &writer->new_count, err);
        writer->stats->knows_new = writer->tally.is_known;
    }
    return code;
}

/* Writes items, which have no resume points, after the run of an earlier
 * file. */
static enum colander_code
put_items(struct writer *writer, struct chunk *chunk,
          struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    if (writer->run != NULL)
        code = writer_run_end(writer, err);
    if (code == COLANDER_OK)
        code = writer_run_await(writer, err);
    if (code == COLANDER_OK)
        code = items_write(writer->items, chunk, writer->stats, err);
    chunk_sort_rejects(chunk);
    if (code == COLANDER_OK)
        code = put_rejects(writer, chunk, err);
    return code == COLANDER_OK ? items_report(writer->items, chunk, err) : code;
}

/* Passes on the records, after their rejects. */
static enum colander_code
put_elsewhere(struct writer *writer, struct chunk *chunk,
              struct colander_error *err)
{
    enum colander_code code;

    chunk_sort_rejects(chunk);
    code = put_rejects(writer, chunk, err);
    move_resume_point(writer, chunk);
    return code == COLANDER_OK
               ? writer_sink_chunk(writer, chunk,
                                   is_resume_point(writer, chunk), err)
               : code;
}

/* Writes the rows and their rejects. */
static enum colander_code
put_rows(struct writer *writer, struct chunk *chunk, struct colander_error *err)
{
    const struct before before = {writer->stats->kept_count,
                                  chunk->reject_count};
    enum colander_code code;

    if (writer->source->splitter.format == RECORDS_ITEMS)
        return put_items(writer, chunk, err);
    if (writer->options->sink != NULL)
        return put_elsewhere(writer, chunk, err);
    code = chunk->has_changes ? writer_run_leave(writer, err)
                              : writer_run_begin(writer, err);
    if (chunk->has_changes) /* keys may be new again */
        writer->stats->knows_new = false;
    if (code == COLANDER_OK)
        code = take_placed(writer, chunk, &before, err);
    chunk_sort_rejects(chunk);
    if (code == COLANDER_OK && writer->options->rejects_max >= LACKING_MAX &&
        writer->options->stream == NULL) /* there they are kept */
        code = check_keys(writer, chunk, err);
    if (writer->lacking_count >= LACKING_MAX) {
        (void)put_rejects(writer, chunk, NULL); /* `err` is set */
        return code;
    }
    if (code == COLANDER_OK)
        code = put_rejects(writer, chunk, err);
    move_resume_point(writer, chunk);
    if (code == COLANDER_OK)
        code = count_new(writer, chunk, err);
    if (code == COLANDER_OK)
        code = writer->run == NULL ? commit_placed(writer, chunk, err)
                                   : keep_in_run(writer, chunk, err);
    if (patches(writer, chunk) && partition_is_placed(chunk) &&
        (code == COLANDER_INVALID || code == COLANDER_LIMIT)) {
        chunk->reject_count = 0; /* those were reported */
        writer->stats->knows_new = false;
        code = write_singly(writer, chunk, err);
        if (code == COLANDER_OK)
            code = put_late(writer, chunk, err);
    }
    if (code == COLANDER_OK && takes_only_new(writer))
        code = reject_late(writer, chunk, err);
    if (code == COLANDER_OK)
        count_changes(writer, chunk);
    return code == COLANDER_OK && chunk->retains
               ? writer_stream_retain(writer, chunk, err)
               : code;
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
    writer->run_text += chunk->text.size;
    writer->has_end = chunk->has_end;
    writer_run_count_flow(writer, chunk->text.size);
    if (code == COLANDER_OK && writer_run_is_due(writer, false))
        code = writer_run_end(writer, err);
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

enum colander_code
writer_pause(struct writer *writer, struct colander_error *err)
{
    if (writer_run_is_due(writer, true))
        return writer_run_end(writer, err);
    return writer->run == NULL ? writer_run_await(writer, err) : COLANDER_OK;
}

enum colander_code
writer_finish(struct writer *writer, enum colander_code ended,
              struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    if (writer->run != NULL && !writer->is_torn &&
        (writer->may_run || ended == COLANDER_OK))
        code = writer_run_end(writer, err);
    else
        writer_run_drop(writer);
    return code == COLANDER_OK ? writer_run_await(writer, err) : code;
}

uint64_t
writer_run_count(const struct writer *writer)
{
    return writer->run_count;
}

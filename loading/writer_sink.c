/*
 * Records that go elsewhere instead of into a family: the family keeps only the
 * resume point of each file.
 *
 * It may lag behind what was passed on, as it must be acknowledged first. So
 * the points after the last chunks wait here. A resumed load begins at one, and
 * passes on again what comes after it, each record with the same number.
 *
 * SPDX-License-Identifier: MIT
 */
#include "loading/writer_inside.h"

#include <stdlib.h>
#include <sys/random.h>

#define POINTS_MAX 64 /* that wait */

/* A resume point, and the last record before it. */
struct waiting_point {
    struct resume_point point;
    uint64_t at;
};

struct sink_state {
    struct waiting_point points[POINTS_MAX]; /* a ring */
    size_t begin;                            /* counts of points */
    size_t end;
    uint64_t last; /* where the last record that was passed on begins */
    bool has_last;
    struct colander_buffer made; /* a record in another format */
};

void
writer_sink_destroy(struct sink_state *state)
{
    if (state != NULL)
        colander_buffer_release(&state->made);
    free(state);
}

/* Writes a resume point. */
static enum colander_code
commit_point(const struct writer *writer, const struct resume_point *point,
             struct colander_error *err)
{
    enum colander_code code = resume_point_mark(
        point, writer->batch, NULL, writer->family, writer->mark_name, err);

    return code == COLANDER_OK ? colander_batch_commit(writer->batch, NULL, err)
                               : code;
}

enum colander_code
writer_sink_begin(struct writer *writer, uint64_t id,
                  struct colander_error *err)
{
    const struct colander_load_sink *sink = writer->options->sink;
    enum colander_code code;

    if (writer->sink == NULL)
        writer->sink = calloc(1, sizeof(*writer->sink));
    if (writer->sink == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a load");
    writer->sink->begin = writer->sink->end = 0;
    writer->sink->has_last = false;
    while (id == 0) {
        if (getrandom(&id, sizeof(id), 0) != (ssize_t)sizeof(id))
            return COLANDER_FAIL(err, COLANDER_IO, "no random number");
    }
    writer->point.id = id;
    code = commit_point(writer, &writer->point, err);
    return code == COLANDER_OK ? sink->begin(sink->context, id, err) : code;
}

/* Writes the last point up to which all is acknowledged. */
static enum colander_code
commit_acknowledged(struct writer *writer, bool waits,
                    struct colander_error *err)
{
    const struct colander_load_sink *sink = writer->options->sink;
    struct sink_state *state = writer->sink;
    const struct resume_point *point = NULL;
    enum colander_code code;
    bool is_any = false;
    uint64_t at = 0;

    code = sink->acknowledged(sink->context, waits, &is_any, &at, err);
    if (code != COLANDER_OK)
        return code;
    while (state->begin < state->end) {
        const struct waiting_point *next =
            &state->points[state->begin % POINTS_MAX];

        if (!is_any || next->at > at)
            break;
        point = &next->point;
        state->begin++;
    }
    return point == NULL ? COLANDER_OK : commit_point(writer, point, err);
}

/* Adds the point after a chunk to those that wait. */
static enum colander_code
add_point(struct writer *writer, struct colander_error *err)
{
    struct sink_state *state = writer->sink;
    enum colander_code code = COLANDER_OK;

    if (!state->has_last) /* nothing has to be acknowledged */
        return commit_point(writer, &writer->point, err);
    if (state->end - state->begin == POINTS_MAX)
        code = commit_acknowledged(writer, true, err);
    if (code == COLANDER_OK)
        state->points[state->end++ % POINTS_MAX] =
            (struct waiting_point){writer->point, state->last};
    return code;
}

/* Whether records of a file are passed on in this format. */
static bool
passes_on(const struct colander_load_sink *sink, enum record_format format)
{
    const bool is_json = format == RECORDS_JSON || format == RECORDS_JSONL;

    if (sink->format == NULL)
        return is_json || format == RECORDS_MSGPACK;
    return strcmp(sink->format, "msgpack") == 0 ? format == RECORDS_MSGPACK
                                                : is_json;
}

/* Makes a record of a row, with its key, unless that is empty. */
static enum colander_code
make_record(struct writer *writer, struct colander_slice key,
            struct colander_slice row, struct colander_error *err)
{
    const char *format = writer->options->sink->format;
    const bool is_json = format == NULL || strcmp(format, "msgpack") != 0;
    const struct colander_value map = {.type = COLANDER_MAP, .bytes = row};
    struct colander_buffer *made = &writer->sink->made;

    colander_buffer_clear(made);
    if (key.size == 0)
        return is_json ? colander_json_append_value(made, &map, err)
                       : colander_buffer_append(made, row.data, row.size, err);
    return is_json ? colander_json_append_row(made, key, row, err)
                   : colander_row_append_keyed(made, key, row, err);
}

/* Passes on a record: as it is in the file, or in the format of the sink. */
static enum colander_code
pass_on(struct writer *writer, const struct chunk *chunk, size_t index,
        struct colander_error *err)
{
    const struct colander_load_sink *sink = writer->options->sink;
    const struct waiting_row *waiting = &chunk->waiting[index];
    const struct piece *piece = &chunk->pieces[waiting->piece];
    const enum record_format format = writer->source->splitter.format;
    struct colander_slice record = chunk_piece(chunk, piece);
    struct colander_slice key = chunk_waiting_key(chunk, index);
    enum colander_code code = COLANDER_OK;

    if (waiting->has_new_key)
        key.size = 0;
    if (!passes_on(sink, format)) {
        code = make_record(writer, key, chunk_waiting_row(chunk, index), err);
        record = colander_buffer_slice(&writer->sink->made);
    }
    writer->sink->last = chunk->offset + piece->offset;
    writer->sink->has_last = true;
    return code == COLANDER_OK
               ? sink->put(sink->context, writer->sink->last, key, record, err)
               : code;
}

enum colander_code
writer_sink_chunk(struct writer *writer, struct chunk *chunk, bool is_point,
                  struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    for (size_t i = 0; i < chunk->waiting_count && code == COLANDER_OK; i++)
        code = pass_on(writer, chunk, i, err);
    if (code != COLANDER_OK)
        return code;
    writer_count_rows(writer, chunk->waiting_count, chunk->waiting_count);
    writer->point.row_count += chunk->waiting_count;
    if (is_point)
        code = add_point(writer, err);
    return code == COLANDER_OK
               ? commit_acknowledged(writer, chunk->is_last, err)
               : code;
}

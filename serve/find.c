/* See find.h. SPDX-License-Identifier: MIT */
#include "serve/find.h"
#include "columns/partitions.h"
#include "columns/source.h"
#include "columns/union.h"
#include "core/clock.h"
#include "core/fields.h"
#include "serve/changes.h"
#include "serve/question.h"
#include "serve/reply.h"

#include <stdlib.h>

#define MATCHED_COLUMN "_matched"
#define PLAIN_CONDITIONS 8
#define FRESH_MS 30000 /* that other processes have to read what they must */
#define SHORT_US 100   /* about as long as another thread takes to begin */

/* Bytes of rows in order that are held; others wait in a file. */
#define ORDERED_SIZE_MAX ((size_t)64 << 20)

struct find {
    struct writer writer; /* first */
    struct server *server;
    struct question question;
    struct colander_store *view; /* of the store: is_partial, is_fresh; or
                                  * NULL */
    struct colander_family *family;
    struct colander_cursor *cursor;
    struct colander_ordered *ordered;     /* NULL: rows come by key */
    struct colander_matches *matches;     /* of ordered rows; may be NULL */
    struct colander_row_builder *builder; /* of frames */
    struct colander_buffer row;           /* with the columns that matched */
    struct colander_buffer cut;           /* the selected columns */
    struct colander_buffer place;         /* the last key in hexadecimal digits,
                                           * if there may be more rows */
    struct answer *answer;                /* that is being written */
    uint64_t row_count;
    uint64_t skipped;
    bool has_begun;
    bool may_wait; /* for other processes: not in a connection's thread */
    void *hint;    /* of the functions for hints; may be NULL */
};

#define COUNT(name, member) FIELD(UINT64, name, colander_explain, member)

static const struct field explain_fields[] = {
    COUNT("files", file_count),
    COUNT("files_pruned", files_pruned),
    COUNT("files_located", files_located),
    COUNT("files_read", files_read),
    COUNT("files_unsure", files_unsure),
    COUNT("segments_read", segments_read),
    COUNT("recent_found", recent_found),
    COUNT("candidates", candidate_count),
    COUNT("rows_read", rows_read),
    COUNT("rows_verified", rows_verified),
    COUNT("rows_direct", rows_direct),
    COUNT("rows_gone", rows_gone),
    COUNT("rows_false", rows_false),
    COUNT("bytes_read", bytes_read),
    COUNT("plan_us", plan_time),
    COUNT("read_us", read_time),
    COUNT("verify_us", verify_time),
    FIELD_END,
};

/* of a cluster */
static const struct field cluster_fields[] = {
    COUNT("partitions", store_count),
    COUNT("partitions_unasked", stores_unasked),
    COUNT("partitions_pruned", stores_pruned),
    COUNT("nodes_asked", nodes_asked),
    COUNT("nodes_asked_again", nodes_asked_again),
    FIELD_END,
};

/* --------------------------------------------------------------- frames --- */

/* Appends what was built: a frame, or a row of its own. */
static enum colander_code
append_built(struct find *find, struct colander_buffer *bytes,
             struct colander_error *err)
{
    struct colander_slice map;
    enum colander_code code;

    if (!find->question.is_msgpack) {
        code = reply_append_built(bytes, find->builder, err);
        return code == COLANDER_OK ? colander_buffer_append(bytes, "\n", 1, err)
                                   : code;
    }
    code = colander_row_builder_finish(find->builder, &map, err);
    return code == COLANDER_OK
               ? colander_buffer_append(bytes, map.data, map.size, err)
               : code;
}

/* Replaces find->row by `row` with the columns that matched in it. */
static enum colander_code
add_matches(struct find *find, const struct colander_result *result,
            struct colander_slice row, struct colander_error *err)
{
    struct colander_row_builder *builder = find->builder;
    struct colander_slice patch;
    enum colander_code code;

    colander_row_builder_begin_array(builder, MATCHED_COLUMN);
    for (size_t i = 0; i < result->columns.count; i++)
        colander_row_builder_add(builder, NULL,
                                 colander_text(result->columns.paths[i]));
    colander_row_builder_end(builder);
    code = colander_row_builder_finish(builder, &patch, err);
    if (code == COLANDER_OK)
        code = colander_row_patch(row, patch, &find->row, err);
    return code;
}

/* Appends a row, whole or not at all. */
static enum colander_code
append_row(struct find *find, struct colander_slice key,
           struct colander_slice row, struct colander_buffer *bytes,
           struct colander_error *err)
{
    const size_t size = bytes->size;
    enum colander_code code;

    if (find->question.is_msgpack)
        code = colander_row_append_keyed(bytes, key, row, err);
    else
        code = colander_json_append_row(bytes, key, row, err);
    if (code == COLANDER_OK && !find->question.is_msgpack)
        code = colander_buffer_append(bytes, "\n", 1, err);
    if (code != COLANDER_OK)
        bytes->size = size;
    return code;
}

/* Keeps where another find may continue. */
static enum colander_code
keep_place(struct find *find, struct colander_slice key,
           struct colander_error *err)
{
    static const char digits[] = "0123456789abcdef";
    enum colander_code code =
        colander_buffer_reserve(&find->place, 2 * key.size + 1, err);

    for (size_t i = 0; i < key.size && code == COLANDER_OK; i++) {
        const char both[2] = {digits[key.data[i] >> 4],
                              digits[key.data[i] & 0x0f]};

        code = colander_buffer_append(&find->place, both, sizeof(both), err);
    }
    return code == COLANDER_OK
               ? colander_buffer_append(&find->place, "", 1, err)
               : code;
}

/* Appends a row of a find, unless it is skipped. */
static enum colander_code
pass_row(struct find *find, const struct colander_result *result,
         struct colander_buffer *bytes, struct colander_error *err)
{
    const struct question *question = &find->question;
    struct colander_slice row = result->row;
    enum colander_code code = COLANDER_OK;

    if (question_passed(question, result->key))
        return COLANDER_OK;
    if (find->skipped < question->skip) {
        find->skipped++;
        return COLANDER_OK;
    }
    if (find->ordered != NULL && question->path_count > 0) {
        code = colander_row_select(row, question->paths, question->path_count,
                                   &find->cut, err);
        row = colander_buffer_slice(&find->cut);
    }
    if (code == COLANDER_OK && question->is_any) {
        code = add_matches(find, result, row, err);
        row = colander_buffer_slice(&find->row);
    }
    if (code == COLANDER_OK)
        code = append_row(find, result->key, row, bytes, err);
    if (code != COLANDER_OK)
        return code;
    find->row_count++;
    if (find->hint != NULL)
        find->server->options.see_row(find->hint, result->row);
    atomic_store_explicit(&find->writer.row_count, find->row_count,
                          memory_order_relaxed);
    atomic_fetch_add(&find->server->row_count, 1);
    return find->row_count == question->limit && question->wants_cursor
               ? keep_place(find, result->key, err)
               : COLANDER_OK;
}

static void
add_fields(struct colander_row_builder *builder, const struct field *fields,
           const struct colander_explain *explain)
{
    for (const struct field *field = fields; field->name != NULL; field++)
        colander_row_builder_add(
            builder, field->name,
            colander_unsigned(field_number(field, explain)));
}

static void
add_explanation(struct find *find)
{
    struct colander_row_builder *builder = find->builder;
    struct colander_explain explain;

    colander_cursor_explain(find->cursor, &explain);
    colander_row_builder_add(builder, "plan",
                             colander_text(colander_plan_name(explain.plan)));
    if (explain.reason != NULL)
        colander_row_builder_add(builder, "reason",
                                 colander_text(explain.reason));
    add_fields(builder, explain_fields, &explain);
    if (explain.store_count > 0)
        add_fields(builder, cluster_fields, &explain);
}

static void
begin_hint(struct find *find)
{
    const struct server_options *options = &find->server->options;
    const struct question *question = &find->question;

    if (options->begin_hint != NULL && question->wants_hints)
        find->hint = options->begin_hint(question->paths, question->path_count,
                                         question->order, question->where);
}

/* With `says` adds why nothing was found, as `colander find` says it. */
static void
end_hint(struct find *find, bool says)
{
    const struct question *question = &find->question;
    const bool is_vain = find->row_count == 0 && find->skipped == 0 &&
                         question->limit > 0 && question->cursor.size == 0;

    if (find->hint != NULL)
        find->server->options.end_hint(
            find->hint, find->family, is_vain ? question->where : NULL,
            says && (question->cursor.size == 0 || find->row_count > 0)
                ? find->builder
                : NULL);
    find->hint = NULL;
}

/* Names the partitions that the answer lacks, if there are any. */
static enum colander_code
add_missing(struct find *find, struct colander_error *err)
{
    struct colander_names names = {NULL, 0};
    enum colander_code code = COLANDER_OK;

    if (find->view != NULL)
        code = colander_union_missing(find->view, &names, err);
    if (names.count > 0)
        colander_row_builder_begin_array(find->builder, "missing");
    for (size_t i = 0; i < names.count; i++)
        colander_row_builder_add(find->builder, NULL,
                                 colander_text(names.names[i]));
    if (names.count > 0)
        colander_row_builder_end(find->builder);
    colander_names_release(&names);
    return code;
}

static enum colander_code
append_end(struct find *find, struct colander_buffer *bytes,
           struct colander_error *err)
{
    enum colander_code code;

    colander_row_builder_begin_map(find->builder, "_end");
    colander_row_builder_add(find->builder, "rows",
                             colander_unsigned(find->row_count));
    if (find->place.size > 0)
        colander_row_builder_add(find->builder, "cursor",
                                 colander_text((const char *)find->place.data));
    if (find->question.explains)
        add_explanation(find);
    end_hint(find, true);
    code = add_missing(find, err);
    colander_row_builder_end(find->builder);
    return code == COLANDER_OK ? append_built(find, bytes, err) : code;
}

static enum colander_code
fail_find(struct writer *writer, struct colander_buffer *bytes,
          const struct colander_error *failure)
{
    struct find *find = (struct find *)writer;
    struct colander_slice left; /* by what has failed */

    (void)!colander_row_builder_finish(find->builder, &left, NULL);
    reply_build_error(find->builder, colander_code_name(failure->code),
                      failure->message, NULL, 0);
    return append_built(find, bytes, NULL);
}

/* ----------------------------------------------------------------- rows --- */

static enum colander_code
begin_order(struct find *find, struct colander_error *err)
{
    const struct question *question = &find->question;
    const char *directory = getenv("TMPDIR");
    struct colander_order order;
    enum colander_code code;

    colander_order_init(&order);
    order.path = question->order;
    order.is_descending = question->is_descending;
    if (question->limit < UINT64_MAX - question->skip)
        order.limit = question->limit + question->skip;
    order.size_max = ORDERED_SIZE_MAX;
    order.is_cancelled = answer_is_over_here;
    order.directory =
        directory != NULL && directory[0] != '\0' ? directory : "/var/tmp";
    code = colander_ordered_create(&order, &find->ordered, err);
    find->writer.parameter = code == COLANDER_INVALID ? "order" : NULL;
    return code;
}

/* Adds the rows of the cursor that may be the first ones. */
static enum colander_code
add_rows(struct find *find, struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;
    bool is_row = true;

    while (code == COLANDER_OK && is_row &&
           !colander_ordered_is_sated(find->ordered)) {
        struct colander_result result;

        code = colander_cursor_next(find->cursor, &is_row, &result, err);
        if (code == COLANDER_OK && is_row)
            code = colander_ordered_add(find->ordered, &result, err);
    }
    return code;
}

static enum colander_code
order_rows(struct find *find, struct answer *answer, struct colander_error *err)
{
    enum colander_code code = begin_order(find, err);
    bool is_done = false;

    while (code == COLANDER_OK && !is_done) {
        answer_watch(answer, NULL); /* the cursor may be closed */
        code = colander_ordered_find(find->ordered, find->family,
                                     &find->question.query, &find->cursor,
                                     &is_done, err);
        answer_watch(answer, find->cursor);
        if (code == COLANDER_OK && !is_done)
            code = add_rows(find, err);
    }
    return code;
}

/* Fails if something that was not found may be in what the view has left
 * out. */
static enum colander_code
check_missing(const struct find *find, struct colander_error *err)
{
    struct colander_names names = {NULL, 0};
    enum colander_code code = COLANDER_OK;

    if (find->view != NULL)
        code = colander_union_missing(find->view, &names, err);
    if (code == COLANDER_OK && names.count > 0)
        code = COLANDER_FAIL(err, COLANDER_BUSY,
                             "it may be in %s, which cannot be read now",
                             names.names[0]);
    colander_names_release(&names);
    return code;
}

static enum colander_code
check_family(const struct find *find, struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    if (colander_family_exists(find->family))
        return COLANDER_OK;
    code = check_missing(find, err);
    if (code == COLANDER_OK)
        code = COLANDER_FAIL(err, COLANDER_NOT_FOUND, "no family '%s'",
                             colander_family_name(find->family));
    return code;
}

static bool
is_stopped(void *context)
{
    return answer_stopped(context) != ANSWER_GOES_ON;
}

/* Opens the view that is asked for, and the family in it. */
static enum colander_code
open_view(struct find *find, struct answer *answer, struct colander_error *err)
{
    const struct server_options *options = &find->server->options;
    const struct colander_union_view how = {find->question.is_partial, false};
    const char *name = colander_family_name(find->family);
    struct colander_family *family = NULL;
    enum colander_code code = COLANDER_OK;

    if (find->question.is_fresh && options->open_fresh != NULL)
        code =
            options->open_fresh(options->parts_context, name, how.is_partial,
                                FRESH_MS, is_stopped, answer, &find->view, err);
    else if (how.is_partial && colander_store_is_union(find->server->store))
        code = colander_union_open_view(find->server->store, &how, &find->view,
                                        err);
    if (code != COLANDER_OK || find->view == NULL)
        return code;
    code = colander_family_open(find->view, name, &family, err);
    if (code == COLANDER_OK) {
        colander_family_close(find->family);
        find->family = family;
    }
    return code;
}

/* Starts the find, which may wait for the disk. */
static enum colander_code
begin_find(struct find *find, struct answer *answer, struct colander_error *err)
{
    enum colander_code code = open_view(find, answer, err);

    if (code == COLANDER_OK && find->may_wait)
        code = check_family(find, err);
    if (code != COLANDER_OK)
        return code;
    code = question_resolve(&find->question, find->family,
                            &find->writer.parameter, &find->writer.offset, err);

    if (code != COLANDER_OK)
        return code;
    find->has_begun = true;
    find->answer = answer;
    begin_hint(find);
    if (find->question.order != NULL)
        return order_rows(find, answer, err);
    code = colander_family_find(find->family, &find->question.query,
                                &find->cursor, err);
    if (code == COLANDER_OK)
        answer_watch(answer, find->cursor);
    return code;
}

/* Finds out again which columns of an ordered row matched. */
static enum colander_code
match_again(struct find *find, struct colander_result *result,
            struct colander_error *err)
{
    enum colander_code code;
    bool is_match;

    if (!find->question.is_any)
        return COLANDER_OK;
    if (find->matches == NULL)
        find->matches = colander_matches_create();
    if (find->matches == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory for the columns that matched");
    code = colander_predicate_evaluate(find->question.where, result->row,
                                       &is_match, find->matches, err);
    result->columns = colander_matches_columns(find->matches);
    return code;
}

static enum colander_code
next_row(struct find *find, bool *is_row, struct colander_result *result,
         struct colander_error *err)
{
    enum colander_code code;

    if (find->ordered == NULL)
        return colander_cursor_next(find->cursor, is_row, result, err);
    code = colander_ordered_next(find->ordered, is_row, result, err);
    if (code == COLANDER_OK && *is_row)
        code = match_again(find, result, err);
    return code;
}

/* Writes rows until there are enough bytes, or the cursor is paused. */
static enum colander_code
write_rows(struct writer *writer, struct answer *answer,
           struct colander_buffer *bytes, bool *is_end,
           struct colander_error *err)
{
    struct find *find = (struct find *)writer;
    enum colander_code code = COLANDER_OK;
    bool is_row = true;

    if (!find->has_begun)
        code = begin_find(find, answer, err);
    while (code == COLANDER_OK && is_row && bytes->size < ANSWER_STEP) {
        struct colander_result result;

        is_row = find->row_count < find->question.limit;
        if (!is_row)
            break;
        code = next_row(find, &is_row, &result, err);
        if (code == COLANDER_OK && is_row)
            code = pass_row(find, &result, bytes, err);
    }
    *is_end = code == COLANDER_OK && !is_row;
    return *is_end ? append_end(find, bytes, err) : code;
}

/* Whether it has so few conditions that planning it takes no time to speak
 * of. */
static bool
is_plain(const struct question *question)
{
    struct colander_condition condition;

    return question->where == NULL ||
           !colander_predicate_condition(question->where, PLAIN_CONDITIONS,
                                         &condition);
}

/* Most finds are over sooner than a worker would begin. */
static enum colander_code
write_first_rows(struct writer *writer, struct answer *answer,
                 struct colander_buffer *bytes, bool *is_end,
                 struct colander_error *err)
{
    struct find *find = (struct find *)writer;
    const uint64_t end = clock_us() + SHORT_US;
    enum colander_code code = begin_find(find, answer, err);
    const uint64_t now = clock_us();

    if (code != COLANDER_OK || now >= end)
        return code;
    colander_cursor_pause(find->cursor, end - now);
    code = write_rows(writer, answer, bytes, is_end, err);
    colander_cursor_pause(find->cursor, 0);
    return code == COLANDER_BUSY ? COLANDER_OK : code;
}

/* -------------------------------------------------------------- one row --- */

static enum colander_code
write_row(struct writer *writer, struct answer *answer,
          struct colander_buffer *bytes, bool *is_end,
          struct colander_error *err)
{
    struct find *find = (struct find *)writer;
    const struct question *question = &find->question;
    struct colander_read read = {NULL, question->paths, question->path_count};
    enum colander_code code;
    bool found = false;

    *is_end = true;
    code = open_view(find, answer, err);
    if (code == COLANDER_OK && find->may_wait)
        code = check_family(find, err);
    if (code == COLANDER_OK)
        code = question_resolve(&find->question, find->family,
                                &writer->parameter, &writer->offset, err);
    if (code != COLANDER_OK)
        return code;
    code = colander_family_get(find->family, question->query.keys.exact, &read,
                               &find->row, &found, err);
    if (code == COLANDER_OK && !found)
        code = check_missing(find, err);
    if (code == COLANDER_OK && !found)
        return COLANDER_FAIL(err, COLANDER_NOT_FOUND,
                             "no row '%s' in family '%s'",
                             parameters_value(&question->parameters, "key"),
                             colander_family_name(find->family));
    if (code == COLANDER_OK)
        code = append_row(find, question->query.keys.exact,
                          colander_buffer_slice(&find->row), bytes, err);
    if (code == COLANDER_OK) {
        atomic_fetch_add(&find->server->row_count, 1);
        atomic_store(&writer->row_count, 1);
    }
    return code;
}

/* ------------------------------------------------------------------ all --- */

static void
destroy_find(struct writer *writer)
{
    struct find *find = (struct find *)writer;

    if (find->cursor != NULL && find->answer != NULL)
        answer_watch(find->answer, NULL);
    end_hint(find, false);
    colander_cursor_close(find->cursor);
    colander_ordered_destroy(find->ordered);
    colander_matches_destroy(find->matches);
    colander_row_builder_destroy(find->builder);
    colander_buffer_release(&find->row);
    colander_buffer_release(&find->cut);
    colander_buffer_release(&find->place);
    colander_family_close(find->family);
    if (find->view != NULL)
        (void)!colander_store_close(find->view, NULL); /* has no handles */
    question_release(&find->question);
    free(find);
}

/* Opens the family, which must exist; if it may wait to look, a worker does. */
static enum colander_code
open_family(struct find *find, struct server *server, const char *name,
            struct colander_error *err)
{
    enum colander_code code =
        colander_family_open(server->store, name, &find->family, err);

    find->may_wait = colander_store_has_source(server->store);
    return code == COLANDER_OK && !find->may_wait ? check_family(find, err)
                                                  : code;
}

/* An order that is a mistake would be a column that no row has. */
static enum colander_code
check_order(const struct server *server, const struct parameters *parameters,
            const char **parameter, struct colander_error *err)
{
    const char *text = parameters_value(parameters, "order");
    enum colander_code code;

    if (text == NULL || server->options.check_order == NULL)
        return COLANDER_OK;
    code = server->options.check_order(text, err);
    if (code != COLANDER_OK) {
        *parameter = "order";
        colander_error_context(err, "order");
    }
    return code;
}

static enum colander_code
make(struct server *server, struct parameters *parameters, bool is_get,
     struct writer **writer, const char **parameter, size_t *offset,
     struct colander_error *err)
{
    struct find *find = calloc(1, sizeof(*find));
    enum colander_code code = COLANDER_OK;

    if (find != NULL)
        find->builder = colander_row_builder_create();
    if (find == NULL || find->builder == NULL) {
        free(find);
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a find");
    }
    find->writer.write = is_get ? write_row : write_rows;
    find->writer.fail = fail_find;
    find->writer.destroy = destroy_find;
    find->writer.counts_rows = true;
    find->server = server;
    code = open_family(find, server, parameters->path[1], err);
    if (code == COLANDER_OK && !is_get)
        code = check_order(server, parameters, parameter, err);
    if (code == COLANDER_OK)
        code = question_read(&find->question, parameters, is_get, parameter,
                             offset, err);
    if (code != COLANDER_OK) {
        destroy_find(&find->writer);
        return code;
    }
    if (is_get && !find->may_wait)
        find->writer.begin = write_row;
    else if (!is_get && !find->may_wait && find->question.order == NULL &&
             !find->question.wants_hints && is_plain(&find->question))
        find->writer.begin = write_first_rows;
    find->writer.content_type =
        find->question.is_msgpack ? REPLY_MSGPACK : REPLY_JSONL;
    *writer = &find->writer;
    return COLANDER_OK;
}

enum colander_code
find_rows(struct server *server, struct parameters *parameters,
          struct writer **writer, const char **parameter, size_t *offset,
          struct colander_error *err)
{
    if (colander_name_selects(parameters->path[1]))
        return changes_find(server, parameters, writer, parameter, offset, err);
    return make(server, parameters, false, writer, parameter, offset, err);
}

enum colander_code
find_row(struct server *server, struct parameters *parameters,
         struct writer **writer, const char **parameter, size_t *offset,
         struct colander_error *err)
{
    return make(server, parameters, true, writer, parameter, offset, err);
}

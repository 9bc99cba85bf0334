/*
 * Lines made rows and questions made predicates.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench_peer_rows.h"
#include "bench_ready.h"

#include "loading/rows.h"

static struct schema *
schema_of(const struct bench_work *work)
{
    struct schema *schema = schema_create();
    struct colander_error err;

    if (schema == NULL)
        bench_fail("peers", "no memory");
    if (strcmp(work->key_name, "_key") != 0)
        bench_check(schema_texts_add(&schema->key, work->key_name, &err), &err);
    return schema;
}

void
bench_peer_rows_make(const struct bench_work *work, const char *path,
                     bench_take_made *take, void *context)
{
    struct schema *schema = schema_of(work);
    struct colander_slice lines = bench_map(path);
    struct colander_slice rest = lines;
    struct colander_slice line;
    struct made_row made;
    struct colander_error err;
    struct rows *rows;

    bench_check(rows_create(RECORDS_JSONL, NULL, schema, &rows, &err), &err);
    while (bench_next_line(&rest, &line)) {
        bench_check(rows_make(rows, line, &made, &err), &err);
        take(context, made.key, made.row);
    }
    rows_destroy(rows);
    schema_destroy(schema);
    bench_unmap(lines);
}

static struct colander_predicate *
where_column(const char *column, struct colander_value value,
             struct colander_error *err)
{
    struct colander_buffer path = COLANDER_BUFFER_EMPTY;
    struct colander_predicate *predicate;

    bench_check(
        colander_path_append_name(&path, colander_slice_text(column), err),
        err);
    bench_check(colander_buffer_append(&path, "", 1, err), err);
    predicate =
        colander_where((const char *)path.data, COLANDER_EQ, value, err);
    colander_buffer_release(&path);
    return predicate;
}

struct colander_predicate *
bench_peer_predicate(const struct bench_work_question *question)
{
    const struct colander_value value = colander_text(question->value);
    struct colander_error err;
    struct colander_predicate *predicate =
        question->column == NULL ? colander_where_any(value, &err)
                                 : where_column(question->column, value, &err);

    if (predicate == NULL)
        bench_fail("predicate", err.message);
    return predicate;
}

bool
bench_peer_matches(const struct colander_predicate *predicate,
                   struct colander_slice row)
{
    struct colander_error err;
    bool is_match;

    bench_check(
        colander_predicate_evaluate(predicate, row, &is_match, NULL, &err),
        &err);
    return is_match;
}

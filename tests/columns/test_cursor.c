/*
 * Finds: what a cursor returns, and how it ends.
 *
 * SPDX-License-Identifier: MIT
 */
#include "support/cases.h"
#include "support/scoped.h"
#include "support/store_fixture.h"

#include <pthread.h>
#include <stdatomic.h>

static void
put_numbers(struct store_fixture *fixture, struct colander_family *family,
            int count)
{
    char key[16];

    for (int i = 0; i < count; i++) {
        (void)snprintf(key, sizeof(key), "%06d", i);
        OK(put_text(fixture, family, key, "n", colander_integer(i), NULL));
    }
}

/* Returns the next row as JSON, in a static buffer; "" at the end. */
static const char *
next_json(struct colander_cursor *cursor, struct colander_result *result)
{
    static char json[512];
    SCOPED_BUFFER text = COLANDER_BUFFER_EMPTY;
    bool is_row;

    OK(colander_cursor_next(cursor, &is_row, result, NULL));
    json[0] = '\0';
    if (is_row) {
        OK(colander_json_append_row(&text, result->key, result->row, NULL));
        assert_true(text.size < sizeof(json));
        memcpy(json, text.data, text.size);
        json[text.size] = '\0';
    }
    return json;
}

FIXTURE_TEST(find_returns_rows_columns_and_counts)
{
    static const char *const paths[] = {"b", "c.d"};
    SCOPED_FAMILY family = fixture_family(fixture, "f");
    SCOPED_BUFFER key = text_key("k");
    SCOPED_CURSOR cursor = NULL;
    struct colander_explain explain;
    struct colander_result result;
    struct colander_query query = usual_query();
    struct colander_slice row;
    const char *path;
    uint64_t row_count;

    put_numbers(fixture, family, 10);
    colander_row_builder_add(fixture->builder, "a", colander_integer(5));
    colander_row_builder_add(fixture->builder, "b", colander_text("x"));
    colander_row_builder_begin_map(fixture->builder, "c");
    colander_row_builder_add(fixture->builder, "d", colander_double(5.0));
    colander_row_builder_add(fixture->builder, "e", colander_text("5"));
    colander_row_builder_end(fixture->builder);
    OK(colander_row_builder_finish(fixture->builder, &row, NULL));
    OK(colander_family_put(family, colander_buffer_slice(&key), row, NULL,
                           NULL));

    query.where = colander_where_any_column(colander_integer(5), NULL);
    query.paths = paths;
    query.path_count = 2;
    query.reports_columns = true;
    query.is_timed = true;
    OK(colander_family_find(family, &query, &cursor, NULL));
    assert_string_equal(next_json(cursor, &result), "{\"_key\":\"000005\"}");
    assert_int_equal(result.columns.count, 1);
    assert_string_equal(result.columns.paths[0], "n");
    assert_string_equal(next_json(cursor, &result),
                        "{\"_key\":\"k\",\"b\":\"x\",\"c\":{\"d\":5.0}}");
    assert_int_equal(result.columns.count, 2);
    assert_string_equal(result.columns.paths[0], "a");
    assert_string_equal(result.columns.paths[1], "c.d");
    assert_string_equal(next_json(cursor, &result), "");
    assert_string_equal(next_json(cursor, &result), ""); /* and so again */
    colander_cursor_explain(cursor, &explain);
    assert_int_equal(explain.plan, COLANDER_PLAN_SCAN);
    assert_int_equal(explain.rows_read, 11);
    assert_int_equal(explain.rows_returned, 2);
    assert_true(explain.bytes_read > 11 * 3);
    assert_true(colander_cursor_matched(cursor, 0, &path, &row_count));
    assert_string_equal(path, "n");
    assert_int_equal(row_count, 1);
    assert_true(colander_cursor_matched(cursor, 2, &path, &row_count));
    assert_string_equal(path, "c.d");
    assert_false(colander_cursor_matched(cursor, 3, &path, &row_count));
    colander_predicate_destroy((struct colander_predicate *)query.where);
}

FIXTURE_TEST(limit_stops_the_reading)
{
    SCOPED_FAMILY family = fixture_family(fixture, "f");
    SCOPED_CURSOR cursor = NULL;
    struct colander_explain explain;
    struct colander_result result;
    struct colander_query query = usual_query();

    put_numbers(fixture, family, 100);
    query.limit = 2;
    query.is_reverse = true;
    OK(colander_family_find(family, &query, &cursor, NULL));
    assert_string_equal(next_json(cursor, &result),
                        "{\"_key\":\"000099\",\"n\":99}");
    assert_string_equal(next_json(cursor, &result),
                        "{\"_key\":\"000098\",\"n\":98}");
    assert_string_equal(next_json(cursor, &result), "");
    colander_cursor_explain(cursor, &explain);
    assert_int_equal(explain.rows_read, 2);
    assert_string_equal(explain.reason, "no condition");
}

FIXTURE_TEST(find_sees_the_moment_it_began)
{
    SCOPED_FAMILY family = fixture_family(fixture, "f");
    struct colander_cursor *cursor;
    struct colander_result result;
    struct colander_query query = usual_query();
    uint64_t deleted;

    put_numbers(fixture, family, 100);
    OK(colander_family_find(family, &query, &cursor, NULL));
    OK(colander_family_delete_range(family, NULL, NULL, &deleted, NULL));
    assert_int_equal(deleted, 100);
    OK(put_text(fixture, family, "new", "n", colander_integer(1), NULL));
    OK(colander_family_compact(family, NULL));
    for (int i = 0; i < 100; i++)
        assert_string_not_equal(next_json(cursor, &result), "");
    assert_string_equal(next_json(cursor, &result), "");
    colander_cursor_close(cursor);
    assert_int_equal(count_rows(family), 1);
}

FIXTURE_TEST(an_exact_key_is_not_a_prefix)
{
    const struct colander_value parts[] = {colander_text("a"),
                                           colander_text("b")};
    SCOPED_FAMILY family = fixture_family(fixture, "f");
    struct colander_query query = usual_query();
    SCOPED_BUFFER key = COLANDER_BUFFER_EMPTY;
    uint64_t count;

    for (size_t size = 2; size > 0; size--) {
        OK(colander_key_encode(parts, size, &key, NULL));
        OK(colander_family_put(family, colander_buffer_slice(&key),
                               fixture_row(fixture, "n", colander_integer(1)),
                               NULL, NULL));
    }
    query.keys.exact = colander_buffer_slice(&key);
    OK(colander_family_count(family, &query, &count, NULL));
    assert_int_equal(count, 1);
    query.keys.exact = colander_slice_of(NULL, 0);
    query.keys.prefix = colander_buffer_slice(&key);
    OK(colander_family_count(family, &query, &count, NULL));
    assert_int_equal(count, 2);
}

FIXTURE_TEST(bad_range_is_refused)
{
    SCOPED_FAMILY family = fixture_family(fixture, "f");
    struct colander_cursor *cursor;
    struct colander_query query = usual_query();

    query.keys.from = colander_slice_text("plain text");
    FAILS(colander_family_find(family, &query, &cursor, why()),
          COLANDER_INVALID);
    assert_string_equal(error_text(),
                        "the range's 'from' is not an encoded key");
    assert_null(cursor);
}

/* A cursor that another thread reads, again and again. */
struct reading {
    struct colander_cursor *cursor;
    atomic_ullong steps;
    enum colander_code code;
    bool is_row;
};

static void *
read_on(void *context)
{
    struct reading *reading = context;

    do {
        struct colander_result result;

        reading->code = colander_cursor_next(reading->cursor, &reading->is_row,
                                             &result, NULL);
        reading->steps++;
    } while (reading->code == COLANDER_OK && reading->is_row);
    return NULL;
}

FIXTURE_TEST(cancel_from_another_thread_ends_the_find)
{
    SCOPED_FAMILY family = fixture_family(fixture, "f");
    struct reading reading = {.steps = 0};
    struct colander_query query = usual_query();
    struct colander_explain explain;
    struct colander_result result;
    pthread_t thread;
    bool is_row;

    put_numbers(fixture, family, 2000);
    /* It matches nothing, so all work happens in a single step. */
    query.where = colander_where("n", COLANDER_EQ, colander_integer(-1), NULL);
    OK(colander_family_find(family, &query, &reading.cursor, NULL));
    colander_cursor_cancel(reading.cursor);
    pthread_create(&thread, NULL, read_on, &reading);
    pthread_join(thread, NULL);
    assert_int_equal(reading.code, COLANDER_CANCELLED);
    assert_int_equal(reading.steps, 1);
    colander_cursor_explain(reading.cursor, &explain);
    assert_int_equal(explain.rows_read, 0);
    FAILS(colander_cursor_next(reading.cursor, &is_row, &result, why()),
          COLANDER_CANCELLED);
    assert_string_equal(error_text(), "the find was cancelled");
    colander_cursor_close(reading.cursor);
    colander_predicate_destroy((struct colander_predicate *)query.where);

    /* And in the middle. */
    query.where = NULL;
    OK(colander_family_find(family, &query, &reading.cursor, NULL));
    OK(colander_cursor_next(reading.cursor, &is_row, &result, NULL));
    assert_true(is_row);
    colander_cursor_cancel(reading.cursor);
    FAILS(colander_cursor_next(reading.cursor, &is_row, &result, NULL),
          COLANDER_CANCELLED);
    colander_cursor_close(reading.cursor);

    /* Reads rows until it is cancelled. */
    OK(colander_family_find(family, &query, &reading.cursor, NULL));
    reading.steps = 0;
    pthread_create(&thread, NULL, read_on, &reading);
    while (reading.steps < 5)
        sched_yield();
    colander_cursor_cancel(reading.cursor);
    pthread_join(thread, NULL);
    assert_true(reading.code == COLANDER_CANCELLED || !reading.is_row);
    colander_cursor_close(reading.cursor);
}

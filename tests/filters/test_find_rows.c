/*
 * Finds of single rows that change, and a find whose file is replaced before it
 * ends.
 *
 * SPDX-License-Identifier: MIT
 */
#include "support/cases.h"
#include "support/compared_finds.h"
#include "support/filter_files.h"
#include "support/scoped.h"

static struct colander_buffer
number_key(int64_t number)
{
    struct colander_buffer key = COLANDER_BUFFER_EMPTY;
    struct colander_value part = colander_integer(number);

    OK(colander_key_encode(&part, 1, &key, NULL));
    return key;
}

/* Rows 0, 10, ... below DENSE have the value, and all rows from there on. The
 * filter has the keys of the former; the latter are read from the file. */
#define REPLACED_ROWS 4000
#define DENSE 500
#define DENSE_END 560

static bool
has_value(int64_t row)
{
    return row < DENSE ? row % 10 == 0 : row < DENSE_END;
}

static void
put_replaced_rows(struct store_fixture *fixture, struct colander_family *family)
{
    for (int64_t i = 0; i < REPLACED_ROWS; i++)
        put_at(
            family, i,
            fixture_row(fixture, "n", colander_integer(has_value(i) ? -1 : i)));
    OK(colander_family_flush(family, NULL));
    OK(colander_family_await_filters(family, NULL));
}

static void
assert_next_row_is(struct colander_cursor *cursor, int64_t row)
{
    SCOPED_BUFFER key = number_key(row);
    struct colander_result result;

    assert_true(next_row(cursor, &result));
    ASSERT_SAME(result.key, colander_buffer_slice(&key));
}

FIXTURE_TEST(find_continues_after_its_last_row_when_files_are_replaced)
{
    struct colander_family *family = kept_family(fixture, "rows");
    SCOPED_PREDICATE predicate =
        colander_where("n", COLANDER_EQ, colander_integer(-1), NULL);

    struct colander_filter_options options = usual_filters();

    options.rows_per_segment = 1;
    OK(colander_family_set_filters(family, &options, NULL));
    for (unsigned is_reverse = 0; is_reverse < 2; is_reverse++) {
        struct colander_query query = usual_query();
        SCOPED_CURSOR cursor = NULL;
        struct colander_explain explain;
        struct colander_result result;
        bool is_begun = false;

        put_replaced_rows(fixture, family);
        query.where = predicate;
        query.is_reverse = is_reverse != 0;
        OK(colander_family_find(family, &query, &cursor, NULL));
        for (int64_t i = 0; i < DENSE_END; i++) {
            int64_t row = is_reverse ? DENSE_END - 1 - i : i;

            if (!has_value(row))
                continue;
            assert_next_row_is(cursor, row);
            if (is_begun)
                continue;
            is_begun = true;
            OK(colander_family_delete_range(family, NULL, NULL, NULL, NULL));
            OK(colander_family_compact(family, NULL));
        }
        assert_false(next_row(cursor, &result));
        colander_cursor_explain(cursor, &explain);
        assert_int_equal(explain.plan, COLANDER_PLAN_CANDIDATES);
    }
}

static void
put_number(struct store_fixture *fixture, struct colander_family *family,
           const char *key, int64_t value)
{
    OK(put_text(fixture, family, key, "n", colander_integer(value), NULL));
}

FIXTURE_TEST(overwritten_and_deleted_rows_are_not_found_by_old_values)
{
    struct colander_family *family = kept_family(fixture, "rows");
    SCOPED_BUFFER key = text_key("deleted");

    for (unsigned is_flushed = 0; is_flushed < 2; is_flushed++) {
        put_number(fixture, family, "overwritten", 1);
        put_number(fixture, family, "deleted", 1);
        if (is_flushed)
            OK(colander_family_flush(family, NULL));
        assert_int_equal(count_equal(fixture, family, "n", 1), 2);
        put_number(fixture, family, "overwritten", 2);
        OK(colander_family_delete(family, colander_buffer_slice(&key), NULL,
                                  NULL));
        assert_int_equal(count_equal(fixture, family, "n", 1), 0);
        assert_int_equal(count_equal(fixture, family, NULL, 2), 1);
        if (is_flushed)
            OK(colander_family_flush(family, NULL));
        assert_int_equal(count_equal(fixture, family, NULL, 1), 0);
        assert_int_equal(count_equal(fixture, family, "n", 2), 1);
    }
}

FIXTURE_TEST(patched_row_is_found_once_by_old_and_new_columns)
{
    struct colander_family *family = kept_family(fixture, "rows");
    SCOPED_BUFFER key = text_key("row");

    put_number(fixture, family, "row", 7);
    for (unsigned step = 0; step < 3; step++) {
        OK(colander_family_patch(
            family, colander_buffer_slice(&key),
            fixture_row(fixture, "more", colander_integer(8 + step)), NULL,
            NULL));
        assert_int_equal(count_equal(fixture, family, "n", 7), 1);
        assert_int_equal(count_equal(fixture, family, "more", 8 + step), 1);
        assert_int_equal(count_equal(fixture, family, "more", 7 + step), 0);
        OK(colander_family_flush(family, NULL));
        assert_int_equal(count_equal(fixture, family, NULL, 7), 1);
        assert_int_equal(count_equal(fixture, family, NULL, 8 + step), 1);
    }
}

#define RANGE_ROWS 16000

/* Counts the rows with `low` <= n <= `high` and keys from `from` to `to`. In a
 * range of many keys, candidates must find them. */
static uint64_t
count_between(struct colander_family *family, int64_t low, int64_t high,
              int64_t from, int64_t to)
{
    SCOPED_BUFFER first = number_key(from);
    SCOPED_BUFFER last = number_key(to);
    SCOPED_PREDICATE predicate =
        low == high
            ? colander_where("n", COLANDER_EQ, colander_integer(low), NULL)
            : colander_where("n", COLANDER_LE, colander_integer(high), NULL);
    struct colander_query query = usual_query();
    SCOPED_CURSOR cursor = NULL;
    struct colander_explain explain;
    struct colander_result result;
    uint64_t count = 0;

    query.where = predicate;
    query.keys.from = colander_buffer_slice(&first);
    query.keys.to = colander_buffer_slice(&last);
    OK(colander_family_find(family, &query, &cursor, NULL));
    while (next_row(cursor, &result))
        count++;
    colander_cursor_explain(cursor, &explain);
    if (to - from > RANGE_ROWS / 2)
        assert_int_equal(explain.plan, COLANDER_PLAN_CANDIDATES);
    return count;
}

/* Writes the rows to a file; with two versions of each, which a snapshot keeps,
 * no row of it is read directly. */
static void
put_range(struct store_fixture *fixture, struct colander_family *family,
          unsigned versions)
{
    struct colander_snapshot *snapshot = NULL;

    for (unsigned i = 0; i < versions; i++) {
        for (int64_t n = 0; n < RANGE_ROWS; n++)
            put_at(family, n, fixture_row(fixture, "n", colander_integer(n)));
        if (snapshot == NULL)
            OK(colander_store_snapshot(fixture->store, &snapshot, NULL));
    }
    OK(colander_family_flush(family, NULL));
    OK(colander_family_await_filters(family, NULL));
    colander_snapshot_release(snapshot);
}

FIXTURE_TEST(rows_at_the_ends_of_a_range_are_found)
{
    const int64_t last = RANGE_ROWS - 1;
    const uint32_t segments[] = {1, 16, 512};
    struct colander_filter_options options = usual_filters();

    for (size_t i = 0; i < 2 * COUNT(segments); i++) {
        SCOPED_FAMILY family = fixture_family(fixture, "rows");

        options.rows_per_segment = segments[i / 2];
        OK(colander_family_set_filters(family, &options, NULL));
        put_range(fixture, family, 1 + i % 2);
        assert_int_equal(count_between(family, 0, 200, 0, last), 201);
        assert_int_equal(count_between(family, 0, 0, 0, last), 1);
        assert_int_equal(count_between(family, last, last, 0, last), 1);
        assert_int_equal(count_between(family, last, last, last, last), 1);
        assert_int_equal(count_between(family, 700, 700, 700, last), 1);
        assert_int_equal(count_between(family, 15000, 15000, 0, 15000), 1);
        OK(colander_family_drop(family, NULL));
    }
}

/* Zones are of 256 rows: the last row may be alone in its zone. */
FIXTURE_TEST(last_row_of_a_file_is_in_a_zone)
{
    const int64_t counts[] = {1, 256, 257, 513};

    for (size_t i = 0; i < COUNT(counts); i++) {
        SCOPED_FAMILY family = fixture_family(fixture, "rows");
        SCOPED_PREDICATE predicate = colander_where(
            "n", COLANDER_GE, colander_integer(counts[i] - 1), NULL);
        struct colander_query query = usual_query();
        uint64_t count;

        for (int64_t n = 0; n < counts[i]; n++)
            put_at(family, n, fixture_row(fixture, "n", colander_integer(n)));
        OK(colander_family_flush(family, NULL));
        OK(colander_family_await_filters(family, NULL));
        query.where = predicate;
        OK(colander_family_count(family, &query, &count, NULL));
        assert_int_equal(count, 1);
        assert_int_equal(filter_stats(family).damaged_count, 0);
        OK(colander_family_drop(family, NULL));
    }
}

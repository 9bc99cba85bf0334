/*
 * What finds report about themselves: that they read little if little matches,
 * start with the rarest condition, and scan, with a reason, if that costs less.
 *
 * SPDX-License-Identifier: MIT
 */
#include "support/cases.h"
#include "support/compared_finds.h"
#include "support/filter_files.h"
#include "support/scoped.h"

#include "core/clock.h"
#include "filters/settings.h"

#define FILES 10
#define ROWS 2000 /* of each file */

/* A column that few rows have, with the tag of `most`: so the rows with `true`
 * are those of both. */
static char checked[32];

static uint64_t
hash_of_path(const char *path)
{
    uint64_t hash;

    OK(path_hash_of_text(path, &hash, NULL));
    return hash;
}

static void
name_checked(void)
{
    const unsigned tag = column_tag(hash_of_path("most"));
    unsigned number = 0;

    do
        (void)snprintf(checked, sizeof(checked), "checked%u", number++);
    while (column_tag(hash_of_path(checked)) != tag);
}

static void
put_row(struct store_fixture *fixture, struct colander_family *family,
        int64_t number)
{
    struct colander_row_builder *builder = fixture->builder;
    char key[16];
    char city[16];

    snprintf(key, sizeof(key), "%08d", (int)number);
    snprintf(city, sizeof(city), "city %d", (int)(number % 4));
    colander_row_builder_add(builder, "time", colander_integer(number));
    colander_row_builder_add(builder, "city", colander_text(city));
    colander_row_builder_add(builder, "group",
                             colander_integer(-1 - number % 1000));
    if (number % ROWS == 7)
        colander_row_builder_add(builder, "rare", colander_text("gold"));
    if (number % ROWS == 8) {
        colander_row_builder_add(builder, checked, colander_boolean(true));
        colander_row_builder_add(builder, "grade",
                                 colander_integer(number * 7919 % 1000));
    }
    OK(put_text(fixture, family, key, "most",
                colander_boolean(number % 50 != 0), NULL));
}

/* Writes rows in order of their numbers to files; the last are in none. */
static struct colander_family *
fill_family(struct store_fixture *fixture)
{
    struct colander_family *family;

    name_checked();
    fixture->options.compaction = COLANDER_COMPACTION_FIFO; /* files stay */
    fixture_remake(fixture);
    family = kept_family(fixture, "rows");
    for (int64_t i = 0; i < FILES * ROWS; i++) {
        put_row(fixture, family, i);
        if (i % ROWS == ROWS - 1)
            OK(colander_family_flush(family, NULL));
    }
    assert_all_loaded(family);
    return family;
}

/* What the find reports about itself; takes the predicate. */
static struct colander_explain
explain_of(struct colander_family *family, struct colander_predicate *predicate)
{
    struct colander_explain explain;
    struct colander_query query = usual_query();
    struct colander_cursor *cursor;
    struct colander_result result;

    assert_non_null(predicate);
    query.where = predicate;
    OK(colander_family_find(family, &query, &cursor, NULL));
    while (next_row(cursor, &result))
        continue;
    colander_cursor_explain(cursor, &explain);
    assert_counts_add_up(&explain);
    if (explain.plan == COLANDER_PLAN_CANDIDATES) {
        assert_int_equal(explain.candidate_count, explain.rows_returned +
                                                      explain.rows_gone +
                                                      explain.rows_false);
        assert_int_equal(explain.rows_verified, explain.candidate_count);
    }
    assert_non_null(explain.reason);
    colander_cursor_close(cursor);
    colander_predicate_destroy(predicate);
    return explain;
}

static struct colander_predicate *
equal(const char *path, struct colander_value value)
{
    return colander_where(path, COLANDER_EQ, value, NULL);
}

FIXTURE_TEST(absent_value_prunes_files)
{
    struct colander_family *family = fill_family(fixture);
    struct colander_explain explain =
        explain_of(family, equal("rare", colander_text("silver")));

    assert_int_equal(explain.plan, COLANDER_PLAN_CANDIDATES);
    assert_int_equal(explain.file_count, FILES);
    assert_true(explain.files_pruned >= FILES - 2);
    assert_int_equal(explain.files_read, 0);
    assert_int_equal(explain.rows_returned, 0);
    assert_int_equal(explain.rows_verified, 0);
}

FIXTURE_TEST(rare_value_is_found_by_reading_little_more_than_its_rows)
{
    struct colander_family *family = fill_family(fixture);
    struct colander_explain explain =
        explain_of(family, equal("rare", colander_text("gold")));

    assert_int_equal(explain.plan, COLANDER_PLAN_CANDIDATES);
    assert_int_equal(explain.rows_returned, FILES);
    assert_true(explain.rows_verified <= 2 * FILES);
    assert_true(explain.rows_read <= 64 * FILES);
    explain = explain_of(
        family, colander_where_any_column(colander_integer(4321), NULL));
    assert_int_equal(explain.rows_returned, 1);
    assert_int_equal(explain.files_read, 1);
    assert_true(explain.rows_verified <= 2);
}

/* Asserts that the find, which takes the predicate, returns a row of each file
 * and reads hardly more. */
static void
assert_rare(struct colander_family *family,
            struct colander_predicate *predicate)
{
    struct colander_explain explain = explain_of(family, predicate);

    assert_int_equal(explain.plan, COLANDER_PLAN_CANDIDATES);
    assert_int_equal(explain.rows_returned, FILES);
    assert_true(explain.rows_verified <= 2 * FILES);
}

FIXTURE_TEST(column_of_few_rows_is_found_by_reading_its_rows)
{
    struct colander_family *family = fill_family(fixture);
    struct colander_explain explain;

    assert_rare(family, colander_where_exists("rare", NULL));
    assert_rare(family, colander_where_exists(checked, NULL));
    assert_rare(family, equal(checked, colander_boolean(true)));
    assert_rare(family, colander_where("grade", COLANDER_GE,
                                       colander_integer(0), NULL));
    explain = explain_of(family, colander_where_exists("nothing", NULL));
    assert_int_equal(explain.plan, COLANDER_PLAN_CANDIDATES);
    assert_true(explain.files_pruned >= FILES - 2);
    assert_int_equal(explain.rows_verified, 0);
    explain = explain_of(family, colander_where_exists("most", NULL));
    assert_int_equal(explain.plan, COLANDER_PLAN_SCAN);
    assert_int_equal(explain.rows_returned, FILES * ROWS);
}

FIXTURE_TEST(value_in_most_rows_is_scanned_for)
{
    struct colander_family *family = fill_family(fixture);
    struct colander_explain explain =
        explain_of(family, equal("most", colander_boolean(true)));

    assert_int_equal(explain.plan, COLANDER_PLAN_SCAN);
    assert_true(strlen(explain.reason) > 10);
    assert_int_equal(explain.rows_returned, FILES * ROWS / 50 * 49);
}

/* Rows that lie together are read directly, unless they are nearly all. */
FIXTURE_TEST(half_of_all_rows_are_candidates_if_they_lie_together)
{
    struct colander_family *family = kept_family(fixture, "ascending");
    struct colander_explain explain;

    for (int i = 0; i < ROWS; i++) {
        char key[16];

        (void)snprintf(key, sizeof(key), "%08d", i);
        OK(put_text(fixture, family, key, "number", colander_text(key), NULL));
    }
    OK(colander_family_flush(family, NULL));
    assert_all_loaded(family);
    explain =
        explain_of(family, colander_where("number", COLANDER_LT,
                                          colander_text("00001024"), NULL));
    assert_int_equal(explain.plan, COLANDER_PLAN_CANDIDATES);
    assert_int_equal(explain.rows_returned, 1024);
    assert_int_equal(explain.rows_direct, 1024);
    assert_true(explain.rows_read <
                128); /* those that are returned count once */
    explain = explain_of(family, colander_where("number", COLANDER_GE,
                                                colander_text("0"), NULL));
    assert_int_equal(explain.plan, COLANDER_PLAN_SCAN);
}

FIXTURE_TEST(all_of_drives_from_its_rare_side)
{
    struct colander_family *family = fill_family(fixture);
    struct colander_predicate *both[2];
    struct colander_explain explain;

    for (unsigned first = 0; first < 2; first++) {
        both[first] = equal("most", colander_boolean(true));
        both[1 - first] = equal("rare", colander_text("gold"));
        explain = explain_of(family, colander_all_of(both, 2, NULL));
        assert_int_equal(explain.plan, COLANDER_PLAN_CANDIDATES);
        assert_int_equal(explain.rows_returned, FILES);
        assert_true(explain.rows_verified <= 2 * FILES);
        assert_true(explain.rows_read <= 64 * FILES);
    }
}

FIXTURE_TEST(any_of_reads_the_rows_of_both_sides)
{
    struct colander_family *family = fill_family(fixture);
    struct colander_predicate *both[2] = {
        equal("group", colander_integer(-5)),
        equal("rare", colander_text("gold")),
    };
    struct colander_explain explain =
        explain_of(family, colander_any_of(both, 2, NULL));

    assert_int_equal(explain.plan, COLANDER_PLAN_CANDIDATES);
    assert_int_equal(explain.rows_returned, FILES + FILES * ROWS / 1000);
    assert_true(explain.rows_verified <= 2 * explain.rows_returned);
}

FIXTURE_TEST(zones_prune_a_range_of_a_column_that_grows_with_the_key)
{
    struct colander_family *family = fill_family(fixture);
    struct colander_explain explain = explain_of(
        family, colander_where_between("time", colander_integer(3 * ROWS + 500),
                                       colander_integer(3 * ROWS + 549), NULL));

    assert_int_equal(explain.plan, COLANDER_PLAN_CANDIDATES);
    assert_int_equal(explain.rows_returned, 50);
    assert_int_equal(explain.files_located, FILES - 1);
    assert_int_equal(explain.files_read, 1);
    assert_true(explain.rows_read <= ROWS / 2);
}

FIXTURE_TEST(keys_that_are_asked_for_bound_what_is_read)
{
    struct colander_family *family = fill_family(fixture);
    SCOPED_PREDICATE predicate = equal("group", colander_integer(-5));
    SCOPED_BUFFER from = text_key("00004000");
    SCOPED_BUFFER to = text_key("00005999");
    struct colander_explain explain;
    struct colander_query query = usual_query();
    SCOPED_CURSOR cursor = NULL;
    struct colander_result result;

    put_row(fixture, family, FILES * ROWS + 4);
    query.where = predicate;
    query.keys.from = colander_buffer_slice(&from);
    query.keys.to = colander_buffer_slice(&to);
    OK(colander_family_find(family, &query, &cursor, NULL));
    while (next_row(cursor, &result))
        continue;
    colander_cursor_explain(cursor, &explain);
    assert_int_equal(explain.rows_returned, 2);
    assert_true(explain.files_read <= 1);
    assert_int_equal(explain.recent_found, 0);
    assert_int_equal(explain.candidate_count, 2);
}

FIXTURE_TEST(rows_in_no_file_are_found_among_recent_rows)
{
    struct colander_family *family = fill_family(fixture);
    struct colander_explain explain;

    put_row(fixture, family, FILES * ROWS + 7);
    put_row(fixture, family, FILES * ROWS + 8);
    explain = explain_of(family, equal("rare", colander_text("gold")));
    assert_int_equal(explain.plan, COLANDER_PLAN_CANDIDATES);
    assert_int_equal(explain.recent_found, 1);
    assert_int_equal(explain.rows_returned, FILES + 1);
    explain =
        explain_of(family, equal("time", colander_integer(FILES * ROWS + 8)));
    assert_int_equal(explain.recent_found, 1);
    assert_int_equal(explain.rows_returned, 1);
    assert_int_equal(explain.files_read, 0);
}

/* Reads a find to its end, paused before each row by a pause that is over when
 * it is asked. Returns the number of rows. */
static uint64_t
read_with_pauses(struct colander_cursor *cursor, struct colander_cursor *other)
{
    struct colander_result result, wanted;
    uint64_t count = 0;
    bool is_row;

    do {
        uint64_t paused;

        colander_cursor_pause(cursor, 1);
        paused = clock_us();
        while (clock_us() < paused + 2)
            continue;
        for (int i = 0; i < 2; i++) {
            FAILS(colander_cursor_next(cursor, &is_row, &result, why()),
                  COLANDER_BUSY);
            assert_string_equal(error_text(), "the find is paused");
            assert_false(is_row);
        }
        colander_cursor_pause(cursor, 0);
        OK(colander_cursor_next(cursor, &is_row, &result, NULL));
        assert_int_equal(is_row, next_row(other, &wanted));
        if (is_row)
            assert_int_equal(colander_slice_compare(result.key, wanted.key), 0);
        count += is_row;
    } while (is_row);
    return count;
}

FIXTURE_TEST(find_that_is_paused_continues_where_it_was)
{
    struct colander_family *family = fill_family(fixture);
    struct colander_query query = usual_query();

    for (int reverse = 0; reverse < 2; reverse++) {
        SCOPED_PREDICATE group = equal("group", colander_integer(-5));
        SCOPED_PREDICATE city = equal("city", colander_text("city 3"));
        SCOPED_CURSOR candidates = NULL;
        SCOPED_CURSOR scan = NULL;
        struct colander_cursor *others[2];
        struct colander_explain explain;

        query.is_reverse = reverse == 1;
        query.where = group;
        OK(colander_family_find(family, &query, &candidates, NULL));
        OK(colander_family_find(family, &query, &others[0], NULL));
        assert_int_equal(read_with_pauses(candidates, others[0]),
                         FILES * ROWS / 1000);
        colander_cursor_explain(candidates, &explain);
        assert_int_equal(explain.plan, COLANDER_PLAN_CANDIDATES);
        query.where = city;
        OK(colander_family_find(family, &query, &scan, NULL));
        OK(colander_family_find(family, &query, &others[1], NULL));
        assert_int_equal(read_with_pauses(scan, others[1]), FILES * ROWS / 4);
        colander_cursor_explain(scan, &explain);
        assert_int_equal(explain.plan, COLANDER_PLAN_SCAN);
        colander_cursor_close(others[0]);
        colander_cursor_close(others[1]);
    }
}

FIXTURE_TEST(rows_beside_a_range_are_no_candidates)
{
    SCOPED_FAMILY family = fixture_family(fixture, "spread");
    const uint64_t prime = 30011;
    struct colander_query query = usual_query();
    char text[201] = "";

    memset(text, 'x', sizeof(text) - 1);   /* or else there are few keys */
    for (uint64_t i = 0; i < prime; i++) { /* in no order */
        const struct colander_value value =
            colander_integer((int64_t)(i * 7919 % prime));

        colander_row_builder_add(fixture->builder, "text", colander_text(text));
        put_at(family, (int64_t)i, fixture_row(fixture, "n", value));
    }
    OK(colander_family_compact(family, NULL));
    OK(colander_family_await_filters(family, NULL));
    for (int64_t low = 0; low < 30000; low += 3000) {
        SCOPED_PREDICATE where = colander_where_between(
            "n", colander_integer(low), colander_integer(low + 5), NULL);
        SCOPED_CURSOR cursor = NULL;
        struct colander_explain explain;
        struct colander_result result;
        uint64_t count = 0;

        query.where = where;
        OK(colander_family_find(family, &query, &cursor, NULL));
        while (next_row(cursor, &result))
            count++;
        colander_cursor_explain(cursor, &explain);
        assert_int_equal(count, 6);
        assert_int_equal(explain.candidate_count, count);
        assert_int_equal(explain.rows_direct, count);
        assert_int_equal(explain.rows_expected, explain.rows_read + count);
    }
}

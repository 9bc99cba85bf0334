/*
 * Explanations: they show everything that a find has counted, and only that.
 *
 * SPDX-License-Identifier: MIT
 */
#include "shell/explanation.h"
#include "support/cases.h"
#include "support/store_fixture.h"

#include <stdio.h>
#include <stdlib.h>

static struct request request;

static void
assert_explains(const struct explanation *explanation, const char *text)
{
    struct report report = REPORT_EMPTY;

    explanation_add(explanation, &report);
    OK(report.code);
    OK(colander_buffer_append(&report.text, "", 1, NULL));
    assert_string_equal((const char *)report.text.data, text);
    report_release(&report);
}

TEST(candidates_are_counted_to_the_last_file_and_row)
{
    struct explanation explanation = {.request = &request};

    explanation.family = "tweets";
    explanation.key_count = 100000;
    explanation.row_count = 12;
    explanation.counts = (struct colander_explain){
        .plan = COLANDER_PLAN_CANDIDATES,
        .reason = "they know",
        .rows_expected = 1,
        .file_count = 1010,
        .files_pruned = 1000,
        .files_located = 3,
        .files_read = 7,
        .files_unsure = 2,
        .segments_read = 5,
        .recent_found = 4,
        .candidate_count = 20,
        .rows_read = 80,
        .rows_verified = 19,
        .rows_direct = 17,
        .rows_returned = 12,
        .rows_gone = 1,
        .rows_false = 2,
        .bytes_read = 12345,
        .plan_time = 1000,
        .read_time = 200,
        .verify_time = 30,
    };
    report_add(&explanation.matched, "user 1, a\\nb 1");
    assert_explains(
        &explanation,
        "plan     candidates of family 'tweets' in key order\n"
        "because  they know (expected: 1 candidate)\n"
        "files    1,010: 1,000 pruned by the hierarchy, 3 pruned by locator or "
        "order, 7 read (2 without a usable filter)\n"
        "segments 5 read, 80 rows\n"
        "recent   4 candidates among rows in no SST file yet\n"
        "verified 20 candidates, 17 read directly: 12 returned, 1 gone, "
        "2 false positives, 5 not needed\n"
        "work     12 rows: read 99 of about 100,000 rows (12.3 kB) in "
        "1.23 ms\n"
        "time     1.00 ms planning, 0.20 ms reading, 0.03 ms verifying\n"
        "matched  user 1, a\\nb 1");
    explanation_release(&explanation);
}

/* What finds in several families have found is added up. */
TEST(words_of_several_families_are_those_of_the_first_that_has_some)
{
    struct explanation explanation = {.request = &request};
    struct colander_explain counts = {.plan = COLANDER_PLAN_CANDIDATES};

    explanation_take_counts(&explanation, &counts);
    for (uint64_t i = 0; i < 2; i++) {
        counts.words_found = 1 + i;
        (void)strcpy(counts.some_words, i == 0 ? "houston" : "boston, weston");
        explanation_take_counts(&explanation, &counts);
    }
    assert_int_equal(explanation.counts.words_found, 3);
    assert_string_equal(explanation.counts.some_words, "houston");
    explanation_release(&explanation);
}

TEST(what_says_nothing_is_left_out)
{
    struct explanation explanation = {.request = &request};

    explanation.family = "tweets";
    explanation.key_count = 3;
    explanation.counts.plan = COLANDER_PLAN_CANDIDATES;
    explanation.counts.file_count = 1;
    explanation.counts.files_pruned = 1;
    assert_explains(&explanation,
                    "plan     candidates of family 'tweets' in key order\n"
                    "files    1: 1 pruned by the hierarchy\n"
                    "work     0 rows: read none of about 3 rows in "
                    "0.00 ms");
}

/* The number of rows is an estimate, and a candidate may be read twice. */
TEST(no_more_rows_are_read_than_there_are)
{
    struct explanation explanation = {.request = &request};

    explanation.family = "tweets";
    explanation.key_count = 3;
    explanation.counts.plan = COLANDER_PLAN_CANDIDATES;
    explanation.counts.rows_read = 3;
    explanation.counts.rows_verified = 1;
    assert_explains(&explanation,
                    "plan     candidates of family 'tweets' in key order\n"
                    "work     0 rows: read 4 rows in 0.00 ms");
}

TEST(a_scan_reports_the_rows_it_read)
{
    struct explanation explanation = {.request = &request};

    explanation.family = "tweets";
    explanation.key_count = 3;
    explanation.counts.plan = COLANDER_PLAN_SCAN;
    explanation.counts.reason = "dear";
    explanation.counts.rows_expected = 70;
    explanation.counts.rows_read = 3;
    explanation.counts.read_time = 1;
    assert_explains(&explanation,
                    "plan     scan of family 'tweets' in key order\n"
                    "because  dear (expected: 70 candidates)\n"
                    "work     0 rows: scanned 3 rows (0 bytes) in "
                    "0.00 ms");
}

/* Returns what a find of "x" in any column has counted. */
static void
take_find(struct explanation *explanation, struct colander_family *family)
{
    struct colander_cursor *cursor;
    struct colander_result result;
    struct colander_query query;
    bool is_row = true;

    colander_query_init(&query);
    query.where = colander_where_any_column(colander_text("x"), NULL);
    query.reports_columns = true;
    assert_non_null(query.where);
    OK(colander_family_find(family, &query, &cursor, NULL));
    while (is_row)
        OK(colander_cursor_next(cursor, &is_row, &result, NULL));
    explanation_take_cursor(explanation, cursor);
    colander_cursor_close(cursor);
    colander_predicate_destroy(query.where);
}

FIXTURE_TEST(many_columns_are_shown_by_name_or_number)
{
    struct explanation explanation = {.request = &request};
    const char *matched;
    size_t commas = 0;

    for (int i = 1; i < EXPLANATION_COLUMNS_MAX + 2; i++) {
        char name[16];

        (void)snprintf(name, sizeof(name), "c%d", i);
        colander_row_builder_add(fixture->builder, name, colander_text("x"));
    }
    OK(put_text(fixture, kept_family(fixture, "f"), "k", "a\nb",
                colander_text("x"), NULL));
    take_find(&explanation, kept_family(fixture, "f"));
    OK(explanation.matched.code);
    OK(colander_buffer_append(&explanation.matched.text, "", 1, NULL));
    matched = (const char *)explanation.matched.text.data;
    for (const char *at = matched; (at = strchr(at, ',')) != NULL; at++)
        commas++;
    assert_int_equal(commas, EXPLANATION_COLUMNS_MAX);
    assert_non_null(strstr(matched, " 1, and 2 other columns"));
    explanation_release(&explanation);
}

FIXTURE_TEST(names_of_matched_columns_are_printable)
{
    struct explanation explanation = {.request = &request};

    OK(put_text(fixture, kept_family(fixture, "f"), "k", "a\nb",
                colander_text("x"), NULL));
    take_find(&explanation, kept_family(fixture, "f"));
    OK(colander_buffer_append(&explanation.matched.text, "", 1, NULL));
    assert_string_equal((const char *)explanation.matched.text.data,
                        "a\\x0ab 1");
    explanation_release(&explanation);
}

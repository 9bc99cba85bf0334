/*
 * Predicates evaluated on rows: what matches, and which paths are reported.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/columns.h"
#include "support/cases.h"
#include "support/scoped.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define ROW(bytes) colander_slice_of("" bytes, sizeof(bytes) - 1)

/* {"user":"Smith", "likes":7, "big":2^53+1, "nan":NaN, "none":null, "yes":true,
 *  "blob":b"Sm", "tags":["a","b",1], "a.b":1, "in":{"n":1.0,"t":[{"x":"a"}]}}
 */
static const char sample[] =
    "\x8a"
    "\xa4user\xa5Smith"
    "\xa5likes\x07"
    "\243big\xcf\x00\x20\x00\x00\x00\x00\x00\x01"
    "\xa3nan\xcb\x7f\xf8\x00\x00\x00\x00\x00\x00"
    "\xa4none\xc0"
    "\xa3yes\xc3"
    "\244blob\xc4\x02Sm"
    "\xa4tags\x93\241a\241b\x01"
    "\243a.b\x01"
    "\xa2in\x82\xa1n\xcb\x3f\xf0\x00\x00\x00\x00\x00\x00"
    "\xa1t\x91\x81\xa1x\241a";

static struct colander_slice
sample_row(void)
{
    return colander_slice_of(sample, sizeof(sample) - 1);
}

static struct colander_predicate *
where(const char *path, enum colander_comparison comparison,
      struct colander_value value)
{
    return colander_where(path, comparison, value, NULL);
}

/* Takes the predicate, as all_of and the like do. */
static bool
holds(struct colander_predicate *predicate)
{
    bool is_match;

    assert_non_null(predicate);
    OK(colander_predicate_evaluate(predicate, sample_row(), &is_match, NULL,
                                   why()));
    colander_predicate_destroy(predicate);
    return is_match;
}

/* Takes the predicate. `expected` is all paths, with a space after each. */
static void
assert_columns_of(struct colander_slice row,
                  struct colander_predicate *predicate, const char *expected)
{
    SCOPED_MATCHES matches = colander_matches_create();
    struct colander_columns columns;
    char text[1000] = "";
    bool is_match;

    assert_non_null(predicate);
    assert_non_null(matches);
    OK(colander_predicate_evaluate(predicate, row, &is_match, matches, NULL));
    colander_predicate_destroy(predicate);
    columns = colander_matches_columns(matches);
    for (size_t i = 0; i < columns.count; i++) {
        strcat(text, columns.paths[i]);
        strcat(text, " ");
    }
    assert_string_equal(text, expected);
}

static void
assert_columns(struct colander_predicate *predicate, const char *expected)
{
    assert_columns_of(sample_row(), predicate, expected);
}

/* ------------------------------------------------------------- answers --- */

TEST(numbers_are_equal_whatever_their_kind)
{
    assert_true(holds(where("likes", COLANDER_EQ, colander_double(7.0))));
    assert_true(holds(where("in.n", COLANDER_EQ, colander_integer(1))));
    assert_false(holds(where("yes", COLANDER_EQ, colander_integer(1))));
}

TEST(integers_beyond_2_to_53_are_exact)
{
    const double near = 9007199254740992.0; /* 2^53: the adjacent double */

    assert_false(holds(where("big", COLANDER_EQ, colander_double(near))));
    assert_true(holds(where("big", COLANDER_GT, colander_double(near))));
    assert_true(holds(
        where("big", COLANDER_EQ, colander_integer(INT64_C(1) + (1LL << 53)))));
}

TEST(nan_is_above_every_number)
{
    assert_true(holds(where("nan", COLANDER_GT, colander_double(INFINITY))));
    assert_false(holds(where("nan", COLANDER_LE, colander_integer(5))));
    assert_true(holds(where("nan", COLANDER_EQ, colander_double(-NAN))));
    assert_true(holds(where("likes", COLANDER_LT, colander_double(NAN))));
    assert_true(holds(colander_where_between("nan", colander_integer(0),
                                             colander_double(NAN), NULL)));
    assert_false(holds(colander_where_between(
        "nan", colander_integer(0), colander_double(INFINITY), NULL)));
}

TEST(values_of_two_types_have_no_order)
{
    assert_false(holds(where("user", COLANDER_LT, colander_integer(5))));
    assert_false(holds(where("user", COLANDER_GE, colander_integer(5))));
    assert_false(holds(where("none", COLANDER_LT, colander_integer(5))));
    assert_false(holds(where("yes", COLANDER_LE, colander_integer(5))));
    assert_false(holds(where("tags", COLANDER_GE, colander_integer(0))));
}

TEST(a_string_is_not_a_binary)
{
    struct colander_slice bytes = colander_slice_text("Sm");

    assert_true(
        holds(colander_where_prefix("user", colander_string(bytes), NULL)));
    assert_false(
        holds(colander_where_prefix("user", colander_binary(bytes), NULL)));
    assert_true(
        holds(colander_where_contains("blob", colander_binary(bytes), NULL)));
    assert_false(
        holds(colander_where_contains("blob", colander_string(bytes), NULL)));
    assert_false(holds(where("blob", COLANDER_EQ, colander_string(bytes))));
}

TEST(not_equal_needs_a_scalar_at_the_path)
{
    assert_true(holds(where("user", COLANDER_NE, colander_text("Jones"))));
    assert_true(holds(where("none", COLANDER_NE, colander_text("Jones"))));
    assert_true(holds(where("likes", COLANDER_NE, colander_text("7"))));
    assert_false(holds(where("user", COLANDER_NE, colander_text("Smith"))));
    assert_false(holds(where("absent", COLANDER_NE, colander_text("x"))));
    assert_false(holds(where("tags", COLANDER_NE, colander_text("x"))));
    assert_false(holds(where("none", COLANDER_NE, colander_null())));
}

TEST(not_of_equal_holds_where_nothing_is)
{
    assert_true(holds(
        colander_not(where("absent", COLANDER_EQ, colander_text("x")), NULL)));
}

TEST(one_element_is_enough)
{
    assert_true(holds(where("tags[]", COLANDER_EQ, colander_text("b"))));
    assert_true(holds(where("tags[]", COLANDER_NE, colander_text("b"))));
    assert_true(holds(where("in.t[].x", COLANDER_EQ, colander_text("a"))));
    assert_false(holds(where("tags[]", COLANDER_EQ, colander_text("c"))));
}

TEST(a_path_without_brackets_matches_no_element)
{
    assert_false(holds(where("tags", COLANDER_EQ, colander_text("a"))));
    assert_false(holds(where("in.t.x", COLANDER_EQ, colander_text("a"))));
}

TEST(a_dot_in_a_name_is_not_a_step)
{
    assert_true(holds(colander_where_exists("a\\.b", NULL)));
    assert_false(holds(colander_where_exists("a.b", NULL)));
}

TEST(exists_sees_nulls_and_containers)
{
    assert_true(holds(colander_where_exists("none", NULL)));
    assert_true(holds(colander_where_exists("tags", NULL)));
    assert_true(holds(colander_where_exists("in", NULL)));
    assert_true(holds(colander_where_missing("in.absent", NULL)));
    assert_false(holds(colander_where_missing("none", NULL)));
}

TEST(missing_is_not_null)
{
    assert_true(holds(colander_where_null("none", NULL)));
    assert_false(holds(colander_where_null("absent", NULL)));
    assert_false(holds(colander_where_null("user", NULL)));
}

TEST(nothing_to_choose_from_settles_the_answer)
{
    assert_true(holds(colander_all_of(NULL, 0, NULL)));
    assert_false(holds(colander_any_of(NULL, 0, NULL)));
    assert_false(holds(colander_where_in("user", NULL, 0, NULL)));
}

TEST(in_finds_each_of_its_values)
{
    const struct colander_value values[] = {
        colander_text("Smith"), colander_double(-1),  colander_null(),
        colander_text("Smith"), colander_integer(-1), colander_text("A"),
        colander_boolean(true), colander_double(7)};

    assert_true(holds(colander_where_in("user", values, 8, NULL)));
    assert_true(holds(colander_where_in("likes", values, 8, NULL)));
    assert_true(holds(colander_where_in("none", values, 8, NULL)));
    assert_true(holds(colander_where_in("yes", values, 8, NULL)));
    assert_false(holds(colander_where_in("nan", values, 8, NULL)));
    assert_false(holds(colander_where_in("tags", values, 8, NULL)));
}

TEST(any_sees_scalars_at_every_depth)
{
    assert_true(holds(colander_where_any_column(colander_text("Smith"), NULL)));
    assert_true(holds(colander_where_any_column(colander_double(1.0), NULL)));
    assert_true(holds(colander_where_any_column(colander_null(), NULL)));
    assert_false(holds(colander_where_any_column(colander_text("user"), NULL)));
    assert_false(
        holds(colander_where_any_column(colander_boolean(false), NULL)));
}

/* ------------------------------------------------------------- matches --- */

TEST(any_reports_each_path_once_in_the_order_of_the_row)
{
    assert_columns(colander_where_any_column(colander_integer(1), NULL),
                   "tags[] a\\.b in.n ");
    assert_columns(colander_where_any_column(colander_text("a"), NULL),
                   "tags[] in.t[].x ");
    /* {"l":[0,0],"k":0} */
    assert_columns_of(ROW("\x82\xa1l\x92\x00\x00\xa1k\x00"),
                      colander_where_any_column(colander_integer(0), NULL),
                      "l[] k ");
}

TEST(and_reports_what_made_each_operand_true)
{
    struct colander_predicate *operands[] = {
        where("tags[]", COLANDER_EQ, colander_integer(1)),
        where("tags[]", COLANDER_EQ, colander_text("a")),
        colander_where_null("none", NULL),
        colander_where_exists("in", NULL),
        where("in.n", COLANDER_LT, colander_integer(9)),
        where("user", COLANDER_NE, colander_text("x")),
    };

    assert_columns(colander_all_of(operands, 6, NULL),
                   "user none tags[] in in.n ");
}

TEST(or_reports_all_operands_that_are_true)
{
    struct colander_predicate *parts[] = {
        where("likes", COLANDER_EQ, colander_integer(7)),
        where("likes", COLANDER_EQ, colander_integer(8)),
    };
    struct colander_predicate *operands[] = {
        where("yes", COLANDER_EQ, colander_boolean(true)),
        colander_all_of(parts, 2, NULL),
        where("user", COLANDER_EQ, colander_text("Jones")),
        where("user", COLANDER_EQ, colander_text("Smith")),
    };

    assert_columns(colander_any_of(operands, 4, NULL), "user yes ");
}

/* A path is placed at its first match, not at its first value. */
TEST(paths_are_ordered_by_their_first_match)
{
    /* {"l":[{"x":1,"y":2},{"x":2}]} */
    const struct colander_slice row =
        ROW("\x81\xa1l\x92\x82\xa1x\x01\xa1y\x02\x81\xa1x\x02");
    struct colander_predicate *operands[] = {
        where("l[].x", COLANDER_EQ, colander_integer(2)),
        where("l[].y", COLANDER_EQ, colander_integer(2)),
    };

    assert_columns_of(row, colander_all_of(operands, 2, NULL), "l[].y l[].x ");
}

TEST(not_and_missing_report_nothing)
{
    struct colander_predicate *operands[] = {
        colander_not(where("user", COLANDER_EQ, colander_text("x")), NULL),
        colander_where_missing("absent", NULL),
        colander_not(colander_not(colander_where_exists("yes", NULL), NULL),
                     NULL),
    };

    assert_columns(colander_all_of(operands, 3, NULL), "");
}

TEST(matches_are_empty_when_the_answer_is_no)
{
    SCOPED_MATCHES matches = colander_matches_create();
    struct colander_predicate *parts[] = {
        colander_where_exists("user", NULL),
        colander_where_exists("absent", NULL),
    };
    struct colander_predicate *yes = colander_where_exists("user", NULL);
    struct colander_predicate *no = colander_all_of(parts, 2, NULL);
    bool is_match;

    assert_non_null(matches);
    assert_int_equal(colander_matches_columns(matches).count, 0);
    OK(colander_predicate_evaluate(yes, sample_row(), &is_match, matches,
                                   NULL));
    colander_predicate_destroy(yes);
    assert_int_equal(colander_matches_columns(matches).count, 1);
    assert_string_equal(colander_matches_columns(matches).paths[0], "user");
    OK(colander_predicate_evaluate(no, sample_row(), &is_match, matches, NULL));
    colander_predicate_destroy(no);
    assert_false(is_match);
    assert_int_equal(colander_matches_columns(matches).count, 0);
}

/* A map of `count` numbered columns; every value is [0,[0],0]. */
static struct colander_slice
wide_row(struct colander_row_builder *builder, int count)
{
    struct colander_slice row;
    char name[16];

    for (int i = 0; i < count; i++) {
        (void)snprintf(name, sizeof(name), "%d", i);
        colander_row_builder_begin_array(builder, name);
        colander_row_builder_add(builder, NULL, colander_integer(0));
        colander_row_builder_begin_array(builder, NULL);
        colander_row_builder_add(builder, NULL, colander_integer(0));
        colander_row_builder_end(builder);
        colander_row_builder_add(builder, NULL, colander_integer(0));
        colander_row_builder_end(builder);
    }
    OK(colander_row_builder_finish(builder, &row, NULL));
    return row;
}

TEST(thousands_of_paths_are_reported_in_order)
{
    SCOPED_MATCHES matches = colander_matches_create();
    SCOPED_PREDICATE predicate =
        colander_where_any_column(colander_integer(0), NULL);
    struct colander_columns columns;
    char path[32];
    bool is_match;
    SCOPED_BUILDER builder = colander_row_builder_create();

    OK(colander_predicate_evaluate(predicate, wide_row(builder, 3000),
                                   &is_match, matches, NULL));
    columns = colander_matches_columns(matches);
    assert_int_equal(columns.count, 6000);
    for (size_t i = 0; i < columns.count; i++) {
        (void)snprintf(path, sizeof(path), "%zu%s", i / 2,
                       i % 2 == 0 ? "[]" : "[][]");
        assert_string_equal(columns.paths[i], path);
    }
}

/* -------------------------------------------------------------- damage --- */

static void
assert_corrupt(struct colander_slice row, struct colander_predicate *predicate)
{
    struct colander_error err = {.code = COLANDER_OK};
    bool is_match = true;

    assert_non_null(predicate);
    FAILS(colander_predicate_evaluate(predicate, row, &is_match, NULL, &err),
          COLANDER_CORRUPT);
    assert_int_equal(err.code, COLANDER_CORRUPT);
    assert_false(is_match);
    colander_predicate_destroy(predicate);
}

TEST(a_row_cut_anywhere_is_corrupt_to_who_reads_it_all)
{
    for (size_t size = 0; size < sizeof(sample) - 1; size++) {
        SCOPED_MEMORY uint8_t *copy = malloc(size + (size == 0));
        struct colander_slice row = colander_slice_of(copy, size);

        assert_non_null(copy);
        memcpy(copy, sample, size);
        assert_corrupt(row,
                       colander_where_any_column(colander_integer(42), NULL));
        assert_corrupt(row, colander_where_missing("absent", NULL));
    }
}

TEST(anything_but_a_map_is_corrupt_to_every_predicate)
{
    const struct colander_slice rows[] = {ROW(""), ROW("\x91\x01"),
                                          ROW("\241a"), ROW("\xc1")};

    for (size_t i = 0; i < COUNT(rows); i++) {
        assert_corrupt(rows[i], colander_all_of(NULL, 0, NULL));
        assert_corrupt(rows[i], colander_any_of(NULL, 0, NULL));
        assert_corrupt(rows[i], colander_where_exists("a", NULL));
        assert_corrupt(rows[i],
                       colander_where_any_column(colander_null(), NULL));
        assert_corrupt(rows[i],
                       colander_not(colander_where_missing("a", NULL), NULL));
    }
}

TEST(a_row_too_deep_is_corrupt_to_any)
{
    uint8_t bytes[COLANDER_ROW_DEPTH_MAX + 4] = {0x81, 0xa1, 'a'};
    bool is_match;
    SCOPED_PREDICATE predicate =
        colander_where_any_column(colander_integer(1), NULL);

    memset(bytes + 3, 0x91, sizeof(bytes) - 3);
    bytes[sizeof(bytes) - 1] = 0x01;
    assert_corrupt(colander_slice_of(bytes, sizeof(bytes)),
                   colander_where_any_column(colander_integer(1), NULL));
    bytes[sizeof(bytes) - 2] = 0x01;
    OK(colander_predicate_evaluate(predicate,
                                   colander_slice_of(bytes, sizeof(bytes) - 1),
                                   &is_match, NULL, NULL));
    assert_true(is_match);
}

/* Not promised, but the speed of a scan depends on it. */
TEST(damage_after_the_answer_is_not_detected)
{
    const struct colander_slice row = ROW("\x82\241a\x01\241b\xc1");
    struct colander_predicate *predicate =
        where("a", COLANDER_EQ, colander_integer(1));
    bool is_match;

    OK(colander_predicate_evaluate(predicate, row, &is_match, NULL, NULL));
    assert_true(is_match);
    colander_predicate_destroy(predicate);
    assert_corrupt(row, colander_where_any_column(colander_integer(2), NULL));
}

/* ------------------------------------------------------------- threads --- */

static void *
evaluate_often(void *context)
{
    const struct colander_predicate *predicate = context;
    SCOPED_MATCHES matches = colander_matches_create();
    size_t column_count = 0;
    bool is_match;

    for (int i = 0; i < 2000 && matches != NULL; i++) {
        if (colander_predicate_evaluate(predicate, sample_row(), &is_match,
                                        matches, NULL) == COLANDER_OK)
            column_count += colander_matches_columns(matches).count;
    }
    return column_count == 6000 ? context : NULL;
}

TEST(many_threads_may_ask_one_predicate)
{
    SCOPED_PREDICATE predicate =
        colander_where_any_column(colander_integer(1), NULL);
    pthread_t threads[4];
    void *result;

    for (size_t i = 0; i < COUNT(threads); i++)
        ZERO(pthread_create(&threads[i], NULL, evaluate_often, predicate));
    for (size_t i = 0; i < COUNT(threads); i++) {
        ZERO(pthread_join(threads[i], &result));
        assert_non_null(result);
    }
}

/*
 * Predicates: what is rejected, who owns what, and how a visit is stopped.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/finds/predicate.h"
#include "support/cases.h"
#include "support/scoped.h"

#include <stdlib.h>

static struct colander_error err; /* of the last call */

static void
assert_refused(struct colander_predicate *predicate, const char *message)
{
    assert_null(predicate);
    assert_int_equal(err.code, COLANDER_INVALID);
    assert_string_equal(err.message, message);
    memset(&err, 0, sizeof(err));
}

TEST(an_ordering_with_null_is_invalid)
{
    for (int comparison = COLANDER_LT; comparison <= COLANDER_GE; comparison++)
        assert_refused(colander_where("a", (enum colander_comparison)comparison,
                                      colander_null(), &err),
                       "predicate on 'a': null has no order");
    assert_refused(
        colander_where_between("a", colander_null(), colander_null(), &err),
        "predicate on 'a': null and null have no order");
}

TEST(between_values_of_two_types_is_invalid)
{
    SCOPED_PREDICATE predicate = NULL;

    assert_refused(colander_where_between("a", colander_integer(1),
                                          colander_text("2"), &err),
                   "predicate on 'a': integer and string have no order");
    assert_refused(
        colander_where_between("a", colander_text("1"),
                               colander_binary(colander_slice_text("2")), &err),
        "predicate on 'a': string and binary have no order");
    predicate = colander_where_between("a", colander_double(6.5),
                                       colander_unsigned(UINT64_MAX), &err);
    assert_non_null(predicate);
}

TEST(arrays_and_maps_cannot_be_compared_with)
{
    struct colander_value value = colander_text("\x90");

    value.type = COLANDER_ARRAY;
    assert_refused(colander_where("a", COLANDER_EQ, value, &err),
                   "predicate on 'a': a value of type array cannot be "
                   "compared");
    assert_null(colander_where_in("a", &value, 1, &err));
    assert_null(colander_where_between("a", value, value, &err));
    assert_null(colander_where_prefix("a", value, &err));
    value.type = COLANDER_MAP;
    assert_null(colander_where("a", COLANDER_GE, value, &err));
    assert_refused(colander_where_any_column(value, &err),
                   "predicate on any column: a value of type map cannot be "
                   "compared");
}

TEST(prefix_and_contains_need_a_string_or_a_binary)
{
    assert_refused(colander_where_prefix("a", colander_integer(1), &err),
                   "predicate on 'a': integer is neither string nor binary");
    assert_refused(colander_where_contains("a", colander_null(), &err),
                   "predicate on 'a': null is neither string nor binary");
}

TEST(a_string_that_is_not_utf8_is_invalid)
{
    struct colander_value values[] = {colander_text("fine"),
                                      colander_text("\xff")};

    assert_refused(colander_where_in("a", values, 2, &err),
                   "predicate on 'a': string is not UTF-8");
    assert_refused(colander_where_contains("a", colander_text("\xc4"), &err),
                   "predicate on 'a': string is not UTF-8");
    values[1].type = COLANDER_BINARY;
    colander_predicate_destroy(colander_where_in("a", values, 2, &err));
}

TEST(an_impossible_timestamp_is_invalid)
{
    assert_refused(colander_where("a", COLANDER_EQ,
                                  colander_timestamp(0, 1000000000), &err),
                   "predicate on 'a': timestamp has 1000000000 nanoseconds");
}

/* A row reads it as a timestamp, so nothing would ever equal it. */
TEST(an_extension_of_the_type_of_timestamps_is_invalid)
{
    struct colander_value value = colander_text("1234");
    SCOPED_PREDICATE predicate = NULL;

    value.type = COLANDER_EXTENSION;
    value.extension_type = -1;
    assert_null(colander_where("a", COLANDER_EQ, value, &err));
    assert_int_equal(err.code, COLANDER_INVALID);
    value.extension_type = -2;
    predicate = colander_where("a", COLANDER_EQ, value, &err);
    assert_non_null(predicate);
}

TEST(a_bad_path_is_invalid)
{
    assert_null(colander_where_exists("a[", &err));
    assert_int_equal(err.code, COLANDER_INVALID);
    assert_refused(colander_where_missing(NULL, &err), "predicate: no path");
}

TEST(an_unknown_comparison_is_invalid)
{
    assert_refused(colander_where("a", (enum colander_comparison)6,
                                  colander_integer(1), &err),
                   "predicate on 'a': unknown comparison 6");
}

/* The leak checker verifies that the others are destroyed. */
TEST(a_null_operand_fails_and_leaves_the_error)
{
    struct colander_predicate *operands[3] = {NULL};

    err.code = COLANDER_OK;
    strcpy(err.message, "as it was");
    operands[0] = colander_where_exists("a", NULL);
    operands[2] = colander_where_exists("b", NULL);
    assert_null(colander_all_of(operands, 3, &err));
    assert_null(colander_any_of(operands + 1, 1, &err));
    assert_null(colander_not(NULL, &err));
    assert_string_equal(err.message, "as it was");
    OK(err.code);
}

TEST(an_operand_given_twice_is_invalid)
{
    struct colander_predicate *operands[2];

    operands[0] = operands[1] = colander_where_exists("a", NULL);
    assert_refused(colander_any_of(operands, 2, &err),
                   "a predicate was given twice, or is already part of "
                   "another");
}

TEST(an_operand_of_another_is_invalid)
{
    struct colander_predicate *operands[2];

    operands[0] = colander_where_exists("a", NULL);
    operands[1] = colander_not(operands[0], NULL);
    assert_refused(colander_all_of(operands, 2, &err),
                   "a predicate was given twice, or is already part of "
                   "another");
}

TEST(nesting_ends_at_the_limit)
{
    struct colander_predicate *predicate = colander_where_exists("a", NULL);

    for (int depth = 1; depth < COLANDER_PREDICATE_DEPTH_MAX; depth++)
        predicate = colander_not(predicate, &err);
    assert_non_null(predicate);
    assert_null(colander_not(predicate, &err));
    assert_int_equal(err.code, COLANDER_LIMIT);
}

TEST(the_number_of_predicates_ends_at_the_limit)
{
    /* Together with the one that holds them they reach the limit. */
    static struct colander_predicate
        *operands[COLANDER_PREDICATE_NODES_MAX - 1];
    struct colander_predicate *predicate;

    for (size_t i = 0; i < COUNT(operands); i++)
        operands[i] = colander_where_exists("a", NULL);
    predicate = colander_any_of(operands, COUNT(operands), &err);
    assert_non_null(predicate);
    assert_null(colander_not(predicate, &err));
    assert_int_equal(err.code, COLANDER_LIMIT);
}

TEST(the_number_of_values_ends_at_the_limit)
{
    const size_t most = COLANDER_PREDICATE_VALUES_MAX;
    SCOPED_MEMORY struct colander_value *values =
        calloc(most + 1, sizeof(*values));
    struct colander_predicate *operands[2];

    assert_non_null(values);
    for (size_t i = 0; i <= most; i++)
        values[i] = colander_integer((int64_t)i);
    assert_null(colander_where_in("a", values, most + 1, &err));
    assert_int_equal(err.code, COLANDER_LIMIT);
    for (size_t count = most - 1; count <= most; count++) {
        operands[0] = colander_where_in("a", values, count, &err);
        operands[1] = colander_where_any_column(values[0], &err);
        operands[0] = colander_all_of(operands, 2, &err);
        assert_int_equal(operands[0] == NULL, count == most);
        colander_predicate_destroy(operands[0]);
    }
    assert_int_equal(err.code, COLANDER_LIMIT);
}

TEST(values_larger_than_any_memory_are_refused)
{
    const struct colander_value half =
        colander_binary(colander_slice_of("", SIZE_MAX / 2 + 1));
    const struct colander_value values[] = {half, half};

    assert_null(colander_where_in("a", values, 2, &err));
    assert_int_equal(err.code, COLANDER_NO_MEMORY);
}

TEST(paths_and_values_are_copied)
{
    char path[] = "user";
    char text[] = "Smith";
    struct colander_value values[] = {colander_text("Jones"),
                                      colander_text(text)};
    bool is_match;
    SCOPED_PREDICATE predicate = colander_where_in(path, values, 2, NULL);

    path[0] = text[0] = 'X';
    values[1] = colander_null();
    OK(colander_predicate_evaluate(predicate,
                                   colander_slice_text("\x81\xa4user\xa5Smith"),
                                   &is_match, NULL, NULL));
    assert_true(is_match);
}

TEST(a_cancelled_evaluation_answers_nothing)
{
    const struct colander_slice row =
        colander_slice_text("\x81\xa4user\xa5Smith");
    SCOPED_MATCHES matches = colander_matches_create();
    SCOPED_PREDICATE predicate = colander_where_exists("user", NULL);
    atomic_bool is_cancelled = false;
    bool is_match;

    OK(predicate_evaluate(predicate, row, &is_cancelled, &is_match, matches,
                          &err));
    assert_true(is_match);
    assert_int_equal(colander_matches_columns(matches).count, 1);
    atomic_store(&is_cancelled, true);
    FAILS(predicate_evaluate(predicate, row, &is_cancelled, &is_match, matches,
                             &err),
          COLANDER_CANCELLED);
    assert_int_equal(err.code, COLANDER_CANCELLED);
    assert_false(is_match);
    assert_int_equal(colander_matches_columns(matches).count, 0);
}

/* Counts the conditions, and checks the first. */
static void
check_conditions(struct colander_predicate *predicate, size_t count,
                 const char *path, size_t value_count, bool is_alternative)
{
    struct colander_condition condition;
    size_t found = 0;

    assert_non_null(predicate);
    while (colander_predicate_condition(predicate, found, &condition))
        found++;
    assert_int_equal(found, count);
    if (count > 0) {
        assert_true(colander_predicate_condition(predicate, 0, &condition));
        assert_string_equal(condition.path, path);
        assert_int_equal(condition.value_count, value_count);
        assert_int_equal(condition.is_alternative, is_alternative);
    }
    colander_predicate_destroy(predicate);
}

TEST(the_parts_of_a_predicate_are_those_that_must_all_be_true)
{
    static const char *const words[] = {"a=x", "and", "b>1", "and", "(",
                                        "c=1", "or",  "d=2", ")"};
    static const char *const paths[] = {"a", "b", "c"};
    struct colander_predicate *predicate =
        colander_where_words(words, COUNT(words), NULL, NULL);
    struct colander_condition condition;

    for (size_t i = 0; i < COUNT(paths); i++) {
        const struct colander_predicate *part =
            colander_predicate_part(predicate, i);

        assert_true(colander_predicate_condition(part, 0, &condition));
        assert_string_equal(condition.path, paths[i]);
        assert_int_equal(colander_predicate_condition(part, 1, &condition),
                         i == 2);
    }
    assert_null(colander_predicate_part(predicate, COUNT(paths)));
    colander_predicate_destroy(predicate);
}

TEST(the_conditions_of_a_predicate_are_those_on_values_of_columns)
{
    static const char *const words[] = {
        "(", "a.b[]=x", "or", "c?", ")", "not", "d=1", "e!", "f=[\"x\",\"y\"]"};

    check_conditions(colander_where_words(words, COUNT(words), NULL, NULL), 5,
                     "a.b[]", 1, true);
    check_conditions(colander_where_text("x~2015-03", NULL), 2, "x", 1, true);
    check_conditions(colander_where_text("x?", NULL), 1, "x", 0, false);
    check_conditions(colander_where("", COLANDER_EQ, colander_integer(1), NULL),
                     1, "", 1, false);
    check_conditions(colander_where_any_column(colander_integer(1), NULL), 0,
                     NULL, 0, false);
    check_conditions(colander_all_of(NULL, 0, NULL), 0, NULL, 0, false);
}

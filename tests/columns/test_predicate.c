/*
 * Predicates: what is refused, who owns what, and how an answer is called off.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/predicate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define ARRAY_COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void
assert_refused(struct colander_predicate *predicate,
               const struct colander_error *err, const char *message)
{
    assert_null(predicate);
    assert_int_equal(err->code, COLANDER_INVALID);
    assert_string_equal(err->message, message);
}

static void
an_ordering_with_null_is_invalid(void **state)
{
    struct colander_error err;

    (void)state;
    for (int comparison = COLANDER_LT; comparison <= COLANDER_GE; comparison++)
        assert_refused(colander_where("a", (enum colander_comparison)comparison,
                                      colander_null(), &err),
                       &err, "predicate on 'a': null has no order");
    assert_refused(
        colander_where_between("a", colander_null(), colander_null(), &err),
        &err, "predicate on 'a': null and null have no order");
}

static void
between_values_of_two_types_is_invalid(void **state)
{
    struct colander_predicate *predicate;
    struct colander_error err;

    (void)state;
    assert_refused(colander_where_between("a", colander_integer(1),
                                          colander_text("2"), &err),
                   &err, "predicate on 'a': integer and string have no order");
    assert_refused(
        colander_where_between("a", colander_text("1"),
                               colander_binary(colander_slice_text("2")), &err),
        &err, "predicate on 'a': string and binary have no order");
    predicate = colander_where_between("a", colander_double(6.5),
                                       colander_unsigned(UINT64_MAX), &err);
    assert_non_null(predicate);
    colander_predicate_destroy(predicate);
}

static void
arrays_and_maps_are_no_values_to_compare_with(void **state)
{
    struct colander_value value = colander_text("\x90");
    struct colander_error err;

    (void)state;
    value.type = COLANDER_ARRAY;
    assert_refused(colander_where("a", COLANDER_EQ, value, &err), &err,
                   "predicate on 'a': a value of type array cannot be "
                   "compared");
    assert_null(colander_where_in("a", &value, 1, &err));
    assert_null(colander_where_between("a", value, value, &err));
    assert_null(colander_where_prefix("a", value, &err));
    value.type = COLANDER_MAP;
    assert_null(colander_where("a", COLANDER_GE, value, &err));
    assert_refused(colander_where_any(value, &err), &err,
                   "predicate on any column: a value of type map cannot be "
                   "compared");
}

static void
prefix_and_contains_need_a_string_or_a_binary(void **state)
{
    struct colander_error err;

    (void)state;
    assert_refused(colander_where_prefix("a", colander_integer(1), &err), &err,
                   "predicate on 'a': integer is neither string nor binary");
    assert_refused(colander_where_contains("a", colander_null(), &err), &err,
                   "predicate on 'a': null is neither string nor binary");
}

static void
a_string_that_is_not_utf8_is_invalid(void **state)
{
    struct colander_value values[] = {colander_text("fine"),
                                      colander_text("\xff")};
    struct colander_error err;

    (void)state;
    assert_refused(colander_where_in("a", values, 2, &err), &err,
                   "predicate on 'a': string is not UTF-8");
    assert_refused(colander_where_contains("a", colander_text("\xc4"), &err),
                   &err, "predicate on 'a': string is not UTF-8");
    values[1].type = COLANDER_BINARY;
    colander_predicate_destroy(colander_where_in("a", values, 2, &err));
}

static void
an_impossible_timestamp_is_invalid(void **state)
{
    struct colander_error err;

    (void)state;
    assert_refused(colander_where("a", COLANDER_EQ,
                                  colander_timestamp(0, 1000000000), &err),
                   &err,
                   "predicate on 'a': timestamp has 1000000000 nanoseconds");
}

/* A row's is read as a timestamp, so nothing would ever equal it. */
static void
an_extension_of_the_type_of_timestamps_is_invalid(void **state)
{
    struct colander_value value = colander_text("1234");
    struct colander_predicate *predicate;
    struct colander_error err;

    (void)state;
    value.type = COLANDER_EXTENSION;
    value.extension_type = -1;
    assert_null(colander_where("a", COLANDER_EQ, value, &err));
    assert_int_equal(err.code, COLANDER_INVALID);
    value.extension_type = -2;
    predicate = colander_where("a", COLANDER_EQ, value, &err);
    assert_non_null(predicate);
    colander_predicate_destroy(predicate);
}

static void
a_path_that_is_none_is_invalid(void **state)
{
    struct colander_error err;

    (void)state;
    assert_null(colander_where_exists("a[", &err));
    assert_int_equal(err.code, COLANDER_INVALID);
    assert_refused(colander_where_missing(NULL, &err), &err,
                   "predicate: no path");
}

static void
an_unknown_comparison_is_invalid(void **state)
{
    struct colander_error err;

    (void)state;
    assert_refused(colander_where("a", (enum colander_comparison)6,
                                  colander_integer(1), &err),
                   &err, "predicate on 'a': unknown comparison 6");
}

/* That the others are destroyed is what the leak checker sees. */
static void
a_null_operand_fails_and_leaves_the_error(void **state)
{
    struct colander_error err = {.code = COLANDER_OK, .message = "as it was"};
    struct colander_predicate *operands[3] = {NULL};

    (void)state;
    operands[0] = colander_where_exists("a", NULL);
    operands[2] = colander_where_exists("b", NULL);
    assert_null(colander_all_of(operands, 3, &err));
    assert_null(colander_any_of(operands + 1, 1, &err));
    assert_null(colander_not(NULL, &err));
    assert_string_equal(err.message, "as it was");
    assert_int_equal(err.code, COLANDER_OK);
}

static void
an_operand_given_twice_is_invalid(void **state)
{
    struct colander_predicate *operands[2];
    struct colander_error err;

    (void)state;
    operands[0] = operands[1] = colander_where_exists("a", NULL);
    assert_refused(colander_any_of(operands, 2, &err), &err,
                   "a predicate was given twice, or is already part of "
                   "another");
}

static void
an_operand_of_another_is_invalid(void **state)
{
    struct colander_predicate *operands[2];
    struct colander_error err;

    (void)state;
    operands[0] = colander_where_exists("a", NULL);
    operands[1] = colander_not(operands[0], NULL);
    assert_refused(colander_all_of(operands, 2, &err), &err,
                   "a predicate was given twice, or is already part of "
                   "another");
}

static void
nesting_ends_at_the_limit(void **state)
{
    struct colander_predicate *predicate = colander_where_exists("a", NULL);
    struct colander_error err;

    (void)state;
    for (int depth = 1; depth < COLANDER_PREDICATE_DEPTH_MAX; depth++)
        predicate = colander_not(predicate, &err);
    assert_non_null(predicate);
    assert_null(colander_not(predicate, &err));
    assert_int_equal(err.code, COLANDER_LIMIT);
}

static void
the_number_of_predicates_ends_at_the_limit(void **state)
{
    /* With the one that holds them they are as many as there may be. */
    static struct colander_predicate
        *operands[COLANDER_PREDICATE_NODES_MAX - 1];
    struct colander_predicate *predicate;
    struct colander_error err;

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(operands); i++)
        operands[i] = colander_where_exists("a", NULL);
    predicate = colander_any_of(operands, ARRAY_COUNT(operands), &err);
    assert_non_null(predicate);
    assert_null(colander_not(predicate, &err));
    assert_int_equal(err.code, COLANDER_LIMIT);
}

static void
the_number_of_values_ends_at_the_limit(void **state)
{
    const size_t most = COLANDER_PREDICATE_VALUES_MAX;
    struct colander_value *values = calloc(most + 1, sizeof(*values));
    struct colander_predicate *operands[2];
    struct colander_error err;

    (void)state;
    assert_non_null(values);
    for (size_t i = 0; i <= most; i++)
        values[i] = colander_integer((int64_t)i);
    assert_null(colander_where_in("a", values, most + 1, &err));
    assert_int_equal(err.code, COLANDER_LIMIT);
    for (size_t count = most - 1; count <= most; count++) {
        operands[0] = colander_where_in("a", values, count, &err);
        operands[1] = colander_where_any(values[0], &err);
        operands[0] = colander_all_of(operands, 2, &err);
        assert_int_equal(operands[0] == NULL, count == most);
        colander_predicate_destroy(operands[0]);
    }
    assert_int_equal(err.code, COLANDER_LIMIT);
    free(values);
}

static void
values_larger_than_any_memory_are_refused(void **state)
{
    const struct colander_value half =
        colander_binary(colander_slice_of("", SIZE_MAX / 2 + 1));
    const struct colander_value values[] = {half, half};
    struct colander_error err;

    (void)state;
    assert_null(colander_where_in("a", values, 2, &err));
    assert_int_equal(err.code, COLANDER_NO_MEMORY);
}

static void
paths_and_values_are_copied(void **state)
{
    char path[] = "user";
    char text[] = "Smith";
    struct colander_value values[] = {colander_text("Jones"),
                                      colander_text(text)};
    struct colander_predicate *predicate;
    bool is_match;

    (void)state;
    predicate = colander_where_in(path, values, 2, NULL);
    path[0] = text[0] = 'X';
    values[1] = colander_null();
    assert_int_equal(colander_predicate_evaluate(
                         predicate,
                         colander_slice_text("\x81\xa4user\xa5Smith"),
                         &is_match, NULL, NULL),
                     COLANDER_OK);
    assert_true(is_match);
    colander_predicate_destroy(predicate);
}

static void
a_cancelled_evaluation_answers_nothing(void **state)
{
    const struct colander_slice row =
        colander_slice_text("\x81\xa4user\xa5Smith");
    struct colander_matches *matches = colander_matches_create();
    struct colander_predicate *predicate = colander_where_exists("user", NULL);
    atomic_bool is_cancelled = false;
    struct colander_error err;
    bool is_match;

    (void)state;
    assert_int_equal(predicate_evaluate(predicate, row, &is_cancelled,
                                        &is_match, matches, &err),
                     COLANDER_OK);
    assert_true(is_match);
    assert_int_equal(colander_matches_columns(matches).count, 1);
    atomic_store(&is_cancelled, true);
    assert_int_equal(predicate_evaluate(predicate, row, &is_cancelled,
                                        &is_match, matches, &err),
                     COLANDER_CANCELLED);
    assert_int_equal(err.code, COLANDER_CANCELLED);
    assert_false(is_match);
    assert_int_equal(colander_matches_columns(matches).count, 0);
    colander_predicate_destroy(predicate);
    colander_matches_destroy(matches);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_ordering_with_null_is_invalid),
        cmocka_unit_test(between_values_of_two_types_is_invalid),
        cmocka_unit_test(arrays_and_maps_are_no_values_to_compare_with),
        cmocka_unit_test(prefix_and_contains_need_a_string_or_a_binary),
        cmocka_unit_test(a_string_that_is_not_utf8_is_invalid),
        cmocka_unit_test(an_impossible_timestamp_is_invalid),
        cmocka_unit_test(an_extension_of_the_type_of_timestamps_is_invalid),
        cmocka_unit_test(a_path_that_is_none_is_invalid),
        cmocka_unit_test(an_unknown_comparison_is_invalid),
        cmocka_unit_test(a_null_operand_fails_and_leaves_the_error),
        cmocka_unit_test(an_operand_given_twice_is_invalid),
        cmocka_unit_test(an_operand_of_another_is_invalid),
        cmocka_unit_test(nesting_ends_at_the_limit),
        cmocka_unit_test(the_number_of_predicates_ends_at_the_limit),
        cmocka_unit_test(the_number_of_values_ends_at_the_limit),
        cmocka_unit_test(values_larger_than_any_memory_are_refused),
        cmocka_unit_test(paths_and_values_are_copied),
        cmocka_unit_test(a_cancelled_evaluation_answers_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

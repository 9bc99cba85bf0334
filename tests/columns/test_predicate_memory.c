/*
 * Predicates and matches while memory is short: each allocation in turn fails,
 * which is told as NO_MEMORY and loses nothing (the leak checker sees that).
 *
 * The sources are part of this program, with an allocator that fails when it
 * is told to.
 *
 * SPDX-License-Identifier: MIT
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>

#include <cmocka.h>

static long allocations_left = -1; /* below 0: none fails */

static bool
allocation_fails(void)
{
    if (allocations_left < 0)
        return false;
    return allocations_left-- == 0;
}

static void *
scarce_malloc(size_t size)
{
    return allocation_fails() ? NULL : malloc(size);
}

static void *
scarce_calloc(size_t count, size_t size)
{
    return allocation_fails() ? NULL : calloc(count, size);
}

static void *
scarce_realloc(void *memory, size_t size)
{
    return allocation_fails() ? NULL : realloc(memory, size);
}

#define malloc(size) scarce_malloc(size)
#define calloc(count, size) scarce_calloc((count), (size))
#define realloc(memory, size) scarce_realloc((memory), (size))

#include "columns/matches.c"
#include "columns/path.c"
#include "columns/predicate.c"
#include "core/buffer.c"

/* 'a' in ('x', 'y') and not any = 2 or b[] begins with 'x' */
static struct colander_predicate *
expression(struct colander_error *err)
{
    const struct colander_value values[] = {colander_text("x"),
                                            colander_text("y")};
    struct colander_predicate *both[2];
    struct colander_predicate *either[2];

    both[0] = colander_where_in("a", values, 2, err);
    both[1] = colander_not(colander_where_any(colander_integer(2), err), err);
    either[0] = colander_all_of(both, 2, err);
    either[1] = colander_where_prefix("b[]", values[0], err);
    return colander_any_of(either, 2, err);
}

static void
a_predicate_is_made_or_memory_is_short(void **state)
{
    struct colander_predicate *predicate = NULL;
    struct colander_error err;
    long failed = 0;

    (void)state;
    for (; predicate == NULL; failed++) {
        err.code = COLANDER_OK;
        allocations_left = failed;
        predicate = expression(&err);
        allocations_left = -1;
        if (predicate == NULL)
            assert_int_equal(err.code, COLANDER_NO_MEMORY);
    }
    colander_predicate_destroy(predicate);
    assert_true(failed > 10);
}

/* {"a":"x","b":["x"],"c":1,"d":1} */
static const char row[] = "\x84\xa1"
                          "a\xa1x\xa1"
                          "b\x91\xa1x\xa1"
                          "c\x01\xa1"
                          "d\x01";

/* Whether it had the memory. */
static bool
evaluate_with_matches(const struct colander_predicate *predicate)
{
    struct colander_matches *matches = colander_matches_create();
    struct colander_error err;
    enum colander_code code;
    bool is_match;

    if (matches == NULL)
        return false;
    code = colander_predicate_evaluate(predicate,
                                       colander_slice_of(row, sizeof(row) - 1),
                                       &is_match, matches, &err);
    if (code == COLANDER_OK) {
        assert_true(is_match);
        assert_int_equal(colander_matches_columns(matches).count, 2);
    } else {
        assert_int_equal(code, COLANDER_NO_MEMORY);
        assert_false(is_match);
        assert_int_equal(colander_matches_columns(matches).count, 0);
    }
    colander_matches_destroy(matches);
    return code == COLANDER_OK;
}

static void
matches_are_told_or_memory_is_short(void **state)
{
    struct colander_predicate *predicates[2] = {
        expression(NULL), colander_where_any(colander_integer(1), NULL)};
    bool is_told;

    (void)state;
    for (int i = 0; i < 2; i++) {
        long failed = 0;

        do {
            allocations_left = failed++;
            is_told = evaluate_with_matches(predicates[i]);
            allocations_left = -1;
        } while (!is_told);
        assert_true(failed > 4);
        colander_predicate_destroy(predicates[i]);
    }
}

static void
an_answer_without_matches_needs_no_memory(void **state)
{
    struct colander_predicate *predicates[2] = {
        expression(NULL), colander_where_any(colander_integer(1), NULL)};
    bool is_match;

    (void)state;
    for (int i = 0; i < 2; i++) {
        enum colander_code code;

        allocations_left = 0;
        code = colander_predicate_evaluate(
            predicates[i], colander_slice_of(row, sizeof(row) - 1), &is_match,
            NULL, NULL);
        assert_int_equal(allocations_left, 0);
        allocations_left = -1;
        assert_int_equal(code, COLANDER_OK);
        assert_true(is_match);
        colander_predicate_destroy(predicates[i]);
    }
}

/* A value per note would be a hundred times as much. */
static void
memory_follows_the_paths_and_not_the_values(void **state)
{
    struct colander_matches *matches = colander_matches_create();
    struct colander_error err;

    (void)state;
    assert_non_null(matches);
    for (size_t offset = 0; offset < 100000; offset++) {
        struct colander_slice path =
            colander_slice_text(offset % 2 == 0 ? "list[]" : "list[][]");

        assert_int_equal(matches_note(matches, path, 200000 - offset, &err),
                         COLANDER_OK);
    }
    assert_int_equal(matches_finish(matches, &err), COLANDER_OK);
    assert_int_equal(matches->path_count, 2);
    assert_string_equal(matches->paths[0], "list[][]");
    assert_string_equal(matches->paths[1], "list[]");
    assert_true(matches->note_capacity < 1000);
    assert_true(matches->text.capacity < 10000);
    colander_matches_destroy(matches);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_predicate_is_made_or_memory_is_short),
        cmocka_unit_test(matches_are_told_or_memory_is_short),
        cmocka_unit_test(an_answer_without_matches_needs_no_memory),
        cmocka_unit_test(memory_follows_the_paths_and_not_the_values),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * Predicates and matches: what they cost. While memory is short each allocation
 * in turn fails, which is told as NO_MEMORY and loses nothing (the leak checker
 * sees that); and what is kept and looked at has a bound.
 *
 * The sources are part of this program, with an allocator that fails when it
 * is told to.
 *
 * SPDX-License-Identifier: MIT
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
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
#include "columns/row_walk.c"
#include "core/buffer.c"

static size_t visit_count;

static enum colander_code
counted_visit(const struct path *path, struct colander_slice row,
              path_visitor *visit, void *context, struct colander_error *err)
{
    visit_count++;
    return path_visit(path, row, visit, context, err);
}

#define path_visit counted_visit
#include "columns/predicate_evaluate.c"
#undef path_visit

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

/* {"a":[[1],1,[1],1,{"x":1},[1],1,{"x":1}]} */
static const char nested[] = "\x81\xa1"
                             "a\x98\x91\x01\x01\x91\x01\x01\x81\xa1x\x01"
                             "\x91\x01\x01\x81\xa1x\x01";

static void
a_trail_builds_the_path_of_elements_once(void **state)
{
    static const char *const told[] = {"a", "a[]", "a[][]", "a[].x"};
    struct row_trail trail;
    struct row_walk walk;
    struct colander_value value;
    struct colander_slice path;
    size_t count = 0;
    bool is_value = true, is_new;

    (void)state;
    row_trail_init(&trail);
    assert_int_equal(
        row_walk_begin(&walk, colander_slice_of(nested, sizeof(nested) - 1),
                       NULL),
        COLANDER_OK);
    for (;;) {
        assert_int_equal(row_walk_next(&walk, &value, &is_value, NULL),
                         COLANDER_OK);
        if (!is_value)
            break;
        assert_int_equal(row_trail_follow(&trail, &walk, &path, &is_new, NULL),
                         COLANDER_OK);
        if (!is_new || count == 4)
            continue;
        assert_true(
            colander_slice_equal(path, colander_slice_text(told[count])));
        count++;
    }
    assert_int_equal(count, 4);
    row_trail_release(&trail);
}

/* Asked again at each level they would be visited sixty times. */
static void
a_leaf_is_visited_twice_at_most_however_deep_it_is(void **state)
{
    struct colander_matches *matches = colander_matches_create();
    struct colander_predicate *operands[10];
    struct colander_predicate *predicate;
    bool is_match;

    (void)state;
    for (int i = 0; i < 10; i++) {
        operands[i] = colander_where_exists(i % 2 == 0 ? "a" : "z", NULL);
        for (int depth = 0; depth < 60; depth++)
            operands[i] = depth % 2 == 0
                              ? colander_any_of(&operands[i], 1, NULL)
                              : colander_all_of(&operands[i], 1, NULL);
    }
    predicate = colander_any_of(operands, 10, NULL);
    visit_count = 0;
    assert_int_equal(colander_predicate_evaluate(
                         predicate, colander_slice_of(row, sizeof(row) - 1),
                         &is_match, matches, NULL),
                     COLANDER_OK);
    assert_true(is_match);
    assert_int_equal(visit_count, 15);
    assert_int_equal(colander_matches_columns(matches).count, 1);
    colander_predicate_destroy(predicate);
    colander_matches_destroy(matches);
}

/* {n:{n:...{"0":1,"1":1,...}}}, names of 1,024 bytes that a path writes with
 * four characters each. */
static void
put_long_names(struct colander_buffer *bytes, int depth, int count)
{
    uint8_t level[4 + 1024] = {0x81, 0xda, 4, 0};
    uint8_t head[] = {0xde, (uint8_t)(count >> 8), (uint8_t)count};

    memset(level + 4, 1, 1024);
    for (int i = 0; i < depth; i++)
        assert_int_equal(
            colander_buffer_append(bytes, level, sizeof(level), NULL),
            COLANDER_OK);
    assert_int_equal(colander_buffer_append(bytes, head, 3, NULL), COLANDER_OK);
    for (int i = 0; i < count; i++) {
        char member[16]; /* room for every int, says the compiler */

        (void)snprintf(member, sizeof(member), "\xa4%04d\x01", i);
        assert_int_equal(colander_buffer_append(bytes, member, 6, NULL),
                         COLANDER_OK);
    }
}

/* All paths together would be 25 MB. */
static void
the_bytes_kept_for_a_row_have_a_bound(void **state)
{
    struct colander_matches *matches = colander_matches_create();
    struct colander_predicate *predicate =
        colander_where_any(colander_integer(1), NULL);
    struct colander_buffer large = COLANDER_BUFFER_EMPTY;
    struct colander_columns columns;
    bool is_match;

    (void)state;
    put_long_names(&large, 60, 100);
    assert_int_equal(colander_predicate_evaluate(predicate,
                                                 colander_buffer_slice(&large),
                                                 &is_match, matches, NULL),
                     COLANDER_OK);
    columns = colander_matches_columns(matches);
    assert_true(is_match);
    assert_true(columns.is_cut);
    assert_int_equal(columns.count, 4);
    assert_true(matches->text.size <= COLANDER_MATCHES_SIZE_MAX);
    assert_true(matches->text.capacity <= 2 * COLANDER_MATCHES_SIZE_MAX);
    assert_int_equal(colander_predicate_evaluate(
                         predicate, colander_slice_of(row, sizeof(row) - 1),
                         &is_match, matches, NULL),
                     COLANDER_OK);
    columns = colander_matches_columns(matches);
    assert_int_equal(columns.count, 2);
    assert_false(columns.is_cut);
    assert_true(matches->text.capacity < 10000);
    colander_predicate_destroy(predicate);
    colander_matches_destroy(matches);
    colander_buffer_release(&large);
}

static void
matches_are_empty_and_not_cut_when_memory_is_short(void **state)
{
    struct colander_predicate *predicate =
        colander_where_any(colander_integer(1), NULL);
    struct colander_buffer large = COLANDER_BUFFER_EMPTY;
    enum colander_code code = COLANDER_NO_MEMORY;
    long failed = 0;

    (void)state;
    put_long_names(&large, 60, 6);
    while (code != COLANDER_OK) {
        struct colander_matches *matches = colander_matches_create();
        bool is_match;

        assert_non_null(matches);
        allocations_left = failed++;
        code = colander_predicate_evaluate(
            predicate, colander_buffer_slice(&large), &is_match, matches, NULL);
        allocations_left = -1;
        assert_int_equal(colander_matches_columns(matches).is_cut,
                         code == COLANDER_OK);
        assert_int_equal(colander_matches_columns(matches).count,
                         code == COLANDER_OK ? 4 : 0);
        colander_matches_destroy(matches);
    }
    assert_true(failed > 4);
    colander_predicate_destroy(predicate);
    colander_buffer_release(&large);
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
    assert_true(matches->slot_count < 1000);
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
        cmocka_unit_test(a_trail_builds_the_path_of_elements_once),
        cmocka_unit_test(a_leaf_is_visited_twice_at_most_however_deep_it_is),
        cmocka_unit_test(the_bytes_kept_for_a_row_have_a_bound),
        cmocka_unit_test(matches_are_empty_and_not_cut_when_memory_is_short),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

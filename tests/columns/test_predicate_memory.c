/*
 * What predicates and matches cost. While memory is short each allocation in
 * turn fails, which returns NO_MEMORY and leaks nothing (the leak checker
 * verifies that); and the memory and the visits are bounded.
 *
 * Two sources are part of this program, so that tests can read their structs
 * and count visits.
 *
 * SPDX-License-Identifier: MIT
 */
#include "support/cases.h"
#include "support/failing_memory.h"
#include "support/scoped.h"

#include "columns/finds/match_paths.c"
#include "columns/path.h"
#include "columns/query_bytes.h"
#include "columns/row_walk.h"

#include <stdio.h>

static size_t visit_count;

static enum colander_code
counted_visit(const struct path *path, struct colander_slice row,
              path_visitor *visit, void *context, struct colander_error *err)
{
    visit_count++;
    return path_visit(path, row, visit, context, err);
}

#define path_visit counted_visit
#include "columns/finds/predicate_evaluate.c"
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
    both[1] =
        colander_not(colander_where_any_column(colander_integer(2), err), err);
    either[0] = colander_all_of(both, 2, err);
    either[1] = colander_where_prefix("b[]", values[0], err);
    return colander_any_of(either, 2, err);
}

TEST(a_predicate_is_made_or_memory_is_short)
{
    struct colander_predicate *predicate = NULL;
    struct colander_error err;
    long failed = 0;

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

/* Words, with an operand of each kind. */
TEST(words_become_a_predicate_or_memory_is_short)
{
    const char *words[] = {
        "(",          "a=2015-03-24",
        "or",         "not",
        "b!=2015-03", ")",
        "c~2015-03",  "d=[\"2015-03-24T10:00Z\",1,\"x\"]",
        "e>@now",     "f:heavy rai*",
        "storm",      "g~~\"a piece\"",
    };
    struct colander_predicate *predicate = NULL;
    struct colander_error err;
    size_t offset;
    long failed = 0;

    for (; predicate == NULL; failed++) {
        err.code = COLANDER_OK;
        allocations_left = failed;
        predicate = colander_where_words_icase(words, COUNT(words), NULL, &err);
        allocations_left = -1;
        if (predicate == NULL)
            assert_int_equal(err.code, COLANDER_NO_MEMORY);
    }
    colander_predicate_destroy(predicate);
    assert_true(failed > 30);
    predicate = NULL;
    for (failed = 0; predicate == NULL; failed++) {
        allocations_left = failed;
        predicate = colander_where_any_text("2015-03-24", &offset, &err);
        allocations_left = -1;
        if (predicate == NULL)
            assert_int_equal(err.code, COLANDER_NO_MEMORY);
    }
    colander_predicate_destroy(predicate);
    assert_true(failed > 5);
}

TEST(a_query_becomes_bytes_and_a_query_or_memory_is_short)
{
    static const char *const paths[] = {"a", "b[]"};
    SCOPED_PREDICATE predicate = expression(NULL);
    SCOPED_BUFFER bytes = COLANDER_BUFFER_EMPTY;
    struct colander_decoded_query *decoded = NULL;
    struct colander_query query;
    enum colander_code code = COLANDER_NO_MEMORY;
    struct colander_key key;
    long failed = 0;

    colander_query_init(&query);
    query.where = predicate;
    query.keys.from = colander_key_of_text(&key, "k");
    query.paths = paths;
    query.path_count = COUNT(paths);
    for (; code != COLANDER_OK; failed++) {
        assert_int_equal(code, COLANDER_NO_MEMORY);
        assert_int_equal(bytes.size, 0);
        allocations_left = failed;
        code = colander_query_encode(&query, &bytes, why());
        allocations_left = -1;
    }
    assert_true(failed > 5);
    code = COLANDER_NO_MEMORY;
    for (failed = 0; code != COLANDER_OK; failed++) {
        assert_int_equal(code, COLANDER_NO_MEMORY);
        assert_null(decoded);
        allocations_left = failed;
        code = colander_query_decode(colander_buffer_slice(&bytes), &decoded,
                                     why());
        allocations_left = -1;
    }
    colander_decoded_query_destroy(decoded);
    assert_true(failed > 20);
}

/* {"a":"x","b":["x"],"c":1,"d":1} */
static const char row[] = "\x84\241a\xa1x\241b\x91\xa1x\241c\x01\241d\x01";

/* Returns false if there was no memory. */
static bool
evaluate_with_matches(const struct colander_predicate *predicate)
{
    SCOPED_MATCHES matches = colander_matches_create();
    enum colander_code code;
    bool is_match;

    if (matches == NULL)
        return false;
    code = colander_predicate_evaluate(predicate,
                                       colander_slice_of(row, sizeof(row) - 1),
                                       &is_match, matches, why());
    if (code == COLANDER_OK) {
        assert_true(is_match);
        assert_int_equal(colander_matches_columns(matches).count, 2);
    } else {
        assert_int_equal(code, COLANDER_NO_MEMORY);
        assert_false(is_match);
        assert_int_equal(colander_matches_columns(matches).count, 0);
    }
    return code == COLANDER_OK;
}

TEST(matches_are_reported_or_memory_is_short)
{
    struct colander_predicate *predicates[2] = {
        expression(NULL), colander_where_any_column(colander_integer(1), NULL)};
    bool had_memory;

    for (int i = 0; i < 2; i++) {
        long failed = 0;

        do {
            allocations_left = failed++;
            had_memory = evaluate_with_matches(predicates[i]);
            allocations_left = -1;
        } while (!had_memory);
        assert_true(failed > 4);
        colander_predicate_destroy(predicates[i]);
    }
}

TEST(an_answer_without_matches_needs_no_memory)
{
    struct colander_predicate *predicates[2] = {
        expression(NULL), colander_where_any_column(colander_integer(1), NULL)};
    bool is_match;

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
static const char nested[] =
    "\x81\241a\x98\x91\x01\x01\x91\x01\x01\x81\xa1x\x01"
    "\x91\x01\x01\x81\xa1x\x01";

TEST(a_trail_builds_the_path_of_elements_once)
{
    static const char *const expected[] = {"a", "a[]", "a[][]", "a[].x"};
    struct row_trail trail;
    struct row_walk walk;
    struct colander_value value;
    struct colander_slice path;
    size_t count = 0;
    bool is_value = true, is_new;

    row_trail_init(&trail);
    OK(row_walk_begin(&walk, colander_slice_of(nested, sizeof(nested) - 1),
                      NULL));
    for (;;) {
        OK(row_walk_next(&walk, &value, &is_value, NULL));
        if (!is_value)
            break;
        OK(row_trail_follow(&trail, &walk, &path, &is_new, NULL));
        if (!is_new || count == 4)
            continue;
        ASSERT_SAME(path, colander_slice_text(expected[count]));
        count++;
    }
    assert_int_equal(count, 4);
    row_trail_release(&trail);
}

/* Visiting again at each level would visit it sixty times. */
TEST(a_leaf_is_visited_twice_at_most_however_deep_it_is)
{
    SCOPED_MATCHES matches = colander_matches_create();
    struct colander_predicate *operands[10];
    SCOPED_PREDICATE predicate = NULL;
    bool is_match;

    for (int i = 0; i < 10; i++) {
        operands[i] = colander_where_exists(i % 2 == 0 ? "a" : "z", NULL);
        for (int depth = 0; depth < 60; depth++)
            operands[i] = depth % 2 == 0
                              ? colander_any_of(&operands[i], 1, NULL)
                              : colander_all_of(&operands[i], 1, NULL);
    }
    predicate = colander_any_of(operands, 10, NULL);
    visit_count = 0;
    OK(colander_predicate_evaluate(predicate,
                                   colander_slice_of(row, sizeof(row) - 1),
                                   &is_match, matches, NULL));
    assert_true(is_match);
    assert_int_equal(visit_count, 15);
    assert_int_equal(colander_matches_columns(matches).count, 1);
}

/* {n:{n:...{"0":1,"1":1,...}}}, with names of 1,024 bytes that take four
 * characters each in a path. */
static void
put_long_names(struct colander_buffer *bytes, int depth, int count)
{
    uint8_t level[4 + 1024] = {0x81, 0xda, 4, 0};
    uint8_t head[] = {0xde, (uint8_t)(count >> 8), (uint8_t)count};

    memset(level + 4, 1, 1024);
    for (int i = 0; i < depth; i++)
        OK(colander_buffer_append(bytes, level, sizeof(level), NULL));
    OK(colander_buffer_append(bytes, head, 3, NULL));
    for (int i = 0; i < count; i++) {
        char member[16]; /* space for every int, for the compiler */

        (void)snprintf(member, sizeof(member), "\xa4%04d\x01", i);
        OK(colander_buffer_append(bytes, member, 6, NULL));
    }
}

/* All paths together would take 25 MB. */
TEST(the_bytes_kept_for_a_row_have_a_bound)
{
    SCOPED_MATCHES matches = colander_matches_create();
    SCOPED_PREDICATE predicate =
        colander_where_any_column(colander_integer(1), NULL);
    SCOPED_BUFFER large = COLANDER_BUFFER_EMPTY;
    struct colander_columns columns;
    bool is_match;

    put_long_names(&large, 60, 100);
    OK(colander_predicate_evaluate(predicate, colander_buffer_slice(&large),
                                   &is_match, matches, NULL));
    columns = colander_matches_columns(matches);
    assert_true(is_match);
    assert_true(columns.is_cut);
    assert_int_equal(columns.count, 4);
    assert_true(matches->set.text.size <= COLANDER_MATCHES_SIZE_MAX);
    assert_true(matches->set.text.capacity <= 2 * COLANDER_MATCHES_SIZE_MAX);
    OK(colander_predicate_evaluate(predicate,
                                   colander_slice_of(row, sizeof(row) - 1),
                                   &is_match, matches, NULL));
    columns = colander_matches_columns(matches);
    assert_int_equal(columns.count, 2);
    assert_false(columns.is_cut);
    assert_true(matches->set.text.capacity < 10000);
}

TEST(matches_are_empty_and_not_cut_when_memory_is_short)
{
    SCOPED_PREDICATE predicate =
        colander_where_any_column(colander_integer(1), NULL);
    SCOPED_BUFFER large = COLANDER_BUFFER_EMPTY;
    enum colander_code code = COLANDER_NO_MEMORY;
    long failed = 0;

    put_long_names(&large, 60, 6);
    while (code != COLANDER_OK) {
        SCOPED_MATCHES matches = colander_matches_create();
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
    }
    assert_true(failed > 4);
}

/* A value per note would take a hundred times as much. */
TEST(memory_follows_the_paths_and_not_the_values)
{
    SCOPED_MATCHES matches = colander_matches_create();

    assert_non_null(matches);
    for (size_t offset = 0; offset < 100000; offset++) {
        struct colander_slice path =
            colander_slice_text(offset % 2 == 0 ? "list[]" : "list[][]");

        OK(match_paths_add(matches, path, 200000 - offset, why()));
    }
    OK(match_paths_finish(matches, why()));
    assert_int_equal(matches->path_count, 2);
    assert_string_equal(matches->paths[0], "list[][]");
    assert_string_equal(matches->paths[1], "list[]");
    assert_true(matches->set.capacity < 1000);
    assert_true(matches->set.index.slot_count < 1000);
    assert_true(matches->set.text.capacity < 10000);
}

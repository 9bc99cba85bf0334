/*
 * Filter queries: what they require compared with their predicates.
 *
 * COLANDER_SEED repeats a run, COLANDER_RUNS sets the number of filter queries.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/predicate_spans.h"
#include "naive_filter_query.h"
#include "naive_row.h"
#include "support/cases.h"
#include "support/scoped.h"

#define FILTER_QUERYS_PER_ROW 4
#define DEPTH_MAX 4

/* --------------------------------------------------------------- random --- */

/* A random predicate; exact if its filter query is equivalent to it. */
struct draw {
    const struct layout *layout;
    bool is_exact;
};

static const struct place *
place_draw(const struct layout *layout)
{
    return layout->count == 0 ? NULL : &layout->places[chance(layout->count)];
}

static struct scalar
scalar_near(const struct place *place)
{
    struct scalar scalar = scalar_draw();

    if (place == NULL || place->is_container || chance(3) == 0)
        return scalar;
    if (chance(2) == 0)
        return place->scalar;
    scalar.kin = place->scalar.kin;
    return scalar;
}

static struct colander_predicate *
ordered_draw(struct draw *draw, const char *path, const struct place *place)
{
    static const enum colander_comparison comparisons[] = {
        COLANDER_GE, COLANDER_LE, COLANDER_GT, COLANDER_LT};
    enum colander_comparison comparison = comparisons[chance(4)];
    struct scalar low = scalar_near(place), high;

    while (low.kin == NOTHING)
        low = scalar_draw();
    if (chance(2) == 0) {
        draw->is_exact &=
            comparison == COLANDER_GE || comparison == COLANDER_LE;
        return colander_where(path, comparison, scalar_value(&low), NULL);
    }
    do {
        high = scalar_near(place);
        high.kin = low.kin;
    } while (chance(4) > 0 && scalar_order(&low, &high) > 0);
    if (chance(6) == 0)
        return predicate_any_between(scalar_value(&low), scalar_value(&high),
                                     NULL);
    return colander_where_between(path, scalar_value(&low), scalar_value(&high),
                                  NULL);
}

static struct colander_predicate *
open_draw(struct draw *draw, const char *path,
          const struct colander_value *value)
{
    draw->is_exact = false;
    switch (chance(5)) {
    case 4:
        return colander_where_search(
            chance(2) == 0 ? NULL : path,
            chance(2) == 0 ? COLANDER_SEARCH_EQUAL : COLANDER_SEARCH_WORDS,
            colander_slice_text(chance(2) == 0 ? "A" : "a AB"),
            COLANDER_SEARCH_ICASE, NULL, NULL);
    case 3:
        return predicate_outside(path, value, 1, NULL);
    case 0:
        return colander_where(path, COLANDER_NE, *value, NULL);
    case 1:
        return colander_where_missing(path, NULL);
    default:
        return colander_where_contains(path, colander_text("a"), NULL);
    }
}

static struct colander_predicate *
leaf_draw(struct draw *draw)
{
    const struct place *place = place_draw(draw->layout);
    const char *path = place == NULL || chance(8) == 0 ? "a[].b" : place->path;
    struct colander_value values[3];
    struct scalar scalars[3];

    for (size_t i = 0; i < 3; i++) {
        scalars[i] = scalar_near(place);
        values[i] = scalar_value(&scalars[i]);
    }
    switch (chance(9)) {
    case 0:
    case 1:
        return colander_where(path, COLANDER_EQ, values[0], NULL);
    case 2:
        return colander_where_in(path, values, chance(4), NULL);
    case 3:
        return colander_where_any_column(values[0], NULL);
    case 4:
        return colander_where_exists(path, NULL);
    case 5:
        scalars[0].kin = chance(2) == 0 ? TEXT : BLOB;
        scalars[0].data = texts[chance(COUNT(texts))];
        scalars[0].size = strlen(scalars[0].data);
        return colander_where_prefix(path, scalar_value(&scalars[0]), NULL);
    case 6:
        return chance(3) > 0 ? ordered_draw(draw, path, place)
                             : open_draw(draw, path, values);
    default:
        return ordered_draw(draw, path, place);
    }
}

static struct colander_predicate *
predicate_draw(struct draw *draw, int depth)
{
    struct colander_predicate *operands[4];
    size_t count = chance(8) == 0 ? chance(2) : 2 + chance(3);
    uint64_t kind = chance(12);

    if (depth >= DEPTH_MAX || kind < 5)
        return leaf_draw(draw);
    if (kind == 5) {
        draw->is_exact = false;
        return colander_not(predicate_draw(draw, depth + 1), NULL);
    }
    for (size_t i = 0; i < count; i++)
        operands[i] = predicate_draw(draw, depth + 1);
    return kind < 9 ? colander_all_of(operands, count, NULL)
                    : colander_any_of(operands, count, NULL);
}

/* ---------------------------------------------------------------- model --- */

/* Checks what the header promises about the shape. */
static void
check_shape(const struct filter_query *query, bool is_root)
{
    bool is_operation = query->kind == FILTER_QUERY_ALL_OF ||
                        query->kind == FILTER_QUERY_ANY_OF;

    assert_true(is_root || query->kind != FILTER_QUERY_OPEN);
    if (is_operation) {
        assert_true(query->operand_count >= 2 ||
                    (is_root && query->kind == FILTER_QUERY_ANY_OF &&
                     query->operand_count == 0));
        for (size_t i = 0; i < query->operand_count; i++)
            check_shape(query->operands[i], false);
        return;
    }
    assert_int_equal(query->operand_count, 0);
    if (query->kind == FILTER_QUERY_EQUAL) {
        assert_true(query->value_count > 0);
        for (size_t i = 1; i < query->value_count; i++)
            assert_true(colander_value_compare(&query->values[i - 1],
                                               &query->values[i]) < 0);
    } else if (query->kind != FILTER_QUERY_OPEN) {
        assert_true(query->path_length > 0 ||
                    query->kind == FILTER_QUERY_RANGE ||
                    query->kind == FILTER_QUERY_WORD ||
                    query->kind == FILTER_QUERY_PIECE);
    }
    if (query->kind == FILTER_QUERY_RANGE)
        assert_true(query->has_low || query->has_high);
}

struct counts {
    uint64_t exact[2]; /* answers of each kind */
    uint64_t open;     /* filter queries that exclude nothing */
    uint64_t weaker;   /* true where the predicate is false */
};

static void
compare(const struct layout *layout, const struct row_list *list,
        struct colander_slice row, struct counts *counts)
{
    struct draw draw = {layout, true};
    SCOPED_PREDICATE predicate = predicate_draw(&draw, 0);
    struct filter_query *query;
    bool is_match, holds;

    assert_non_null(predicate);
    OK(colander_predicate_evaluate(predicate, row, &is_match, NULL, NULL));
    OK(filter_query_create(predicate, &query, NULL));
    check_shape(query, true);
    holds = filter_query_holds(query, list);
    if (is_match && !holds)
        fail_msg("the filter query denies a row that matches");
    if (draw.is_exact)
        assert_int_equal(holds, is_match);
    counts->exact[is_match] += draw.is_exact;
    counts->open += query->kind == FILTER_QUERY_OPEN;
    counts->weaker += holds && !is_match && query->kind != FILTER_QUERY_OPEN;
    filter_query_destroy(query);
}

TEST(filter_queries_hold_for_every_row_that_matches)
{
    static struct layout layout;
    static struct row_list list;
    uint64_t runs = random_runs(40000);
    struct counts counts = {{0, 0}, 0, 0};

    for (uint64_t run = 0; run < runs; run += FILTER_QUERYS_PER_ROW) {
        struct colander_slice row = row_draw();

        layout_init(&layout, row);
        row_list_init(&list, row);
        for (int i = 0; i < FILTER_QUERYS_PER_ROW; i++)
            compare(&layout, &list, row, &counts);
        layout_release(&layout);
        free((void *)(uintptr_t)row.data);
    }
    print_message("exact: %" PRIu64 " yes, %" PRIu64 " no; open: %" PRIu64
                  ", weaker: %" PRIu64 "\n",
                  counts.exact[1], counts.exact[0], counts.open, counts.weaker);
    if (runs < 40000)
        return;
    assert_true(counts.exact[0] > runs / 20 && counts.exact[1] > runs / 20);
    assert_true(counts.open > runs / 50);
    assert_true(counts.weaker > runs / 200);
}

/* --------------------------------------------------------------- shapes --- */

static struct filter_query *
filter_query_of(struct colander_predicate *predicate)
{
    struct filter_query *query;

    assert_non_null(predicate);
    OK(filter_query_create(predicate, &query, NULL));
    return query;
}

static struct colander_predicate *
all_of(struct colander_predicate *a, struct colander_predicate *b)
{
    struct colander_predicate *operands[] = {a, b};

    return colander_all_of(operands, 2, NULL);
}

static struct colander_predicate *
compared(const char *path, enum colander_comparison comparison, int64_t value)
{
    return colander_where(path, comparison, colander_integer(value), NULL);
}

TEST(ranges_of_one_place_are_one_range)
{
    struct colander_predicate *predicate =
        all_of(all_of(compared("a.b", COLANDER_GE, 3),
                      compared("a.b", COLANDER_LT, 9)),
               all_of(all_of(compared("a.b", COLANDER_LE, 7),
                             compared("a.b", COLANDER_LE, 8)),
                      all_of(compared("a.b", COLANDER_GE, 5),
                             compared("a.b", COLANDER_GT, 4))));
    struct filter_query *query = filter_query_of(predicate);

    assert_int_equal(query->kind, FILTER_QUERY_RANGE);
    assert_int_equal(query->path_length, 2);
    assert_true(query->has_low && query->has_high);
    assert_int_equal(query->values[0].integer, 5);
    assert_int_equal(query->values[1].integer, 7);
    filter_query_destroy(query);
    colander_predicate_destroy(predicate);

    predicate =
        all_of(compared("a", COLANDER_GE, 7), compared("a", COLANDER_LT, 3));
    query = filter_query_of(predicate);
    assert_int_equal(query->kind, FILTER_QUERY_ANY_OF);
    assert_int_equal(query->operand_count, 0);
    filter_query_destroy(query);
    colander_predicate_destroy(predicate);
}

/* One element may be in one range, another in the other. */
TEST(ranges_of_several_elements_stay_apart)
{
    struct colander_predicate *low = compared("a[]", COLANDER_GE, 7);
    SCOPED_PREDICATE predicate =
        all_of(colander_any_of(&low, 1, NULL), compared("a[]", COLANDER_LE, 3));
    struct filter_query *query = filter_query_of(predicate);

    assert_int_equal(query->kind, FILTER_QUERY_ALL_OF);
    assert_int_equal(query->operand_count, 2);
    assert_int_equal(query->operands[0]->kind, FILTER_QUERY_RANGE);
    assert_true(query->operands[0]->has_low);
    assert_false(query->operands[0]->has_high);
    filter_query_destroy(query);
}

/* One column may have a value in one range, and another one in the other. */
TEST(ranges_of_any_column_stay_apart)
{
    SCOPED_PREDICATE predicate = all_of(
        predicate_any_between(colander_integer(1), colander_integer(2), NULL),
        predicate_any_between(colander_integer(5), colander_integer(6), NULL));
    struct filter_query *query = filter_query_of(predicate);

    assert_int_equal(query->kind, FILTER_QUERY_ALL_OF);
    assert_int_equal(query->operand_count, 2);
    assert_int_equal(query->operands[0]->kind, FILTER_QUERY_RANGE);
    assert_int_equal(query->operands[0]->path_length, 0);
    filter_query_destroy(query);
}

TEST(what_a_filter_query_cannot_express_is_left_out)
{
    struct colander_predicate *predicate =
        all_of(compared("a", COLANDER_NE, 3), colander_where_null("b", NULL));
    struct filter_query *query = filter_query_of(predicate);
    uint64_t hash;

    assert_int_equal(query->kind, FILTER_QUERY_EQUAL);
    assert_int_equal(query->values[0].type, COLANDER_NULL);
    OK(path_hash_of_text("b", &hash, NULL));
    assert_int_equal(query->path_hashes[0], hash);
    ASSERT_SAME(query->path, colander_slice_text("b"));
    filter_query_destroy(query);
    colander_predicate_destroy(predicate);

    predicate = colander_any_of(
        (struct colander_predicate *[]){
            compared("a", COLANDER_EQ, 3),
            colander_not(compared("a", COLANDER_EQ, 4), NULL)},
        2, NULL);
    query = filter_query_of(predicate);
    assert_int_equal(query->kind, FILTER_QUERY_OPEN);
    filter_query_destroy(query);
    colander_predicate_destroy(predicate);
}

/* With the largest size and depth that limits.h permits. */
TEST(the_largest_predicate_becomes_a_filter_query)
{
    static struct colander_predicate *operands[9000];
    SCOPED_PREDICATE predicate = NULL;
    struct filter_query *query;

    for (int i = 0; i < 9000; i++)
        operands[i] = compared("a[].b", COLANDER_GE, i);
    predicate = colander_all_of(operands, 9000, NULL);
    for (int i = 2; i < COLANDER_PREDICATE_DEPTH_MAX; i++) {
        struct colander_predicate *both[] = {predicate,
                                             compared("c", COLANDER_EQ, i)};

        predicate = i % 2 == 0 ? colander_any_of(both, 2, NULL)
                               : colander_all_of(both, 2, NULL);
    }
    query = filter_query_of(predicate);
    check_shape(query, true);
    while (query->operands[0]->operand_count > 0)
        *query = *query->operands[0];
    assert_int_equal(query->operand_count, 9000);
    filter_query_destroy(query);
}

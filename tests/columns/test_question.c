/*
 * Questions: what they say of predicates.
 *
 * COLANDER_SEED repeats a run, COLANDER_RUNS sets the number of questions.
 *
 * SPDX-License-Identifier: MIT
 */
#include "naive_question.h"
#include "naive_row.h"

#define QUESTIONS_PER_ROW 4
#define DEPTH_MAX 4

/* --------------------------------------------------------------- random --- */

/* A predicate that is drawn. It is exact if its question says all it does. */
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
    return colander_where_between(path, scalar_value(&low), scalar_value(&high),
                                  NULL);
}

static struct colander_predicate *
open_draw(struct draw *draw, const char *path,
          const struct colander_value *value)
{
    draw->is_exact = false;
    switch (chance(3)) {
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
        return colander_where_any(values[0], NULL);
    case 4:
        return colander_where_exists(path, NULL);
    case 5:
        scalars[0].kin = chance(2) == 0 ? TEXT : BLOB;
        scalars[0].data = texts[chance(ARRAY_COUNT(texts))];
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

/* What the header promises of the shape. */
static void
check_shape(const struct question *question, bool is_root)
{
    bool is_operation =
        question->kind == QUESTION_ALL_OF || question->kind == QUESTION_ANY_OF;

    assert_true(is_root || question->kind != QUESTION_OPEN);
    if (is_operation) {
        assert_true(question->operand_count >= 2 ||
                    (is_root && question->kind == QUESTION_ANY_OF &&
                     question->operand_count == 0));
        for (size_t i = 0; i < question->operand_count; i++)
            check_shape(question->operands[i], false);
        return;
    }
    assert_int_equal(question->operand_count, 0);
    if (question->kind == QUESTION_EQUAL) {
        assert_true(question->value_count > 0);
        for (size_t i = 1; i < question->value_count; i++)
            assert_true(colander_value_compare(&question->values[i - 1],
                                               &question->values[i]) < 0);
    } else if (question->kind != QUESTION_OPEN) {
        assert_true(question->path_length > 0);
    }
    if (question->kind == QUESTION_RANGE)
        assert_true(question->has_low || question->has_high);
}

struct counts {
    uint64_t exact[2]; /* answers */
    uint64_t open;     /* questions that leave out all */
    uint64_t weaker;   /* true where the predicate is not */
};

static void
compare(const struct layout *layout, const struct row_list *list,
        struct colander_slice row, struct counts *counts)
{
    struct draw draw = {layout, true};
    struct colander_predicate *predicate = predicate_draw(&draw, 0);
    struct question *question;
    bool is_match, holds;

    assert_non_null(predicate);
    assert_int_equal(
        colander_predicate_evaluate(predicate, row, &is_match, NULL, NULL),
        COLANDER_OK);
    assert_int_equal(question_create(predicate, &question, NULL), COLANDER_OK);
    check_shape(question, true);
    holds = question_holds(question, list);
    if (is_match && !holds)
        fail_msg("a row that matches is none of its question");
    if (draw.is_exact)
        assert_int_equal(holds, is_match);
    counts->exact[is_match] += draw.is_exact;
    counts->open += question->kind == QUESTION_OPEN;
    counts->weaker += holds && !is_match && question->kind != QUESTION_OPEN;
    question_destroy(question);
    colander_predicate_destroy(predicate);
}

static void
questions_hold_for_every_row_that_matches(void **state)
{
    static struct layout layout;
    static struct row_list list;
    uint64_t runs = random_runs(40000);
    struct counts counts = {{0, 0}, 0, 0};

    (void)state;
    chance_state = random_seed("questions");
    for (uint64_t run = 0; run < runs; run += QUESTIONS_PER_ROW) {
        struct colander_slice row = row_draw();

        layout_init(&layout, row);
        row_list_init(&list, row);
        for (int i = 0; i < QUESTIONS_PER_ROW; i++)
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

static struct question *
question_of(struct colander_predicate *predicate)
{
    struct question *question;

    assert_non_null(predicate);
    assert_int_equal(question_create(predicate, &question, NULL), COLANDER_OK);
    return question;
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

static void
ranges_of_one_place_are_one_range(void **state)
{
    struct colander_predicate *predicate =
        all_of(all_of(compared("a.b", COLANDER_GE, 3),
                      compared("a.b", COLANDER_LT, 9)),
               all_of(all_of(compared("a.b", COLANDER_LE, 7),
                             compared("a.b", COLANDER_LE, 8)),
                      all_of(compared("a.b", COLANDER_GE, 5),
                             compared("a.b", COLANDER_GT, 4))));
    struct question *question = question_of(predicate);

    (void)state;
    assert_int_equal(question->kind, QUESTION_RANGE);
    assert_int_equal(question->path_length, 2);
    assert_true(question->has_low && question->has_high);
    assert_int_equal(question->values[0].integer, 5);
    assert_int_equal(question->values[1].integer, 7);
    question_destroy(question);
    colander_predicate_destroy(predicate);

    predicate =
        all_of(compared("a", COLANDER_GE, 7), compared("a", COLANDER_LT, 3));
    question = question_of(predicate);
    assert_int_equal(question->kind, QUESTION_ANY_OF);
    assert_int_equal(question->operand_count, 0);
    question_destroy(question);
    colander_predicate_destroy(predicate);
}

/* One element may be in the one, another in the other. */
static void
ranges_of_several_elements_stay_apart(void **state)
{
    struct colander_predicate *low = compared("a[]", COLANDER_GE, 7);
    struct colander_predicate *predicate =
        all_of(colander_any_of(&low, 1, NULL), compared("a[]", COLANDER_LE, 3));
    struct question *question = question_of(predicate);

    (void)state;
    assert_int_equal(question->kind, QUESTION_ALL_OF);
    assert_int_equal(question->operand_count, 2);
    assert_int_equal(question->operands[0]->kind, QUESTION_RANGE);
    assert_true(question->operands[0]->has_low);
    assert_false(question->operands[0]->has_high);
    question_destroy(question);
    colander_predicate_destroy(predicate);
}

static void
what_a_question_cannot_say_is_left_out(void **state)
{
    struct colander_predicate *predicate =
        all_of(compared("a", COLANDER_NE, 3), colander_where_null("b", NULL));
    struct question *question = question_of(predicate);
    uint64_t hash;

    (void)state;
    assert_int_equal(question->kind, QUESTION_EQUAL);
    assert_int_equal(question->values[0].type, COLANDER_NULL);
    assert_int_equal(path_hash_of_text("b", &hash, NULL), COLANDER_OK);
    assert_int_equal(question->path_hashes[0], hash);
    assert_true(colander_slice_equal(question->path, colander_slice_text("b")));
    question_destroy(question);
    colander_predicate_destroy(predicate);

    predicate = colander_any_of(
        (struct colander_predicate *[]){
            compared("a", COLANDER_EQ, 3),
            colander_not(compared("a", COLANDER_EQ, 4), NULL)},
        2, NULL);
    question = question_of(predicate);
    assert_int_equal(question->kind, QUESTION_OPEN);
    question_destroy(question);
    colander_predicate_destroy(predicate);
}

/* As large and as deep as limits.h allows. */
static void
the_largest_predicate_becomes_a_question(void **state)
{
    static struct colander_predicate *operands[9000];
    struct colander_predicate *predicate;
    struct question *question;

    (void)state;
    for (int i = 0; i < 9000; i++)
        operands[i] = compared("a[].b", COLANDER_GE, i);
    predicate = colander_all_of(operands, 9000, NULL);
    for (int i = 2; i < COLANDER_PREDICATE_DEPTH_MAX; i++) {
        struct colander_predicate *both[] = {predicate,
                                             compared("c", COLANDER_EQ, i)};

        predicate = i % 2 == 0 ? colander_any_of(both, 2, NULL)
                               : colander_all_of(both, 2, NULL);
    }
    question = question_of(predicate);
    check_shape(question, true);
    while (question->operands[0]->operand_count > 0)
        *question = *question->operands[0];
    assert_int_equal(question->operand_count, 9000);
    question_destroy(question);
    colander_predicate_destroy(predicate);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(questions_hold_for_every_row_that_matches),
        cmocka_unit_test(ranges_of_one_place_are_one_range),
        cmocka_unit_test(ranges_of_several_elements_stay_apart),
        cmocka_unit_test(what_a_question_cannot_say_is_left_out),
        cmocka_unit_test(the_largest_predicate_becomes_a_question),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

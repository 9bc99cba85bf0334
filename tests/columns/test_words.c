/*
 * Words joined by and, or, not and parentheses: they mean what predicates that
 * were built by hand mean, and mistakes are reported at their word.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/columns.h"
#include "support/cases.h"
#include "support/random.h"
#include "support/scoped.h"

#include <stdio.h>

#define WORDS_MAX 4000

/* An expression as words, and as a predicate. */
struct expression {
    char texts[WORDS_MAX][16];
    const char *words[WORDS_MAX];
    size_t count;
};

static uint64_t
chance(uint64_t below)
{
    return random_below(random_state(), below);
}

static void
add_word(struct expression *expression, const char *text)
{
    assert_true(expression->count < WORDS_MAX);
    snprintf(expression->texts[expression->count], 16, "%s", text);
    expression->words[expression->count] = expression->texts[expression->count];
    expression->count++;
}

/* A word that joins others, in small or capital letters. */
static void
add_joint(struct expression *expression, const char *small, const char *large)
{
    add_word(expression, chance(4) == 0 ? large : small);
}

static struct colander_predicate *
draw_condition(struct expression *expression)
{
    char path[2] = {(char)('a' + chance(4)), '\0'};
    const int64_t number = (int64_t)chance(3);
    char text[16];

    if (chance(5) == 0) {
        snprintf(text, sizeof(text), "%s?", path);
        add_word(expression, text);
        return colander_where_exists(path, NULL);
    }
    snprintf(text, sizeof(text), "%s<=%d", path, (int)number);
    add_word(expression, text);
    return colander_where(path, COLANDER_LE, colander_integer(number), NULL);
}

static struct colander_predicate *draw_any(struct expression *expression,
                                           int depth);

static struct colander_predicate *
draw_unit(struct expression *expression, int depth)
{
    struct colander_predicate *predicate;

    if (depth == 0 || chance(3) == 0)
        return draw_condition(expression);
    if (chance(3) == 0) {
        add_joint(expression, "not", "NOT");
        return colander_not(draw_unit(expression, depth - 1), NULL);
    }
    add_word(expression, "(");
    predicate = draw_any(expression, depth - 1);
    add_word(expression, ")");
    return predicate;
}

static struct colander_predicate *
draw_all(struct expression *expression, int depth)
{
    struct colander_predicate *operands[3];
    const size_t count = 1 + chance(3);

    for (size_t i = 0; i < count; i++) {
        if (i > 0 && chance(2) == 0)
            add_joint(expression, "and", "And");
        operands[i] = draw_unit(expression, depth);
    }
    return colander_all_of(operands, count, NULL);
}

static struct colander_predicate *
draw_any(struct expression *expression, int depth)
{
    struct colander_predicate *operands[3];
    const size_t count = 1 + chance(3);

    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            add_joint(expression, "or", "OR");
        operands[i] = draw_all(expression, depth);
    }
    return colander_any_of(operands, count, NULL);
}

static struct colander_slice
draw_row(struct colander_row_builder *builder)
{
    static const char *const names[] = {"a", "b", "c", "d"};
    struct colander_slice row;

    for (size_t i = 0; i < COUNT(names); i++) {
        if (chance(4) > 0)
            colander_row_builder_add(builder, names[i],
                                     colander_integer((int64_t)chance(4)));
    }
    OK(colander_row_builder_finish(builder, &row, NULL));
    return row;
}

TEST(words_mean_what_predicates_built_by_hand_mean)
{
    static struct expression expression;
    SCOPED_BUILDER builder = colander_row_builder_create();

    for (uint64_t run = random_runs(2000); run > 0; run--) {
        SCOPED_PREDICATE by_hand = NULL;
        SCOPED_PREDICATE read = NULL;
        struct colander_fault fault;

        expression.count = 0;
        by_hand = draw_any(&expression, (int)chance(4));
        read = colander_where_words(expression.words, expression.count, &fault,
                                    why());
        if (read == NULL)
            fail_msg("word %zu: %s", fault.word, error_text());
        for (int i = 0; i < 20; i++) {
            struct colander_slice row = draw_row(builder);
            bool expected;
            bool is_match;

            OK(colander_predicate_evaluate(by_hand, row, &expected, NULL,
                                           NULL));
            OK(colander_predicate_evaluate(read, row, &is_match, NULL, NULL));
            assert_int_equal(is_match, expected);
        }
    }
}

TEST(no_words_match_every_row)
{
    SCOPED_BUILDER builder = colander_row_builder_create();
    SCOPED_PREDICATE predicate = colander_where_words(NULL, 0, NULL, NULL);
    bool is_match;

    OK(colander_predicate_evaluate(predicate, draw_row(builder), &is_match,
                                   NULL, NULL));
    assert_true(is_match);
}

TEST(a_mistake_is_reported_at_its_word)
{
    static const struct {
        const char *words[6];
        size_t word;
        size_t offset;
        const char *message;
    } cases[] = {
        {{"a=1", "or"}, 1, 2, "expected a condition"},
        {{"not"}, 0, 3, "expected a condition"},
        {{"a=1", "and", "or", "b=1"}, 2, 0, "expected a condition"},
        {{"and", "b=1"}, 0, 0, "expected a condition"},
        {{"(", ")"}, 1, 0, "expected a condition"},
        {{"a=1", "(", "b=1"}, 1, 0, "'(' without ')'"},
        {{"(", "(", "b=1", ")"}, 0, 0, "'(' without ')'"},
        {{"a=1", ")", "b=1"}, 1, 0, "')' without '('"},
        {{"a=1", "or", "b==1"}, 2, 2, NULL},
        {{"a=1", "not", "(", "b<null"}, 3, 2, NULL},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct colander_fault fault = {99, 99};
        struct colander_error err;
        size_t count = 0;

        while (count < COUNT(cases[i].words) && cases[i].words[count] != NULL)
            count++;
        assert_null(colander_where_words(cases[i].words, count, &fault, &err));
        assert_int_equal(err.code, COLANDER_INVALID);
        assert_int_equal(fault.word, cases[i].word);
        assert_int_equal(fault.offset, cases[i].offset);
        if (cases[i].message != NULL)
            assert_string_equal(err.message, cases[i].message);
    }
}

/* Recursion is bounded, whatever the words are. */
TEST(words_that_are_nested_too_deeply_are_refused)
{
    static const char *words[WORDS_MAX];

    for (size_t i = 0; i < COUNT(words); i++)
        words[i] = i % 2 == 0 ? "(" : "not";
    assert_null(colander_where_words(words, COUNT(words), NULL, why()));
    assert_string_equal(error_text(), "conditions are nested too deeply");
}

TEST(an_error_may_be_unwanted)
{
    const char *words[] = {"a=1", "or", "b<null"};

    assert_null(colander_where_words(words, 3, NULL, NULL));
    assert_null(colander_where_text("a<null", NULL));
}

/*
 * Random expressions of conditions, the rows that a naive evaluator says they
 * find, and the same as predicates.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_SHELL_EXPRESSIONS_H
#define TESTS_SHELL_EXPRESSIONS_H

/* The first four are half of them. */
#define NAIVE_TEXTS                                                            \
    "1e0", "2", "2026-11-01", "ab", "", "a", "b", "1", "or", "NOT", "(",       \
        "true", "null", "2026", "2026-11", "2026-11-01T1",                     \
        "2026-11-01T10:00:00Z", "@2026-11-01", "@ann", " x", "=x", "it's",     \
        "\"q\"", "[1]", "a\tb\n", "\\", "$a", "\xC4\x85", "\xC4\x85z"
#define NAIVE_SECONDS                                                          \
    1793491200, 1793527200, 1793491199, 1793577600, 1796083199, 0, -1
#define NAIVE_NAMES                                                            \
    "a", "b", "or", "a.b", "x[]", "back\\slash", "x=y", "q?", "<!~>", "(",     \
        "a b ", "\xC4\x85", "it's \"q\"", "\n"

#include "columns/naive_row.h"

#include "support/temporary.h"

#include <time.h>

#define ROWS 60
#define OPERANDS_MAX 4

/* ----------------------------------------------------------- questions --- */

enum kind {
    COMPARE,
    IN,
    PREFIX,
    EXISTS,
    MISSING,
    ANY,
    CONTAINS,
    ALL,
    SOME,
    NO
};

/* A value, and how it is written. It equals all its scalars, and the instants
 * from the first to the last; order compares it with the first scalar. */
struct operand {
    struct scalar scalars[2];
    size_t count;
    bool has_instants;
    struct scalar first;
    struct scalar last;
    const char *spelling; /* NULL: a text, to be spelled */
};

struct question {
    enum kind kind;
    enum colander_comparison comparison; /* of COMPARE */
    const char *path;                    /* borrowed from the rows */
    struct operand operands[OPERANDS_MAX];
    struct question *parts[OPERANDS_MAX];
    size_t count; /* of operands or parts */
};

/* The rows of a store. */
struct sample {
    char directory[TEMPORARY_SIZE];
    struct layout layouts[ROWS];
    struct colander_slice rows[ROWS];
};

static const struct {
    const char *text; /* with an @, no text */
    int64_t first;
    int64_t last;
} times[] = {
    {"@2026-11-01", 1793491200, 1793577599},
    {"@2026-11", 1793491200, 1796083199},
    {"@2026-11-01T10:00:00Z", 1793527200, 1793527200},
    {"@2026-11-01T11:00+01:00", 1793527200, 1793527200},
    {"@2026-11-01 10:00", 1793527200, 1793527200},
};

static const struct {
    const char *spelling;
    long double number;
} spelled[] = {
    {"1", 1},
    {"0", 0},
    {"1e0", 1},
    {"1.0", 1},
    {"10E-1", 1},
    {"2", 2},
    {"-1", -1},
    {"-0", 0},
    {"0.5", 0.5L},
    {"5e-1", 0.5L},
    {"256", 256},
    {"9007199254740993", 9007199254740993.0L},
    {"9223372036854775807", 9223372036854775807.0L},
    {"1e300", (long double)1e300},
};

static struct scalar
text_scalar(const char *text)
{
    return (struct scalar){.kin = TEXT, .data = text, .size = strlen(text)};
}

/* Sets the instants that a text without its @ names. */
static void
read_instants(struct operand *operand, const char *text)
{
    for (size_t i = 0; i < COUNT(times); i++) {
        if (strcmp(times[i].text + 1, text) != 0)
            continue;
        operand->has_instants = true;
        operand->first = (struct scalar){.kin = INSTANT};
        operand->first.second = times[i].first;
        operand->last = operand->first;
        operand->last.second = times[i].last;
        if (times[i].first != times[i].last)
            operand->last.nanosecond = 999999999;
    }
}

/* In a list, a text that is a time after @ is a time. */
static struct operand
text_operand(const char *text, bool is_list)
{
    struct operand operand = {.scalars = {text_scalar(text)}, .count = 1};

    read_instants(&operand, is_list && text[0] == '@' ? text + 1 : text);
    if (is_list && text[0] == '@' && operand.has_instants)
        operand.count = 0;
    return operand;
}

static struct operand
operand_draw(bool is_list)
{
    static const char *const others[] = {"null", "true", "false"};
    struct operand operand = {.count = 1};
    const uint64_t what = chance(8);
    uint64_t choice;

    if (what < 4)
        return text_operand(texts[chance(COUNT(texts))], is_list);
    if (what == 4 && !is_list) {
        operand.count = 0;
        operand.spelling = times[chance(COUNT(times))].text;
        read_instants(&operand, operand.spelling + 1);
        return operand;
    }
    if (what < 7) {
        choice = chance(COUNT(spelled));
        operand.count = 2;
        operand.spelling = spelled[choice].spelling;
        operand.scalars[0].kin = NUMBER;
        operand.scalars[0].number = spelled[choice].number;
        operand.scalars[1] = text_scalar(operand.spelling);
        return operand;
    }
    choice = chance(COUNT(others));
    operand.spelling = others[choice];
    operand.scalars[0].kin = choice == 0 ? NOTHING : BOOLEAN;
    operand.scalars[0].boolean = choice == 1;
    return operand;
}

static bool
is_before(const struct scalar *a, const struct scalar *b)
{
    return a->kin == b->kin && scalar_order(a, b) < 0;
}

static bool
operand_equals(const struct operand *operand, const struct scalar *scalar)
{
    for (size_t i = 0; i < operand->count; i++) {
        if (scalar_equals(&operand->scalars[i], scalar))
            return true;
    }
    return operand->has_instants && scalar->kin == INSTANT &&
           !is_before(scalar, &operand->first) &&
           !is_before(&operand->last, scalar);
}

/* A place of a random row, often at its top, or NULL. */
static const struct place *
place_draw(const struct sample *sample)
{
    const struct layout *layout = &sample->layouts[chance(ROWS)];
    const struct place *place = NULL;

    for (int tries = 0; tries < 3 && layout->count > 0; tries++) {
        place = &layout->places[chance(layout->count)];
        if (strlen(place->path) < 6)
            break;
    }
    return place;
}

static const char *
path_of(const struct place *place)
{
    static const char *const paths[] = {"a", "b", "or[]", "a\\.b", "nowhere"};

    return place == NULL || chance(4) == 0 ? paths[chance(COUNT(paths))]
                                           : place->path;
}

static bool
is_plural(const char *path)
{
    return strstr(path, "[]") != NULL;
}

/* Often equals the scalar at the place. */
static struct operand
operand_near(const struct place *place, bool is_list)
{
    struct operand operand = operand_draw(is_list);

    for (uint64_t tries = chance(24); tries > 0 && place != NULL &&
                                      !operand_equals(&operand, &place->scalar);
         tries--)
        operand = operand_draw(is_list);
    return operand;
}

static struct operand
random_text(void)
{
    return text_operand(texts[chance(COUNT(texts))], false);
}

static void
leaf_draw(struct question *leaf, const struct sample *sample)
{
    const struct place *place = place_draw(sample);

    leaf->kind = chance(3) != 0 ? COMPARE : (enum kind)(chance(4) + IN);
    leaf->comparison = (enum colander_comparison)chance(COLANDER_GE + 1);
    leaf->path = path_of(place);
    leaf->count = leaf->kind == IN ? chance(OPERANDS_MAX + 1) : 1;
    for (size_t i = 0; i < leaf->count; i++)
        leaf->operands[i] = operand_near(place, leaf->kind == IN);
    if (leaf->kind == PREFIX)
        leaf->operands[0] = random_text();
    if (leaf->kind != COMPARE)
        return;
    while (leaf->comparison > COLANDER_NE && leaf->operands[0].count > 0 &&
           leaf->operands[0].scalars[0].kin == NOTHING)
        leaf->operands[0] = operand_draw(false);
    /* what differs from all of several values cannot be built by hand */
    if (is_plural(leaf->path) && leaf->comparison == COLANDER_NE)
        leaf->operands[0] = random_text();
}

static struct question *
question_draw(const struct sample *sample, int depth)
{
    struct question *question = calloc(1, sizeof(*question));

    assert_non_null(question);
    if (depth == 0 || chance(3) == 0) {
        leaf_draw(question, sample);
        return question;
    }
    question->kind = (enum kind)(ALL + chance(3));
    question->count = question->kind == NO ? 1 : 2 + chance(2);
    for (size_t i = 0; i < question->count; i++)
        question->parts[i] = question_draw(sample, depth - 1);
    return question;
}

static void
question_destroy(struct question *question)
{
    for (size_t i = 0; i < COUNT(question->parts); i++) {
        if (question->parts[i] != NULL)
            question_destroy(question->parts[i]);
    }
    free(question);
}

/* ----------------------------------------------------------- evaluator --- */

/* Whether the scalar is before the operand (-1), or after it (1), or neither,
 * as they are equal or not of one kind (0). */
static int
operand_side(const struct operand *operand, const struct scalar *scalar)
{
    const bool is_instant = scalar->kin == INSTANT && operand->has_instants;
    const struct scalar *first =
        is_instant ? &operand->first : &operand->scalars[0];
    const struct scalar *last = is_instant ? &operand->last : first;

    if (!is_instant && operand->count == 0)
        return 0;
    return is_before(scalar, first) ? -1 : is_before(last, scalar) ? 1 : 0;
}

static bool
compares(const struct question *leaf, const struct scalar *scalar)
{
    const struct operand *operand = &leaf->operands[0];
    const int side = operand_side(operand, scalar);
    const bool is_kin =
        (scalar->kin == INSTANT && operand->has_instants) ||
        (operand->count > 0 && operand->scalars[0].kin == scalar->kin);

    switch (leaf->comparison) {
    case COLANDER_EQ:
        return operand_equals(operand, scalar);
    case COLANDER_NE:
        return !operand_equals(operand, scalar);
    case COLANDER_LT:
        return side < 0;
    case COLANDER_LE:
        return is_kin && side <= 0;
    case COLANDER_GT:
        return side > 0;
    default:
        return is_kin && side >= 0;
    }
}

/* Whether the scalar is a text that begins so, or an instant that is written
 * so. */
static bool
begins(const struct operand *operand, const struct scalar *scalar)
{
    const struct scalar *lead = &operand->scalars[0];
    char text[64];
    const char *start = scalar->data;
    size_t size = scalar->size;
    time_t second = scalar->second;
    struct tm parts;

    if (scalar->kin == INSTANT) {
        if (operand_equals(operand, scalar))
            return true;
        strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S",
                 gmtime_r(&second, &parts));
        size = strlen(text);
        size += (size_t)snprintf(text + size, sizeof(text) - size,
                                 ".%09" PRIu32, scalar->nanosecond);
        start = text;
    }
    return (scalar->kin == TEXT ||
            (scalar->kin == INSTANT && lead->size > 3)) &&
           lead->size <= size && memcmp(start, lead->data, lead->size) == 0;
}

static bool
scalar_holds(const struct question *leaf, const struct scalar *scalar)
{
    if (leaf->kind == COMPARE)
        return compares(leaf, scalar);
    if (leaf->kind == PREFIX)
        return begins(&leaf->operands[0], scalar);
    if (leaf->kind == CONTAINS)
        return scalar->kin == TEXT &&
               memmem(scalar->data, scalar->size,
                      leaf->operands[0].scalars[0].data,
                      leaf->operands[0].scalars[0].size) != NULL;
    for (size_t i = 0; i < leaf->count; i++) { /* IN, ANY */
        if (operand_equals(&leaf->operands[i], scalar))
            return true;
    }
    return false;
}

static bool
leaf_is_true(const struct question *leaf, const struct layout *layout)
{
    for (size_t i = 0; i < layout->count; i++) {
        const struct place *place = &layout->places[i];

        if (leaf->kind != ANY && strcmp(place->path, leaf->path) != 0)
            continue;
        if (leaf->kind == EXISTS || leaf->kind == MISSING)
            return leaf->kind == EXISTS;
        if (!place->is_container && scalar_holds(leaf, &place->scalar))
            return true;
    }
    return leaf->kind == MISSING;
}

static bool
is_true(const struct question *question, const struct layout *layout)
{
    size_t true_count = 0;

    if (question->kind < ALL)
        return leaf_is_true(question, layout);
    for (size_t i = 0; i < question->count; i++)
        true_count += is_true(question->parts[i], layout) ? 1 : 0;
    return question->kind == NO     ? true_count == 0
           : question->kind == SOME ? true_count > 0
                                    : true_count == question->count;
}

/* ------------------------------------------------------------- by hand --- */

static struct colander_predicate *
join(enum kind kind, struct colander_predicate *a, struct colander_predicate *b)
{
    struct colander_predicate *const both[] = {a, b};

    return (kind == ALL ? colander_all_of : colander_any_of)(both, 2, NULL);
}

/* The scalar at the path, or any, is what the operand is. */
static struct colander_predicate *
equal_by_hand(const char *path, const struct operand *operand)
{
    struct colander_value value = scalar_value(&operand->scalars[0]);
    struct colander_predicate *either;

    if (path == NULL && operand->spelling == NULL)
        return colander_where_written(NULL, COLANDER_OPERATOR_ANY, &value, 1,
                                      why());
    either = colander_any_of(NULL, 0, why());
    for (size_t i = 0; i < operand->count; i++) {
        value = scalar_value(&operand->scalars[i]);
        either = join(SOME, either,
                      path == NULL
                          ? colander_where_any_column(value, why())
                          : colander_where(path, COLANDER_EQ, value, why()));
    }
    if (!operand->has_instants)
        return either;
    value = scalar_value(&operand->first);
    return join(SOME, either,
                path == NULL
                    ? colander_where_any_column(value, why())
                    : colander_where_between(
                          path, value, scalar_value(&operand->last), why()));
}

/* Not equal: it is a scalar, but not that. Of a text the library says so. */
static struct colander_predicate *
different_by_hand(const char *path, const struct operand *operand)
{
    const struct colander_value value = scalar_value(&operand->scalars[0]);

    if (operand->spelling == NULL)
        return colander_where_written(path, COLANDER_OPERATOR_NE, &value, 1,
                                      why());
    return join(ALL,
                join(SOME, colander_where(path, COLANDER_NE, value, why()),
                     colander_where(path, COLANDER_EQ, value, why())),
                colander_not(equal_by_hand(path, operand), why()));
}

static struct colander_predicate *
order_by_hand(const struct question *leaf)
{
    const struct operand *operand = &leaf->operands[0];
    const bool is_last =
        leaf->comparison == COLANDER_GT || leaf->comparison == COLANDER_LE;
    struct colander_predicate *either = colander_any_of(NULL, 0, why());

    if (operand->count > 0)
        either =
            join(SOME, either,
                 colander_where(leaf->path, leaf->comparison,
                                scalar_value(&operand->scalars[0]), why()));
    if (operand->has_instants)
        either = join(SOME, either,
                      colander_where(leaf->path, leaf->comparison,
                                     scalar_value(is_last ? &operand->last
                                                          : &operand->first),
                                     why()));
    return either;
}

static struct colander_predicate *
leaf_by_hand(const struct question *leaf)
{
    const struct operand *operands = leaf->operands;
    const struct colander_value value = scalar_value(&operands[0].scalars[0]);
    struct colander_predicate *either;

    switch (leaf->kind) {
    case EXISTS:
        return colander_where_exists(leaf->path, why());
    case MISSING:
        return colander_where_missing(leaf->path, why());
    case CONTAINS:
        return colander_where_contains(leaf->path, value, why());
    case PREFIX:
        return colander_where_written(leaf->path, COLANDER_OPERATOR_PREFIX,
                                      &value, 1, why());
    case COMPARE:
        if (leaf->comparison == COLANDER_NE)
            return different_by_hand(leaf->path, &operands[0]);
        if (leaf->comparison != COLANDER_EQ)
            return order_by_hand(leaf);
        break;
    default:
        break;
    }
    either = colander_any_of(NULL, 0, why());
    for (size_t i = 0; i < leaf->count; i++)
        either = join(SOME, either, equal_by_hand(leaf->path, &operands[i]));
    return either;
}

static struct colander_predicate *
by_hand(const struct question *question)
{
    struct colander_predicate *parts[OPERANDS_MAX] = {NULL};

    if (question->kind < ALL)
        return leaf_by_hand(question);
    for (size_t i = 0; i < question->count; i++)
        parts[i] = by_hand(question->parts[i]);
    if (question->kind == NO)
        return colander_not(parts[0], why());
    return (question->kind == ALL ? colander_all_of : colander_any_of)(
        parts, question->count, why());
}

#endif

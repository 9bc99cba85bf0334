/*
 * Questions: what of a predicate says which rows may match.
 *
 * A question is a weaker predicate: every row that the predicate is true of, it
 * is true of as well. So what it cannot say it leaves out of an ALL_OF, and
 * anywhere else it becomes "any row". It is made as small as it gets without
 * much ado: operands of operands of the same kind become operands, one operand
 * alone takes its parent's place, and what no row can meet is an ANY_OF of
 * none, which settles an ALL_OF.
 *
 * All of it is one allocation, in which the question itself comes first.
 * Recursion is as deep as the predicate, which limits.h bounds.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/candidates.h"
#include "columns/predicate.h"

#include <stdlib.h>

/* Operands of an ALL_OF that a range is compared with: those added last. */
#define MERGE_REACH 8

/* The rest of the allocation. All that is taken is aligned alike. */
struct arena {
    uint8_t *at;
    size_t value_count; /* of EQUAL questions made so far */
};

static void *
take(struct arena *arena, size_t size)
{
    void *memory = arena->at;

    arena->at += size;
    return memory;
}

/* Room for what make takes for the predicate and what is below it. */
static size_t
size_of(const struct colander_predicate *predicate)
{
    size_t size = sizeof(struct question) + sizeof(struct question *) +
                  predicate->path.count * sizeof(uint64_t) +
                  predicate->value_count * sizeof(uint64_t) +
                  2 * sizeof(struct colander_value);
    const struct colander_predicate *operand = predicate->first;

    if (predicate->kind == PREDICATE_NOT)
        return size;
    for (; operand != NULL; operand = operand->next)
        size += size_of(operand);
    return size;
}

/* ------------------------------------------------------------- leaves --- */

static void
set_nothing(struct question *question)
{
    memset(question, 0, sizeof(*question));
    question->kind = QUESTION_ANY_OF;
}

static bool
is_nothing(const struct question *question)
{
    return question->kind == QUESTION_ANY_OF && question->operand_count == 0;
}

static void
set_path(struct question *question, const struct colander_predicate *leaf,
         struct arena *arena)
{
    uint64_t *hashes = take(arena, leaf->path.count * sizeof(*hashes));
    uint64_t hash = PATH_HASH_START;

    for (size_t i = 0; i < leaf->path.count; i++) {
        const struct path_step *step = &leaf->path.steps[i];

        hash = step->is_element ? path_hash_element(hash)
                                : path_hash_name(hash, step->name);
        hashes[i] = hash;
    }
    question->path_hashes = hashes;
    question->path_length = leaf->path.count;
    question->path = colander_buffer_slice(&leaf->text);
}

/* What is no bound tells the type. */
static void
set_range(struct question *question, const struct colander_value *low,
          bool has_low, const struct colander_value *high, bool has_high,
          struct arena *arena)
{
    struct colander_value *values = take(arena, 2 * sizeof(*values));

    question->kind = QUESTION_RANGE;
    question->has_low = has_low;
    question->has_high = has_high;
    values[0] = *low;
    values[1] = *high;
    question->values = values;
    question->value_count = 2;
    if (colander_value_compare(&values[0], &values[1]) > 0)
        set_nothing(question);
}

static void
set_equal(struct question *question, const struct colander_predicate *leaf,
          struct arena *arena)
{
    uint64_t *hashes = take(arena, leaf->value_count * sizeof(*hashes));

    question->kind = QUESTION_EQUAL;
    question->values = leaf->values;
    question->value_count = leaf->value_count;
    question->value_hashes = hashes;
    question->first_value = arena->value_count;
    arena->value_count += leaf->value_count;
    for (size_t i = 0; i < leaf->value_count; i++)
        hashes[i] = colander_value_hash(&leaf->values[i]);
    if (leaf->value_count == 0)
        set_nothing(question);
}

static void
set_compared(struct question *question, const struct colander_predicate *leaf,
             struct arena *arena)
{
    switch (leaf->comparison) {
    case COLANDER_EQ:
        set_equal(question, leaf, arena);
        return;
    case COLANDER_NE:
        question->kind = QUESTION_OPEN;
        return;
    case COLANDER_LT:
    case COLANDER_LE:
        set_range(question, leaf->values, false, leaf->values, true, arena);
        return;
    case COLANDER_GT:
    case COLANDER_GE:
        set_range(question, leaf->values, true, leaf->values, false, arena);
        return;
    }
}

static void
set_leaf(struct question *question, const struct colander_predicate *leaf,
         struct arena *arena)
{
    set_path(question, leaf, arena);
    switch (leaf->kind) {
    case PREDICATE_COMPARE:
        set_compared(question, leaf, arena);
        return;
    case PREDICATE_IN:
    case PREDICATE_ANY:
        set_equal(question, leaf, arena);
        return;
    case PREDICATE_BETWEEN:
        set_range(question, &leaf->values[0], true, &leaf->values[1], true,
                  arena);
        return;
    case PREDICATE_PREFIX:
        question->kind = QUESTION_PREFIX;
        question->values = leaf->values;
        question->value_count = 1;
        return;
    case PREDICATE_EXISTS:
        question->kind = QUESTION_EXISTS;
        return;
    default:
        question->kind = QUESTION_OPEN;
    }
}

/* ------------------------------------------------------------ operands --- */

/* An ALL_OF or ANY_OF under way. */
struct operation {
    enum predicate_kind kind;
    struct question **operands;
    size_t count;
    bool is_settled; /* an ANY_OF by OPEN, an ALL_OF by what no row meets */
};

static size_t
count_operands(const struct colander_predicate *predicate)
{
    const struct colander_predicate *operand = predicate->first;
    size_t count = 0;

    for (; operand != NULL; operand = operand->next)
        count += operand->kind == predicate->kind ? count_operands(operand) : 1;
    return count;
}

/* In the text of a path only they are told so: a name has its brackets behind
 * backslashes. */
static bool
goes_through_elements(const struct question *question)
{
    return memmem(question->path.data, question->path.size, "[]", 2) != NULL;
}

/* Narrows `range` to what is in `other` as well. */
static void
intersect(struct question *range, const struct question *other)
{
    /* As set_range left them: they are no one else's. */
    struct colander_value *values = (struct colander_value *)range->values;
    bool is_low = other->has_low &&
                  (!range->has_low ||
                   colander_value_compare(&other->values[0], &values[0]) > 0);
    bool is_high = other->has_high &&
                   (!range->has_high ||
                    colander_value_compare(&other->values[1], &values[1]) < 0);

    if (is_low)
        values[0] = other->values[0];
    if (is_high)
        values[1] = other->values[1];
    range->has_low |= is_low;
    range->has_high |= is_high;
    if (!range->has_low)
        values[0] = values[1];
    if (!range->has_high)
        values[1] = values[0];
    if (colander_value_compare(&values[0], &values[1]) > 0)
        set_nothing(range);
}

/* Where there is but one value, two ranges are one. Behind a [] one element
 * may be in the one range and another in the other. */
static bool
merge_range(struct operation *operation, const struct question *range)
{
    size_t reach =
        operation->count < MERGE_REACH ? operation->count : MERGE_REACH;

    if (range->kind != QUESTION_RANGE || goes_through_elements(range))
        return false;
    for (size_t i = 1; i <= reach; i++) {
        struct question *met = operation->operands[operation->count - i];

        if (met->kind != QUESTION_RANGE ||
            !colander_slice_equal(met->path, range->path))
            continue;
        if (predicate_types_compare(met->values[0].type, range->values[0].type))
            intersect(met, range);
        else
            set_nothing(met);
        operation->is_settled |= is_nothing(met);
        return true;
    }
    return false;
}

static void
add_operand(struct operation *operation, struct question *question)
{
    bool is_all = operation->kind == PREDICATE_ALL_OF;

    if (question->kind == QUESTION_OPEN)
        operation->is_settled |= !is_all;
    else if (is_nothing(question))
        operation->is_settled |= is_all;
    else if (!is_all || !merge_range(operation, question))
        operation->operands[operation->count++] = question;
}

static struct question *make(const struct colander_predicate *predicate,
                             struct arena *arena);

static void
add_operands(struct operation *operation,
             const struct colander_predicate *predicate, struct arena *arena)
{
    const struct colander_predicate *operand = predicate->first;

    for (; operand != NULL && !operation->is_settled; operand = operand->next) {
        if (operand->kind == operation->kind)
            add_operands(operation, operand, arena);
        else
            add_operand(operation, make(operand, arena));
    }
}

static struct question *
make_operation(const struct colander_predicate *predicate, struct arena *arena)
{
    const bool is_all = predicate->kind == PREDICATE_ALL_OF;
    struct question *question = take(arena, sizeof(*question));
    struct operation operation = {predicate->kind, NULL, 0, false};

    operation.operands =
        take(arena, count_operands(predicate) * sizeof(struct question *));
    add_operands(&operation, predicate, arena);
    if (operation.count == 1 && !operation.is_settled)
        return operation.operands[0];
    memset(question, 0, sizeof(*question));
    if (operation.is_settled && is_all) {
        set_nothing(question);
    } else if (operation.is_settled || (is_all && operation.count == 0)) {
        question->kind = QUESTION_OPEN;
    } else {
        question->kind = is_all ? QUESTION_ALL_OF : QUESTION_ANY_OF;
        question->operands = (const struct question *const *)operation.operands;
        question->operand_count = operation.count;
    }
    return question;
}

static struct question *
make(const struct colander_predicate *predicate, struct arena *arena)
{
    struct question *question;

    if (predicate->kind == PREDICATE_ALL_OF ||
        predicate->kind == PREDICATE_ANY_OF)
        return make_operation(predicate, arena);
    question = take(arena, sizeof(*question));
    memset(question, 0, sizeof(*question));
    set_leaf(question, predicate, arena);
    return question;
}

/* ------------------------------------------------------------ question --- */

enum colander_code
question_create(const struct colander_predicate *predicate,
                struct question **question, struct colander_error *err)
{
    struct question *root = malloc(sizeof(*root) + size_of(predicate));
    struct arena arena = {NULL, 0};

    *question = NULL;
    if (root == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "cannot plan a question of %u predicates",
                             predicate->node_count);
    arena.at = (uint8_t *)(root + 1);
    *root = *make(predicate, &arena);
    *question = root;
    return COLANDER_OK;
}

void
question_destroy(struct question *question)
{
    free(question);
}

size_t
question_value_places(const struct question *question)
{
    size_t places = 0;

    if (question->kind == QUESTION_EQUAL)
        return question->first_value + question->value_count;
    for (size_t i = 0; i < question->operand_count; i++) {
        size_t below = question_value_places(question->operands[i]);

        places = below > places ? below : places;
    }
    return places;
}

/*
 * Predicates asked of encoded rows, in place.
 *
 * Answering allocates nothing and stops as soon as the answer is known, so
 * damage in a part of the row that did not matter goes unseen. Which columns
 * matched is found in a second pass, over rows that matched only: there each
 * value's place is kept in mind, so that paths can be told in the order of
 * the row (the order of the first value that matched at each path).
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/matches.h"
#include "columns/predicate.h"
#include "columns/row_walk.h"

#include <stdlib.h>

/* -------------------------------------------------------------- values --- */

static inline bool
value_equals(const struct colander_value *a, const struct colander_value *b)
{
    if (a->type == COLANDER_STRING && b->type == COLANDER_STRING)
        return colander_slice_equal(a->bytes, b->bytes);
    return predicate_types_compare(a->type, b->type) &&
           colander_value_compare(a, b) == 0;
}

static bool
value_stands(const struct colander_value *value,
             enum colander_comparison comparison,
             const struct colander_value *other)
{
    int order;

    if (!predicate_types_compare(value->type, other->type))
        return false;
    order = colander_value_compare(value, other);
    switch (comparison) {
    case COLANDER_LT:
        return order < 0;
    case COLANDER_LE:
        return order <= 0;
    case COLANDER_GT:
        return order > 0;
    default:
        return order >= 0;
    }
}

static int
compare_values(const void *left, const void *right)
{
    return colander_value_compare(left, right);
}

static bool
value_is_among(const struct colander_value *value,
               const struct colander_value *values, size_t count)
{
    return count > 0 && bsearch(value, values, count, sizeof(*values),
                                compare_values) != NULL;
}

static bool
value_begins(const struct colander_value *value,
             const struct colander_value *prefix)
{
    return value->type == prefix->type &&
           value->bytes.size >= prefix->bytes.size &&
           memcmp(value->bytes.data, prefix->bytes.data, prefix->bytes.size) ==
               0;
}

static bool
value_contains(const struct colander_value *value,
               const struct colander_value *part)
{
    return value->type == part->type &&
           memmem(value->bytes.data, value->bytes.size, part->bytes.data,
                  part->bytes.size) != NULL;
}

/* Whether a value is one that the leaf looks for at its path; MISSING hopes to
 * find none. */
static bool
leaf_holds(const struct colander_predicate *leaf,
           const struct colander_value *value)
{
    const struct colander_value *values = leaf->values;

    if (leaf->kind == PREDICATE_EXISTS || leaf->kind == PREDICATE_MISSING)
        return true;
    if (value->type >= COLANDER_ARRAY)
        return false;
    switch (leaf->kind) {
    case PREDICATE_COMPARE:
        if (leaf->comparison == COLANDER_EQ)
            return value_equals(value, values);
        if (leaf->comparison == COLANDER_NE)
            return !value_equals(value, values);
        return value_stands(value, leaf->comparison, values);
    case PREDICATE_IN:
        return value_is_among(value, values, leaf->value_count);
    case PREDICATE_BETWEEN:
        return value_stands(value, COLANDER_GE, &values[0]) &&
               value_stands(value, COLANDER_LE, &values[1]);
    case PREDICATE_PREFIX:
        return value_begins(value, values);
    case PREDICATE_CONTAINS:
        return value_contains(value, values);
    default:
        return value_equals(value, values);
    }
}

/* ------------------------------------------------------------- answers --- */

/* One question about one row. */
struct evaluation {
    struct colander_slice row;
    struct colander_matches *matches; /* NULL: nobody wants to know */
    struct colander_error *err;
    struct row_walk walk; /* one for all, being too large for every level */
};

/* What a visit of the values at a path has to find. */
struct search {
    const struct colander_predicate *leaf;
    bool is_found;
};

static bool
search_visit(void *context, const struct colander_value *value)
{
    struct search *search = context;

    search->is_found = leaf_holds(search->leaf, value);
    return !search->is_found;
}

/* Goes on to the next value that makes `leaf` true, wherever it stands. */
static enum colander_code
find_next(struct evaluation *evaluation, const struct colander_predicate *leaf,
          bool *is_found)
{
    struct colander_value value;
    enum colander_code code;

    do {
        code =
            row_walk_next(&evaluation->walk, &value, is_found, evaluation->err);
        if (code != COLANDER_OK || !*is_found)
            return code;
    } while (!leaf_holds(leaf, &value));
    return COLANDER_OK;
}

static enum colander_code
walk_start(struct evaluation *evaluation)
{
    return row_walk_begin(&evaluation->walk, evaluation->row, evaluation->err);
}

static enum colander_code
leaf_answer(struct evaluation *evaluation,
            const struct colander_predicate *leaf, bool *answer)
{
    struct search search = {leaf, false};
    enum colander_code code;

    if (leaf->kind == PREDICATE_ANY) {
        code = walk_start(evaluation);
        if (code == COLANDER_OK)
            code = find_next(evaluation, leaf, answer);
        return code;
    }
    code = path_visit(&leaf->path, evaluation->row, search_visit, &search,
                      evaluation->err);
    *answer = search.is_found != (leaf->kind == PREDICATE_MISSING);
    return code;
}

static enum colander_code
predicate_answer(struct evaluation *evaluation,
                 const struct colander_predicate *predicate, bool *answer)
{
    /* The answer of an operand that settles the matter. */
    const bool settling = predicate->kind == PREDICATE_ANY_OF;
    const struct colander_predicate *operand = predicate->first;
    enum colander_code code = COLANDER_OK;

    if (predicate->kind < PREDICATE_ALL_OF)
        return leaf_answer(evaluation, predicate, answer);
    if (predicate->kind == PREDICATE_NOT) {
        code = predicate_answer(evaluation, operand, answer);
        *answer = !*answer;
        return code;
    }
    *answer = !settling;
    while (operand != NULL && *answer != settling && code == COLANDER_OK) {
        code = predicate_answer(evaluation, operand, answer);
        operand = operand->next;
    }
    return code;
}

/* ------------------------------------------------------------- matches --- */

static enum colander_code
path_note(struct evaluation *evaluation, const struct colander_predicate *leaf)
{
    enum colander_code code = walk_start(evaluation);
    bool is_found = false;

    do {
        if (code == COLANDER_OK)
            code = find_next(evaluation, leaf, &is_found);
        if (code != COLANDER_OK || !is_found)
            return code;
    } while (!row_walk_is_at(&evaluation->walk, &leaf->path));
    return matches_note(evaluation->matches, colander_buffer_slice(&leaf->text),
                        row_walk_offset(&evaluation->walk), evaluation->err);
}

static enum colander_code
any_note(struct evaluation *evaluation, const struct colander_predicate *leaf)
{
    struct colander_buffer text = COLANDER_BUFFER_EMPTY;
    enum colander_code code = walk_start(evaluation);
    bool is_found;

    while (code == COLANDER_OK) {
        code = find_next(evaluation, leaf, &is_found);
        if (code != COLANDER_OK || !is_found)
            break;
        colander_buffer_clear(&text);
        code = row_walk_append_path(&evaluation->walk, &text, evaluation->err);
        if (code == COLANDER_OK)
            code = matches_note(
                evaluation->matches, colander_buffer_slice(&text),
                row_walk_offset(&evaluation->walk), evaluation->err);
    }
    colander_buffer_release(&text);
    return code;
}

/* Notes what made `predicate` true; that it is true has been found out. */
static enum colander_code
predicate_note(struct evaluation *evaluation,
               const struct colander_predicate *predicate)
{
    const struct colander_predicate *operand = predicate->first;
    enum colander_code code = COLANDER_OK;
    bool is_true = true;

    if (predicate->kind == PREDICATE_NOT ||
        predicate->kind == PREDICATE_MISSING)
        return COLANDER_OK;
    if (predicate->kind == PREDICATE_ANY)
        return any_note(evaluation, predicate);
    if (predicate->kind < PREDICATE_ALL_OF)
        return path_note(evaluation, predicate);
    for (; operand != NULL && code == COLANDER_OK; operand = operand->next) {
        if (predicate->kind == PREDICATE_ANY_OF)
            code = predicate_answer(evaluation, operand, &is_true);
        if (code == COLANDER_OK && is_true)
            code = predicate_note(evaluation, operand);
    }
    return code;
}

static enum colander_code
matches_fill(struct evaluation *evaluation,
             const struct colander_predicate *predicate)
{
    enum colander_code code = predicate_note(evaluation, predicate);

    if (code == COLANDER_OK)
        code = matches_finish(evaluation->matches, evaluation->err);
    if (code != COLANDER_OK)
        matches_clear(evaluation->matches);
    return code;
}

enum colander_code
colander_predicate_evaluate(const struct colander_predicate *predicate,
                            struct colander_slice row, bool *is_match,
                            struct colander_matches *matches,
                            struct colander_error *err)
{
    struct evaluation evaluation;
    enum colander_code code;
    bool answer = false;

    *is_match = false;
    if (matches != NULL)
        matches_clear(matches);
    evaluation.row = row;
    evaluation.matches = matches;
    evaluation.err = err;
    /* Not every predicate looks at the row; it has to be one all the same. */
    code = walk_start(&evaluation);
    if (code == COLANDER_OK)
        code = predicate_answer(&evaluation, predicate, &answer);
    if (code == COLANDER_OK && answer && matches != NULL)
        code = matches_fill(&evaluation, predicate);
    if (code == COLANDER_OK)
        *is_match = answer;
    return code;
}

/*
 * Evaluation of predicates over encoded rows, in place.
 *
 * An evaluation allocates nothing (RE2 does, for patterns) and stops as soon as
 * the result is known, so it does not find damage in a part of the row that
 * does not matter. A second pass, only over rows that matched, finds the
 * columns that matched. It uses the results that the first pass kept, so a leaf
 * is evaluated at most twice however deep it is. The offsets of values order
 * the paths as in the row (by the first value that matched at each).
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/finds/match_paths.h"
#include "columns/finds/predicate.h"
#include "columns/row_walk.h"
#include "columns/search.h"

#include <stdlib.h>

/* -------------------------------------------------------------- values --- */

static inline bool
value_equals(const struct colander_value *a, const struct colander_value *b)
{
    if (a->type == COLANDER_STRING && b->type == COLANDER_STRING)
        return colander_slice_equal(a->bytes, b->bytes);
    return colander_value_compare(a, b) == 0;
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

static bool
value_is_among(const struct colander_value *value,
               const struct colander_value *values, size_t count)
{
    return count > 0 && bsearch(value, values, count, sizeof(*values),
                                predicate_compare_values) != NULL;
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

static bool
value_is_between(const struct colander_value *value,
                 const struct colander_value *ends)
{
    return value_stands(value, COLANDER_GE, &ends[0]) &&
           value_stands(value, COLANDER_LE, &ends[1]);
}

static bool
value_is_outside(const struct colander_value *value,
                 const struct colander_value *ends, size_t count)
{
    for (size_t i = 0; i < count; i += 2) {
        if (value_is_between(value, &ends[i]))
            return false;
    }
    return true;
}

static bool
value_is_up_to(const struct colander_value *value,
               enum colander_comparison comparison,
               const struct colander_value *last)
{
    const int order = colander_value_compare(value, last);

    switch (comparison) {
    case COLANDER_GT:
        return order > 0;
    case COLANDER_GE:
        return order >= 0;
    case COLANDER_LT:
        return order < 0;
    default:
        return order <= 0;
    }
}

/* Whether the search of the leaf ends well in a scalar. A failure, which is for
 * want of memory, is in *code. */
static bool
value_is_sought(const struct colander_value *value,
                const struct colander_predicate *leaf, enum colander_code *code,
                struct colander_error *err)
{
    bool is_found = false;

    if (value->type == COLANDER_STRING)
        *code = search_text(leaf->search, value->bytes, &is_found, err);
    return *code == COLANDER_OK && is_found != predicate_is_negated(leaf);
}

/* Whether a value is one that the leaf looks for at its path; MISSING hopes to
 * find none. On failure *code is set, and must be COLANDER_OK before. */
static bool
leaf_holds(const struct colander_predicate *leaf,
           const struct colander_value *value, enum colander_code *code,
           struct colander_error *err)
{
    const struct colander_value *values = leaf->values;

    if (leaf->kind == PREDICATE_EXISTS || leaf->kind == PREDICATE_MISSING)
        return true;
    if (leaf->kind == PREDICATE_UP_TO)
        return value_is_up_to(value, leaf->comparison, values);
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
    case PREDICATE_ANY_BETWEEN:
        return value_is_between(value, values);
    case PREDICATE_OUTSIDE:
        return value_is_outside(value, values, leaf->value_count);
    case PREDICATE_PREFIX:
        return value_begins(value, values);
    case PREDICATE_CONTAINS:
        return value_contains(value, values);
    case PREDICATE_SEARCH:
        return value_is_sought(value, leaf, code, err);
    default:
        return value_equals(value, values);
    }
}

/* ------------------------------------------------------------- answers --- */

/* One evaluation over one row. */
struct evaluation {
    struct colander_slice row;
    const atomic_bool *is_cancelled;  /* NULL: cannot be */
    struct colander_matches *matches; /* NULL: not asked for */
    struct colander_error *err;
    struct row_walk walk; /* one for all, being too large for every level */
    /* The result of each operand that was evaluated, a bit, by its index among
     * the nodes, each before its operands. Kept only for matches. */
    uint8_t answers[COLANDER_PREDICATE_NODES_MAX / 8 + 1];
};

static void
answer_keep(struct evaluation *evaluation, uint32_t place, bool answer)
{
    uint8_t *byte = &evaluation->answers[place / 8];
    uint8_t bit = (uint8_t)(1u << place % 8);

    *byte = (uint8_t)(answer ? *byte | bit : *byte & ~bit);
}

static bool
answer_kept(const struct evaluation *evaluation, uint32_t place)
{
    return evaluation->answers[place / 8] >> place % 8 & 1;
}

/* Asked before each pass over the row: many of them are what takes long. */
static enum colander_code
check_cancelled(const struct evaluation *evaluation)
{
    if (evaluation->is_cancelled == NULL ||
        !atomic_load_explicit(evaluation->is_cancelled, memory_order_relaxed))
        return COLANDER_OK;
    return COLANDER_FAIL(evaluation->err, COLANDER_CANCELLED,
                         "the evaluation was cancelled");
}

/* What a visit of the values at a path looks for. */
struct visit {
    const struct colander_predicate *leaf;
    struct colander_error *err;
    enum colander_code code;
    bool is_found;
    size_t offset; /* of what was found */
};

static bool
visit_value(void *context, const struct colander_value *value, size_t offset)
{
    struct visit *visit = context;

    visit->is_found = leaf_holds(visit->leaf, value, &visit->code, visit->err);
    visit->offset = offset;
    return !visit->is_found && visit->code == COLANDER_OK;
}

/* Visits the values at the path of the leaf, up to one that it looks for. */
static enum colander_code
leaf_visit(struct evaluation *evaluation, struct visit *visit)
{
    const enum colander_code code =
        path_visit(&visit->leaf->path, evaluation->row, visit_value, visit,
                   evaluation->err);

    return code == COLANDER_OK ? visit->code : code;
}

/* Continues to the next value that makes `leaf` true, at any path. */
static enum colander_code
find_next(struct evaluation *evaluation, const struct colander_predicate *leaf,
          bool *is_found)
{
    struct colander_value value;
    enum colander_code code;
    bool holds;

    do {
        code =
            row_walk_next(&evaluation->walk, &value, is_found, evaluation->err);
        if (code != COLANDER_OK || !*is_found)
            return code;
        holds = leaf_holds(leaf, &value, &code, evaluation->err);
    } while (!holds && code == COLANDER_OK);
    return code;
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
    struct visit visit = {leaf, evaluation->err, COLANDER_OK, false, 0};
    enum colander_code code = check_cancelled(evaluation);

    if (code != COLANDER_OK)
        return code;
    if (predicate_is_any(leaf)) {
        code = walk_start(evaluation);
        if (code == COLANDER_OK)
            code = find_next(evaluation, leaf, answer);
        return code;
    }
    code = leaf_visit(evaluation, &visit);
    *answer = visit.is_found != (leaf->kind == PREDICATE_MISSING);
    return code;
}

/* `place` is that of the predicate. Who wants matches gets the answers of all
 * that may have made it true, not of the first alone. */
static enum colander_code
predicate_answer(struct evaluation *evaluation,
                 const struct colander_predicate *predicate, uint32_t place,
                 bool *answer)
{
    /* The answer of an operand that settles the matter. */
    const bool settling = predicate->kind == PREDICATE_ANY_OF;
    const bool is_told = evaluation->matches != NULL;
    const struct colander_predicate *operand = predicate->first;
    enum colander_code code;
    bool is_true;

    if (predicate->kind < PREDICATE_ALL_OF)
        return leaf_answer(evaluation, predicate, answer);
    place++;
    if (predicate->kind == PREDICATE_NOT) {
        code = predicate_answer(evaluation, operand, place, answer);
        if (code == COLANDER_OK)
            *answer = !*answer;
        return code;
    }
    *answer = !settling;
    for (; operand != NULL; operand = operand->next) {
        code = predicate_answer(evaluation, operand, place, &is_true);
        if (code != COLANDER_OK)
            return code;
        if (is_told)
            answer_keep(evaluation, place, is_true);
        place += operand->node_count;
        if (is_true != settling)
            continue;
        *answer = settling;
        if (!settling || !is_told)
            return COLANDER_OK;
    }
    return COLANDER_OK;
}

/* ------------------------------------------------------------- matches --- */

static enum colander_code
path_note(struct evaluation *evaluation, const struct colander_predicate *leaf)
{
    struct visit visit = {leaf, evaluation->err, COLANDER_OK, false, 0};
    enum colander_code code = leaf_visit(evaluation, &visit);

    if (code != COLANDER_OK)
        return code;
    return match_paths_add(evaluation->matches,
                           colander_buffer_slice(&leaf->text), visit.offset,
                           evaluation->err);
}

static enum colander_code
any_note(struct evaluation *evaluation, const struct colander_predicate *leaf)
{
    struct row_trail trail;
    enum colander_code code = walk_start(evaluation);
    struct colander_slice path;
    bool is_found, is_new;

    row_trail_init(&trail);
    while (code == COLANDER_OK && !match_paths_is_cut(evaluation->matches)) {
        code = find_next(evaluation, leaf, &is_found);
        if (code != COLANDER_OK || !is_found)
            break;
        code = row_trail_follow(&trail, &evaluation->walk, &path, &is_new,
                                evaluation->err);
        if (code == COLANDER_OK && is_new)
            code = match_paths_add(evaluation->matches, path,
                                   row_walk_offset(&evaluation->walk),
                                   evaluation->err);
    }
    row_trail_release(&trail);
    return code;
}

static enum colander_code
leaf_note(struct evaluation *evaluation, const struct colander_predicate *leaf)
{
    enum colander_code code;

    if (leaf->kind == PREDICATE_MISSING || leaf->kind == PREDICATE_UP_TO ||
        match_paths_is_cut(evaluation->matches))
        return COLANDER_OK;
    code = check_cancelled(evaluation);
    if (code != COLANDER_OK)
        return code;
    return predicate_is_any(leaf) ? any_note(evaluation, leaf)
                                  : path_note(evaluation, leaf);
}

/* Notes what made `predicate` true; that it is true has been found out, and
 * the answers of its operands are kept. */
static enum colander_code
predicate_note(struct evaluation *evaluation,
               const struct colander_predicate *predicate, uint32_t place)
{
    const struct colander_predicate *operand = predicate->first;
    enum colander_code code = COLANDER_OK;

    if (predicate->kind < PREDICATE_ALL_OF)
        return leaf_note(evaluation, predicate);
    if (predicate->kind == PREDICATE_NOT)
        return COLANDER_OK;
    place++;
    for (; operand != NULL && code == COLANDER_OK; operand = operand->next) {
        if (answer_kept(evaluation, place))
            code = predicate_note(evaluation, operand, place);
        place += operand->node_count;
    }
    return code;
}

static enum colander_code
matches_fill(struct evaluation *evaluation,
             const struct colander_predicate *predicate)
{
    enum colander_code code = predicate_note(evaluation, predicate, 0);

    if (code == COLANDER_OK)
        code = match_paths_finish(evaluation->matches, evaluation->err);
    if (code != COLANDER_OK)
        match_paths_clear(evaluation->matches);
    return code;
}

enum colander_code
predicate_evaluate(const struct colander_predicate *predicate,
                   struct colander_slice row, const atomic_bool *is_cancelled,
                   bool *is_match, struct colander_matches *matches,
                   struct colander_error *err)
{
    struct evaluation evaluation;
    enum colander_code code;
    bool answer = false;

    *is_match = false;
    if (matches != NULL)
        match_paths_clear(matches);
    evaluation.row = row;
    evaluation.is_cancelled = is_cancelled;
    evaluation.matches = matches;
    evaluation.err = err;
    /* Not every predicate reads the row, but it always has to be one. */
    code = walk_start(&evaluation);
    if (code == COLANDER_OK)
        code = predicate_answer(&evaluation, predicate, 0, &answer);
    if (code == COLANDER_OK && answer && matches != NULL)
        code = matches_fill(&evaluation, predicate);
    if (code == COLANDER_OK)
        *is_match = answer;
    return code;
}

enum colander_code
colander_predicate_evaluate(const struct colander_predicate *predicate,
                            struct colander_slice row, bool *is_match,
                            struct colander_matches *matches,
                            struct colander_error *err)
{
    return predicate_evaluate(predicate, row, NULL, is_match, matches, err);
}

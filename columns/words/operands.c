/* See operands.h. SPDX-License-Identifier: MIT */
#include "columns/words/operands.h"

#include "columns/predicate_spans.h"
#include "columns/words/times.h"

#include <stdlib.h>

struct operand
operand_of(struct colander_value value)
{
    struct operand operand = {.value = value, .has_value = true};

    operand.has_times = value.type == COLANDER_STRING &&
                        times_read_plain(value.bytes, &operand.times);
    return operand;
}

static bool
is_instant(const struct colander_times *times)
{
    return colander_value_compare(&times->first, &times->last) == 0;
}

static bool
has_digits(const struct operand *operand)
{
    return operand->digits.size > 0;
}

/* Predicates of which one must be true. */
struct choices {
    struct colander_predicate **predicates;
    size_t count;
};

static void
choices_add(struct choices *choices, struct colander_predicate *predicate)
{
    choices->predicates[choices->count++] = predicate;
}

/* Takes the predicates. */
static struct colander_predicate *
choices_join(struct choices *choices, struct colander_error *err)
{
    return choices->count == 1
               ? choices->predicates[0]
               : colander_any_of(choices->predicates, choices->count, err);
}

/* ------------------------------------------------------------ equality --- */

static struct colander_predicate *
create_equal(const char *path, const struct colander_value *values,
             size_t count, struct colander_error *err)
{
    return count == 1 ? colander_where(path, COLANDER_EQ, values[0], err)
                      : colander_where_in(path, values, count, err);
}

static struct colander_predicate *
create_span(const char *path, const struct colander_times *times,
            struct colander_error *err)
{
    return path == NULL
               ? predicate_any_between(times->first, times->last, err)
               : colander_where_between(path, times->first, times->last, err);
}

/* The values of operands that are compared as they are. */
struct equals {
    struct colander_value *values;
    size_t count;
};

/* Adds a value: to the choices if it is a text whose case does not matter. */
static void
equals_add(struct equals *equals, struct choices *choices, const char *path,
           struct colander_value value, bool is_folded,
           struct colander_error *err)
{
    if (is_folded && value.type == COLANDER_STRING)
        choices_add(choices, colander_where_search(
                                 path, COLANDER_SEARCH_EQUAL, value.bytes,
                                 COLANDER_SEARCH_ICASE, NULL, err));
    else if (path == NULL)
        choices_add(choices, colander_where_any_column(value, err));
    else
        equals->values[equals->count++] = value;
}

/* The scalar is one of the operands. `values` has room for two, `choices` for
 * two, for each operand. */
static struct colander_predicate *
compare_equal(const char *path, bool is_folded, const struct operand *operands,
              size_t count, struct colander_value *values,
              struct choices *choices, struct colander_error *err)
{
    struct equals equals = {values, 0};

    for (size_t i = 0; i < count; i++) {
        const struct operand *operand = &operands[i];

        if (operand->has_value)
            equals_add(&equals, choices, path, operand->value, is_folded, err);
        if (has_digits(operand))
            equals_add(&equals, choices, path, colander_string(operand->digits),
                       is_folded, err);
        if (!operand->has_times)
            continue;
        if (is_instant(&operand->times))
            equals_add(&equals, choices, path, operand->times.first, false,
                       err);
        else
            choices_add(choices, create_span(path, &operand->times, err));
    }
    if (equals.count > 0 || (choices->count == 0 && path != NULL))
        choices_add(choices, create_equal(path, values, equals.count, err));
    return choices_join(choices, err);
}

static struct colander_predicate *
compare_different(const char *path, bool is_folded,
                  const struct operand *operand, struct colander_error *err)
{
    const struct colander_value digits = colander_string(operand->digits);
    const struct colander_value ends[4] = {
        has_digits(operand) ? digits : operand->times.first,
        has_digits(operand) ? digits : operand->times.last, operand->value,
        operand->value};

    /* letters in a time or a number do not count */
    if (!operand->has_times && !has_digits(operand) && is_folded &&
        operand->value.type == COLANDER_STRING)
        return colander_where_search(
            path, COLANDER_SEARCH_EQUAL, operand->value.bytes,
            COLANDER_SEARCH_ICASE | COLANDER_SEARCH_NOT, NULL, err);
    if (!operand->has_times && !has_digits(operand))
        return colander_where(path, COLANDER_NE, operand->value, err);
    return predicate_outside(path, ends, operand->has_value ? 2 : 1, err);
}

/* --------------------------------------------------------------- order --- */

/* What is after a span is after its last instant, and so on. */
static struct colander_predicate *
compare_order(const char *path, enum colander_comparison comparison,
              const struct operand *operand, struct choices *choices,
              struct colander_error *err)
{
    const bool is_last = comparison == COLANDER_GT || comparison == COLANDER_LE;

    if (operand->has_value)
        choices_add(choices,
                    colander_where(path, comparison, operand->value, err));
    if (operand->has_times)
        choices_add(choices, colander_where(path, comparison,
                                            is_last ? operand->times.last
                                                    : operand->times.first,
                                            err));
    return choices_join(choices, err);
}

static struct colander_predicate *
compare_between(const char *path, const struct operand *operands,
                struct choices *choices, struct colander_error *err)
{
    if (operands[0].has_value && operands[1].has_value)
        choices_add(choices, colander_where_between(path, operands[0].value,
                                                    operands[1].value, err));
    if (operands[0].has_times && operands[1].has_times)
        choices_add(choices,
                    colander_where_between(path, operands[0].times.first,
                                           operands[1].times.last, err));
    return choices_join(choices, err);
}

static struct colander_predicate *
compare_prefix(const char *path, bool is_folded, const struct operand *operand,
               struct choices *choices, struct colander_error *err)
{
    struct colander_times times;

    choices_add(choices,
                is_folded && operand->value.type == COLANDER_STRING
                    ? colander_where_search(path, COLANDER_SEARCH_BEGINS,
                                            operand->value.bytes,
                                            COLANDER_SEARCH_ICASE, NULL, err)
                    : colander_where_prefix(path, operand->value, err));
    if (operand->value.type == COLANDER_STRING &&
        times_read_prefix(operand->value.bytes, &times))
        choices_add(choices, create_span(path, &times, err));
    return choices_join(choices, err);
}

/* -------------------------------------------------------------- public --- */

struct colander_predicate *
operands_compare(const char *path, enum colander_operator how, bool is_folded,
                 const struct operand *operands, size_t count,
                 struct colander_error *err)
{
    /* one allocation for both, with room for two of each, and never none */
    const size_t room = 2 * count + 2;
    struct colander_value *values =
        calloc(room, sizeof(*values) + sizeof(struct colander_predicate *));
    struct choices choices = {NULL, 0};
    struct colander_predicate *predicate;

    if (values == NULL) {
        (void)COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for values");
        return NULL;
    }
    choices.predicates = (struct colander_predicate **)(values + room);
    switch (how) {
    case COLANDER_OPERATOR_EQ:
    case COLANDER_OPERATOR_IN:
    case COLANDER_OPERATOR_ANY:
        predicate = compare_equal(path, is_folded, operands, count, values,
                                  &choices, err);
        break;
    case COLANDER_OPERATOR_NE:
        predicate = compare_different(path, is_folded, operands, err);
        break;
    case COLANDER_OPERATOR_BETWEEN:
        predicate = compare_between(path, operands, &choices, err);
        break;
    case COLANDER_OPERATOR_PREFIX:
        predicate = compare_prefix(path, is_folded, operands, &choices, err);
        break;
    default:
        predicate = compare_order(path, (enum colander_comparison)how, operands,
                                  &choices, err);
    }
    free(values);
    return predicate;
}

static struct colander_predicate *
where_written(const char *path, enum colander_operator how, bool is_folded,
              const struct colander_value *values, size_t count,
              struct colander_error *err)
{
    const size_t wanted = how == COLANDER_OPERATOR_BETWEEN ? 2 : 1;
    struct colander_predicate *predicate = NULL;
    struct operand *operands;

    if (how < COLANDER_OPERATOR_EQ || how > COLANDER_OPERATOR_ANY ||
        (how != COLANDER_OPERATOR_IN && count != wanted) ||
        (path == NULL) != (how == COLANDER_OPERATOR_ANY)) {
        (void)COLANDER_FAIL(err, COLANDER_INVALID,
                            "predicate: operator %d on %zu values %s path",
                            (int)how, count,
                            path == NULL ? "without a" : "with a");
        return NULL;
    }
    operands = calloc(count + 1, sizeof(*operands));
    if (operands == NULL) {
        (void)COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for values");
        return NULL;
    }
    for (size_t i = 0; i < count; i++)
        operands[i] = operand_of(values[i]);
    predicate = operands_compare(path, how, is_folded, operands, count, err);
    free(operands);
    return predicate;
}

struct colander_predicate *
colander_where_written(const char *path, enum colander_operator how,
                       const struct colander_value *values, size_t count,
                       struct colander_error *err)
{
    return where_written(path, how, false, values, count, err);
}

struct colander_predicate *
colander_where_written_icase(const char *path, enum colander_operator how,
                             const struct colander_value *values, size_t count,
                             struct colander_error *err)
{
    return where_written(path, how, true, values, count, err);
}

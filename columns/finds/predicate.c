/*
 * Predicates: creation and destruction.
 *
 * Everything a predicate needs is copied and checked here. So an evaluation can
 * only fail because of a damaged row.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/finds/predicate.h"

#include "columns/predicate_spans.h"
#include "columns/search.h"
#include "columns/value.h"
#include "core/zeroed.h"

#include <stdlib.h>

void
colander_predicate_destroy(const struct colander_predicate *predicate)
{
    struct colander_predicate *owned = (struct colander_predicate *)predicate;
    struct colander_predicate *operand;

    if (owned == NULL)
        return;
    while ((operand = owned->first) != NULL) {
        owned->first = operand->next;
        colander_predicate_destroy(operand);
    }
    path_release(&owned->path);
    search_destroy(owned->search);
    colander_buffer_release(&owned->text);
    free(owned->values);
    free(owned);
}

/* -------------------------------------------------------------- values --- */

static enum colander_code
operand_check(const struct colander_value *value, struct colander_error *err)
{
    if (value->type < COLANDER_NULL || value->type > COLANDER_EXTENSION)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "a value of type %s cannot be compared",
                             colander_type_name(value->type));
    return value_check(value, err);
}

static size_t
value_size(const struct colander_value *value)
{
    return colander_type_has_bytes(value->type) ? value->bytes.size : 0;
}

/* Returns the size of the values and the bytes that follow them, or 0 if it is
 * too large. Requires that the number of values is allowed. */
static size_t
values_size(const struct colander_value *values, size_t count)
{
    size_t size = count * sizeof(*values);

    for (size_t i = 0; i < count; i++) {
        if (__builtin_add_overflow(size, value_size(&values[i]), &size))
            return 0;
    }
    return size;
}

static enum colander_code
values_copy(struct colander_predicate *predicate,
            const struct colander_value *values, size_t count,
            struct colander_error *err)
{
    size_t size = values_size(values, count);
    uint8_t *bytes;

    if (size > 0)
        predicate->values = malloc(size);
    if (predicate->values == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "cannot copy %zu values",
                             count);
    memcpy(predicate->values, values, count * sizeof(*values));
    bytes = (uint8_t *)(predicate->values + count);
    for (size_t i = 0; i < count; i++) {
        size = value_size(&values[i]);
        if (size > 0)
            memcpy(bytes, values[i].bytes.data, size);
        if (colander_type_has_bytes(values[i].type))
            predicate->values[i].bytes = colander_slice_of(bytes, size);
        bytes += size;
    }
    predicate->value_count = count;
    predicate->values_total = (uint32_t)count;
    return COLANDER_OK;
}

int
predicate_compare_values(const void *left, const void *right)
{
    return colander_value_compare(left, right);
}

static void
values_sort(struct colander_predicate *predicate)
{
    struct colander_value *values = predicate->values;
    size_t kept = 1;

    if (predicate->value_count < 2)
        return;
    qsort(values, predicate->value_count, sizeof(*values),
          predicate_compare_values);
    for (size_t i = 1; i < predicate->value_count; i++) {
        if (colander_value_compare(&values[i], &values[kept - 1]) != 0)
            values[kept++] = values[i];
    }
    predicate->value_count = kept;
    predicate->values_total = (uint32_t)kept;
}

/* -------------------------------------------------------------- leaves --- */

static struct colander_predicate *
node_create(enum predicate_kind kind, struct colander_error *err)
{
    struct colander_predicate *predicate = zeroed(sizeof(*predicate));

    if (predicate == NULL) {
        (void)COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                            "cannot allocate a predicate");
        return NULL;
    }
    predicate->kind = kind;
    predicate->depth = 1;
    predicate->node_count = 1;
    return predicate;
}

static enum colander_code
values_check_count(size_t count, struct colander_error *err)
{
    if (count <= COLANDER_PREDICATE_VALUES_MAX)
        return COLANDER_OK;
    return COLANDER_FAIL(err, COLANDER_LIMIT,
                         "%zu values in one predicate, over the limit of %d",
                         count, COLANDER_PREDICATE_VALUES_MAX);
}

/* Checks what the kind requires of values that are each valid. */
static enum colander_code
leaf_check(const struct colander_predicate *leaf,
           const struct colander_value *values, struct colander_error *err)
{
    switch (leaf->kind) {
    case PREDICATE_COMPARE:
        if (leaf->comparison < COLANDER_EQ || leaf->comparison > COLANDER_GE)
            return COLANDER_FAIL(err, COLANDER_INVALID, "unknown comparison %d",
                                 (int)leaf->comparison);
        if (values[0].type == COLANDER_NULL && leaf->comparison > COLANDER_NE)
            return COLANDER_FAIL(err, COLANDER_INVALID, "null has no order");
        return COLANDER_OK;
    case PREDICATE_BETWEEN:
    case PREDICATE_ANY_BETWEEN:
        if (values[0].type == COLANDER_NULL ||
            !predicate_types_compare(values[0].type, values[1].type))
            return COLANDER_FAIL(err, COLANDER_INVALID,
                                 "%s and %s have no order",
                                 colander_type_name(values[0].type),
                                 colander_type_name(values[1].type));
        return COLANDER_OK;
    case PREDICATE_PREFIX:
    case PREDICATE_CONTAINS:
        if (values[0].type != COLANDER_STRING &&
            values[0].type != COLANDER_BINARY)
            return COLANDER_FAIL(err, COLANDER_INVALID,
                                 "%s is neither string nor binary",
                                 colander_type_name(values[0].type));
        return COLANDER_OK;
    default:
        return COLANDER_OK;
    }
}

static enum colander_code
leaf_set_path(struct colander_predicate *leaf, const char *path,
              struct colander_error *err)
{
    enum colander_code code;

    if (path == NULL && predicate_is_any(leaf))
        return COLANDER_OK;
    if (path == NULL)
        return COLANDER_FAIL(err, COLANDER_INVALID, "no path");
    code = colander_path_parse(path, &leaf->path, err);
    if (code != COLANDER_OK)
        return code;
    code = path_append(&leaf->text, &leaf->path, err);
    if (code == COLANDER_OK)
        code = colander_buffer_append(&leaf->text, "", 1, err);
    if (code == COLANDER_OK)
        leaf->text.size--; /* a C string */
    return code;
}

static enum colander_code
leaf_set_values(struct colander_predicate *leaf,
                const struct colander_value *values, size_t count,
                struct colander_error *err)
{
    enum colander_code code = values_check_count(count, err);

    if (leaf->kind == PREDICATE_UP_TO)
        return code == COLANDER_OK ? values_copy(leaf, values, count, err)
                                   : code;
    for (size_t i = 0; i < count && code == COLANDER_OK; i++)
        code = operand_check(&values[i], err);
    if (code != COLANDER_OK || count == 0)
        return code;
    code = leaf_check(leaf, values, err);
    if (code != COLANDER_OK)
        return code;
    return values_copy(leaf, values, count, err);
}

/* `comparison` is of COMPARE, `path` of all that have one. */
static struct colander_predicate *
leaf_create(enum predicate_kind kind, enum colander_comparison comparison,
            const char *path, const struct colander_value *values, size_t count,
            struct colander_error *err)
{
    struct colander_predicate *leaf = node_create(kind, err);

    if (leaf == NULL)
        return NULL;
    leaf->comparison = comparison;
    if (leaf_set_path(leaf, path, err) != COLANDER_OK) {
        colander_error_context(err, "predicate");
    } else if (leaf_set_values(leaf, values, count, err) != COLANDER_OK) {
        if (predicate_is_any(leaf))
            colander_error_context(err, "predicate on any column");
        else
            colander_error_context(err, "predicate on '%s'", path);
    } else {
        return leaf;
    }
    colander_predicate_destroy(leaf);
    return NULL; /* NOLINT(clang-analyzer-unix.Malloc): the leaf is gone */
}

struct colander_predicate *
colander_where(const char *path, enum colander_comparison comparison,
               struct colander_value value, struct colander_error *err)
{
    return leaf_create(PREDICATE_COMPARE, comparison, path, &value, 1, err);
}

struct colander_predicate *
colander_where_in(const char *path, const struct colander_value *values,
                  size_t count, struct colander_error *err)
{
    struct colander_predicate *predicate =
        leaf_create(PREDICATE_IN, COLANDER_EQ, path, values, count, err);

    if (predicate != NULL)
        values_sort(predicate);
    return predicate;
}

struct colander_predicate *
colander_where_between(const char *path, struct colander_value low,
                       struct colander_value high, struct colander_error *err)
{
    const struct colander_value values[] = {low, high};

    return leaf_create(PREDICATE_BETWEEN, COLANDER_EQ, path, values, 2, err);
}

struct colander_predicate *
colander_where_prefix(const char *path, struct colander_value prefix,
                      struct colander_error *err)
{
    return leaf_create(PREDICATE_PREFIX, COLANDER_EQ, path, &prefix, 1, err);
}

struct colander_predicate *
colander_where_contains(const char *path, struct colander_value part,
                        struct colander_error *err)
{
    return leaf_create(PREDICATE_CONTAINS, COLANDER_EQ, path, &part, 1, err);
}

struct colander_predicate *
colander_where_exists(const char *path, struct colander_error *err)
{
    return leaf_create(PREDICATE_EXISTS, COLANDER_EQ, path, NULL, 0, err);
}

struct colander_predicate *
colander_where_missing(const char *path, struct colander_error *err)
{
    return leaf_create(PREDICATE_MISSING, COLANDER_EQ, path, NULL, 0, err);
}

struct colander_predicate *
colander_where_any_column(struct colander_value value,
                          struct colander_error *err)
{
    return leaf_create(PREDICATE_ANY, COLANDER_EQ, NULL, &value, 1, err);
}

struct colander_predicate *
predicate_up_to(const char *path, enum colander_comparison comparison,
                struct colander_value value, struct colander_error *err)
{
    return leaf_create(PREDICATE_UP_TO, comparison, path, &value, 1, err);
}

struct colander_predicate *
predicate_outside(const char *path, const struct colander_value *ends,
                  size_t span_count, struct colander_error *err)
{
    return leaf_create(PREDICATE_OUTSIDE, COLANDER_EQ, path, ends,
                       2 * span_count, err);
}

struct colander_predicate *
predicate_any_between(struct colander_value low, struct colander_value high,
                      struct colander_error *err)
{
    const struct colander_value values[] = {low, high};

    return leaf_create(PREDICATE_ANY_BETWEEN, COLANDER_EQ, NULL, values, 2,
                       err);
}

/* ------------------------------------------------------------ searches --- */

/* Fills in the search of a leaf. */
static enum colander_code
leaf_set_search(struct colander_predicate *leaf, enum colander_search how,
                struct colander_slice text, unsigned flags, size_t *offset,
                struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    if ((flags & ~(COLANDER_SEARCH_ICASE | COLANDER_SEARCH_NOT)) != 0)
        code = COLANDER_FAIL(err, COLANDER_INVALID, "unknown flags %u", flags);
    leaf->how = how;
    leaf->flags = flags;
    if (code == COLANDER_OK && predicate_is_negated(leaf) &&
        predicate_is_any(leaf))
        code = COLANDER_FAIL(err, COLANDER_INVALID,
                             "COLANDER_SEARCH_NOT requires a path");
    if (code == COLANDER_OK)
        code = search_create(how, text, (flags & COLANDER_SEARCH_ICASE) != 0,
                             &leaf->search, offset, err);
    leaf->patterns_total = how == COLANDER_SEARCH_PATTERN;
    return code;
}

/* Returns the predicate without folding that filters know. */
static struct colander_predicate *
where_plain(const char *path, enum colander_search how,
            struct colander_value value, struct colander_error *err)
{
    if (path == NULL)
        return colander_where_any_column(value, err);
    return how == COLANDER_SEARCH_EQUAL
               ? colander_where(path, COLANDER_EQ, value, err)
               : colander_where_prefix(path, value, err);
}

struct colander_predicate *
colander_where_search(const char *path, enum colander_search how,
                      struct colander_slice text, unsigned flags,
                      size_t *offset, struct colander_error *err)
{
    const struct colander_value value = colander_string(text);
    struct colander_predicate *leaf;
    size_t unwanted;

    if (offset == NULL)
        offset = &unwanted;
    *offset = 0;
    if (flags == 0 && (how == COLANDER_SEARCH_EQUAL ||
                       (how == COLANDER_SEARCH_BEGINS && path != NULL)))
        return where_plain(path, how, value, err);
    leaf = leaf_create(PREDICATE_SEARCH, COLANDER_EQ, path, &value, 1, err);
    if (leaf == NULL ||
        leaf_set_search(leaf, how, text, flags, offset, err) == COLANDER_OK)
        return leaf;
    if (path == NULL)
        colander_error_context(err, "predicate on any column");
    else
        colander_error_context(err, "predicate on '%s'", path);
    colander_predicate_destroy(leaf);
    return NULL;
}

/* ---------------------------------------------------------- operations --- */

/* Operands that were taken, and what is wrong with them. */
struct operands {
    struct colander_predicate *first;
    bool has_null;
    bool has_taken; /* is twice in the list, or already part of another */
};

/* Adds each operand to the list once, so that it is destroyed once. */
static struct operands
operands_take(struct colander_predicate *const *predicates, size_t count)
{
    struct operands operands = {NULL, false, false};
    struct colander_predicate **end = &operands.first;

    for (size_t i = 0; i < count; i++) {
        struct colander_predicate *operand = predicates[i];

        if (operand == NULL) {
            operands.has_null = true;
        } else if (operand->is_taken) {
            operands.has_taken = true;
        } else {
            operand->is_taken = true;
            *end = operand;
            end = &operand->next;
        }
    }
    return operands;
}

static enum colander_code
operands_measure(struct colander_predicate *parent, struct colander_error *err)
{
    const struct colander_predicate *operand = parent->first;
    size_t values_total = 0;
    size_t patterns_total = 0;
    size_t count = 1;
    uint32_t depth = 0;
    enum colander_code code;

    for (; operand != NULL; operand = operand->next) {
        count += operand->node_count;
        values_total += operand->values_total;
        patterns_total += operand->patterns_total;
        if (operand->depth > depth)
            depth = operand->depth;
    }
    if (count > COLANDER_PREDICATE_NODES_MAX)
        return COLANDER_FAIL(err, COLANDER_LIMIT,
                             "%zu predicates in one, over the limit of %d",
                             count, COLANDER_PREDICATE_NODES_MAX);
    if (depth >= COLANDER_PREDICATE_DEPTH_MAX)
        return COLANDER_FAIL(err, COLANDER_LIMIT,
                             "predicates nested deeper than %d levels",
                             COLANDER_PREDICATE_DEPTH_MAX);
    if (patterns_total > COLANDER_PATTERNS_MAX)
        return COLANDER_FAIL(err, COLANDER_LIMIT,
                             "%zu patterns in one predicate, over the limit "
                             "of %d",
                             patterns_total, COLANDER_PATTERNS_MAX);
    code = values_check_count(values_total, err);
    if (code != COLANDER_OK)
        return code;
    parent->patterns_total = (uint32_t)patterns_total;
    parent->depth = depth + 1;
    parent->node_count = (uint32_t)count;
    parent->values_total = (uint32_t)values_total;
    return COLANDER_OK;
}

/* Destroys the operands if they cannot be used. */
static struct colander_predicate *
operation_create(enum predicate_kind kind,
                 struct colander_predicate *const *predicates, size_t count,
                 struct colander_error *err)
{
    struct operands operands = operands_take(predicates, count);
    struct colander_predicate *parent = NULL;
    struct colander_predicate *operand;

    if (operands.has_null)
        goto failed;
    if (operands.has_taken) {
        (void)COLANDER_FAIL(err, COLANDER_INVALID,
                            "a predicate was given twice, or is already part "
                            "of another");
        goto failed;
    }
    parent = node_create(kind, err);
    if (parent == NULL)
        goto failed;
    parent->first = operands.first;
    operands.first = NULL; /* the parent's now */
    if (operands_measure(parent, err) == COLANDER_OK)
        return parent;
failed:
    colander_predicate_destroy(parent);
    /* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): the parent is gone */
    while ((operand = operands.first) != NULL) {
        operands.first = operand->next;
        colander_predicate_destroy(operand);
    }
    return NULL;
}

struct colander_predicate *
colander_all_of(struct colander_predicate *const *predicates, size_t count,
                struct colander_error *err)
{
    return operation_create(PREDICATE_ALL_OF, predicates, count, err);
}

struct colander_predicate *
colander_any_of(struct colander_predicate *const *predicates, size_t count,
                struct colander_error *err)
{
    return operation_create(PREDICATE_ANY_OF, predicates, count, err);
}

struct colander_predicate *
colander_not(struct colander_predicate *predicate, struct colander_error *err)
{
    return operation_create(PREDICATE_NOT, &predicate, 1, err);
}

/* ---------------------------------------------------------- conditions --- */

bool
colander_predicate_asks_any_column(const struct colander_predicate *predicate)
{
    const struct colander_predicate *operand = predicate->first;

    if (predicate->kind == PREDICATE_NOT)
        return false;
    for (; operand != NULL; operand = operand->next) {
        if (colander_predicate_asks_any_column(operand))
            return true;
    }
    return predicate_is_any(predicate);
}

/* Returns the condition `*index` at or below the node, or NULL after counting
 * down those that there are. *condition gets what is between. Recursive: the
 * depth is limited. */
static const struct colander_predicate *
find_condition(const struct colander_predicate *node, size_t *index,
               struct colander_condition *condition)
{
    const struct colander_predicate *operand = node->first;
    const struct colander_predicate *found = NULL;

    if (predicate_is_any(node))
        return NULL;
    if (node->path.count > 0)
        found = (*index)-- == 0 ? node : NULL;
    for (; operand != NULL && found == NULL; operand = operand->next)
        found = find_condition(operand, index, condition);
    if (found == NULL)
        return NULL;
    condition->is_alternative |= node->kind == PREDICATE_ANY_OF;
    condition->is_negated |=
        node->kind == PREDICATE_NOT || node->kind == PREDICATE_MISSING;
    return found;
}

/* Returns the part `*index` of the node, or NULL after counting down those that
 * there are. Recursive: the depth is limited. */
static const struct colander_predicate *
find_part(const struct colander_predicate *node, size_t *index)
{
    const struct colander_predicate *operand = node->first;
    const struct colander_predicate *found = NULL;

    if (node->kind != PREDICATE_ALL_OF)
        return (*index)-- == 0 ? node : NULL;
    for (; operand != NULL && found == NULL; operand = operand->next)
        found = find_part(operand, index);
    return found;
}

const struct colander_predicate *
colander_predicate_part(const struct colander_predicate *predicate,
                        size_t index)
{
    return find_part(predicate, &index);
}

bool
colander_predicate_condition(const struct colander_predicate *predicate,
                             size_t index, struct colander_condition *condition)
{
    const struct colander_predicate *leaf;

    condition->is_alternative = condition->is_negated = false;
    leaf = find_condition(predicate, &index, condition);
    if (leaf == NULL)
        return false;
    condition->path = (const char *)leaf->text.data;
    condition->values = leaf->values;
    condition->value_count = leaf->value_count;
    condition->is_words =
        leaf->kind == PREDICATE_SEARCH && search_is_of_words(leaf->search);
    return true;
}

/*
 * Filter queries: the part of a predicate that filters can answer.
 *
 * A filter query is a weaker predicate: it is true of every row of which the
 * predicate is true. So a condition that it cannot express is omitted from an
 * ALL_OF, and means "any row" anywhere else. Simple cases are reduced: operands
 * of an operand of the same kind become operands, a single operand replaces its
 * parent, and a condition that no row can match is an ANY_OF without operands,
 * which replaces an ALL_OF.
 *
 * All of it is one allocation, with the filter query itself first. Recursion is
 * as deep as the predicate, which limits.h bounds.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/candidates.h"
#include "columns/finds/predicate.h"
#include "columns/search.h"

#include <math.h>
#include <stdlib.h>

/* Operands of an ALL_OF that a range is compared with: those added last. */
#define MERGE_REACH 8

/* The types that have an order: an array or map is the last of them. */
#define ORDERED_TYPES (COLANDER_ARRAY + 1)

/* The rest of the allocation. All its pieces have one alignment. */
struct arena {
    uint8_t *at;
    size_t hash_count; /* of the queries so far */
};

static void *
take(struct arena *arena, size_t size)
{
    void *memory = arena->at;

    arena->at += size;
    return memory;
}

/* Returns what texts must have of which the predicate is true. */
static const struct search_term *
terms_of(const struct colander_predicate *predicate, size_t *count)
{
    *count = 0;
    return predicate->kind == PREDICATE_SEARCH &&
                   !predicate_is_negated(predicate)
               ? search_terms(predicate->search, count)
               : NULL;
}

static size_t
count_terms(const struct colander_predicate *predicate)
{
    size_t count;

    (void)terms_of(predicate, &count);
    return count;
}

/* Room for what make takes for the predicate and what is below it. */
static size_t
size_of(const struct colander_predicate *predicate)
{
    size_t size = sizeof(struct filter_query) + sizeof(struct filter_query *) +
                  predicate->path.count * sizeof(uint64_t) +
                  predicate->value_count * sizeof(uint64_t) +
                  2 * sizeof(struct colander_value);
    const struct colander_predicate *operand = predicate->first;

    if (predicate->kind == PREDICATE_NOT)
        return size;
    if (predicate->kind == PREDICATE_UP_TO)
        size += ORDERED_TYPES *
                (sizeof(struct filter_query) + sizeof(struct filter_query *) +
                 2 * sizeof(struct colander_value));
    if (predicate->kind == PREDICATE_SEARCH)
        size += count_terms(predicate) *
                (2 * sizeof(struct filter_query) +
                 3 * sizeof(struct filter_query *) + 2 * sizeof(uint64_t));
    for (; operand != NULL; operand = operand->next)
        size += size_of(operand);
    return size;
}

/* ------------------------------------------------------------- leaves --- */

static void
set_nothing(struct filter_query *query)
{
    memset(query, 0, sizeof(*query));
    query->kind = FILTER_QUERY_ANY_OF;
}

static bool
is_nothing(const struct filter_query *query)
{
    return query->kind == FILTER_QUERY_ANY_OF && query->operand_count == 0;
}

static void
set_path(struct filter_query *query, const struct colander_predicate *leaf,
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
    query->path_hashes = hashes;
    query->path_length = leaf->path.count;
    query->path = colander_buffer_slice(&leaf->text);
}

/* A value that is not a bound has the type. */
static void
set_range(struct filter_query *query, const struct colander_value *low,
          bool has_low, const struct colander_value *high, bool has_high,
          struct arena *arena)
{
    struct colander_value *values = take(arena, 2 * sizeof(*values));

    query->kind = FILTER_QUERY_RANGE;
    query->has_low = has_low;
    query->has_high = has_high;
    values[0] = *low;
    values[1] = *high;
    query->values = values;
    query->value_count = 2;
    if (colander_value_compare(&values[0], &values[1]) > 0)
        set_nothing(query);
}

static void
set_equal(struct filter_query *query, const struct colander_predicate *leaf,
          struct arena *arena)
{
    uint64_t *hashes = take(arena, leaf->value_count * sizeof(*hashes));

    query->kind = FILTER_QUERY_EQUAL;
    query->values = leaf->values;
    query->value_count = leaf->value_count;
    query->hashes = hashes;
    query->hash_count = leaf->value_count;
    query->first_hash = arena->hash_count;
    arena->hash_count += leaf->value_count;
    for (size_t i = 0; i < leaf->value_count; i++)
        hashes[i] = colander_value_hash(&leaf->values[i]);
    if (leaf->value_count == 0)
        set_nothing(query);
}

static void
set_compared(struct filter_query *query, const struct colander_predicate *leaf,
             struct arena *arena)
{
    switch (leaf->comparison) {
    case COLANDER_EQ:
        set_equal(query, leaf, arena);
        return;
    case COLANDER_NE:
        query->kind = FILTER_QUERY_OPEN;
        return;
    case COLANDER_LT:
    case COLANDER_LE:
        set_range(query, leaf->values, false, leaf->values, true, arena);
        query->excludes_high = leaf->comparison == COLANDER_LT;
        return;
    case COLANDER_GT:
    case COLANDER_GE:
        set_range(query, leaf->values, true, leaf->values, false, arena);
        query->excludes_low = leaf->comparison == COLANDER_GT;
        return;
    }
}

static void
set_leaf(struct filter_query *query, const struct colander_predicate *leaf,
         struct arena *arena)
{
    set_path(query, leaf, arena);
    switch (leaf->kind) {
    case PREDICATE_COMPARE:
        set_compared(query, leaf, arena);
        return;
    case PREDICATE_IN:
    case PREDICATE_ANY:
        set_equal(query, leaf, arena);
        return;
    case PREDICATE_BETWEEN:
    case PREDICATE_ANY_BETWEEN:
        set_range(query, &leaf->values[0], true, &leaf->values[1], true, arena);
        return;
    case PREDICATE_PREFIX:
        query->kind = FILTER_QUERY_PREFIX;
        query->values = leaf->values;
        query->value_count = 1;
        return;
    case PREDICATE_EXISTS:
        query->kind = FILTER_QUERY_EXISTS;
        query->hashes = &query->path_hashes[query->path_length - 1];
        query->hash_count = 1;
        query->first_hash = arena->hash_count++;
        return;
    default:
        query->kind = FILTER_QUERY_OPEN;
    }
}

/* Appends a term as it is asked for: a * is where a word may go on. */
static enum colander_code
append_term(struct colander_buffer *words, const struct search_term *term,
            struct colander_error *err)
{
    const char *before = words->size == 0 ? "" : term->is_other ? "|" : ", ";
    enum colander_code code =
        colander_buffer_append(words, before, strlen(before), err);

    if (code == COLANDER_OK && !term->begins)
        code = colander_buffer_append(words, "*", 1, err);
    if (code == COLANDER_OK)
        code = colander_buffer_append(words, term->piece.data, term->piece.size,
                                      err);
    if (code == COLANDER_OK && !term->ends)
        code = colander_buffer_append(words, "*", 1, err);
    return code;
}

enum colander_code
colander_predicate_words(const struct colander_predicate *predicate,
                         struct colander_buffer *words,
                         struct colander_error *err)
{
    const struct colander_predicate *operand = predicate->first;
    enum colander_code code = COLANDER_OK;
    const struct search_term *terms;
    size_t count;

    if (predicate->kind == PREDICATE_NOT || predicate->kind == PREDICATE_ANY_OF)
        return COLANDER_OK;
    terms = terms_of(predicate, &count);
    for (size_t i = 0; i < count && code == COLANDER_OK; i++)
        code = append_term(words, &terms[i], err);
    for (; operand != NULL && code == COLANDER_OK; operand = operand->next)
        code = colander_predicate_words(operand, words, err);
    return code;
}

static bool
is_range(const struct colander_predicate *leaf)
{
    switch (leaf->kind) {
    case PREDICATE_COMPARE:
        return leaf->comparison != COLANDER_EQ &&
               leaf->comparison != COLANDER_NE;
    case PREDICATE_BETWEEN:
    case PREDICATE_PREFIX:
    case PREDICATE_UP_TO:
    case PREDICATE_OUTSIDE:
        return true;
    default:
        return false;
    }
}

enum colander_code
colander_predicate_range_paths(const struct colander_predicate *predicate,
                               struct colander_buffer *paths,
                               struct colander_error *err)
{
    const struct colander_predicate *operand = predicate->first;
    enum colander_code code = COLANDER_OK;

    if (is_range(predicate))
        code = colander_buffer_append(paths, predicate->text.data,
                                      predicate->text.size + 1, err);
    for (; operand != NULL && code == COLANDER_OK; operand = operand->next)
        code = colander_predicate_range_paths(operand, paths, err);
    return code;
}

/* ------------------------------------------------------------ operands --- */

/* An ALL_OF or ANY_OF under way. */
struct operation {
    enum predicate_kind kind;
    struct filter_query **operands;
    size_t count;
    bool is_settled; /* an ANY_OF by OPEN, an ALL_OF by what no row matches */
};

static size_t
count_operands(const struct colander_predicate *predicate)
{
    const struct colander_predicate *operand = predicate->first;
    size_t count = 0;

    for (; operand != NULL; operand = operand->next)
        count += operand->kind == predicate->kind ? count_operands(operand)
                                                  : 1 + count_terms(operand);
    return count;
}

/* Whether a row can have several values at the path; with no path, any column.
 * In the text of a path only elements have bare brackets: those in a name
 * follow a backslash. */
static bool
may_be_many(const struct filter_query *query)
{
    return query->path_length == 0 ||
           memmem(query->path.data, query->path.size, "[]", 2) != NULL;
}

/* Narrows `range` to what is in `other` as well. */
static void
intersect(struct filter_query *range, const struct filter_query *other)
{
    /* set_range allocated them for this query. */
    struct colander_value *values = (struct colander_value *)range->values;
    bool is_low = other->has_low &&
                  (!range->has_low ||
                   colander_value_compare(&other->values[0], &values[0]) > 0);
    bool is_high = other->has_high &&
                   (!range->has_high ||
                    colander_value_compare(&other->values[1], &values[1]) < 0);

    if (is_low) {
        values[0] = other->values[0];
        range->excludes_low = other->excludes_low;
    }
    if (is_high) {
        values[1] = other->values[1];
        range->excludes_high = other->excludes_high;
    }
    range->has_low |= is_low;
    range->has_high |= is_high;
    if (!range->has_low)
        values[0] = values[1];
    if (!range->has_high)
        values[1] = values[0];
    if (colander_value_compare(&values[0], &values[1]) > 0)
        set_nothing(range);
}

/* If there is only one value at the path, two ranges can be intersected. In an
 * array one element may be in one range and another in the other. */
static bool
merge_range(struct operation *operation, const struct filter_query *range)
{
    size_t reach =
        operation->count < MERGE_REACH ? operation->count : MERGE_REACH;

    if (range->kind != FILTER_QUERY_RANGE || may_be_many(range))
        return false;
    for (size_t i = 1; i <= reach; i++) {
        struct filter_query *other = operation->operands[operation->count - i];

        if (other->kind != FILTER_QUERY_RANGE ||
            !colander_slice_equal(other->path, range->path))
            continue;
        if (predicate_types_compare(other->values[0].type,
                                    range->values[0].type))
            intersect(other, range);
        else
            set_nothing(other);
        operation->is_settled |= is_nothing(other);
        return true;
    }
    return false;
}

static void
add_operand(struct operation *operation, struct filter_query *query)
{
    bool is_all = operation->kind == PREDICATE_ALL_OF;

    if (query->kind == FILTER_QUERY_OPEN)
        operation->is_settled |= !is_all;
    else if (is_nothing(query))
        operation->is_settled |= is_all;
    else if (!is_all || !merge_range(operation, query))
        operation->operands[operation->count++] = query;
}

/* Adds the operands of a search. */
static void
add_terms(struct operation *operation, const struct filter_query *search)
{
    memcpy(&operation->operands[operation->count], search->operands,
           search->operand_count * sizeof(*search->operands));
    operation->count += search->operand_count;
}

static struct filter_query *make(const struct colander_predicate *predicate,
                                 struct arena *arena);

static void
add_operands(struct operation *operation,
             const struct colander_predicate *predicate, struct arena *arena)
{
    const struct colander_predicate *operand = predicate->first;

    for (; operand != NULL && !operation->is_settled; operand = operand->next) {
        struct filter_query *query;

        if (operand->kind == operation->kind) {
            add_operands(operation, operand, arena);
            continue;
        }
        query = make(operand, arena);
        if (operand->kind == PREDICATE_SEARCH &&
            query->kind == (operation->kind == PREDICATE_ALL_OF
                                ? FILTER_QUERY_ALL_OF
                                : FILTER_QUERY_ANY_OF))
            add_terms(operation, query);
        else
            add_operand(operation, query);
    }
}

static struct filter_query *
make_operation(const struct colander_predicate *predicate, struct arena *arena)
{
    const bool is_all = predicate->kind == PREDICATE_ALL_OF;
    struct filter_query *query = take(arena, sizeof(*query));
    struct operation operation = {predicate->kind, NULL, 0, false};

    operation.operands =
        take(arena, count_operands(predicate) * sizeof(struct filter_query *));
    add_operands(&operation, predicate, arena);
    if (operation.count == 1 && !operation.is_settled)
        return operation.operands[0];
    memset(query, 0, sizeof(*query));
    if (operation.is_settled && is_all) {
        set_nothing(query);
    } else if (operation.is_settled || (is_all && operation.count == 0)) {
        query->kind = FILTER_QUERY_OPEN;
    } else {
        query->kind = is_all ? FILTER_QUERY_ALL_OF : FILTER_QUERY_ANY_OF;
        query->operands =
            (const struct filter_query *const *)operation.operands;
        query->operand_count = operation.count;
    }
    return query;
}

/* Returns the least value of a type. */
static struct colander_value
least_of(enum colander_type type)
{
    struct colander_value value = {.type = type};

    if (type == COLANDER_INTEGER)
        return colander_double(-INFINITY);
    if (type == COLANDER_TIMESTAMP)
        return colander_timestamp(INT64_MIN, 0);
    value.extension_type = INT8_MIN;
    return value;
}

static void
set_null(struct filter_query *query, struct arena *arena)
{
    static const struct colander_value null = {.type = COLANDER_NULL};
    uint64_t *hash = take(arena, sizeof(*hash));

    *hash = colander_value_hash(&null);
    query->kind = FILTER_QUERY_EQUAL;
    query->values = &null;
    query->hashes = hash;
    query->value_count = query->hash_count = 1;
    query->first_hash = arena->hash_count++;
}

/* Makes an ANY_OF of the ranges of all types that are up to the value. */
static struct filter_query *
make_up_to(const struct colander_predicate *leaf, struct arena *arena)
{
    const bool is_from =
        leaf->comparison == COLANDER_GE || leaf->comparison == COLANDER_GT;
    const struct colander_value *last = &leaf->values[0];
    struct filter_query *query = take(arena, sizeof(*query));
    struct filter_query **operands =
        take(arena, ORDERED_TYPES * sizeof(*operands));
    struct filter_query with_path = {.kind = FILTER_QUERY_OPEN};

    memset(query, 0, sizeof(*query));
    set_path(&with_path, leaf, arena);
    for (unsigned i = 0; i < ORDERED_TYPES; i++) {
        const enum colander_type type = (enum colander_type)i;
        const struct colander_value least = least_of(type);
        const bool is_same = predicate_types_compare(type, last->type);
        struct filter_query *one;

        if (type == COLANDER_UNSIGNED || type == COLANDER_DOUBLE)
            continue; /* INTEGER stands for all numbers */
        if (!is_same && (type > last->type) != is_from)
            continue;
        one = take(arena, sizeof(*one));
        *one = with_path;
        if (type == COLANDER_NULL) {
            set_null(one, arena);
        } else if (is_same) {
            set_range(one, last, is_from, last, !is_from, arena);
            one->excludes_low = leaf->comparison == COLANDER_GT;
            one->excludes_high = leaf->comparison == COLANDER_LT;
        } else {
            set_range(one, &least, true, &least, false, arena);
        }
        operands[query->operand_count++] = one;
    }
    query->kind = FILTER_QUERY_ANY_OF;
    query->operands = (const struct filter_query *const *)operands;
    return query;
}

static void
set_term(struct filter_query *query, const struct search_term *term,
         struct arena *arena)
{
    const struct colander_value value = colander_string(term->piece);
    uint64_t *hashes;

    if (!term->begins || !term->ends) {
        query->kind = FILTER_QUERY_PIECE;
        query->piece =
            colander_slice_of(term->piece.data - term->begins,
                              term->begins + term->piece.size + term->ends);
        return;
    }
    hashes = take(arena, 2 * sizeof(*hashes));
    hashes[0] = text_word_hash(term->piece);
    hashes[1] = colander_value_hash(&value);
    query->kind = FILTER_QUERY_WORD;
    query->hashes = hashes;
    query->hash_count = 2;
    query->first_hash = arena->hash_count;
    arena->hash_count += 2;
}

/* Makes a query of a term and its alternatives, `count` in all. */
static struct filter_query *
make_clause(const struct search_term *terms, size_t count,
            const struct filter_query *with_path, struct arena *arena)
{
    struct filter_query **operands = take(arena, count * sizeof(*operands));
    struct filter_query *query = take(arena, sizeof(*query));

    for (size_t i = 0; i < count; i++) {
        operands[i] = take(arena, sizeof(*operands[i]));
        *operands[i] = *with_path;
        set_term(operands[i], &terms[i], arena);
    }
    if (count == 1)
        return operands[0];
    *query = *with_path;
    query->kind = FILTER_QUERY_ANY_OF;
    query->operands = (const struct filter_query *const *)operands;
    query->operand_count = count;
    return query;
}

/* Returns the number of terms from the first on that are alternatives. */
static size_t
clause_size(const struct search_term *terms, size_t count)
{
    size_t size = 1;

    while (size < count && terms[size].is_other)
        size++;
    return size;
}

/* Makes an ALL_OF of what a text must have. */
static struct filter_query *
make_search(const struct colander_predicate *leaf, struct arena *arena)
{
    struct filter_query *query = take(arena, sizeof(*query));
    struct filter_query with_path = {.kind = FILTER_QUERY_OPEN};
    struct filter_query **operands;
    const struct search_term *terms;
    size_t term_count;
    size_t count = 0;

    terms = terms_of(leaf, &term_count);
    operands = take(arena, term_count * sizeof(*operands));
    set_path(&with_path, leaf, arena);
    for (size_t i = 0; i < term_count; count++) {
        const size_t size = clause_size(&terms[i], term_count - i);

        operands[count] = make_clause(&terms[i], size, &with_path, arena);
        i += size;
    }
    if (count == 1)
        return operands[0];
    *query = with_path;
    if (count == 0)
        return query;
    query->kind = FILTER_QUERY_ALL_OF;
    query->operands = (const struct filter_query *const *)operands;
    query->operand_count = count;
    return query;
}

static struct filter_query *
make(const struct colander_predicate *predicate, struct arena *arena)
{
    struct filter_query *query;

    if (predicate->kind == PREDICATE_UP_TO)
        return make_up_to(predicate, arena);
    if (predicate->kind == PREDICATE_SEARCH)
        return make_search(predicate, arena);
    if (predicate->kind == PREDICATE_ALL_OF ||
        predicate->kind == PREDICATE_ANY_OF)
        return make_operation(predicate, arena);
    query = take(arena, sizeof(*query));
    memset(query, 0, sizeof(*query));
    set_leaf(query, predicate, arena);
    return query;
}

/* ------------------------------------------------------------ life --- */

enum colander_code
filter_query_create(const struct colander_predicate *predicate,
                    struct filter_query **query, struct colander_error *err)
{
    struct filter_query *root = malloc(sizeof(*root) + size_of(predicate));
    struct arena arena = {NULL, 0};

    *query = NULL;
    if (root == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "cannot plan a filter query of %u predicates",
                             predicate->node_count);
    arena.at = (uint8_t *)(root + 1);
    *root = *make(predicate, &arena);
    *query = root;
    return COLANDER_OK;
}

void
filter_query_destroy(struct filter_query *query)
{
    free(query);
}

size_t
filter_query_hashes(const struct filter_query *query)
{
    size_t end = query->first_hash + query->hash_count;

    for (size_t i = 0; i < query->operand_count; i++) {
        size_t below = filter_query_hashes(query->operands[i]);

        end = below > end ? below : end;
    }
    return end;
}

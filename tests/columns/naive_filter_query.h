/*
 * Filter queries answered by checking every value of a row.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_COLUMNS_NAIVE_FILTER_QUERY_H
#define TESTS_COLUMNS_NAIVE_FILTER_QUERY_H

#include "support/cases.h"

#include "columns/candidates.h"

#define ROW_VALUES_MAX 4096

struct row_list {
    struct row_value values[ROW_VALUES_MAX];
    size_t count;
};

static inline void
row_list_add(void *context, const struct row_value *value)
{
    struct row_list *list = context;

    assert_true(list->count < ROW_VALUES_MAX);
    list->values[list->count++] = *value;
}

static inline void
row_list_init(struct row_list *list, struct colander_slice row)
{
    list->count = 0;
    OK(row_values(row, row_list_add, list, NULL));
}

/* Whether a text has a word, and so one of two hashes, or one with a piece in
 * it. */
struct asked_word {
    const struct filter_query *query;
    bool is_found;
};

static inline void
visit_word(void *context, const struct text_word *word)
{
    struct asked_word *asked = context;
    const struct colander_slice piece = asked->query->piece;
    char text[512] = {0};

    if (asked->query->kind == FILTER_QUERY_WORD) {
        asked->is_found |= word->hash == asked->query->hashes[0];
        return;
    }
    assert_true(word->folded.size + 2 <= sizeof(text));
    memcpy(text + 1, word->folded.data, word->folded.size);
    asked->is_found |=
        word->folded.size == 0 || /* it may be any */
        memmem(text, word->folded.size + 2, piece.data, piece.size) != NULL;
}

static inline bool
word_is_asked(const struct filter_query *query,
              const struct colander_value *value)
{
    struct asked_word asked = {query, false};

    if (value->type != COLANDER_STRING)
        return false;
    text_words(value->bytes, visit_word, &asked);
    return asked.is_found || (query->kind == FILTER_QUERY_WORD &&
                              colander_value_hash(value) == query->hashes[1]);
}

static inline bool
is_number(enum colander_type type)
{
    return type >= COLANDER_INTEGER && type <= COLANDER_DOUBLE;
}

static inline bool
value_is_asked(const struct filter_query *query,
               const struct colander_value *value)
{
    const struct colander_value *values = query->values;

    if (query->kind == FILTER_QUERY_EXISTS)
        return true;
    if (value->type >= COLANDER_ARRAY)
        return false;
    if (query->kind == FILTER_QUERY_WORD || query->kind == FILTER_QUERY_PIECE)
        return word_is_asked(query, value);
    if (query->kind == FILTER_QUERY_PREFIX)
        return value->type == values[0].type &&
               value->bytes.size >= values[0].bytes.size &&
               memcmp(value->bytes.data, values[0].bytes.data,
                      values[0].bytes.size) == 0;
    if (query->kind == FILTER_QUERY_RANGE)
        return (value->type == values[0].type ||
                (is_number(value->type) && is_number(values[0].type))) &&
               (!query->has_low ||
                colander_value_compare(value, &values[0]) >= 0) &&
               (!query->has_high ||
                colander_value_compare(value, &values[1]) <= 0);
    for (size_t i = 0; i < query->value_count; i++) {
        if (colander_value_compare(value, &values[i]) == 0)
            return true;
    }
    return false;
}

/* Returns whether a row with these values may match. */
static inline bool
filter_query_holds(const struct filter_query *query,
                   const struct row_list *list)
{
    if (query->kind == FILTER_QUERY_OPEN)
        return true;
    if (query->kind == FILTER_QUERY_ALL_OF ||
        query->kind == FILTER_QUERY_ANY_OF) {
        bool is_any = query->kind == FILTER_QUERY_ANY_OF;

        for (size_t i = 0; i < query->operand_count; i++) {
            if (filter_query_holds(query->operands[i], list) == is_any)
                return is_any;
        }
        return !is_any;
    }
    for (size_t i = 0; i < list->count; i++) {
        const struct row_value *value = &list->values[i];

        if ((query->path_length == 0 ||
             query->path_hashes[query->path_length - 1] == value->path_hash) &&
            value_is_asked(query, &value->value))
            return true;
    }
    return false;
}

#endif

/*
 * The format of queries as bytes: what encoding and decoding share.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_COLUMNS_FINDS_QUERY_FORMAT_H
#define COLANDER_COLUMNS_FINDS_QUERY_FORMAT_H

#include "columns/finds/predicate.h"
#include "columns/query_bytes.h"

#define QUERY_VERSION 1

/* Members of the map of keys, and options of a query. */
#define QUERY_KEYS 4
#define QUERY_OPTIONS 4

static const char *const query_kind_names[] = {
    [PREDICATE_COMPARE] = "compare",   [PREDICATE_IN] = "in",
    [PREDICATE_BETWEEN] = "between",   [PREDICATE_PREFIX] = "prefix",
    [PREDICATE_CONTAINS] = "contains", [PREDICATE_SEARCH] = "search",
    [PREDICATE_EXISTS] = "exists",     [PREDICATE_MISSING] = "missing",
    [PREDICATE_UP_TO] = "up_to",       [PREDICATE_OUTSIDE] = "outside",
    [PREDICATE_ANY] = "any",           [PREDICATE_ANY_BETWEEN] = "any_between",
    [PREDICATE_ALL_OF] = "all_of",     [PREDICATE_ANY_OF] = "any_of",
    [PREDICATE_NOT] = "not",
};

static const char *const query_comparison_names[] = {
    [COLANDER_EQ] = "=",  [COLANDER_NE] = "!=", [COLANDER_LT] = "<",
    [COLANDER_LE] = "<=", [COLANDER_GT] = ">",  [COLANDER_GE] = ">=",
};

static const char *const query_search_names[] = {
    [COLANDER_SEARCH_WORDS] = "words", [COLANDER_SEARCH_PHRASE] = "phrase",
    [COLANDER_SEARCH_EQUAL] = "equal", [COLANDER_SEARCH_BEGINS] = "begins",
    [COLANDER_SEARCH_PIECE] = "piece", [COLANDER_SEARCH_PATTERN] = "pattern",
};

static const char *const query_key_names[QUERY_KEYS] = {"prefix", "from", "to",
                                                        "exact"};

static const char *const query_option_names[QUERY_OPTIONS] = {
    "is_reverse", "keys_only", "reports_columns", "is_timed"};

/* Returns the slices of the range, in the order of their names. */
static inline void
query_list_keys(struct colander_key_range *keys,
                struct colander_slice *list[QUERY_KEYS])
{
    list[0] = &keys->prefix;
    list[1] = &keys->from;
    list[2] = &keys->to;
    list[3] = &keys->exact;
}

/* The same with the options. */
static inline void
query_list_options(struct colander_query *query, bool *list[QUERY_OPTIONS])
{
    list[0] = &query->is_reverse;
    list[1] = &query->keys_only;
    list[2] = &query->reports_columns;
    list[3] = &query->is_timed;
}

static inline bool
query_node_has_path(enum predicate_kind kind)
{
    return kind < PREDICATE_ANY;
}

static inline bool
query_node_has_comparison(enum predicate_kind kind)
{
    return kind == PREDICATE_COMPARE || kind == PREDICATE_UP_TO;
}

/* Appends the path as the library writes it, and a zero byte. */
COLANDER_CHECKED enum colander_code
query_append_path(struct colander_buffer *out, const char *text,
                  struct colander_error *err);

/* Fails with LIMIT. */
COLANDER_CHECKED static inline enum colander_code
query_check_path_count(size_t count, struct colander_error *err)
{
    if (count <= COLANDER_ROW_NAMES_MAX)
        return COLANDER_OK;
    return COLANDER_FAIL(err, COLANDER_LIMIT, "%zu paths, over the limit of %d",
                         count, COLANDER_ROW_NAMES_MAX);
}

#endif

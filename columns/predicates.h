/*
 * Predicates: conditions that a row meets or does not meet.
 *
 * A predicate never changes after it was created. Any number of threads can use
 * one. The functions that create predicates return NULL and fill `err` on
 * failure. They *take* the predicates passed to them, even if they fail. If one
 * of those is NULL they fail as well and leave `err` as it is. A whole
 * expression can therefore be written as nested calls and checked once, at its
 * end. Passing a predicate twice is INVALID; more than limits.h allows is
 * LIMIT. Paths and values are copied.
 *
 * Predicates look at scalars, except EXISTS and MISSING. If a path leads to
 * several scalars ([]), one that matches is enough. Only values of one type
 * compare, and all numbers are one type: 'abc' < 5 and 'abc' >= 5 are both
 * false. NaN is greater than every number. COLANDER_NE matches if a scalar at
 * the path differs from the value. Null and scalars of other types differ. A
 * row without a scalar at the path matches neither EQ nor NE; "not equal or
 * missing" is not(EQ).
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_PREDICATES_H
#define COLANDER_PREDICATES_H

#include "columns/values.h"
#include "core/core.h"

#ifdef __cplusplus
extern "C" {
#endif

struct colander_predicate;

enum colander_comparison {
    COLANDER_EQ,
    COLANDER_NE,
    COLANDER_LT,
    COLANDER_LE,
    COLANDER_GT,
    COLANDER_GE,
};

/* Matches if the scalar at `path` compares so with `value`, a scalar. With null
 * only EQ and NE are allowed. */
COLANDER_API COLANDER_CHECKED struct colander_predicate *
colander_where(const char *path, enum colander_comparison comparison,
               struct colander_value value, struct colander_error *err);

/* Matches if the scalar equals one of `values`. Without values nothing matches.
 */
COLANDER_API COLANDER_CHECKED struct colander_predicate *
colander_where_in(const char *path, const struct colander_value *values,
                  size_t count, struct colander_error *err);

/* Matches if low <= the scalar <= high. Both are of one type. */
COLANDER_API COLANDER_CHECKED struct colander_predicate *
colander_where_between(const char *path, struct colander_value low,
                       struct colander_value high, struct colander_error *err);

/* Matches if the string (or binary) begins with the bytes of `prefix`, which
 * has the same type. */
COLANDER_API COLANDER_CHECKED struct colander_predicate *
colander_where_prefix(const char *path, struct colander_value prefix,
                      struct colander_error *err);

/* Matches if the string (or binary) contains the bytes of `part`, which has the
 * same type. */
COLANDER_API COLANDER_CHECKED struct colander_predicate *
colander_where_contains(const char *path, struct colander_value part,
                        struct colander_error *err);

/*
 * What is looked for in a text. Only strings are texts: numbers and binary
 * values are not, nor are names of columns.
 *
 * A word is a run of letters, numbers, combining marks and _; the signs between
 * words do not matter, nor does case. `*` after the last word makes it the
 * beginning of a word. Scripts that are written without spaces, such as Chinese
 * and Thai, have no words: there the letters must follow each other. A text of
 * more than COLANDER_SEARCH_SIZE_MAX bytes or COLANDER_SEARCH_WORDS_MAX words
 * is refused with LIMIT.
 *
 * EQUAL, BEGINS and PIECE compare bytes, as EQ, prefix and contains do, and
 * make a difference with COLANDER_SEARCH_ICASE only. Folding is one character
 * for one (columns/fold.h), of Unicode 14.
 */
enum colander_search {
    COLANDER_SEARCH_WORDS,   /* all of these words, in any order */
    COLANDER_SEARCH_PHRASE,  /* these words, one after the other */
    COLANDER_SEARCH_EQUAL,   /* it is this text */
    COLANDER_SEARCH_BEGINS,  /* it begins with it */
    COLANDER_SEARCH_PIECE,   /* it has it in it */
    COLANDER_SEARCH_PATTERN, /* a regular expression, as of RE2, matches some
                              * part of it. Fails with INVALID in a library that
                              * was built without RE2 */
};

/* How else. Can be combined. */
#define COLANDER_SEARCH_ICASE 1u /* case does not matter */
#define COLANDER_SEARCH_NOT                                                    \
    2u /* as COLANDER_NE: a scalar at the path is not
                                  * such a text. Requires a path */

/*
 * Matches if the scalar at `path` (NULL: any scalar in any column) is a text in
 * which `text` (copied) is found. Patterns take time in proportion to the text;
 * one predicate has COLANDER_PATTERNS_MAX at most. If it fails with INVALID,
 * *offset is the byte of `text` with the mistake; `offset` may be NULL.
 */
COLANDER_API COLANDER_CHECKED struct colander_predicate *
colander_where_search(const char *path, enum colander_search how,
                      struct colander_slice text, unsigned flags,
                      size_t *offset, struct colander_error *err);

/* Matches if the text at `path` (NULL: in any column) has all of the words. */
COLANDER_CHECKED static inline struct colander_predicate *
colander_where_all_words(const char *path, const char *words,
                         struct colander_error *err)
{
    return colander_where_search(path, COLANDER_SEARCH_WORDS,
                                 colander_slice_text(words), 0, NULL, err);
}

/* Matches if it has them one after the other. */
COLANDER_CHECKED static inline struct colander_predicate *
colander_where_phrase(const char *path, const char *words,
                      struct colander_error *err)
{
    return colander_where_search(path, COLANDER_SEARCH_PHRASE,
                                 colander_slice_text(words), 0, NULL, err);
}

/* Matches if the pattern matches some part of it. */
COLANDER_CHECKED static inline struct colander_predicate *
colander_where_regex(const char *path, const char *pattern,
                     struct colander_error *err)
{
    return colander_where_search(path, COLANDER_SEARCH_PATTERN,
                                 colander_slice_text(pattern), 0, NULL, err);
}

/* Matches if it equals `text` but for case. */
COLANDER_CHECKED static inline struct colander_predicate *
colander_where_icase(const char *path, const char *text,
                     struct colander_error *err)
{
    return colander_where_search(path, COLANDER_SEARCH_EQUAL,
                                 colander_slice_text(text),
                                 COLANDER_SEARCH_ICASE, NULL, err);
}

/* Matches if there is anything at `path`: a scalar, null, a map or an array. */
COLANDER_API COLANDER_CHECKED struct colander_predicate *
colander_where_exists(const char *path, struct colander_error *err);

/* Appends the words, folded and joined by ", ", that texts of each row must
 * have that matches: with a * where a word may go on, and a | between words of
 * which one is enough. Filters look for these, as far as they know words. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_predicate_words(const struct colander_predicate *predicate,
                         struct colander_buffer *words,
                         struct colander_error *err);

/* Appends the paths of ranges and prefixes, each with a zero byte after it. A
 * path may be repeated. Filters look for these by the order of the column. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_predicate_range_paths(const struct colander_predicate *predicate,
                               struct colander_buffer *paths,
                               struct colander_error *err);

/* Matches if there is nothing at `path`. */
COLANDER_API COLANDER_CHECKED struct colander_predicate *
colander_where_missing(const char *path, struct colander_error *err);

/* Matches if there is a null at `path`. A missing value is not null. */
COLANDER_CHECKED static inline struct colander_predicate *
colander_where_null(const char *path, struct colander_error *err)
{
    return colander_where(path, COLANDER_EQ, colander_null(), err);
}

/* Matches if any scalar in any column, at any depth, equals `value`. */
COLANDER_API COLANDER_CHECKED struct colander_predicate *
colander_where_any_column(struct colander_value value,
                          struct colander_error *err);

/* Matches if all of them do. Without predicates every row matches. */
COLANDER_API COLANDER_CHECKED struct colander_predicate *
colander_all_of(struct colander_predicate *const *predicates, size_t count,
                struct colander_error *err);

/* Matches if at least one of them does. Without predicates no row matches. */
COLANDER_API COLANDER_CHECKED struct colander_predicate *
colander_any_of(struct colander_predicate *const *predicates, size_t count,
                struct colander_error *err);

/* Matches if `predicate` does not. */
COLANDER_API COLANDER_CHECKED struct colander_predicate *
colander_not(struct colander_predicate *predicate, struct colander_error *err);

/* Frees the predicate: also one that a query has as const. NULL is allowed. */
COLANDER_API void
colander_predicate_destroy(const struct colander_predicate *predicate);

/* A condition of a predicate on the values of one column. Borrowed from the
 * predicate. */
struct colander_condition {
    const char *path;
    const struct colander_value *values; /* that it compares with */
    size_t value_count;                  /* 0: it asks whether there is one */
    bool is_alternative; /* it is below an `or`: another may be true instead */
    bool is_words;       /* it looks for words or a phrase */
    bool is_negated;     /* it is below a `not`, or asks for missing values */
};

/* Sets *condition to a condition of the predicate; `index` counts them from 0.
 * Returns false if there are fewer. Those on any column do not count. */
COLANDER_API bool
colander_predicate_condition(const struct colander_predicate *predicate,
                             size_t index,
                             struct colander_condition *condition);

/* Returns one of the predicates that must all be true; `index` counts them from
 * 0. A predicate that is not made by colander_all_of is its only part. Returns
 * NULL if there are fewer. Borrowed from the predicate. */
COLANDER_API const struct colander_predicate *
colander_predicate_part(const struct colander_predicate *predicate,
                        size_t index);

/* Returns whether the predicate has a condition on any column. Those below a
 * `not` do not count. */
COLANDER_API bool
colander_predicate_asks_any_column(const struct colander_predicate *predicate);

/* ---------------------------------------------------------- evaluation --- */

/* Paths of columns as text, in the order of the row, each once. */
struct colander_columns {
    const char *const *paths; /* borrowed, as the function that fills it says */
    size_t count;
    bool is_cut; /* some are missing: the list would exceed
                  * COLANDER_MATCHES_SIZE_MAX */
};

/* The columns that made a predicate true. Can be reused from row to row. */
struct colander_matches;

/* Returns NULL if memory is short. */
COLANDER_API struct colander_matches *colander_matches_create(void);

/* Frees the matches. NULL is allowed. */
COLANDER_API void colander_matches_destroy(struct colander_matches *matches);

/* Returns the columns of the last evaluation, borrowed until the next one. */
COLANDER_API struct colander_columns
colander_matches_columns(const struct colander_matches *matches);

/*
 * Evaluates the predicate over the encoded row. Fills `matches`, unless it is
 * NULL, with the paths of the scalars that made the predicate true. Scalars
 * below a `not` are not listed. If the row does not match, nothing is listed.
 *
 * Fails with CORRUPT if the bytes are not a row. Stops as soon as the answer is
 * known: damage after that point, and bytes after the row, are not noticed.
 */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_predicate_evaluate(const struct colander_predicate *predicate,
                            struct colander_slice row, bool *is_match,
                            struct colander_matches *matches,
                            struct colander_error *err);

#ifdef __cplusplus
}
#endif

#endif

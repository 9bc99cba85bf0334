/*
 * Words: conditions, assignments, keys and times as people write them, as the
 * command line and the shell read them.
 *
 *     COL=VALUE  COL!=VALUE  COL<VALUE  COL<=VALUE  COL>VALUE  COL>=VALUE
 *     COL=[VALUE,...]  equals one of them    COL~TEXT   begins with TEXT
 *     COL?  exists                           COL!       is missing
 *     COL~~TEXT  has TEXT in it              COL=~PATTERN  COL!~PATTERN
 *     ~~TEXT  =~PATTERN  some column is such a text
 *     COL:WORDS  is a text with these words  WORDS      some column is
 *     COL:"PHRASE"  with words that follow   "PHRASE"
 *                   each other
 *
 * COL is a path as in rows.h, but not that of the key. A backslash makes an
 * operator, a colon, or a space before an operator, part of the name. A
 * condition with an operator in it has no WORDS. A VALUE that is a number,
 * true, false, null or a string in double quotes is that of JSON; anything else
 * is a string.
 *
 * A string that is a time (RFC 3339), a date or a month is compared with
 * strings as a string, and with timestamps as the instants that it names.
 * "2015-03-24" names all instants of that day in UTC: they are equal to it, <
 * are those before and > those after them. COL~2015-03 also matches timestamps
 * that are written so. A time after @ is compared with timestamps only:
 * @2015-03-24, @now, @now-7d. In double quotes it is a string: "@now". But in a
 * list, where all strings are in quotes, ["@now"] is the time.
 *
 * Strings often hold numbers: ids of CSV, for example. So a number also equals
 * the string that is written like it: COL=1e5 matches 100000 and "1e5". Order
 * compares it with numbers only. docs/queries.md has the details.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_WORDS_H
#define COLANDER_WORDS_H

#include "columns/predicates.h"
#include "columns/values.h"
#include "core/core.h"

#ifdef __cplusplus
extern "C" {
#endif

struct colander_family;

/* --------------------------------------------------------------- times --- */

/* Instants, from the first to the last. Both are a TIMESTAMP. */
struct colander_times {
    struct colander_value first;
    struct colander_value last;
};

/*
 * Reads a time as in RFC 3339 ("2015-03-24T10:00:00.5+01:00"), a date or a
 * month; also with a blank instead of the T or before the zone, a zone as Z,
 * +0100, +01 or none (UTC), a comma instead of the point, without seconds. Of a
 * date or month *times is all of it. Second 60 is the second that follows. An @
 * may come first; then the text may also be @now, @now-7d or @now+1h. Returns
 * false if the text is none of these.
 */
COLANDER_API bool colander_times_read(struct colander_slice text,
                                      struct colander_times *times);

/* Reads a duration: numbers with s, m, h, d or w after each, as in "1h30m".
 * Sets *seconds. Returns false if the text is not a duration. */
COLANDER_API bool colander_duration_read(struct colander_slice text,
                                         int64_t *seconds);

/* Reads a time as above, or a duration, which is that time before now. Sets
 * *value to what colander_where_written compares with it, which may borrow the
 * text. Returns false if the text is neither. */
COLANDER_API bool colander_moment_read(const char *text,
                                       struct colander_value *value);

/* ---------------------------------------------------------- conditions --- */

/* Where words are wrong. */
struct colander_fault {
    size_t word;   /* which, from 0 */
    size_t offset; /* the byte of it */
};

/*
 * Creates the predicate that all conditions in `words` are true. Other words
 * are "or", "and", "not", "(" and ")", as in "a=1 or b=2 not c=3": "not" comes
 * before "and", which may be omitted, and "and" before "or". Without words
 * every row matches. `err` and `fault` may be NULL; if the failure is INVALID,
 * *fault is the place of the mistake.
 */
COLANDER_API COLANDER_CHECKED struct colander_predicate *
colander_where_words(const char *const *words, size_t count,
                     struct colander_fault *fault, struct colander_error *err);

/* Does the same, where texts are equal, begin with others, have pieces and
 * match patterns whatever their case. */
COLANDER_API COLANDER_CHECKED struct colander_predicate *
colander_where_words_icase(const char *const *words, size_t count,
                           struct colander_fault *fault,
                           struct colander_error *err);

/*
 * Fails with INVALID if one of the words is WORDS without a column, and a
 * column of the family at once, as in "lang" where "lang=en" or "lang?" was
 * meant. Filters know the columns; without them the first thousand rows are
 * looked at. *fault is the word.
 */
COLANDER_API COLANDER_CHECKED enum colander_code colander_family_check_words(
    struct colander_family *family, const char *const *words, size_t count,
    struct colander_fault *fault, struct colander_error *err);

/* Creates the predicate of one condition: "likes>5". */
COLANDER_CHECKED static inline struct colander_predicate *
colander_where_text(const char *condition, struct colander_error *err)
{
    return colander_where_words(&condition, 1, NULL, err);
}

/* Creates the predicate that any scalar in any column, at any depth, equals the
 * VALUE in `text`. If that fails with INVALID, *offset is the byte of the
 * mistake. */
COLANDER_API COLANDER_CHECKED struct colander_predicate *
colander_where_any_text(const char *text, size_t *offset,
                        struct colander_error *err);

/* Does the same, where a text is equal whatever its case. */
COLANDER_API COLANDER_CHECKED struct colander_predicate *
colander_where_any_text_icase(const char *text, size_t *offset,
                              struct colander_error *err);

/* Creates the predicate that a text at `path` (NULL: in any column) has the
 * WORDS, or the PHRASE if they are in double quotes. If that fails with
 * INVALID, *offset is the byte of the mistake. */
COLANDER_API COLANDER_CHECKED struct colander_predicate *
colander_where_search_text(const char *path, const char *text, size_t *offset,
                           struct colander_error *err);

/*
 * Reads the VALUE in `text` as one value of a row: a time after @ is a
 * timestamp (of a date, its midnight), a number is a number. Fails with INVALID
 * if it is an array. The bytes of a string are copied to `bytes`, which is
 * replaced, and *value borrows them. If it fails with INVALID, *offset is the
 * byte of the mistake.
 */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_value_read(const char *text, struct colander_value *value,
                    struct colander_buffer *bytes, size_t *offset,
                    struct colander_error *err);

/* How values are compared: as enum colander_comparison says, or further. */
enum colander_operator {
    COLANDER_OPERATOR_EQ = COLANDER_EQ,
    COLANDER_OPERATOR_NE = COLANDER_NE,
    COLANDER_OPERATOR_LT = COLANDER_LT,
    COLANDER_OPERATOR_LE = COLANDER_LE,
    COLANDER_OPERATOR_GT = COLANDER_GT,
    COLANDER_OPERATOR_GE = COLANDER_GE,
    COLANDER_OPERATOR_IN,      /* equals one of them, of any number */
    COLANDER_OPERATOR_BETWEEN, /* from the first to the second */
    COLANDER_OPERATOR_PREFIX,  /* begins with it */
    COLANDER_OPERATOR_ANY,     /* it is in some column; the path is NULL */
};

/* Creates the predicate that the functions of predicates.h create. But strings
 * that are times also match timestamps, as in a condition. An @ means nothing
 * in them, and a number is that number only. */
COLANDER_API COLANDER_CHECKED struct colander_predicate *
colander_where_written(const char *path, enum colander_operator how,
                       const struct colander_value *values, size_t count,
                       struct colander_error *err);

/* Does the same, where texts are equal and begin with others whatever their
 * case. */
COLANDER_API COLANDER_CHECKED struct colander_predicate *
colander_where_written_icase(const char *path, enum colander_operator how,
                             const struct colander_value *values, size_t count,
                             struct colander_error *err);

/* ---------------------------------------------------------- assignments --- */

/*
 * Sets `patch` to a patch (colander_family_patch) that sets and removes
 * columns. `set` has texts COL=VALUE, `unset` the paths of columns to remove.
 * COL leads through maps only. A VALUE that begins with { or [ is a map or
 * array in JSON; any other is as in a condition. A time is a timestamp only
 * after @: at=@now. A map is merged into the one that the row has.
 *
 * `fault` and `err` may be NULL; if the failure is INVALID, *fault is the place
 * of the mistake, with the words of `set` counted before those of `unset`.
 */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_patch_words(const char *const *set, size_t set_count,
                     const char *const *unset, size_t unset_count,
                     struct colander_buffer *patch,
                     struct colander_fault *fault, struct colander_error *err);

/* ---------------------------------------------------------------- keys --- */

/* What a key is for: see struct colander_key_range. */
enum colander_key_use {
    COLANDER_KEY_EXACT,
    COLANDER_KEY_PREFIX,
    COLANDER_KEY_FROM,
    COLANDER_KEY_TO,
};

/*
 * Replaces `key` by the key in `text`: one VALUE, or a JSON array of them.
 *
 * A part that is a time may be a string or a timestamp of the keys in `family`,
 * and a number may be that number or the string that is written like it. An
 * EXACT or PREFIX key is the first of the two that has a row. In a FROM or TO
 * it is what keys that begin with the parts before have there. If they have
 * both, a number is a number, and a time fails with INVALID; so does a time
 * where they have numbers and neither. A date is its midnight, and the end of
 * the day as the last part of a TO. A part after @ is always a timestamp.
 *
 * If it fails with INVALID, *offset is the byte of the mistake.
 */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_family_read_key(struct colander_family *family, const char *text,
                         enum colander_key_use use, struct colander_buffer *key,
                         size_t *offset, struct colander_error *err);

#ifdef __cplusplus
}
#endif

#endif

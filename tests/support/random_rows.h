/*
 * Random rows, keys and predicates of few columns and values, to match often.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_SUPPORT_RANDOM_ROWS_H
#define TESTS_SUPPORT_RANDOM_ROWS_H

#include "columns/predicate_spans.h"
#include "support/random.h"
#include "support/scoped.h"
#include "support/store_fixture.h"

/* The maximum size of a random text. */
#define RANDOM_TEXT_SIZE 400

/* Writes a word of few letters, rarely a very long one. */
static inline void
random_word(uint64_t *random, char text[RANDOM_TEXT_SIZE])
{
    static const char *const letters[] = {"a", "b", "c",      "A",
                                          "B", "C", "\u00e9", "\u00c9"};
    const uint64_t among = random_below(random, 8) == 0 ? 8 : 3;
    const bool is_long = random_below(random, 64) == 0;

    snprintf(text, RANDOM_TEXT_SIZE, "%s%s%s%u",
             letters[random_below(random, among)],
             is_long ? "cabbagecabbagecabbagecabbagecabbagecabbagecabbagecabba"
                       "gecabbage"
                     : "",
             letters[random_below(random, among)],
             (unsigned)random_below(random, 12));
}

/* Some words, and what may be between words. */
static inline void
random_words(uint64_t *random, char text[RANDOM_TEXT_SIZE])
{
    static const char *const between[] = {" ", " ", ", ", "-", "\u4eac\u90fd"};
    char word[RANDOM_TEXT_SIZE];

    random_word(random, text);
    for (uint64_t i = random_below(random, 4); i > 0; i--) {
        random_word(random, word);
        strcat(text, between[random_below(random, COUNT(between))]);
        strcat(text, word);
    }
}

static inline struct colander_value
random_value(uint64_t *random, char text[RANDOM_TEXT_SIZE])
{
    switch (random_below(random, 8)) {
    case 0:
        return colander_null();
    case 1:
        return colander_boolean(random_below(random, 2) == 0);
    case 2:
        return colander_double((double)random_below(random, 40) / 4);
    case 3:
        return colander_integer((int64_t)random_below(random, 1000) - 500);
    case 4:
    case 5:
        return colander_integer((int64_t)random_below(random, 20));
    default:
        if (random_below(random, 4) == 0)
            random_words(random, text);
        else
            random_word(random, text);
        return colander_text(text);
    }
}

/* Adds random columns to a row. */
static inline void
random_columns(struct colander_row_builder *builder, uint64_t *random)
{
    char text[RANDOM_TEXT_SIZE];

    if (random_below(random, 8) != 0)
        colander_row_builder_add(builder, "user", random_value(random, text));
    colander_row_builder_add(builder, "likes", random_value(random, text));
    if (random_below(random, 2) == 0) {
        colander_row_builder_begin_array(builder, "tags");
        for (uint64_t i = random_below(random, 4); i > 0; i--)
            colander_row_builder_add(builder, NULL, random_value(random, text));
        colander_row_builder_end(builder);
    }
    if (random_below(random, 3) == 0) {
        colander_row_builder_begin_map(builder, "place");
        colander_row_builder_add(builder, "city", random_value(random, text));
        colander_row_builder_add(builder, "zip", random_value(random, text));
        colander_row_builder_end(builder);
    }
    if (random_below(random, 40) == 0)
        colander_row_builder_add(builder, "rare", random_value(random, text));
}

/* Borrowed until the builder is next used. */
static inline struct colander_slice
random_row(struct colander_row_builder *builder, uint64_t *random)
{
    struct colander_slice row;

    random_columns(builder, random);
    OK(colander_row_builder_finish(builder, &row, NULL));
    return row;
}

/* Returns one of `count` keys. */
static inline void
random_key(uint64_t *random, uint64_t count, struct colander_buffer *key)
{
    struct colander_value part =
        colander_integer((int64_t)random_below(random, count));

    OK(colander_key_encode(&part, 1, key, NULL));
}

static inline const char *
random_path(uint64_t *random)
{
    static const char *const paths[] = {
        "user",  "likes", "tags[]", "place.city", "place.zip",
        "score", "rare",  "place",  "tags",
    };

    return paths[random_below(random, COUNT(paths))];
}

/* Returns NULL if there are no patterns. */
static inline struct colander_predicate *
random_pattern(uint64_t *random, const char *path)
{
    char one[RANDOM_TEXT_SIZE];
    char other[RANDOM_TEXT_SIZE];
    char text[2 * RANDOM_TEXT_SIZE + 8];

    random_word(random, one);
    random_word(random, other);
    snprintf(text, sizeof(text),
             random_below(random, 2) == 0 ? "(%s|%s)" : "%s.*%s", one, other);
    return colander_where_search(
        path, COLANDER_SEARCH_PATTERN, colander_slice_text(text),
        random_below(random, 2) == 0 ? COLANDER_SEARCH_ICASE : 0, NULL, NULL);
}

static inline struct colander_predicate *
random_search(uint64_t *random, const char *path)
{
    const enum colander_search how =
        (enum colander_search)random_below(random, COLANDER_SEARCH_PATTERN);
    struct colander_predicate *pattern = NULL;
    char text[RANDOM_TEXT_SIZE];
    size_t size;

    if (random_below(random, 4) == 0)
        pattern = random_pattern(random, path);
    if (pattern != NULL)
        return pattern;

    random_words(random, text);
    if (random_below(random, 2) == 0) {
        size = 1 + random_below(random, strlen(text));
        while (((uint8_t)text[size] & 0xC0) == 0x80)
            size++; /* no half of a character */
        text[size] = '\0';
    }
    if (how <= COLANDER_SEARCH_PHRASE && random_below(random, 4) == 0)
        strcat(text, "*");
    return colander_where_search(random_below(random, 2) == 0 ? NULL : path,
                                 how, colander_slice_text(text),
                                 COLANDER_SEARCH_ICASE, NULL, NULL);
}

static inline struct colander_predicate *
random_leaf(uint64_t *random)
{
    const char *path = random_path(random);
    struct colander_value values[4];
    char texts[4][RANDOM_TEXT_SIZE];

    for (size_t i = 0; i < 4; i++)
        values[i] = random_value(random, texts[i]);
    switch (random_below(random, 17)) {
    case 0:
        return colander_where_in(path, values, 1 + random_below(random, 4),
                                 NULL);
    case 1:
        return colander_where(
            path, COLANDER_LT,
            colander_integer((int64_t)random_below(random, 1000) - 500), NULL);
    case 2:
        return colander_where(path, COLANDER_GE, colander_text("bb"), NULL);
    case 3:
        return colander_where_between(path, colander_integer(3),
                                      colander_double(4.5), NULL);
    case 4:
        return colander_where_prefix(path, colander_text("ab"), NULL);
    case 5:
        return colander_where_exists(path, NULL);
    case 6:
    case 7:
        return colander_where_any_column(values[0], NULL);
    case 8:
        return colander_where(path, COLANDER_NE, values[0], NULL);
    case 9:
        return predicate_any_between(
            values[0].type == COLANDER_NULL ? colander_integer(480) : values[0],
            values[0].type == COLANDER_NULL ? colander_double(490.5)
                                            : values[0],
            NULL);
    case 10:
        return predicate_outside(path, values, 2, NULL);
    case 11:
    case 12:
        return random_search(random, path);
    default:
        return colander_where(path, COLANDER_EQ, values[0], NULL);
    }
}

static inline struct colander_predicate *
random_predicate(uint64_t *random, unsigned depth)
{
    struct colander_predicate *operands[3];
    size_t count = random_below(random, 4);

    if (depth == 0 || random_below(random, 3) != 0)
        return random_leaf(random);
    if (random_below(random, 8) == 0)
        return colander_not(random_predicate(random, depth - 1), NULL);
    for (size_t i = 0; i < count; i++)
        operands[i] = random_predicate(random, depth - 1);
    return random_below(random, 2) == 0
               ? colander_all_of(operands, count, NULL)
               : colander_any_of(operands, count, NULL);
}

/* Adds reverse, a limit and key bounds to some queries. The caller releases
 * `bounds`. */
static inline void
random_bounds(uint64_t *random, uint64_t key_count,
              struct colander_query *query, struct colander_buffer bounds[2])
{
    query->is_reverse = random_below(random, 4) == 0;
    if (random_below(random, 4) == 0)
        query->limit = random_below(random, 20);
    if (random_below(random, 4) != 0)
        return;
    random_key(random, key_count, &bounds[0]);
    random_key(random, key_count, &bounds[1]);
    query->keys.from = colander_buffer_slice(&bounds[0]);
    if (random_below(random, 2) == 0)
        query->keys.to = colander_buffer_slice(&bounds[1]);
}

/* Puts random rows under the keys from `from` to before `until`, in several
 * files that have keys of the whole range, and then overwrites, patches and
 * deletes some of them in another file. */
static inline void
put_settled_rows(struct colander_family *family,
                 struct colander_row_builder *builder, uint64_t from,
                 uint64_t until, uint64_t *random)
{
    enum { FILES = 4 };
    SCOPED_BUFFER bytes = COLANDER_BUFFER_EMPTY;

    for (uint64_t file = 0; file <= FILES; file++) {
        const uint64_t step = file < FILES ? FILES : 20;

        for (uint64_t i = from + file; i < until; i += step) {
            const struct colander_value part = colander_integer((int64_t)i);
            struct colander_slice key;

            colander_buffer_clear(&bytes);
            OK(colander_key_encode(&part, 1, &bytes, NULL));
            key = colander_buffer_slice(&bytes);
            if (file == FILES && i % 3 == 0)
                OK(colander_family_delete(family, key, NULL, NULL));
            else if (file == FILES && i % 3 == 1)
                OK(colander_family_patch(
                    family, key, random_row(builder, random), NULL, NULL));
            else
                OK(colander_family_put(family, key, random_row(builder, random),
                                       NULL, NULL));
        }
        OK(colander_family_flush(family, NULL));
    }
}

/* Puts random rows under random keys, of `key_count` ones. */
static inline void
put_random_rows(struct store_fixture *fixture, struct colander_family *family,
                uint64_t key_count, uint64_t count, uint64_t *random)
{
    SCOPED_BUFFER key = COLANDER_BUFFER_EMPTY;

    while (count-- > 0) {
        random_key(random, key_count, &key);
        OK(colander_family_put(family, colander_buffer_slice(&key),
                               random_row(fixture->builder, random), NULL,
                               NULL));
    }
}

#endif

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
#define RANDOM_TEXT_SIZE 600

/* Letters of many scripts: few of each, so that texts have the same ones. */
#define RANDOM_SCRIPT_LETTERS 8
static const char *const random_scripts[][RANDOM_SCRIPT_LETTERS]
    __attribute__((unused)) = {
        /* Latin in both cases, with marks, and those folded in other ways */
        {"a", "b", "c", "A", "B", "C", "\u00e9", "\u00c9"},
        {"e\u0301", "\u00e9", "E\u0301", "\u00df", "\u1e9e", "ss", "\u0131",
         "\u0130"},
        {"\ufb01", "fi", "\ufb03", "\u01c5", "\u01c4", "\u01c6", "k", "\u212a"},
        /* Greek with a final sigma, Cyrillic */
        {"\u03c3", "\u03c2", "\u03a3", "\u03b1", "\u0391", "\u03ac",
         "\u03b1\u0301", "\u1f80"},
        {"\u0430", "\u0410", "\u0451", "\u0435\u0308", "\u0419", "\u0439",
         "\u0438\u0306", "\u0456"},
        /* Hebrew and Arabic, from right to left, with points */
        {"\u05d0", "\u05d1", "\u05d1\u05bc", "\u05dd", "\u0627", "\u0628",
         "\u0628\u064e", "\u0640"},
        /* Devanagari and Thai: vowels that are marks */
        {"\u0915", "\u0915\u093f", "\u0915\u094d\u0937", "\u0905", "\u0e01",
         "\u0e01\u0e34", "\u0e40", "\u0e17\u0e35\u0e48"},
        /* scripts without spaces, wide letters */
        {"\u6771", "\u4eac", "\u90fd", "\u3042", "\u304b\u3099", "\u304c",
         "\U00020000", "\uff21"},
        /* what is no word: signs, emoji, joined and with a color of skin */
        {"\U0001f600", "\U0001f468\u200d\U0001f469\u200d\U0001f467",
         "\U0001f44b\U0001f3fd", "\u2764\ufe0f", "\U0001f1f5\U0001f1f1",
         "\u00ad", "a\u200db", "_"},
};

/* Writes a word of few letters, rarely a very long one. */
static inline void
random_word(uint64_t *random, char text[RANDOM_TEXT_SIZE])
{
    const uint64_t script = random_below(random, 4) == 0
                                ? random_below(random, COUNT(random_scripts))
                                : 0;
    const char *const *letters = random_scripts[script];
    const uint64_t among =
        script > 0 || random_below(random, 8) == 0 ? RANDOM_SCRIPT_LETTERS : 3;
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
    struct colander_predicate *made = NULL;
    char text[RANDOM_TEXT_SIZE];
    size_t size;

    if (random_below(random, 4) == 0)
        made = random_pattern(random, path);
    if (made != NULL)
        return made;

    random_words(random, text);
    if (random_below(random, 2) == 0) {
        size = 1 + random_below(random, strlen(text));
        while (((uint8_t)text[size] & 0xC0) == 0x80)
            size++; /* no half of a character */
        text[size] = '\0';
    }
    if (how <= COLANDER_SEARCH_PHRASE && random_below(random, 4) == 0)
        strcat(text, "*");
    if (random_below(random, 2) == 0)
        path = NULL;
    made = colander_where_search(path, how, colander_slice_text(text),
                                 COLANDER_SEARCH_ICASE, NULL, NULL);
    if (made != NULL)
        return made;
    return colander_where_search(path, COLANDER_SEARCH_PIECE, /* it has none */
                                 colander_slice_text(text), 0, NULL, NULL);
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

typedef struct colander_predicate *random_leaf_maker(uint64_t *random);

/* AND, OR and NOT of leaves, nested up to `depth`. */
static inline struct colander_predicate *
random_tree(uint64_t *random, unsigned depth, random_leaf_maker *leaf)
{
    struct colander_predicate *operands[3];
    size_t count = random_below(random, 4);

    if (depth == 0 || random_below(random, 3) != 0)
        return leaf(random);
    if (random_below(random, 8) == 0)
        return colander_not(random_tree(random, depth - 1, leaf), NULL);
    for (size_t i = 0; i < count; i++)
        operands[i] = random_tree(random, depth - 1, leaf);
    return random_below(random, 2) == 0
               ? colander_all_of(operands, count, NULL)
               : colander_any_of(operands, count, NULL);
}

static inline struct colander_predicate *
random_predicate(uint64_t *random, unsigned depth)
{
    return random_tree(random, depth, random_leaf);
}

/* Mostly about words, phrases, pieces and patterns. */
static inline struct colander_predicate *
random_text_leaf(uint64_t *random)
{
    return random_below(random, 6) == 0
               ? random_leaf(random)
               : random_search(random, random_path(random));
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

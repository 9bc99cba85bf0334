/*
 * Characters: which of them are parts of words, and which differ only in case.
 *
 * The tables are of one version of Unicode and in the tree, because folded
 * words get into files: neither may change with a library of the system. Texts
 * are not normalized: a letter with an accent is not the letter and a combining
 * accent.
 *
 * Folding is simple case folding: one character becomes one of its class. So it
 * is one for capital, title and small letters, but the German sharp s is not
 * ss. Turkish dotless and dotted i are letters of their own.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_COLUMNS_FOLD_H
#define COLANDER_COLUMNS_FOLD_H

#include "core/core.h"

enum character_class {
    CHARACTER_OTHER,    /* between words */
    CHARACTER_LETTER,   /* a letter, a number of any kind, or _ */
    CHARACTER_MARK,     /* belongs to the character before it */
    CHARACTER_UNSPACED, /* a letter of a script without spaces */
};

/* A character of a text. Bytes that are not UTF-8 are one each, and OTHER. */
struct character {
    uint32_t code;
    size_t size; /* bytes */
    bool is_valid;
};

/* Returns the character at `at`, which is before `end`. */
struct character character_at(const uint8_t *at, const uint8_t *end);

enum character_class character_class_of(struct character character);

static inline uint8_t
character_fold_ascii(uint8_t byte)
{
    return byte >= 'A' && byte <= 'Z' ? (uint8_t)(byte + ('a' - 'A')) : byte;
}

/* Fills `bytes` with the folded character as UTF-8, and returns their number.
 */
size_t character_fold(struct character character, const uint8_t *at,
                      uint8_t bytes[4]);

/* Appends the folded text. */
COLANDER_CHECKED enum colander_code fold_append(struct colander_buffer *folded,
                                                struct colander_slice text,
                                                struct colander_error *err);

/* Whether `text`, folded, is `folded`, or begins with it. */
bool fold_matches(struct colander_slice text, struct colander_slice folded,
                  bool is_beginning);

#endif

/*
 * Words: the text of a parameter, split as a shell splits a command line.
 *
 * Blanks separate words. Single quotes keep what is between them, double quotes
 * too but for a backslash before a double quote or a backslash, and a backslash
 * elsewhere keeps the next character. Nothing is expanded. So what follows
 * `colander find STORE FAMILY` on a command line means the same here.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SERVE_WORDS_H
#define SERVE_WORDS_H

#include "core/core.h"

struct words {
    char **words; /* C strings, which are `text` */
    size_t count;
    char *text;
    size_t *places; /* of each byte of `text`, where it was */
};

/* Fails with INVALID if a quote is not closed, and sets *offset to it. On
 * success release. */
COLANDER_CHECKED enum colander_code words_split(struct words *words,
                                                const char *text,
                                                size_t *offset,
                                                struct colander_error *err);

/* Returns where a byte of a word was in the text that was split. */
size_t words_place(const struct words *words, size_t word, size_t offset);

/* Zeroed ones are allowed. */
void words_release(struct words *words);

#endif

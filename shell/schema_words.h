/*
 * Schema words: which word somebody may have meant.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_SCHEMA_WORDS_H
#define SHELL_SCHEMA_WORDS_H

#include <stddef.h>

#define SCHEMA_HINT_SIZE 200

/* Fills `hint` with ": did you mean 'types'?" where one of the words is close
 * to `word`, else with all of them: " (a, b, c)". Gives `hint`. */
const char *schema_words_hint(const char *word, const char *const *words,
                              size_t count, char hint[SCHEMA_HINT_SIZE]);

#endif

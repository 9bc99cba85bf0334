/*
 * Conditions: what others ask of them.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_COLUMNS_WORDS_CONDITIONS_H
#define COLANDER_COLUMNS_WORDS_CONDITIONS_H

#include <stdbool.h>

/* Whether the word is looked for in any column: it has no operator, no column
 * and no quotes, and does not join conditions. */
bool condition_is_bare(const char *word);

#endif

/*
 * Schema words: see schema_words.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "shell/schema_words.h"

#include <stdio.h>
#include <string.h>

#define SIZE_MAX_COMPARED 40
#define CLOSE 2 /* changes at most */

static size_t
least(size_t a, size_t b, size_t c)
{
    size_t ab = a < b ? a : b;

    return ab < c ? ab : c;
}

/* How many bytes are to be put, taken or changed to make `b` of `a`. */
static size_t
distance(const char *a, const char *b)
{
    size_t a_size = strlen(a);
    size_t b_size = strlen(b);
    size_t row[SIZE_MAX_COMPARED + 1];

    if (a_size > SIZE_MAX_COMPARED || b_size > SIZE_MAX_COMPARED)
        return SIZE_MAX_COMPARED;
    for (size_t i = 0; i <= b_size; i++)
        row[i] = i;
    for (size_t i = 1; i <= a_size; i++) {
        size_t corner = row[0]; /* of the row before, one to the left */

        row[0] = i;
        for (size_t k = 1; k <= b_size; k++) {
            size_t above = row[k];

            row[k] = least(above + 1, row[k - 1] + 1,
                           corner + (a[i - 1] != b[k - 1]));
            corner = above;
        }
    }
    return row[b_size];
}

const char *
schema_words_hint(const char *word, const char *const *words, size_t count,
                  char hint[SCHEMA_HINT_SIZE])
{
    const char *closest = NULL;
    size_t closest_distance = CLOSE + 1;
    size_t used = 0;

    for (size_t i = 0; i < count; i++) {
        size_t apart = distance(word, words[i]);

        if (apart < closest_distance && apart < strlen(words[i])) {
            closest = words[i];
            closest_distance = apart;
        }
    }
    if (closest != NULL) {
        (void)snprintf(hint, SCHEMA_HINT_SIZE, ": did you mean '%s'?", closest);
        return hint;
    }
    for (size_t i = 0; i < count && used < SCHEMA_HINT_SIZE; i++)
        used += (size_t)snprintf(hint + used, SCHEMA_HINT_SIZE - used, "%s%s",
                                 i == 0 ? " (there are " : ", ", words[i]);
    if (used < SCHEMA_HINT_SIZE)
        (void)snprintf(hint + used, SCHEMA_HINT_SIZE - used, ")");
    return hint;
}

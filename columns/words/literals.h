/*
 * Literals: values as users write them.
 *
 * A number, true, false, null and a string in double quotes are those of JSON.
 * A JSON array of them is a list. Anything else is a string. A text that begins
 * with a double quote or a bracket must be JSON, and no text begins with = < >
 * ~ ' or a space, so slips are errors and not strings. A string may mean times.
 * A time after @ means nothing else, in a list as well, where all strings are
 * in quotes; but one string in quotes means no time after @. A number may mean
 * a string: see words.h.
 *
 * Life:   a zeroed struct -> parse -> use the operands -> release
 * Memory: strings are borrowed from the literals, digits from the source
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_COLUMNS_WORDS_LITERALS_H
#define COLANDER_COLUMNS_WORDS_LITERALS_H

#include "columns/words/operands.h"

struct literals {
    struct operand *operands;
    size_t count; /* 1 if it is not a list */
    size_t capacity;
    bool is_list;                /* written as a JSON array */
    bool is_quoted;              /* one string in double quotes */
    bool is_text;                /* one string, without another meaning */
    struct colander_buffer text; /* bytes of the strings */
};

/* If it fails with INVALID, *offset is the place of the mistake in `source`. */
COLANDER_CHECKED enum colander_code literals_parse(struct literals *literals,
                                                   const char *source,
                                                   size_t *offset,
                                                   struct colander_error *err);

/* Reads one string, with or without double quotes, that only means itself. */
COLANDER_CHECKED enum colander_code
literals_parse_text(struct literals *literals, const char *source,
                    size_t *offset, struct colander_error *err);

void literals_release(struct literals *literals);

#endif

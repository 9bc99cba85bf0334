/*
 * Literals: values as users write them.
 *
 * A number, true, false, null and a string in double quotes are those of JSON.
 * A JSON array of them is a list. Anything else is a string. A text that begins
 * with a double quote or a bracket must be JSON, and no text begins with = < >
 * ~ ' or a space, so slips are errors and not strings.
 *
 * Life:   a zeroed struct -> parse -> use the values -> release
 * Memory: strings are borrowed from the literals
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_LITERALS_H
#define SHELL_LITERALS_H

#include "colander.h"

struct literals {
    struct colander_value *values;
    size_t count; /* 1 if it is not a list */
    size_t capacity;
    bool is_list;                /* written as a JSON array */
    struct colander_buffer text; /* bytes of the strings */
};

/* If it fails with INVALID, *offset is the place of the mistake in `source`. */
COLANDER_CHECKED enum colander_code literals_parse(struct literals *literals,
                                                   const char *source,
                                                   size_t *offset,
                                                   struct colander_error *err);

/* Reads one string, with or without double quotes. */
COLANDER_CHECKED enum colander_code
literals_parse_text(struct literals *literals, const char *source,
                    size_t *offset, struct colander_error *err);

void literals_release(struct literals *literals);

/* Replaces `key` by the key in `source`: one literal, or a list of parts. */
COLANDER_CHECKED enum colander_code
literals_parse_key(const char *source, struct colander_buffer *key,
                   size_t *offset, struct colander_error *err);

#endif

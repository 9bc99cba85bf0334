/*
 * Literals: typed values as people write them.
 *
 * A JSON number, true, false and null are what they say; a JSON string in
 * double quotes is a string; a JSON array of these is a list; anything else
 * is a string as it is. A text that begins like a JSON string or array must be
 * one: a slip there is a mistake and not a string; so is a text that begins
 * with one of = < > ~ ' or a space.
 *
 * Life:   parse -> use the values -> release
 * Memory: the values' strings are borrowed from the literals
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_LITERALS_H
#define SHELL_LITERALS_H

#include "colander.h"

struct literals {
    struct colander_value *values;
    size_t count;                /* 1 unless it is a list */
    bool is_list;                /* written as a JSON array */
    struct colander_buffer text; /* bytes of the strings */
};

#define LITERALS_EMPTY                                                         \
    {                                                                          \
        NULL, 0, false, COLANDER_BUFFER_EMPTY                                  \
    }

/* On INVALID, *offset is the byte of `source` where the mistake is. */
COLANDER_CHECKED enum colander_code literals_parse(struct literals *literals,
                                                   const char *source,
                                                   size_t *offset,
                                                   struct colander_error *err);

/* One string, in JSON's double quotes or else as it is: never a number. */
COLANDER_CHECKED enum colander_code
literals_parse_text(struct literals *literals, const char *source,
                    size_t *offset, struct colander_error *err);

void literals_release(struct literals *literals);

/* Replaces `key` by the key written in `source`: one literal, or a list of
 * the parts. */
COLANDER_CHECKED enum colander_code
literals_parse_key(const char *source, struct colander_buffer *key,
                   size_t *offset, struct colander_error *err);

#endif

/*
 * Text that is put together piece by piece. That memory ran out is kept until
 * the end, so that adding needs no checks.
 *
 * Life:   TEXT_EMPTY -> add, ... -> text_settle, text_string -> release
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef CLUSTER_TEXT_H
#define CLUSTER_TEXT_H

#include "core/core.h"

struct text {
    struct colander_buffer bytes; /* without the zero after them */
    bool is_short;                /* of memory */
};

#define TEXT_EMPTY                                                             \
    {                                                                          \
        COLANDER_BUFFER_EMPTY, false                                           \
    }

void text_add(struct text *text, const char *format, ...) COLANDER_FORMAT(2, 3);

/* Adds what a URL has instead of these bytes: "%20" for a space. Letters,
 * digits and "-._~" stay, and '/' if `keeps_slash`. */
void text_add_encoded(struct text *text, const char *bytes, bool keeps_slash);

/* Returns the text with a zero after it, borrowed until it changes; "" if
 * memory ran out. */
const char *text_string(struct text *text);

/* Fails with NO_MEMORY if something could not be added. */
COLANDER_CHECKED enum colander_code text_settle(const struct text *text,
                                                struct colander_error *err);

void text_clear(struct text *text);

void text_release(struct text *text);

#endif

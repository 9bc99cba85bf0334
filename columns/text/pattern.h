/*
 * Patterns: regular expressions, by RE2. The time of a match is in proportion
 * to the text, whatever the pattern, so patterns may come from strangers.
 *
 * A library that was built without RE2 creates none.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_COLUMNS_TEXT_PATTERN_H
#define COLANDER_COLUMNS_TEXT_PATTERN_H

#include "core/core.h"

struct pattern;

/* Creates the pattern of `text` (copied). Fails with INVALID at the byte
 * *offset of it, with LIMIT if the pattern takes too much memory. */
COLANDER_CHECKED enum colander_code pattern_create(struct colander_slice text,
                                                   bool is_folded,
                                                   struct pattern **pattern,
                                                   size_t *offset,
                                                   struct colander_error *err);

/* NULL is allowed. */
void pattern_destroy(struct pattern *pattern);

/* Passes to `visit` pieces, of ASCII, that every folded text has which the
 * pattern matches, as far as they are known. Stops if `visit` fails, and
 * returns its code. Fails with NO_MEMORY. */
COLANDER_CHECKED enum colander_code pattern_pieces(
    const struct pattern *pattern,
    enum colander_code (*visit)(void *context, struct colander_slice piece,
                                struct colander_error *err),
    void *context, struct colander_error *err);

/* Sets *is_found to whether the pattern matches some part of the text. Any
 * number of threads can match at once. Fails with NO_MEMORY. */
COLANDER_CHECKED enum colander_code
pattern_matches(const struct pattern *pattern, struct colander_slice text,
                bool *is_found, struct colander_error *err);

#endif

/*
 * Conditions: predicates on one column as users write them.
 *
 *     COL=VALUE  COL!=VALUE  COL<VALUE  COL<=VALUE  COL>VALUE  COL>=VALUE
 *     COL=[VALUE,...]  equals one of them    COL~TEXT  begins with TEXT
 *     COL?  exists                           COL!      is missing
 *
 * COL is a path as in columns.h, but not that of the key. A backslash makes an
 * operator, or a space before one, part of the name. VALUE is a literal as in
 * literals.h.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_CONDITIONS_H
#define SHELL_CONDITIONS_H

#include "colander.h"

/* Returns a predicate, which the caller destroys, or NULL on failure. If it
 * fails with INVALID, *offset is the byte of `text` with the mistake. */
COLANDER_CHECKED struct colander_predicate *
condition_parse(const char *text, size_t *offset, struct colander_error *err);

/* The same for "some column, at any depth, equals the literal in `text`". */
COLANDER_CHECKED struct colander_predicate *
condition_parse_any(const char *text, size_t *offset,
                    struct colander_error *err);

#endif

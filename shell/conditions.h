/*
 * Conditions: questions about one column as people write them.
 *
 *     COL=VALUE  COL!=VALUE  COL<VALUE  COL<=VALUE  COL>VALUE  COL>=VALUE
 *     COL=[VALUE,...]  one of them      COL~TEXT  begins with TEXT
 *     COL?  is there                    COL!      is not there
 *
 * COL is a path as in columns.h, where a backslash before an operator makes it
 * part of the name, as it does with a space at the end. It is not the key's
 * column. VALUE is a literal as in literals.h.
 *
 * Knows:  nothing of families or of where the text came from
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_CONDITIONS_H
#define SHELL_CONDITIONS_H

#include "colander.h"

/* The caller's to destroy. NULL on failure; when that is INVALID, *offset is
 * the byte of `text` where the mistake is. */
COLANDER_CHECKED struct colander_predicate *
condition_parse(const char *text, size_t *offset, struct colander_error *err);

/* Some column, at whatever depth, equals the literal in `text`. */
COLANDER_CHECKED struct colander_predicate *
condition_parse_any(const char *text, size_t *offset,
                    struct colander_error *err);

/*
 * Appends `text` and a line with a caret under its byte `offset`, both set in
 * by four spaces. What a terminal would not show as one place is replaced.
 */
COLANDER_CHECKED enum colander_code
condition_append_caret(struct colander_buffer *out, const char *text,
                       size_t offset, struct colander_error *err);

#endif

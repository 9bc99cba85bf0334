/*
 * Where: expressions of Lua that rows must meet.
 *
 * They are evaluated row by row in a state of their own, which has the
 * libraries string, math, table and utf8, four functions besides, and nothing
 * that reaches outside. A name that is none of these is a column of the row.
 * What an expression may take is memory up to WHERE_MEMORY_MAX, and time until
 * Ctrl-C.
 *
 * docs/queries.md tells the rest.
 *
 * Life:   create -> add* -> accepts* -> destroy
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_WHERE_H
#define SHELL_WHERE_H

#include "colander.h"

/* Bytes that all expressions together may hold: some of the largest rows,
 * decoded. */
#define WHERE_MEMORY_MAX ((size_t)256 << 20)

struct where;

/* NULL when memory is short. */
struct where *where_create(void);

/* NULL is allowed. */
void where_destroy(struct where *where);

/* Adds an expression, borrowed until destroy. When it is INVALID, *offset is
 * the byte of `text` where the mistake is. */
COLANDER_CHECKED enum colander_code where_add(struct where *where,
                                              const char *text, size_t *offset,
                                              struct colander_error *err);

/* Whether the row meets all expressions. INVALID where one fails, CANCELLED on
 * Ctrl-C. */
COLANDER_CHECKED enum colander_code where_accepts(struct where *where,
                                                  struct colander_slice key,
                                                  struct colander_slice row,
                                                  bool *accepts,
                                                  struct colander_error *err);

#endif

/*
 * Where: expressions of Lua that rows must meet.
 *
 * Each row is evaluated in a separate Lua state, which has the libraries
 * string, math, table and utf8, a few functions, and nothing that reaches
 * outside. All other names are columns of the row. Memory is limited to
 * WHERE_MEMORY_MAX; Ctrl-C limits the time. docs/queries.md describes the
 * expressions.
 *
 * Life:   create -> add* -> accepts* -> destroy
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_WHERE_H
#define SHELL_WHERE_H

#include "colander.h"

/* Bytes of all expressions together: room for some of the largest rows,
 * decoded. */
#define WHERE_MEMORY_MAX ((size_t)256 << 20)

struct where;

/* Returns NULL if memory is short. */
struct where *where_create(void);

/* NULL is allowed. */
void where_destroy(struct where *where);

/* Adds an expression, borrowed until destroy. If it fails with INVALID, *offset
 * is the byte of `text` with the mistake. */
COLANDER_CHECKED enum colander_code where_add(struct where *where,
                                              const char *text, size_t *offset,
                                              struct colander_error *err);

/* Sets *accepts to whether the row meets all expressions. Fails with INVALID if
 * one raises an error, with CANCELLED on Ctrl-C. */
COLANDER_CHECKED enum colander_code where_accepts(struct where *where,
                                                  struct colander_slice key,
                                                  struct colander_slice row,
                                                  bool *accepts,
                                                  struct colander_error *err);

/* Returns the number of columns that the expressions seem to read, `count` at
 * most, and their paths, valid until destroy. */
size_t where_columns(struct where *where, const char **paths, size_t count);

/* Returns the conditions that the expressions seem to have, `likes == "5"`, or
 * NULL: none. It is the caller's. */
COLANDER_CHECKED struct colander_predicate *
where_comparisons(struct where *where);

#endif

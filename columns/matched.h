/*
 * Which columns matched in the rows of a find, and in how many of them.
 *
 * Memory is bounded whatever the rows are: only the first paths are told.
 *
 * Life:   create -> add for each row, get -> destroy
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_COLUMNS_MATCHED_H
#define COLANDER_COLUMNS_MATCHED_H

#include "columns/columns.h"

/* Different paths that are told, and bytes of their text. */
#define MATCHED_PATHS_MAX 1000
#define MATCHED_SIZE_MAX (256u << 10)

struct matched;

/* NULL when memory is short. */
struct matched *matched_create(void);

/* NULL is allowed. */
void matched_destroy(struct matched *matched);

/* Adds the columns that matched in one row: none twice. On failure some of them
 * are counted. */
COLANDER_CHECKED enum colander_code matched_add(struct matched *matched,
                                                struct colander_columns columns,
                                                struct colander_error *err);

/* As colander_cursor_matched, in the order in which paths were first met. */
bool matched_get(const struct matched *matched, size_t index, const char **path,
                 uint64_t *row_count);

#endif

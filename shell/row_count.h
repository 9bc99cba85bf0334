/*
 * Counts rows.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_ROW_COUNT_H
#define SHELL_ROW_COUNT_H

#include "colander.h"

/* Counts the rows that match `where` (NULL: all) up to `limit`. Ctrl-C stops
 * it. */
COLANDER_CHECKED enum colander_code
row_count(struct colander_family *family,
          const struct colander_predicate *where, uint64_t limit,
          uint64_t *count, struct colander_error *err);

#endif

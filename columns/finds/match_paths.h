/*
 * Match paths: how an evaluation fills struct colander_matches. Match counts:
 * in how many rows of a find each path matched.
 *
 * An evaluation adds the places where paths matched, in any order and a path
 * possibly several times. Finishing puts the paths in the order of the row,
 * each once. They take at most COLANDER_MATCHES_SIZE_MAX bytes. Only the first
 * paths are counted, so memory is bounded whatever the rows are.
 *
 * Life:    clear -> add -> finish; counts: create -> add for each row, get ->
 *          destroy
 * Knows:   texts and numbers; nothing of rows or predicates
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_COLUMNS_FINDS_MATCH_PATHS_H
#define COLANDER_COLUMNS_FINDS_MATCH_PATHS_H

#include "columns/columns.h"

/* Removes all paths. Keeps a usual amount of memory. */
void match_paths_clear(struct colander_matches *matches);

/*
 * Adds a value that matched, at `offset` of the row. `path` (copied) is text
 * without a zero byte. Omits a path for which there is no room, and marks the
 * matches as cut.
 */
COLANDER_CHECKED enum colander_code
match_paths_add(struct colander_matches *matches, struct colander_slice path,
                size_t offset, struct colander_error *err);

/* Returns whether a path was omitted. Then it is of no use to add more. */
bool match_paths_is_cut(const struct colander_matches *matches);

/* Orders the paths. colander_matches_columns then returns them. */
COLANDER_CHECKED enum colander_code
match_paths_finish(struct colander_matches *matches,
                   struct colander_error *err);

/* -------------------------------------------------------------- counts --- */

/* Different paths that are counted, and bytes of their text. */
#define MATCH_COUNTS_PATHS_MAX 1000
#define MATCH_COUNTS_SIZE_MAX (256u << 10)

struct match_counts;

/* Returns NULL if memory is short. */
struct match_counts *match_counts_create(void);

/* NULL is allowed. */
void match_counts_destroy(struct match_counts *counts);

/* Adds the columns that matched in one row. Requires that none is there twice.
 * On failure some of them are counted. */
COLANDER_CHECKED enum colander_code
match_counts_add(struct match_counts *counts, struct colander_columns columns,
                 struct colander_error *err);

/* Does what colander_cursor_matched does, in the order in which paths were
 * first added. */
bool match_counts_get(const struct match_counts *counts, size_t index,
                      const char **path, uint64_t *row_count);

#endif

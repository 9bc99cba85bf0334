/*
 * The rows of a find that come from candidates.
 *
 * Life:   open -> next until there is no row -> close
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_COLUMNS_FINDS_CURSOR_CANDIDATES_H
#define COLANDER_COLUMNS_FINDS_CURSOR_CANDIDATES_H

#include "columns/finds/find.h"

struct cursor_candidates;

/*
 * Plans the find. Sets *candidates to NULL if it is not to read candidates;
 * `explain` says why. May replace `request->snapshot` by one that the find has
 * taken. `find` and the bounds are borrowed until close.
 */
COLANDER_CHECKED enum colander_code
cursor_candidates_open(struct find *find, struct find_request *request,
                       struct cursor_candidates **candidates,
                       struct colander_error *err);

/* Steps to the next candidate that matches. `result->key` is empty at the
 * end. */
COLANDER_CHECKED enum colander_code
cursor_candidates_next(struct cursor_candidates *candidates,
                       struct colander_result *result,
                       struct colander_error *err);

/* NULL is allowed. Call before the find's snapshot is released. */
void cursor_candidates_close(struct cursor_candidates *candidates);

#endif

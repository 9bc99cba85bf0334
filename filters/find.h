/*
 * Finds: candidates for a query, in order of keys. These are the callbacks
 * by which a cursor of columns asks for them (columns/candidates.h).
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_FILTERS_FIND_H
#define COLANDER_FILTERS_FIND_H

#include "columns/candidates.h"

COLANDER_CHECKED enum colander_code
find_candidates_open(void *context, const struct candidate_request *request,
                     struct candidates **candidates,
                     struct colander_error *err);
COLANDER_CHECKED enum colander_code
find_candidates_next(struct candidates *candidates, struct candidate *found,
                     size_t max, size_t *count, struct colander_error *err);
COLANDER_CHECKED enum colander_code
find_candidates_read(struct candidates *candidates,
                     const struct candidate *found, size_t count,
                     struct candidate_rows *rows, struct colander_error *err);
void find_candidates_release(struct candidates *candidates,
                             struct candidate_rows *rows);
void find_candidates_close(struct candidates *candidates);

COLANDER_CHECKED enum colander_code
find_order_bound(void *context, const struct bound_request *request,
                 struct colander_buffer *bytes, struct colander_value *bound,
                 bool *found, struct colander_error *err);

#endif

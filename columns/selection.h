/*
 * Selections: chosen columns of a row, prepared once for many rows.
 *
 * Life:   selection_init -> selection_apply, many times, by many threads ->
 *         selection_release
 * Memory: the paths are copied
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_COLUMNS_SELECTION_H
#define COLANDER_COLUMNS_SELECTION_H

#include "columns/path.h"

struct selection {
    struct path *paths; /* sorted by path_compare */
    size_t count;
};

#define SELECTION_EMPTY                                                        \
    {                                                                          \
        NULL, 0                                                                \
    }

/* Fails with INVALID if a path is malformed. On failure *selection is
 * SELECTION_EMPTY. */
COLANDER_CHECKED enum colander_code selection_init(struct selection *selection,
                                                   const char *const *paths,
                                                   size_t count,
                                                   struct colander_error *err);

/* Does what colander_row_select does. Fails with CORRUPT if `row` is malformed.
 * On failure `out` is empty. */
COLANDER_CHECKED enum colander_code
selection_apply(const struct selection *selection, struct colander_slice row,
                struct colander_buffer *out, struct colander_error *err);

/* An empty selection is allowed. */
void selection_release(struct selection *selection);

#endif

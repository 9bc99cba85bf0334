/*
 * Arrangement: the columns of a row in the order in which they were selected.
 *
 * Life:   zeros -> init -> apply* -> release
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_OUTPUT_ARRANGEMENT_H
#define SHELL_OUTPUT_ARRANGEMENT_H

#include "colander.h"

struct arranged; /* a column */

struct arrangement {
    struct arranged *columns; /* owned; NULL: rows stay as they are */
    size_t count;
    struct colander_row_builder *builder; /* owned */
};

/* Takes the first names of the paths, which are copied. */
COLANDER_CHECKED enum colander_code
arrangement_init(struct arrangement *arrangement, const char *const *paths,
                 size_t count, struct colander_error *err);

/* Sets *row to one with the same columns, valid until the next call. A row that
 * has others too stays as it is. */
COLANDER_CHECKED enum colander_code
arrangement_apply(struct arrangement *arrangement, struct colander_slice *row,
                  struct colander_error *err);

void arrangement_release(struct arrangement *arrangement);

#endif

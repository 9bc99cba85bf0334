/*
 * Paths: the places of values in a row. A path is parsed once and followed in
 * many rows.
 *
 * A path has at least one step, and the first is a name. The text "" is the
 * column with the empty name. columns.h describes the text.
 *
 * Life:   colander_path_parse -> visit, append, many times, by many threads ->
 *         path_release
 * Memory: steps and names are one allocation, owned by the path
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_COLUMNS_PATH_H
#define COLANDER_COLUMNS_PATH_H

#include "columns/columns.h"

#include <stdlib.h>

/* Into the column `name` of a map, or into every element of an array. */
struct path_step {
    struct colander_slice name; /* of a map step */
    bool is_element;
};

struct path {
    struct path_step *steps;
    size_t count; /* 1 to COLANDER_ROW_DEPTH_MAX */
};

#define PATH_EMPTY                                                             \
    {                                                                          \
        NULL, 0                                                                \
    }

/* Parses `text` (copied). On failure *path is PATH_EMPTY. Fails with INVALID,
 * and the position of the mistake, counted in bytes from 1; with LIMIT if a
 * name is longer than a column's may be. Exported for the layers above. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_path_parse(const char *text, struct path *path,
                    struct colander_error *err);

/* An empty path is allowed. */
static inline void
path_release(struct path *path)
{
    free(path->steps);
    path->steps = NULL;
    path->count = 0;
}

/* Appends the path as text. colander_path_parse reads it as the same path. */
COLANDER_CHECKED enum colander_code path_append(struct colander_buffer *text,
                                                const struct path *path,
                                                struct colander_error *err);

/* Appends one step. `is_first`: it is the first of its path. */
COLANDER_CHECKED enum colander_code
path_append_step(struct colander_buffer *text, const struct path_step *step,
                 bool is_first, struct colander_error *err);

/* Returns <0, 0 or >0. A path sorts before the paths that begin with it, and
 * paths with the same beginning are adjacent. */
int path_compare(const struct path *a, const struct path *b);

/* Compares single steps in the same order. */
int path_step_compare(const struct path_step *a, const struct path_step *b);

/*
 * Receives a value at the path. The value is borrowed from the row, where it
 * begins at `offset`. A container comes with its bytes. Returns whether to
 * continue.
 */
typedef bool path_visitor(void *context, const struct colander_value *value,
                          size_t offset);

/*
 * Calls `visit` for each value at `path` in the encoded row, in the order of
 * the row. Allocates nothing. Stops at the first value if there can only be
 * one. Fails with CORRUPT if the bytes that it reads are malformed; it does not
 * check the others.
 */
COLANDER_CHECKED enum colander_code
path_visit(const struct path *path, struct colander_slice row,
           path_visitor *visit, void *context, struct colander_error *err);

#endif

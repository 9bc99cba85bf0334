/*
 * Paths: where in a row a value sits, parsed once and followed in many rows.
 *
 * A path is at least one step, a name first: the text "" is the column with
 * the empty name. The text is described in columns.h.
 *
 * Life:   path_parse -> visit, append, many times, by many threads ->
 *         path_release
 * Memory: steps and names are one allocation, owned by the path
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_PATH_H
#define COLANDER_PATH_H

#include "columns/columns.h"

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

/* Reads `text` (copied). On failure *path is PATH_EMPTY: INVALID says the
 * position of what is wrong, counted in bytes from 1; LIMIT that a name is
 * longer than any column's. */
COLANDER_CHECKED enum colander_code
path_parse(const char *text, struct path *path, struct colander_error *err);

/* An empty path is allowed. */
void path_release(struct path *path);

/* Appends the path as text, which path_parse reads as the same path. */
COLANDER_CHECKED enum colander_code path_append(struct colander_buffer *text,
                                                const struct path *path,
                                                struct colander_error *err);

/* Appends one step; `is_first` of those in the path. */
COLANDER_CHECKED enum colander_code
path_append_step(struct colander_buffer *text, const struct path_step *step,
                 bool is_first, struct colander_error *err);

/* <0, 0 or >0 in an order where a path comes before those that it begins, and
 * paths of one beginning stand together. */
int path_compare(const struct path *a, const struct path *b);

/* The same for one step. */
int path_step_compare(const struct path_step *a, const struct path_step *b);

/*
 * What path_visit calls for each value at the path, in the order of the row.
 * The value is borrowed from the row, where it begins at `offset`; containers
 * are given with their bytes. Answers whether to go on.
 */
typedef bool path_visitor(void *context, const struct colander_value *value,
                          size_t offset);

/*
 * Calls `visit` for what is at `path` in the encoded row. Allocates nothing;
 * stops at the first hit where there can be but one. CORRUPT when it meets
 * bytes that are no row; what it need not look at is not checked.
 */
COLANDER_CHECKED enum colander_code
path_visit(const struct path *path, struct colander_slice row,
           path_visitor *visit, void *context, struct colander_error *err);

#endif

/*
 * Column tree: the columns of a schema by their paths, to visit all in one pass
 * over a row.
 *
 * Life:    column_tree_add* -> column_node_child* -> column_tree_destroy
 * Threads: many at once, after the last add
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef LOADING_COLUMN_TREE_H
#define LOADING_COLUMN_TREE_H

#include "loading/typed_value.h"

/* A step below its parent. */
struct column_node {
    struct colander_slice name;    /* in a map */
    struct value_reading *reading; /* owned; NULL: not a column itself */
    struct column_node *element;   /* of an array; owned */
    struct column_node **children; /* of a map, by name; owned */
    size_t child_count;
    size_t child_capacity;
    size_t reading_count; /* of the root: in the tree */
};

/* Fails with INVALID or LIMIT, and the position, if `path` is not a path. */
COLANDER_CHECKED enum colander_code
column_path_check(const char *path, struct colander_error *err);

/* Adds the column at `path` to the tree *root, which may be NULL. `reading` is
 * copied. If the column is there already, it is replaced, or else the call
 * fails with INVALID. */
COLANDER_CHECKED enum colander_code
column_tree_add(struct column_node **root, const char *path,
                const struct value_reading *reading, bool replaces,
                struct colander_error *err);

/* NULL is allowed. */
void column_tree_destroy(struct column_node *root);

/* Returns the child of that name, or NULL. */
const struct column_node *column_node_child(const struct column_node *node,
                                            struct colander_slice name);

#endif

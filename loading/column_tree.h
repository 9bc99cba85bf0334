/*
 * Column tree: the columns of a schema, to be followed in a row, all at once.
 *
 * Life:    create -> child* -> destroy
 * Threads: many at once
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef LOADING_COLUMN_TREE_H
#define LOADING_COLUMN_TREE_H

#include "loading/schema.h"

/* A place in rows, one step below its parent. */
struct column_node {
    struct colander_slice name;          /* in a map */
    const struct value_reading *reading; /* NULL: only what is below counts */
    struct column_node *element;         /* of an array; owned */
    struct column_node **children;       /* of a map, by name; owned */
    size_t child_count;
};

/* *root is a row as a whole. `schema` is borrowed until destroy. */
COLANDER_CHECKED enum colander_code
column_tree_create(const struct schema *schema, struct column_node **root,
                   struct colander_error *err);

/* NULL is allowed. */
void column_tree_destroy(struct column_node *root);

/* The child called so, or NULL. */
const struct column_node *column_node_child(const struct column_node *node,
                                            struct colander_slice name);

#endif

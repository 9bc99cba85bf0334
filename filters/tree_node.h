/*
 * Nodes of a tree of presences: a leaf is the presence of a part, an inner node
 * the OR of its children.
 *
 * A node does not change once it is made, and is shared: trees of different
 * moments have in common what did not change between them. So whoever looks for
 * a value needs no lock; counting references does.
 *
 * Children may have fewer blocks than their parent, never more: a presence is
 * tiled to the largest of those that it is united with.
 *
 * Life:   make -> ref, unref; a node keeps its children
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_FILTERS_TREE_NODE_H
#define COLANDER_FILTERS_TREE_NODE_H

#include "filters/presence.h"

/* More levels than a tree of 2^32 leaves has, with two children a node. */
#define TREE_LEVELS_MAX 34

struct tree_node {
    struct presence presence;
    uint64_t size;       /* bytes of presences, its own and all below */
    uint64_t full_size;  /* the same, had no leaf been folded */
    uint64_t fold_count; /* how often the leaves below, or it, were halved */
    uint32_t full_block_count; /* of the largest of them before that */
    uint32_t part_count;       /* leaves below, or 1 */
    uint32_t reference_count;
    uint32_t slot;  /* of a leaf */
    uint32_t level; /* 0 for a leaf */
    uint32_t child_count;
    struct tree_node *children[]; /* counted; one level below */
};

/* A leaf: `presence` copied, folded until it has at most `block_max` blocks if
 * that can be. NULL when memory is short. */
struct tree_node *tree_leaf_make(uint32_t slot, const struct presence *presence,
                                 uint32_t block_max);

/* An inner node over `count` nodes of one level, at least one. NULL when memory
 * is short. */
struct tree_node *tree_node_make(struct tree_node *const *children,
                                 size_t count);

struct tree_node *tree_node_ref(struct tree_node *node);

/* NULL is allowed. */
void tree_node_unref(struct tree_node *node);

/* The child that is most similar: with the fewest bits that differ. */
uint32_t tree_node_closest(const struct tree_node *node,
                           const struct presence *presence);

/* The same tree with no presence of more than `block_max` blocks, sharing what
 * is small enough, counted. NULL when memory is short. */
struct tree_node *tree_node_folded(struct tree_node *node, uint32_t block_max);

/* Sets in `slots` those of the leaves that may hold the value and are in
 * `live`: a bit for each. */
void tree_node_find(const struct tree_node *root, uint64_t value_hash,
                    const uint64_t *live, uint64_t *slots);

/* Whether every node but the root has `order` to twice as many children, and
 * every presence is the OR of those below; says what is wrong. For tests. */
bool tree_node_check(const struct tree_node *root, uint32_t order,
                     struct colander_error *err);

#endif

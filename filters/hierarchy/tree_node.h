/*
 * Nodes of a tree of presences. A leaf is the presence of a part, an inner node
 * the OR of its children.
 *
 * A node never changes once it is made. Trees of different moments share the
 * nodes that did not change between them, so searching needs no lock; counting
 * references does.
 *
 * Children may have fewer blocks than their parent, never more. A presence is
 * tiled to the largest of those that it is united with.
 *
 * Life: make -> ref, unref; a node keeps its children
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_FILTERS_HIERARCHY_TREE_NODE_H
#define COLANDER_FILTERS_HIERARCHY_TREE_NODE_H

#include "filters/presence.h"

/* More levels than a tree of 2^32 leaves with two children a node. */
#define TREE_LEVELS_MAX 34

struct tree_node {
    struct presence presence;
    uint64_t size;       /* bytes of its presence and all below */
    uint64_t full_size;  /* the same if no leaf were folded */
    uint64_t fold_count; /* how often this leaf, or those below, were halved */
    uint32_t full_block_count; /* of the largest of them before folding */
    uint32_t part_count;       /* leaves below, or 1 */
    uint32_t reference_count;
    uint32_t slot;  /* of a leaf */
    uint32_t level; /* 0 for a leaf */
    uint32_t child_count;
    struct tree_node *children[]; /* counted; one level below */
};

/* Returns a leaf with a copy of `presence`, folded to at most `block_max`
 * blocks if possible. NULL if memory is short. */
struct tree_node *tree_leaf_make(uint32_t slot, const struct presence *presence,
                                 uint32_t block_max);

/* Returns an inner node over `count` nodes of one level, at least one. NULL if
 * memory is short. */
struct tree_node *tree_node_make(struct tree_node *const *children,
                                 size_t count);

struct tree_node *tree_node_ref(struct tree_node *node);

/* NULL is allowed. */
void tree_node_unref(struct tree_node *node);

/* Returns the most similar child: the one with the fewest different bits. */
uint32_t tree_node_closest(const struct tree_node *node,
                           const struct presence *presence);

/* Returns the same tree without presences of more than `block_max` blocks. It
 * shares all that are small enough. NULL if memory is short. */
struct tree_node *tree_node_folded(struct tree_node *node, uint32_t block_max);

/* Sets in `slots` the leaves that may hold the value and whose bit is set in
 * `live`. */
void tree_node_find(const struct tree_node *root, uint64_t value_hash,
                    const uint64_t *live, uint64_t *slots);

#endif

/*
 * Changes of a tree of presences: adds or removes a leaf. The nodes above it
 * are replaced, split, joined and balanced as in a B-tree. The old tree stays
 * unchanged.
 *
 * Life: init -> insert, take_out -> release
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_FILTERS_HIERARCHY_TREE_CHANGE_H
#define COLANDER_FILTERS_HIERARCHY_TREE_CHANGE_H

#include "filters/hierarchy/tree_node.h"

#define TREE_ORDER_MIN 2u
#define TREE_ORDER_MAX 4096u

struct tree_changer {
    uint32_t order;
    struct tree_node **lists[2]; /* room for children of new nodes */
};

/* `order` is clamped to its limits. Returns false if memory is short. */
bool tree_changer_init(struct tree_changer *changer, uint32_t order);
void tree_changer_release(struct tree_changer *changer);

/* Sets *created to the root of the tree with `leaf` (taken) in it. `root` NULL
 * is an empty tree. Returns false if memory is short. */
bool tree_changer_insert(struct tree_changer *changer, struct tree_node *root,
                         struct tree_node *leaf, struct tree_node **created);

/* Replaces `*root` by the root without the leaf of `slot`; NULL if no leaf is
 * left, the same if there is no such leaf. Returns false if memory is short. */
bool tree_changer_take_out(struct tree_changer *changer,
                           struct tree_node **root, uint32_t slot);

#endif

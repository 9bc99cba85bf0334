/*
 * Changes of a tree of presences: a leaf comes or goes, and the nodes above it
 * are made anew, split, joined and evened out as in a B-tree. The old tree
 * stays as it is.
 *
 * Life:   init -> insert, take_out -> release
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_FILTERS_TREE_CHANGE_H
#define COLANDER_FILTERS_TREE_CHANGE_H

#include "filters/tree_node.h"

#define TREE_ORDER_MIN 2u
#define TREE_ORDER_MAX 4096u

struct tree_changer {
    uint32_t order;
    struct tree_node **lists[2]; /* room for children of nodes under way */
};

/* `order` outside of the limits is taken for the nearest. False when memory is
 * short. */
bool tree_changer_init(struct tree_changer *changer, uint32_t order);
void tree_changer_release(struct tree_changer *changer);

/* Makes the root of the tree with `leaf` (taken) in it; `root` NULL is an empty
 * tree. Counted. False when memory is short. */
bool tree_changer_insert(struct tree_changer *changer, struct tree_node *root,
                         struct tree_node *leaf, struct tree_node **made);

/* Puts in the place of `*root` the root without the leaf of `slot`: counted,
 * and NULL when no leaf is left. The same when there is no such leaf. False
 * when memory is short. */
bool tree_changer_take_out(struct tree_changer *changer,
                           struct tree_node **root, uint32_t slot);

#endif

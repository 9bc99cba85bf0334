/*
 * Trees: the published kind of hierarchy, Bloofi (filters/hierarchy.h says what
 * the functions promise).
 *
 * As in the paper: leaves are the presences of parts, an inner node is the OR
 * of its children, every node but the root has `order` to twice as many of
 * them. A new leaf goes down to the child with the fewest bits that differ,
 * becomes the neighbour of the leaf that is most similar, and nodes that get
 * too large are split; nodes that get too small take children of a neighbour,
 * or join it. The leaves that the paper keeps on disk are the filter files;
 * here leaves are in memory, too, so that a question reads no file that it need
 * not.
 *
 * Otherwise than there, nodes do not change: a change makes new ones from the
 * leaf to the root, and editions keep the root that they were given.
 *
 * Presences that cannot be united (other probes or hash_bits, block counts that
 * are no power-of-two multiples of each other) get trees of their own.
 *
 * Memory: over the budget, the largest presences of the tree that has them are
 *         folded, and new ones that are as large; they may grow again when a
 *         quarter of the budget would do
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_FILTERS_TREE_H
#define COLANDER_FILTERS_TREE_H

#include "filters/hierarchy.h"

struct tree;
struct tree_edition;

/* `order` below 2 or above 4096 is taken for those. */
struct tree *tree_create(uint32_t order, uint64_t budget);
void tree_destroy(struct tree *tree);

COLANDER_CHECKED enum colander_code tree_add(struct tree *tree, uint32_t slot,
                                             const struct presence *presence,
                                             struct colander_error *err);

/* A leaf that memory does not suffice to take out is dead: no new edition tells
 * of it, and the next change tries again. */
void tree_remove(struct tree *tree, uint32_t slot);

/* NULL when memory is short. */
struct tree_edition *tree_publish(struct tree *tree);
void tree_edition_release(struct tree_edition *edition);

uint32_t tree_edition_slots(const struct tree_edition *edition);
void tree_find(const struct tree_edition *edition, uint64_t value_hash,
               uint64_t *slots);

struct hierarchy_sizes tree_sizes(const struct tree *tree);

/* Whether all trees are as the paper says; says what is wrong. For tests. */
bool tree_check(const struct tree *tree, struct colander_error *err);

#endif

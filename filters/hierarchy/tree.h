/*
 * Trees: the published kind of hierarchy, Bloofi.
 *
 * As in the paper, leaves are the presences of parts, an inner node is the OR
 * of its children, and every node except the root has `order` to twice as many
 * of them. A new leaf descends to the child with the fewest different bits and
 * becomes the neighbour of the most similar leaf. Nodes that get too large are
 * split. Nodes that get too small take children from a neighbour or join it.
 * The leaves that the paper keeps on disk are the filter files; here leaves are
 * in memory too, so that a query reads no unnecessary file.
 *
 * Unlike in the paper, nodes never change: a change replaces the nodes from the
 * leaf to the root, and versions keep their root.
 *
 * Presences that cannot be united (other probes or hash_bits, or block counts
 * that are not power-of-two multiples of each other) get trees of their own.
 *
 * A leaf that cannot be removed for lack of memory is dead: new versions ignore
 * it, and the next change tries again.
 *
 * Memory: if the budget is exceeded, the largest presences of the tree that has
 *         them are folded, and new ones of that size. They may grow again when
 *         a quarter of the budget would suffice
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_FILTERS_HIERARCHY_TREE_H
#define COLANDER_FILTERS_HIERARCHY_TREE_H

#include "filters/hierarchy/hierarchy_kind.h"
#include "filters/hierarchy/tree_node.h"

struct tree_version {
    struct hierarchy_version base;
    uint64_t *live; /* a bit for each slot: leaves may be dead */
    size_t root_count;
    struct tree_node *roots[]; /* counted */
};

/* `order` is clamped to 2 to 4096. Returns NULL if memory is short. */
struct hierarchy *tree_create(uint32_t order);

#endif

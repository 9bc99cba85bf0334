/*
 * Nodes of a tree of presences.
 *
 * Recursive functions descend one level at a time, at most TREE_LEVELS_MAX.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filters/hierarchy/tree_node.h"

#include <assert.h>
#include <stdlib.h>

/* ---------------------------------------------------------------- life --- */

struct tree_node *
tree_node_ref(struct tree_node *node)
{
    node->reference_count++;
    return node;
}

void
tree_node_unref(struct tree_node *node)
{
    if (node == NULL || --node->reference_count > 0)
        return;
    for (uint32_t i = 0; i < node->child_count; i++)
        tree_node_unref(node->children[i]);
    presence_release(&node->presence);
    free(node);
}

/* Returns a node with an empty presence and without children. */
static struct tree_node *
node_create(const struct presence_shape *shape, size_t child_max)
{
    struct tree_node *node =
        calloc(1, sizeof(*node) + child_max * sizeof(node->children[0]));

    if (node == NULL)
        return NULL;
    if (presence_init(&node->presence, shape, NULL) != COLANDER_OK) {
        free(node);
        return NULL;
    }
    node->reference_count = 1;
    node->size = presence_size(shape);
    return node;
}

/* Returns a node with `presence` folded to at most `block_max` blocks. */
static struct tree_node *
node_within(const struct presence *presence, uint32_t block_max,
            size_t child_max)
{
    struct presence_shape shape = presence->shape;
    struct tree_node *node;
    uint32_t folds = 0;

    for (; shape.block_count > block_max && shape.block_count % 2 == 0;
         shape.block_count /= 2)
        folds++;
    node = node_create(&shape, child_max);
    if (node == NULL)
        return NULL;
    presence_unite(&node->presence, presence);
    if (child_max == 0) {
        node->fold_count = folds;
        node->full_block_count = presence->shape.block_count;
        node->full_size = presence_size(&presence->shape);
    }
    return node;
}

struct tree_node *
tree_leaf_make(uint32_t slot, const struct presence *presence,
               uint32_t block_max)
{
    struct tree_node *leaf = node_within(presence, block_max, 0);

    if (leaf == NULL)
        return NULL;
    leaf->slot = slot;
    leaf->part_count = 1;
    return leaf;
}

/* Returns the size that the presence of an inner node alone would have if no
 * leaf had been folded. */
static uint64_t
full_size_of(const struct tree_node *node)
{
    return (uint64_t)node->full_block_count * (PRESENCE_BLOCK_BITS / 8);
}

/* Appends a child (taken) to a node under construction. */
static void
adopt(struct tree_node *node, struct tree_node *child)
{
    assert(node->child_count == 0 || node->level == child->level + 1);
    node->level = child->level + 1;
    node->size += child->size;
    node->part_count += child->part_count;
    node->fold_count += child->fold_count;
    node->full_size += child->full_size;
    if (child->full_block_count > node->full_block_count) {
        node->full_size -= full_size_of(node);
        node->full_block_count = child->full_block_count;
        node->full_size += full_size_of(node);
    }
    node->children[node->child_count++] = child;
}

struct tree_node *
tree_node_make(struct tree_node *const *children, size_t count)
{
    const struct presence_shape *shape = &children[0]->presence.shape;
    struct tree_node *node;

    for (size_t i = 1; i < count; i++) {
        if (children[i]->presence.shape.block_count > shape->block_count)
            shape = &children[i]->presence.shape;
    }
    node = node_create(shape, count);
    if (node == NULL)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        presence_unite(&node->presence, &children[i]->presence);
        adopt(node, tree_node_ref(children[i]));
    }
    return node;
}

/* ------------------------------------------------------------- folding --- */

static struct tree_node *
fold_node(const struct tree_node *node, uint32_t block_max)
{
    struct tree_node *created =
        node_within(&node->presence, block_max, node->child_count);

    if (created == NULL)
        return NULL;
    if (node->level == 0) {
        created->slot = node->slot;
        created->part_count = 1;
        created->fold_count += node->fold_count;
        created->full_block_count = node->full_block_count;
        created->full_size = node->full_size;
    }
    for (uint32_t i = 0; i < node->child_count; i++) {
        struct tree_node *child =
            tree_node_folded(node->children[i], block_max);

        if (child == NULL) {
            tree_node_unref(created);
            return NULL;
        }
        adopt(created, child);
    }
    return created;
}

struct tree_node *
tree_node_folded(struct tree_node *node, uint32_t block_max)
{
    /* no child is larger */
    if (node->presence.shape.block_count <= block_max)
        return tree_node_ref(node);
    return fold_node(node, block_max);
}

/* ---------------------------------------------------------- similarity --- */

/* Returns the number of bits that differ, with the smaller presence tiled. */
static uint64_t
distance(const struct presence *a, const struct presence *b)
{
    size_t a_count = (size_t)a->shape.block_count * PRESENCE_BLOCK_WORDS;
    size_t b_count = (size_t)b->shape.block_count * PRESENCE_BLOCK_WORDS;
    size_t least = a_count < b_count ? a_count : b_count;
    size_t most = a_count < b_count ? b_count : a_count;
    uint64_t differ = 0;

    assert(least > 0);
    for (size_t at = 0; at < most; at += least) {
        const uint64_t *a_words = a->words + at % a_count;
        const uint64_t *b_words = b->words + at % b_count;

        for (size_t i = 0; i < least; i++)
            differ += presence_bit_count(a_words[i] ^ b_words[i]);
    }
    return differ;
}

uint32_t
tree_node_closest(const struct tree_node *node, const struct presence *presence)
{
    uint64_t least = UINT64_MAX;
    uint32_t closest = 0;

    for (uint32_t i = 0; i < node->child_count; i++) {
        uint64_t differ = distance(&node->children[i]->presence, presence);

        if (differ < least) {
            least = differ;
            closest = i;
        }
    }
    return closest;
}

/* -------------------------------------------------------------- asking --- */

/* Returns the probe's block in a node. The remainder of a remainder works
 * because all block counts of a tree divide that of its root. */
static inline uint32_t
block_in(const struct tree_node *node, const struct presence_probe *probe)
{
    uint32_t blocks = node->presence.shape.block_count;

    return (blocks & (blocks - 1)) == 0 ? probe->block & (blocks - 1)
                                        : probe->block % blocks;
}

/* Searches below an inner node that may hold the value. */
static void
find_below(const struct tree_node *node, const struct presence_probe *probe,
           const uint64_t *live, uint64_t *slots)
{
    for (uint32_t i = 0; i < node->child_count; i++) {
        const struct presence *child = &node->children[i]->presence;

        __builtin_prefetch(child->words +
                           (size_t)block_in(node->children[i], probe) *
                               PRESENCE_BLOCK_WORDS);
    }
    for (uint32_t i = 0; i < node->child_count; i++) {
        const struct tree_node *child = node->children[i];

        if (!presence_may_hold_probe(&child->presence, probe,
                                     block_in(child, probe)))
            continue;
        if (child->level > 0)
            find_below(child, probe, live, slots);
        else
            slots[child->slot / 64] |=
                live[child->slot / 64] & UINT64_C(1) << child->slot % 64;
    }
}

void
tree_node_find(const struct tree_node *root, uint64_t value_hash,
               const uint64_t *live, uint64_t *slots)
{
    struct presence_probe probe;

    presence_locate(&root->presence.shape, value_hash, &probe);
    if (presence_may_hold_probe(&root->presence, &probe, probe.block))
        find_below(root, &probe, live, slots);
}

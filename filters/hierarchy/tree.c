/*
 * Trees of presences: the list of trees, the budget, and versions.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filters/hierarchy/tree.h"

#include <assert.h>
#include <stdlib.h>

#include "filters/hierarchy/tree_change.h"

/* A tree of presences that fit each other. */
struct subtree {
    struct presence_shape shape; /* one of them */
    struct tree_node *root;      /* inner; NULL: no parts, any shape */
    uint32_t block_max;          /* presences with more are folded */
};

struct tree {
    struct hierarchy base;
    struct tree_changer changer;
    struct subtree *subtrees;
    size_t subtree_count;
    uint64_t *live; /* a bit for each slot that is a part */
    uint64_t *dead; /* slots that were removed and still have a leaf */
    uint32_t word_count;
    uint32_t dead_count;
};

static inline bool
has_slot(const uint64_t *slots, uint32_t slot)
{
    return (slots[slot / 64] >> slot % 64 & 1) != 0;
}

/* -------------------------------------------------------------- budget --- */

static uint64_t
tree_size(const struct tree *tree)
{
    uint64_t size = 0;

    for (size_t i = 0; i < tree->subtree_count; i++) {
        if (tree->subtrees[i].root != NULL)
            size += tree->subtrees[i].root->size;
    }
    return size;
}

/* Returns the subtree with the largest presences that can fold, or NULL. */
static struct subtree *
largest_subtree(struct tree *tree, const struct subtree *changed,
                const struct tree_node *changed_root)
{
    struct subtree *largest = NULL;
    uint32_t most = 0;

    for (size_t i = 0; i < tree->subtree_count; i++) {
        struct subtree *subtree = &tree->subtrees[i];
        const struct tree_node *root =
            subtree == changed ? changed_root : subtree->root;
        uint32_t blocks = root == NULL ? 0 : root->presence.shape.block_count;

        if (blocks > most && blocks % 2 == 0) {
            most = blocks;
            largest = subtree;
        }
    }
    return largest;
}

/* Folds until all subtrees fit the budget or nothing can be folded, as if
 * `*root` (counted) belonged to `subtree`. Returns false if memory is short.
 * Then what was folded stays folded, and no part has changed. */
static bool
keep_to_budget(struct tree *tree, const struct subtree *subtree,
               struct tree_node **root)
{
    uint64_t others =
        tree_size(tree) - (subtree->root == NULL ? 0 : subtree->root->size);

    while (others + (*root)->size > tree->base.budget) {
        struct subtree *victim = largest_subtree(tree, subtree, *root);
        struct tree_node **folded;
        struct tree_node *created;
        uint32_t block_max;

        if (victim == NULL)
            return true;
        folded = victim == subtree ? root : &victim->root;
        assert(*folded != NULL);
        block_max = (*folded)->presence.shape.block_count / 2;
        created = tree_node_folded(*folded, block_max);
        if (created == NULL)
            return false;
        if (victim != subtree)
            others += created->size - (*folded)->size;
        tree_node_unref(*folded);
        *folded = created;
        victim->block_max = block_max;
    }
    return true;
}

/* --------------------------------------------------------- taking out --- */

static bool
take_out_leaf(struct tree *tree, uint32_t slot)
{
    for (size_t i = 0; i < tree->subtree_count; i++) {
        struct subtree *subtree = &tree->subtrees[i];
        struct tree_node *root = subtree->root;

        if (root == NULL)
            continue;
        if (!tree_changer_take_out(&tree->changer, &root, slot))
            return false;
        if (root != subtree->root) {
            /* A small node may have got a large child from its neighbour. */
            if (root != NULL)
                (void)keep_to_budget(tree, subtree, &root);
            tree_node_unref(subtree->root);
            subtree->root = root;
            break;
        }
    }
    return true;
}

/* Removes leaves that could not be removed earlier for lack of memory. */
static void
bury(struct tree *tree)
{
    for (uint32_t i = 0; tree->dead_count > 0 && i < tree->word_count; i++) {
        for (uint64_t word = tree->dead[i]; word != 0; word &= word - 1) {
            if (!take_out_leaf(tree, i * 64 + (unsigned)__builtin_ctzll(word)))
                return;
            tree->dead[i] &= ~(word & -word);
            tree->dead_count--;
        }
    }
}

/* -------------------------------------------------------------- adding --- */

/* Returns the subtree for presences of `shape`; NULL if memory is short. */
static struct subtree *
subtree_for(struct tree *tree, const struct presence_shape *shape)
{
    struct subtree *unused = NULL;
    struct subtree *grown;

    for (size_t i = 0; i < tree->subtree_count; i++) {
        struct subtree *subtree = &tree->subtrees[i];

        if (subtree->root == NULL)
            unused = subtree;
        else if (presence_fits(&subtree->shape, shape))
            return subtree;
    }
    if (unused == NULL) {
        grown = realloc(tree->subtrees,
                        (tree->subtree_count + 1) * sizeof(*tree->subtrees));
        if (grown == NULL)
            return NULL;
        tree->subtrees = grown;
        unused = &tree->subtrees[tree->subtree_count++];
    }
    unused->shape = *shape;
    unused->root = NULL;
    unused->block_max = PRESENCE_BLOCKS_MAX;
    return unused;
}

static bool
grow_words(uint64_t **words, uint32_t count, uint32_t grown_count)
{
    uint64_t *grown = realloc(*words, grown_count * sizeof(*grown));

    if (grown == NULL)
        return false;
    memset(grown + count, 0, (grown_count - count) * sizeof(*grown));
    *words = grown;
    return true;
}

static bool
grow_slots(struct tree *tree, uint32_t slot)
{
    uint32_t count = slot / 64 + 1;

    if (count <= tree->word_count)
        return true;
    if (count < tree->word_count * 2)
        count = tree->word_count * 2;
    if (!grow_words(&tree->live, tree->word_count, count) ||
        !grow_words(&tree->dead, tree->word_count, count))
        return false;
    tree->word_count = count;
    return true;
}

/* Returns the subtree's root with the part in it, within the budget; NULL if
 * memory is short. */
static struct tree_node *
root_with(struct tree *tree, struct subtree *subtree, uint32_t slot,
          const struct presence *presence)
{
    struct tree_node *root = NULL;
    struct tree_node *leaf;

    if (subtree->block_max < PRESENCE_BLOCKS_MAX &&
        tree_size(tree) < tree->base.budget / 4)
        subtree->block_max *= 2;
    leaf = tree_leaf_make(slot, presence, subtree->block_max);
    if (leaf == NULL ||
        !tree_changer_insert(&tree->changer, subtree->root, leaf, &root))
        return NULL;
    if (!keep_to_budget(tree, subtree, &root)) {
        tree_node_unref(root);
        return NULL;
    }
    return root;
}

static bool
tree_add(struct hierarchy *hierarchy, uint32_t slot,
         const struct presence *presence)
{
    struct tree *tree = (struct tree *)hierarchy;
    struct tree_node *root = NULL;
    struct subtree *subtree = NULL;

    bury(tree);
    if (grow_slots(tree, slot) && !has_slot(tree->dead, slot)) {
        assert(!has_slot(tree->live, slot));
        subtree = subtree_for(tree, &presence->shape);
    }
    if (subtree != NULL)
        root = root_with(tree, subtree, slot, presence);
    if (root == NULL)
        return false;
    tree_node_unref(subtree->root);
    subtree->root = root;
    tree->live[slot / 64] |= UINT64_C(1) << slot % 64;
    return true;
}

static void
tree_remove(struct hierarchy *hierarchy, uint32_t slot)
{
    struct tree *tree = (struct tree *)hierarchy;

    if (slot / 64 >= tree->word_count || !has_slot(tree->live, slot))
        return;
    tree->live[slot / 64] &= ~(UINT64_C(1) << slot % 64);
    tree->dead[slot / 64] |= UINT64_C(1) << slot % 64;
    tree->dead_count++;
    bury(tree);
}

/* ---------------------------------------------------------------- life --- */

static void
tree_destroy(struct hierarchy *hierarchy)
{
    struct tree *tree = (struct tree *)hierarchy;

    for (size_t i = 0; i < tree->subtree_count; i++)
        tree_node_unref(tree->subtrees[i].root);
    free(tree->subtrees);
    free(tree->live);
    free(tree->dead);
    tree_changer_release(&tree->changer);
    free(tree);
}

static struct hierarchy_sizes
tree_sizes(const struct hierarchy *hierarchy)
{
    const struct tree *tree = (const struct tree *)hierarchy;
    struct hierarchy_sizes sizes = {0};

    for (size_t i = 0; i < tree->subtree_count; i++) {
        const struct tree_node *root = tree->subtrees[i].root;

        if (root == NULL)
            continue;
        sizes.part_count += root->part_count;
        sizes.fold_count += root->fold_count;
        sizes.full_bytes += root->full_size;
        if (root->level + 1 > sizes.height)
            sizes.height = root->level + 1;
    }
    sizes.part_count -= tree->dead_count;
    sizes.bytes = tree_size(tree);
    return sizes;
}

static uint64_t
tree_bytes(const struct hierarchy *hierarchy)
{
    return tree_size((const struct tree *)hierarchy);
}

static void
tree_shrink(struct hierarchy *hierarchy)
{
    struct tree *tree = (struct tree *)hierarchy;

    for (size_t i = 0; i < tree->subtree_count; i++) {
        struct subtree *subtree = &tree->subtrees[i];

        if (subtree->root != NULL)
            (void)keep_to_budget(tree, subtree, &subtree->root);
    }
}

/* ------------------------------------------------------------ versions --- */

static struct hierarchy_version *
tree_publish(struct hierarchy *hierarchy)
{
    struct tree *tree = (struct tree *)hierarchy;
    struct tree_version *version = calloc(
        1, sizeof(*version) + tree->subtree_count * sizeof(version->roots[0]));
    size_t size = tree->word_count * sizeof(*tree->live);
    uint32_t slot_count = tree->word_count * 64;

    if (version == NULL)
        return NULL;
    version->live = malloc(size + 1);
    if (version->live == NULL) {
        free(version);
        return NULL;
    }
    if (size > 0)
        memcpy(version->live, tree->live, size);
    while (slot_count > 0 && !has_slot(tree->live, slot_count - 1))
        slot_count--;
    version->base.slot_count = slot_count;
    for (size_t i = 0; i < tree->subtree_count; i++) {
        if (tree->subtrees[i].root != NULL)
            version->roots[version->root_count++] =
                tree_node_ref(tree->subtrees[i].root);
    }
    return &version->base;
}

static void
tree_version_destroy(struct hierarchy_version *destroyed)
{
    struct tree_version *version = (struct tree_version *)destroyed;

    for (size_t i = 0; i < version->root_count; i++)
        tree_node_unref(version->roots[i]);
    free(version->live);
    free(version);
}

static void
tree_version_find(const struct hierarchy_version *searched, uint64_t value_hash,
                  uint64_t *slots)
{
    const struct tree_version *version = (const struct tree_version *)searched;

    for (size_t i = 0; i < version->root_count; i++)
        tree_node_find(version->roots[i], value_hash, version->live, slots);
}

struct hierarchy *
tree_create(uint32_t order)
{
    static const struct hierarchy_methods methods = {
        .add = tree_add,
        .remove = tree_remove,
        .sizes = tree_sizes,
        .size = tree_bytes,
        .shrink = tree_shrink,
        .destroy = tree_destroy,
        .publish = tree_publish,
        .version_destroy = tree_version_destroy,
        .find = tree_version_find,
    };
    struct tree *tree = calloc(1, sizeof(*tree));

    if (tree == NULL)
        return NULL;
    tree->base.methods = &methods;
    if (!tree_changer_init(&tree->changer, order)) {
        free(tree);
        return NULL;
    }
    return &tree->base;
}

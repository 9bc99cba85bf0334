/*
 * Trees of presences: which there are, the budget, and editions.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filters/tree.h"

#include <assert.h>
#include <stdlib.h>

#include "filters/tree_change.h"

/* A tree of presences that fit each other. */
struct grove {
    struct presence_shape shape; /* one of them */
    struct tree_node *root;      /* inner; NULL: no parts, any shape */
    uint32_t block_max;          /* presences of more are folded */
};

struct tree {
    struct tree_changer changer;
    uint64_t budget;
    struct grove *groves;
    size_t grove_count;
    uint64_t *live; /* slots that are parts: a bit for each */
    uint64_t *dead; /* slots that were, and still have a leaf */
    uint32_t word_count;
    uint32_t dead_count;
};

struct tree_edition {
    uint64_t *live;      /* as in the tree: leaves may be dead */
    uint32_t slot_count; /* up to the last that is live */
    size_t root_count;
    struct tree_node *roots[]; /* counted */
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

    for (size_t i = 0; i < tree->grove_count; i++) {
        if (tree->groves[i].root != NULL)
            size += tree->groves[i].root->size;
    }
    return size;
}

/* The grove with the largest presences that can be folded, or NULL. */
static struct grove *
largest_grove(struct tree *tree, const struct grove *changed,
              const struct tree_node *changed_root)
{
    struct grove *largest = NULL;
    uint32_t most = 0;

    for (size_t i = 0; i < tree->grove_count; i++) {
        struct grove *grove = &tree->groves[i];
        const struct tree_node *root =
            grove == changed ? changed_root : grove->root;
        uint32_t blocks = root == NULL ? 0 : root->presence.shape.block_count;

        if (blocks > most && blocks % 2 == 0) {
            most = blocks;
            largest = grove;
        }
    }
    return largest;
}

/*
 * Folds until all fits the budget or nothing can be folded, as if `*root`
 * (counted) were that of `grove`. False when memory is short: then what was
 * folded stays folded, and no part has changed.
 */
static bool
keep_to_budget(struct tree *tree, const struct grove *grove,
               struct tree_node **root)
{
    uint64_t others =
        tree_size(tree) - (grove->root == NULL ? 0 : grove->root->size);

    while (others + (*root)->size > tree->budget) {
        struct grove *victim = largest_grove(tree, grove, *root);
        struct tree_node **folded;
        struct tree_node *made;
        uint32_t block_max;

        if (victim == NULL)
            return true;
        folded = victim == grove ? root : &victim->root;
        assert(*folded != NULL);
        block_max = (*folded)->presence.shape.block_count / 2;
        made = tree_node_folded(*folded, block_max);
        if (made == NULL)
            return false;
        if (victim != grove)
            others += made->size - (*folded)->size;
        tree_node_unref(*folded);
        *folded = made;
        victim->block_max = block_max;
    }
    return true;
}

/* --------------------------------------------------------- taking out --- */

static bool
take_out_leaf(struct tree *tree, uint32_t slot)
{
    for (size_t i = 0; i < tree->grove_count; i++) {
        struct grove *grove = &tree->groves[i];
        struct tree_node *root = grove->root;

        if (root == NULL)
            continue;
        if (!tree_changer_take_out(&tree->changer, &root, slot))
            return false;
        if (root != grove->root) {
            /* a small node may have got a large child from its neighbour */
            if (root != NULL)
                (void)keep_to_budget(tree, grove, &root);
            tree_node_unref(grove->root);
            grove->root = root;
            break;
        }
    }
    return true;
}

/* Takes out leaves that memory did not suffice to take out before. */
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

/* The grove for presences of `shape`; NULL when memory is short. */
static struct grove *
grove_for(struct tree *tree, const struct presence_shape *shape)
{
    struct grove *unused = NULL;
    struct grove *grown;

    for (size_t i = 0; i < tree->grove_count; i++) {
        struct grove *grove = &tree->groves[i];

        if (grove->root == NULL)
            unused = grove;
        else if (presence_fits(&grove->shape, shape))
            return grove;
    }
    if (unused == NULL) {
        grown = realloc(tree->groves,
                        (tree->grove_count + 1) * sizeof(*tree->groves));
        if (grown == NULL)
            return NULL;
        tree->groves = grown;
        unused = &tree->groves[tree->grove_count++];
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

/* The grove's root with the part in it, and within the budget; NULL when memory
 * is short. */
static struct tree_node *
root_with(struct tree *tree, struct grove *grove, uint32_t slot,
          const struct presence *presence)
{
    struct tree_node *root = NULL;
    struct tree_node *leaf;

    if (grove->block_max < PRESENCE_BLOCKS_MAX &&
        tree_size(tree) < tree->budget / 4)
        grove->block_max *= 2;
    leaf = tree_leaf_make(slot, presence, grove->block_max);
    if (leaf == NULL ||
        !tree_changer_insert(&tree->changer, grove->root, leaf, &root))
        return NULL;
    if (!keep_to_budget(tree, grove, &root)) {
        tree_node_unref(root);
        return NULL;
    }
    return root;
}

enum colander_code
tree_add(struct tree *tree, uint32_t slot, const struct presence *presence,
         struct colander_error *err)
{
    struct tree_node *root = NULL;
    struct grove *grove = NULL;

    bury(tree);
    if (grow_slots(tree, slot) && !has_slot(tree->dead, slot)) {
        assert(!has_slot(tree->live, slot));
        grove = grove_for(tree, &presence->shape);
    }
    if (grove != NULL)
        root = root_with(tree, grove, slot, presence);
    if (root == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "cannot keep a filter of %zu bytes in memory",
                             presence_size(&presence->shape));
    tree_node_unref(grove->root);
    grove->root = root;
    tree->live[slot / 64] |= UINT64_C(1) << slot % 64;
    return COLANDER_OK;
}

void
tree_remove(struct tree *tree, uint32_t slot)
{
    if (slot / 64 >= tree->word_count || !has_slot(tree->live, slot))
        return;
    tree->live[slot / 64] &= ~(UINT64_C(1) << slot % 64);
    tree->dead[slot / 64] |= UINT64_C(1) << slot % 64;
    tree->dead_count++;
    bury(tree);
}

/* ---------------------------------------------------------------- life --- */

struct tree *
tree_create(uint32_t order, uint64_t budget)
{
    struct tree *tree = calloc(1, sizeof(*tree));

    if (tree == NULL)
        return NULL;
    tree->budget = budget;
    if (!tree_changer_init(&tree->changer, order)) {
        free(tree);
        return NULL;
    }
    return tree;
}

void
tree_destroy(struct tree *tree)
{
    if (tree == NULL)
        return;
    for (size_t i = 0; i < tree->grove_count; i++)
        tree_node_unref(tree->groves[i].root);
    free(tree->groves);
    free(tree->live);
    free(tree->dead);
    tree_changer_release(&tree->changer);
    free(tree);
}

struct hierarchy_sizes
tree_sizes(const struct tree *tree)
{
    struct hierarchy_sizes sizes = {0};

    for (size_t i = 0; i < tree->grove_count; i++) {
        const struct tree_node *root = tree->groves[i].root;

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

bool
tree_check(const struct tree *tree, struct colander_error *err)
{
    for (size_t i = 0; i < tree->grove_count; i++) {
        const struct tree_node *root = tree->groves[i].root;

        if (root != NULL && !tree_node_check(root, tree->changer.order, err))
            return false;
    }
    return true;
}

/* ------------------------------------------------------------ editions --- */

struct tree_edition *
tree_publish(struct tree *tree)
{
    struct tree_edition *edition = calloc(
        1, sizeof(*edition) + tree->grove_count * sizeof(edition->roots[0]));
    size_t size = tree->word_count * sizeof(*tree->live);

    if (edition == NULL)
        return NULL;
    edition->live = malloc(size + 1);
    if (edition->live == NULL) {
        free(edition);
        return NULL;
    }
    if (size > 0)
        memcpy(edition->live, tree->live, size);
    edition->slot_count = tree->word_count * 64;
    while (edition->slot_count > 0 &&
           !has_slot(tree->live, edition->slot_count - 1))
        edition->slot_count--;
    for (size_t i = 0; i < tree->grove_count; i++) {
        if (tree->groves[i].root != NULL)
            edition->roots[edition->root_count++] =
                tree_node_ref(tree->groves[i].root);
    }
    return edition;
}

void
tree_edition_release(struct tree_edition *edition)
{
    if (edition == NULL)
        return;
    for (size_t i = 0; i < edition->root_count; i++)
        tree_node_unref(edition->roots[i]);
    free(edition->live);
    free(edition);
}

uint32_t
tree_edition_slots(const struct tree_edition *edition)
{
    return edition->slot_count;
}

void
tree_find(const struct tree_edition *edition, uint64_t value_hash,
          uint64_t *slots)
{
    for (size_t i = 0; i < edition->root_count; i++)
        tree_node_find(edition->roots[i], value_hash, edition->live, slots);
}

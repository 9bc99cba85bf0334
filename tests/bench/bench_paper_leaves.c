/*
 * Leaf filters in a file.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench_paper.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "filters/hierarchy/tree_change.h"

/* -------------------------------------------------------------- leaves --- */

/* All leaves have the same shape, so that they can be united: the shape for the
 * mean number of values. */
static struct presence_shape
shape_for(const struct paper_store *store, uint64_t bits)
{
    struct presence_shape shape;
    uint64_t count = 0;

    for (size_t i = 0; i < store->sst_count; i++)
        count += store->ssts[i].hash_count;
    shape = presence_shape_for_bits(count / store->sst_count, bits);
    if (shape.probes > PAPER_PROBES_MAX)
        shape.probes = PAPER_PROBES_MAX;
    return shape;
}

static void
write_leaf(struct paper_leaves *leaves, const struct paper_sst *file,
           size_t place)
{
    struct presence *presence = &leaves->read;

    memset(presence->words, 0, leaves->size);
    for (size_t i = 0; i < file->hash_count; i++)
        presence_add(presence, file->hashes[i]);
    leaves->fill += presence_fill(presence) / (double)leaves->count;
    if (pwrite(leaves->file, presence->words, leaves->size,
               (off_t)(place * leaves->size)) != (ssize_t)leaves->size)
        bench_fail(leaves->path, strerror(errno));
}

/* Reads a leaf to leaves->read. */
static void
read_leaf(struct paper_leaves *leaves, size_t place)
{
    if (pread(leaves->file, leaves->read.words, leaves->size,
              (off_t)(place * leaves->size)) != (ssize_t)leaves->size)
        bench_fail(leaves->path, "a leaf cannot be read");
}

void
paper_leaves_make(struct paper_leaves *leaves, const struct paper_store *store,
                  const char *directory, uint64_t bits)
{
    bench_progress("leaf filters of %" PRIu64 " bits", bits);
    memset(leaves, 0, sizeof(*leaves));
    if (store->sst_count == 0)
        bench_fail("leaf filters", "the store has no SST file");
    leaves->shape = shape_for(store, bits);
    leaves->count = store->sst_count;
    leaves->size = presence_size(&leaves->shape);
    bench_check(presence_init(&leaves->read, &leaves->shape, &bench_error));
    (void)snprintf(leaves->path, sizeof(leaves->path), "%s/leaves", directory);
    leaves->file =
        open(leaves->path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (leaves->file < 0)
        bench_fail(leaves->path, strerror(errno));
    for (size_t i = 0; i < leaves->count; i++)
        write_leaf(leaves, &store->ssts[i], i);
    if (fdatasync(leaves->file) != 0)
        bench_fail(leaves->path, strerror(errno));
}

void
paper_leaves_release(struct paper_leaves *leaves)
{
    (void)close(leaves->file);
    (void)unlink(leaves->path);
    presence_release(&leaves->read);
    leaves->count = 0;
}

/* ---------------------------------------------------------------- trees --- */

/* Sums what is above the leaves, and frees the bits of the leaves, which are in
 * the file. Recursive, at most TREE_LEVELS_MAX deep. */
static void
strip(struct paper_tree *tree, struct tree_node *node)
{
    if (node->level == 0) {
        presence_release(&node->presence);
        return;
    }
    tree->size += presence_size(&node->presence.shape);
    for (uint32_t i = 0; i < node->child_count; i++)
        strip(tree, node->children[i]);
}

void
paper_tree_make(struct paper_tree *tree, struct paper_leaves *leaves,
                uint32_t order)
{
    struct tree_changer changer;

    bench_progress("tree of order %u", order);
    memset(tree, 0, sizeof(*tree));
    tree->leaves = leaves;
    if (!tree_changer_init(&changer, order))
        bench_fail("tree", "no memory");
    for (size_t i = 0; i < leaves->count; i++) {
        struct tree_node *leaf;
        struct tree_node *root;

        read_leaf(leaves, i);
        leaf = tree_leaf_make((uint32_t)i, &leaves->read, PRESENCE_BLOCKS_MAX);
        if (leaf == NULL ||
            !tree_changer_insert(&changer, tree->root, leaf, &root))
            bench_fail("tree", "no memory");
        tree_node_unref(tree->root);
        tree->root = root;
    }
    tree_changer_release(&changer);
    tree->height = tree->root->level + 1;
    strip(tree, tree->root);
}

void
paper_tree_release(struct paper_tree *tree)
{
    tree_node_unref(tree->root);
}

/* ------------------------------------------------------------ questions --- */

/* What a question has found so far. */
struct finding {
    struct paper_leaves *leaves;
    uint64_t hash;
    size_t *places;
    size_t count;
    struct paper_counts *counts;
};

static void
ask_leaf(struct finding *finding, size_t place)
{
    read_leaf(finding->leaves, place);
    finding->counts->leaves_read++;
    if (!presence_may_hold(&finding->leaves->read, finding->hash))
        return;
    finding->counts->leaves_matching++;
    finding->places[finding->count++] = place;
}

/* Recursive, at most TREE_LEVELS_MAX deep. */
static void
ask_node(struct finding *finding, const struct tree_node *node)
{
    if (node->level == 0) {
        ask_leaf(finding, node->slot);
        return;
    }
    finding->counts->nodes_asked++;
    if (!presence_may_hold(&node->presence, finding->hash))
        return;
    for (uint32_t i = 0; i < node->child_count; i++)
        ask_node(finding, node->children[i]);
}

size_t
paper_leaves_find(struct paper_leaves *leaves, uint64_t hash, size_t *places,
                  struct paper_counts *counts)
{
    struct finding finding = {leaves, hash, places, 0, counts};

    for (size_t i = 0; i < leaves->count; i++)
        ask_leaf(&finding, i);
    return finding.count;
}

size_t
paper_tree_find(struct paper_tree *tree, uint64_t hash, size_t *places,
                struct paper_counts *counts)
{
    struct finding finding = {tree->leaves, hash, places, 0, counts};

    ask_node(&finding, tree->root);
    return finding.count;
}

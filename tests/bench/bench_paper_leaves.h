/*
 * Leaf filters in a file, as the paper keeps them, and trees over them.
 *
 * A leaf is the Bloom filter (presence.h) of all values of one SST: all leaves
 * have the same number of bits. They stand one behind the other in a file, and
 * a question reads one by one call for all of its bytes. A tree has in memory
 * what is above the leaves, and nothing of them.
 *
 * Life: leaves_make -> tree_make -> find ... -> tree_release, leaves_release
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BENCH_PAPER_LEAVES_H
#define BENCH_PAPER_LEAVES_H

#include "bench_paper_store.h"

#include "filters/tree_node.h"

struct paper_leaves {
    struct presence_shape shape;
    size_t count; /* as many as the store has SST files */
    size_t size;  /* bytes of each */
    int file;
    char path[4200];
    struct presence read; /* the leaf that was read last */
    double fill;          /* mean share of bits that are set */
};

/* Probes of a leaf, at most: with so many the tree rules out the most leaves.
 * More would make leaves err less, but set so many bits that what unites some
 * of them says maybe to everything. */
#define PAPER_PROBES_MAX 4

/* Makes leaves of about `bits` bits each, in a file below `directory`, on the
 * storage; the store was listed. */
void paper_leaves_make(struct paper_leaves *leaves,
                       const struct paper_store *store, const char *directory,
                       uint64_t bits, uint8_t probes_max);

/* Removes the file, too. */
void paper_leaves_release(struct paper_leaves *leaves);

struct paper_tree {
    struct paper_leaves *leaves;
    struct tree_node *root; /* its leaves have no bits */
    uint64_t size;          /* bytes of what is above the leaves */
    unsigned height;        /* levels, with the leaves */
};

void paper_tree_make(struct paper_tree *tree, struct paper_leaves *leaves,
                     uint32_t order);
void paper_tree_release(struct paper_tree *tree);

/* What a question looked at. */
struct paper_counts {
    uint64_t nodes_asked;     /* filters above the leaves */
    uint64_t leaves_read;     /* leaf filters, from the file */
    uint64_t leaves_matching; /* of them, those that may hold the value */
};

/* Leaves that may hold a value, by their places: room for all of them. Looks at
 * every leaf; counted is added. */
size_t paper_leaves_find(struct paper_leaves *leaves, uint64_t hash,
                         size_t *places, struct paper_counts *counts);

/* The same by the tree. */
size_t paper_tree_find(struct paper_tree *tree, uint64_t hash, size_t *places,
                       struct paper_counts *counts);

#endif

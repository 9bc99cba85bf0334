/*
 * The ways of answering that the paper compares, and Colander's, measured warm
 * and cold. Each gives rows, and wrong ones end the program.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BENCH_PAPER_WAYS_H
#define BENCH_PAPER_WAYS_H

#include "bench_paper_leaves.h"

enum paper_way {
    PAPER_SCAN,      /* every row is read */
    PAPER_CLASSICAL, /* every leaf filter is read */
    PAPER_HIERARCHY, /* those that the tree does not rule out */
    PAPER_COLANDER,  /* the store's find, with the filters that it has */
    PAPER_KEY,       /* the row under a key, to compare with */
    PAPER_WAYS,
};

extern const char *const paper_way_names[PAPER_WAYS];

/* What is asked; the tree may be NULL where the ways do without. */
struct paper_asked {
    struct paper_store *store;
    struct paper_leaves *leaves;
    struct paper_tree *tree;
    struct bench_cold *cold;
    size_t *places; /* room for all leaves */
};

/* Milliseconds, the medians of lookups; what was looked at, means. */
struct paper_figures {
    double warm;
    double cold;
    double nodes_asked;
    double leaves_read;
    double leaves_matching;
};

#define PAPER_SCANS_MAX 3 /* that read the same whatever they look for */

/* Warm, each lookup is made twice, and the second time counts; of scans, which
 * read the same, all but the first. */
void paper_measure(const struct paper_asked *asked, enum paper_way way,
                   struct paper_lookup *lookups, size_t count,
                   struct paper_figures *figures);

/* Which leaves are read, without reading SST files: means of all lookups. */
void paper_count(const struct paper_asked *asked,
                 const struct paper_lookup *lookups, size_t count,
                 struct paper_figures *figures);

/* How many SST files hold a value, whatever filters say: the mean again. */
double paper_count_holding(const struct paper_store *store,
                           const struct paper_lookup *lookups, size_t count);

#endif

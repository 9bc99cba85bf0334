/*
 * A store for the paper's experiments: settings like LevelDB's, and its SST
 * files one by one.
 *
 * Life: create -> settle -> list -> (cool, read) ... -> remove. Keys are
 * written once and nothing is deleted: a row of an SST is the row of the store.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BENCH_PAPER_STORE_H
#define BENCH_PAPER_STORE_H

#include "bench_cold.h"
#include "bench_paper_entries.h"
#include "bench_store.h"

#include "core/sst.h"

#define PAPER_SST_SIZE (2u << 20)
#define PAPER_BUFFER_SIZE (4u << 20)
#define PAPER_CACHE_SIZE (8u << 20)
#define PAPER_BLOCK_SIZE 4096u

/* Of the tree, where nothing else is said: with them the paper reads 6 % of the
 * filters. */
#define PAPER_FILTER_BITS 2000000u
#define PAPER_ORDER 3u

/* The filters that the store itself makes. */
enum paper_filters {
    PAPER_NO_FILTERS,
    PAPER_TREE_FILTERS, /* as in the paper: presences alone, in a tree */
    PAPER_DEFAULT_FILTERS,
};

struct paper_sst {
    uint64_t number;
    uint64_t size;    /* bytes */
    uint64_t *hashes; /* of its values */
    size_t hash_count;
};

struct paper_store {
    struct bench_store store;
    char path[4200];
    struct paper_sst *ssts; /* once they are listed */
    size_t sst_count;
    uint64_t sst_size;     /* bytes of all */
    double insert_seconds; /* until the last entry was taken */
    double create_seconds; /* until compactions and filters were done, too */
    double create_work;    /* seconds that processors worked for that */
};

/* A store with all entries, below `directory`. */
void paper_store_create(struct paper_store *store, const char *directory,
                        enum paper_filters filters,
                        struct paper_entries *entries);

/* Closes it and removes its files. */
void paper_store_remove(struct paper_store *store);

/* Compacts it: else opening it might start a compaction, and the SST files
 * would not be the ones that were listed. */
void paper_store_settle(struct paper_store *store);

/* Notes the SST files, and the hashes of their values: 8 bytes an entry. */
void paper_store_list(struct paper_store *store);

/* Makes the store as it is in a new process, its files cold. What the store
 * keeps in memory of filters is loaded. The SST files stay the same ones. */
void paper_store_cool(struct paper_store *store, struct bench_cold *cold);

/* Reads a whole SST, and adds what matches to the answer. */
void paper_store_read(struct paper_store *store, size_t index,
                      const struct colander_predicate *predicate,
                      struct paper_answer *answer);

#endif

/*
 * paper: its entries, store, filters and ways of answering, and the tables of
 * its report.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BENCH_PAPER_H
#define BENCH_PAPER_H

#include "bench.h"
#include "bench_report.h"
#include "bench_store.h"

#include "core/sst.h"
#include "filters/hierarchy/tree_node.h"

/* ------------------------------------------------------------ entries --- */

/*
 * The entries of the paper's experiments: a key and a value that are strings,
 * about 29 bytes in all, as rows of one column; and lookups of them.
 *
 * Entry i is generated from its number. Keys are in no order. Values are all
 * different, or drawn at random from a *domain*, whose size is a share of the
 * number of entries. Then some values of the domain may be in no entry.
 */

#define PAPER_TEXT_SIZE 12 /* of a key or value, and a zero */

struct paper_entries {
    uint64_t count;
    uint64_t domain; /* different values; 0: as many as entries, each once */
    struct colander_row_builder *builder;
    struct colander_buffer key;
};

/* `domain` in percent of the entries; 0: all values differ. */
void paper_entries_init(struct paper_entries *entries, uint64_t count,
                        unsigned domain);
void paper_entries_release(struct paper_entries *entries);

/* Key and row are borrowed until the entries are next used. */
void paper_entry_make(struct paper_entries *entries, uint64_t number,
                      struct colander_slice *key, struct colander_slice *row);

/* The mean bytes of a key and a row, encoded. */
double paper_entry_size(struct paper_entries *entries);

/* The rows that were found, or must be found: their number, and a sum over the
 * hashes of their keys, which does not depend on their order. */
struct paper_answer {
    uint64_t count;
    uint64_t key_sum;
};

void paper_answer_add(struct paper_answer *answer, struct colander_slice key);

/* A lookup of the rows with a value, or of the row under a key. Do not copy it:
 * value and key point into it. */
struct paper_lookup {
    struct colander_value value;
    struct colander_value key; /* of an entry picked at random */
    uint64_t value_number;
    uint64_t hash; /* of the value */
    struct paper_answer by_value;
    char value_text[PAPER_TEXT_SIZE];
    char key_text[PAPER_TEXT_SIZE];
};

/* `count` random lookups with their expected results, for which all entries are
 * read. The caller frees them. */
struct paper_lookup *paper_lookups_make(struct paper_entries *entries,
                                        size_t count);

/* -------------------------------------------------------------- store --- */

/*
 * A store for the paper's experiments: settings like LevelDB's, and its SST
 * files one by one.
 *
 * Keys are written once and nothing is deleted, so a row of an SST is the row
 * of the store. Opening a store that was not settled might compact it, and
 * replace the SST files that were listed.
 *
 * Life: create -> bench_store_settle -> list -> (cool, read) ... -> remove
 */

#define PAPER_SST_SIZE (2u << 20)
#define PAPER_BUFFER_SIZE (4u << 20)
#define PAPER_CACHE_SIZE (8u << 20)
#define PAPER_BLOCK_SIZE 4096u

/* The bits of the tree, unless otherwise stated. With them the paper reads 6 %
 * of the filters. */
#define PAPER_FILTER_BITS 2000000u
#define PAPER_ORDER 3u

/* The filters that the store builds itself. */
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
    size_t hash_capacity;
};

struct paper_store {
    struct bench_store store;
    char path[4200];
    struct paper_sst *ssts; /* once they are listed */
    size_t sst_count;
    size_t sst_capacity;
    uint64_t sst_size;     /* bytes of all */
    double insert_seconds; /* until the last entry was taken */
    double create_seconds; /* until compactions and filters were done, too */
    double create_work;    /* seconds that processors worked for that */
};

/* Creates a store with all entries in `directory`. */
void paper_store_create(struct paper_store *store, const char *directory,
                        enum paper_filters filters,
                        struct paper_entries *entries);

/* Closes it and removes its files. */
void paper_store_remove(struct paper_store *store);

/* Lists the SST files, and the hashes of their values: 8 bytes an entry. */
void paper_store_list(struct paper_store *store);

/* Reopens the store as a new process would, with cold files. What it keeps in
 * memory about filters is loaded. The SST files do not change. */
void paper_store_cool(struct paper_store *store, double *cold_share);

/* Makes the files of a folder, or a file, cold: the system drops them from its
 * cache, so that the next read is from the storage. Raises *share_max to the
 * share of their pages that stayed in memory. */
void paper_cool(double *share_max, const char *path);

/* Reads a whole SST, and adds what matches to the answer. */
void paper_store_read(struct paper_store *store, size_t index,
                      const struct colander_predicate *predicate,
                      struct paper_answer *answer);

/* ------------------------------------------------------ leaves, trees --- */

/*
 * Leaf filters in a file, as the paper keeps them, and trees over them.
 *
 * A leaf is the Bloom filter (presence.h) of all values of one SST. All leaves
 * have the same number of bits. They follow one another in a file, and a
 * question reads all bytes of one by a single call. A tree keeps in memory only
 * what is above the leaves.
 *
 * Life: leaves_make -> tree_make -> find ... -> tree_release, leaves_release
 */

struct paper_leaves {
    struct presence_shape shape;
    size_t count; /* as many as the store has SST files */
    size_t size;  /* bytes of each */
    int file;
    char path[4200];
    struct presence read; /* the leaf that was read last */
    double fill;          /* mean share of bits that are set */
};

/* Most probes of a leaf. With this number the tree rules out the most leaves:
 * more probes make a leaf err less, but fill the nodes above the leaves. */
#define PAPER_PROBES_MAX 4

/* Makes leaves of about `bits` bits each, in a file below `directory`, on the
 * storage; the store was listed. */
void paper_leaves_make(struct paper_leaves *leaves,
                       const struct paper_store *store, const char *directory,
                       uint64_t bits);

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

/* What a question has read. */
struct paper_counts {
    uint64_t nodes_asked;     /* filters above the leaves */
    uint64_t leaves_read;     /* leaf filters, from the file */
    uint64_t leaves_matching; /* of them, those that may hold the value */
};

/* Fills the places of leaves that may hold a value; `places` has space for all
 * of them. Reads every leaf; adds to the counts. */
size_t paper_leaves_find(struct paper_leaves *leaves, uint64_t hash,
                         size_t *places, struct paper_counts *counts);

/* The same by the tree. */
size_t paper_tree_find(struct paper_tree *tree, uint64_t hash, size_t *places,
                       struct paper_counts *counts);

/* --------------------------------------------------------------- ways --- */

/*
 * The ways of answering that the paper compares, and Colander's, measured warm
 * and cold. Each returns rows, and wrong ones end the program.
 */

enum paper_way {
    PAPER_SCAN,      /* every row is read */
    PAPER_CLASSICAL, /* every leaf filter is read */
    PAPER_HIERARCHY, /* those that the tree does not rule out */
    PAPER_COLANDER,  /* the store's find, with the filters that it has */
    PAPER_KEY,       /* the row under a key, to compare with */
    PAPER_WAYS,
};

extern const char *const paper_way_names[PAPER_WAYS];

/* A question; the tree may be NULL if the ways do not use it. */
struct paper_asked {
    struct paper_store *store;
    struct paper_leaves *leaves;
    struct paper_tree *tree;
    double *cold_share;
    size_t *places; /* room for all leaves */
};

#define PAPER_SCANS_MAX 3 /* which read the same for any value */

/* Sets *cold and *warm to milliseconds, the medians of lookups. Warm, each
 * lookup is made twice, and the second time counts. Of scans, which read the
 * same, all but the first count. */
void paper_measure(const struct paper_asked *asked, enum paper_way way,
                   struct paper_lookup *lookups, size_t count, double *cold,
                   double *warm);

/* Sums what the tree reads for all lookups, without reading SST files. */
struct paper_counts paper_count(const struct paper_asked *asked,
                                const struct paper_lookup *lookups,
                                size_t count);

/* Sums how many SST files hold a value, without using filters. */
uint64_t paper_count_holding(const struct paper_store *store,
                             const struct paper_lookup *lookups, size_t count);

/* ------------------------------------------------------------- tables --- */

#define PAPER_SIZES 3
#define PAPER_BITS 3

/* In the order of the report. */
enum paper_table {
    PAPER_RATIOS,
    PAPER_TABLE1,
    PAPER_TABLE1_WARM,
    PAPER_FIG6,
    PAPER_TABLE2,
    PAPER_FIG7, /* the columns are not known beforehand */
    PAPER_FIG9,
    PAPER_FIG10, /* to 12: the titles are not */
    PAPER_FIG13 = PAPER_FIG10 + PAPER_BITS,
    PAPER_TABLE3,
    PAPER_TABLES,
};

extern const struct paper_table_kind {
    const char *section; /* a heading before it, or NULL */
    const char *name;    /* see struct bench_table */
    const char *title;
    const char *columns;
    struct bench_plot plot; /* no name: none */
} paper_tables[PAPER_TABLES];

/* The paper's results for a number of entries; NAN: none. */
struct paper_published {
    uint64_t entries;
    double lookup_ms;    /* of a non-key value */
    double megabytes[3]; /* of SST files, leaves, and what is above them */
};

struct paper_published paper_published_for(uint64_t entries);

#endif

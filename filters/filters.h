/*
 * Filters: every SST file has a value filter beside it, so that a find reads
 * only rows that may match.
 *
 * Nothing here is needed to find rows: filters are made, used, repaired and
 * removed by themselves. These functions say what they are to be like and tell
 * how they do. A find gives the same rows whatever they say.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_FILTERS_H
#define COLANDER_FILTERS_H

#include "columns/columns.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The structure in memory that says which files may hold a value. */
enum colander_hierarchy {
    COLANDER_HIERARCHY_SLICES = 0, /* default: bit-sliced filters */
    COLANDER_HIERARCHY_TREE, /* the published tree: a baseline to compare with
                              */
};

/* Let each file decide: exact rows where keys are cheap beside the rows, else
 * segments of 16. */
#define COLANDER_SEGMENT_AUTO UINT32_MAX

/*
 * The filters of one family. Start from colander_filter_options_init. Files
 * that are written from then on get them; colander_family_refilter gives them
 * to those that are there.
 */
struct colander_filter_options {
    bool is_on; /* false: files that are written get none (true) */

    /* How finely a filter tells where a value is: rows per segment, a power of
     * two up to 65,536; 1: every row exactly, 0: only whether the file may
     * have it, as in the paper (COLANDER_SEGMENT_AUTO). */
    uint32_t rows_per_segment;

    /* Bits kept of each value's hash: with n values in all files, about
     * n / 2^hash_bits rows are read in vain for a value (32; 16 to 40). */
    uint32_t hash_bits;

    /* The filters in memory, by one of three: at most so many wrong maybes for
     * each file (0.01), or, when not 0, so many bits for a value, or, when not
     * 0, so many bits for a file. */
    double fp_rate;
    double bits_per_value;
    uint64_t filter_bits;

    enum colander_hierarchy hierarchy;
    uint32_t tree_order;    /* of the tree: order to 2 * order children (8) */
    uint64_t memory_budget; /* bytes for filters in memory (64 MiB) */

    /* Columns that are left out, with all below them: paths as in predicates,
     * at most 64. Finds by them scan, as do finds in any column. */
    const char *const *left_out;
    size_t left_out_count;
};

/* The defaults. */
COLANDER_API void
colander_filter_options_init(struct colander_filter_options *options);

/* Keeps the options (copied) in the store. INVALID, with what is wrong; the
 * family is created when it does not exist. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_family_set_filters(struct colander_family *family,
                            const struct colander_filter_options *options,
                            struct colander_error *err);

/* The options in force; free with colander_filter_options_release. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_family_get_filters(struct colander_family *family,
                            struct colander_filter_options *options,
                            struct colander_error *err);

/* Frees what colander_family_get_filters gave, and nothing else. */
COLANDER_API void
colander_filter_options_release(struct colander_filter_options *options);

/* Makes anew the filters of all SST files of the family, as its options are
 * now, without writing rows. Waits for it. *count (if given): how many. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_family_refilter(struct colander_family *family, uint64_t *count,
                         struct colander_error *err);

/* Waits until every SST file of the family has its filter and the hierarchy
 * knows it. Not needed for right answers. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_family_await_filters(struct colander_family *family,
                              struct colander_error *err);

/* The state of the filters of a family. */
struct colander_filter_stats {
    uint64_t file_count;     /* SST files */
    uint64_t filter_count;   /* of them with a filter */
    uint64_t loaded_count;   /* of those known to the hierarchy */
    uint64_t part_count;     /* parts of filters: what the hierarchy tells */
    uint64_t value_count;    /* distinct values, counted in each part */
    uint64_t row_count;      /* keys, counted in each part */
    uint64_t sst_size;       /* bytes of the SST files that have a filter */
    uint64_t filter_size;    /* bytes of filters on disk, of which: */
    uint64_t locator_size;   /*   which rows hold a value */
    uint64_t presence_size;  /*   whether the file holds it */
    uint64_t keys_size;      /*   keys or anchors */
    uint64_t zones_size;     /*   smallest and largest values */
    uint64_t hierarchy_size; /* bytes in memory */
    uint64_t fold_count;     /* how often its parts were halved to fit */
    uint64_t recent_size;    /* bytes in memory for rows in no SST yet */
    uint64_t recent_count;   /* those rows */

    /* of the whole store, since it was opened */
    uint64_t cache_size;    /* bytes of filter blocks in memory */
    uint64_t built_count;   /* filters made with their SST */
    uint64_t rebuilt_count; /* made later: they were missing or damaged */
    uint64_t damaged_count; /* filters found damaged */
    uint64_t error_count;   /* times that a filter could not be made or read */
    char last_error[700];   /* the last of these */
};

COLANDER_API COLANDER_CHECKED enum colander_code
colander_family_filter_stats(struct colander_family *family,
                             struct colander_filter_stats *stats,
                             struct colander_error *err);

/*
 * How often the filters of a family are wrong, as found out by asking them for
 * values that no row has. All parts of filters that the hierarchy knows are
 * asked for each value; part_count * value_count questions. What is not known,
 * for want of a filter, is not asked.
 */
struct colander_filter_measure {
    uint64_t part_count;    /* parts that were asked */
    uint64_t value_count;   /* values that they were asked for */
    uint64_t maybe_count;   /* times the hierarchy took a part for one that has
                             * the value: each a look into a filter on disk */
    uint64_t located_count; /* of these, those that the filter was asked about,
                             * at most COLANDER_MEASURE_LOCATED_MAX: */
    uint64_t wrong_count;   /* times that it, too, took rows for ones that have
                             * the value in a column: each a read of rows */
};

#define COLANDER_MEASURE_LOCATED_MAX 20000

/* Asks for `value_count` texts of 128 random bits, the same ones every time,
 * and waits until the filters are known. All zero for a family that does not
 * exist. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_family_measure_filters(struct colander_family *family,
                                uint64_t value_count,
                                struct colander_filter_measure *measure,
                                struct colander_error *err);

/*
 * Reads the filters of all families from end to end, and asks each for every
 * value of every row of its SST, as finds do. Findings are told, as by
 * colander_store_check: a filter that is damaged, missing, of no SST, or that
 * denies a value. With `mends` these are made anew at once (READ_ONLY);
 * without, in the course of finds, but for one that denies a value and is not
 * damaged.
 */
COLANDER_API COLANDER_CHECKED enum colander_code colander_store_check_filters(
    struct colander_store *store, bool mends, struct colander_check *check,
    colander_finding *tell, void *context, struct colander_error *err);

#ifdef __cplusplus
}
#endif

#endif

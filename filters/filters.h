/*
 * Filters: every SST file has a value filter, so that a find reads only rows
 * that may match.
 *
 * Finds do not need anything here. Filters are built, used, repaired and
 * removed automatically. These functions change their options and report their
 * state. They never change what a find returns.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_FILTERS_H
#define COLANDER_FILTERS_H

#include "columns/columns.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The structure in memory that says which files may contain a value. */
enum colander_hierarchy {
    COLANDER_HIERARCHY_SLICES = 0, /* default: bit-sliced filters */
    COLANDER_HIERARCHY_TREE, /* the tree of the published method, to compare
                              * with */
};

/* Lets each file choose: exact rows where keys are small compared with the
 * rows, otherwise segments of 16 rows. */
#define COLANDER_SEGMENT_AUTO UINT32_MAX

/* Options for the filters of one family. Start from
 * colander_filter_options_init. They apply to files written from then on;
 * colander_family_refilter applies them to existing files. */
struct colander_filter_options {
    size_t struct_size; /* set by colander_filter_options_init */

    bool is_on; /* false: new files get no filters (true) */

    /* How precisely a filter locates a value: rows per segment, a power of two
     * up to 65,536. 1 locates every row exactly. 0 says only whether the file
     * may contain the value, as in the paper (COLANDER_SEGMENT_AUTO). */
    uint32_t rows_per_segment;

    /* Bits kept of each value's hash. If the files hold n values, a find for
     * one value reads about n / 2^hash_bits rows that do not match (32; 16 to
     * 40). */
    uint32_t hash_bits;

    /* The size of filters in memory: `filter_bits` for each file if not 0,
     * otherwise `bits_per_value` if not 0, otherwise what the false-positive
     * rate `fp_rate` of each file needs (0.01). */
    double fp_rate;
    double bits_per_value;
    uint64_t filter_bits;

    enum colander_hierarchy hierarchy;
    uint32_t tree_order;    /* of the tree: order to 2 * order children (8) */
    uint64_t memory_budget; /* bytes for filters in memory (128 MiB; at
                             * least 64 KiB, without an upper bound) */

    /* Columns that filters do not contain, each with everything below it: up to
     * 64 paths as in predicates. Finds that use them scan, and so do finds in
     * any column. */
    const char *const *unfiltered;
    size_t unfiltered_count;

    /* Bytes for lists of rows in the order of a column, by which ranges and
     * prefixes find rows, as a share of the bytes of rows (0.036; 0 to 1).
     * The cheapest columns get them first. */
    double order_budget;

    /* Words of texts, by which searches find rows (true). Without them these
     * scan. */
    bool words;

    /* Columns that have words, each with everything below it: up to 64 paths as
     * in predicates; none: all. Searches in others, or in any column, scan. */
    const char *const *word_columns;
    size_t word_column_count;

    /* Columns, each with everything below it, that have lists of rows in their
     * order even beyond order_budget, and columns that never do: up to 64 paths
     * each. What is in both lists never does. */
    const char *const *ordered;
    size_t ordered_count;
    const char *const *unordered;
    size_t unordered_count;
};

/* Sets the defaults. */
COLANDER_API void
colander_filter_options_init_sized(struct colander_filter_options *options,
                                   size_t struct_size);

static inline void
colander_filter_options_init(struct colander_filter_options *options)
{
    colander_filter_options_init_sized(options, sizeof(*options));
}

/* Saves the options (copied) in the store. Creates the family if it does not
 * exist. Fails with INVALID, and says which option is wrong. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_family_set_filters(struct colander_family *family,
                            const struct colander_filter_options *options,
                            struct colander_error *err);

/* Returns the options in force; colander_filter_options_release frees them. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_family_get_filters_sized(struct colander_family *family,
                                  struct colander_filter_options *options,
                                  size_t struct_size,
                                  struct colander_error *err);

COLANDER_CHECKED static inline enum colander_code
colander_family_get_filters(struct colander_family *family,
                            struct colander_filter_options *options,
                            struct colander_error *err)
{
    return colander_family_get_filters_sized(family, options, sizeof(*options),
                                             err);
}

/* Frees what colander_family_get_filters returned. Not for other options. */
COLANDER_API void
colander_filter_options_release(struct colander_filter_options *options);

/* Rebuilds the filters of all SST files of the family with its present options,
 * without rewriting rows, and waits for it. *count, unless `count` is NULL, is
 * the number of filters rebuilt. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_family_refilter(struct colander_family *family, uint64_t *count,
                         struct colander_error *err);

/* Waits until every SST file of the family has its filter, and the hierarchy
 * knows it. Finds are right without that, but slower. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_family_await_filters(struct colander_family *family,
                              struct colander_error *err);

/* --------------------------------------------------------------- stats --- */

/* The state of the filters of a family. */
struct colander_filter_stats {
    size_t struct_size; /* bytes that the library filled */

    uint64_t file_count;     /* SST files */
    uint64_t filter_count;   /* of these, files with a filter */
    uint64_t loaded_count;   /* of these, filters known to the hierarchy */
    uint64_t part_count;     /* parts of filters: the hierarchy's units */
    uint64_t value_count;    /* distinct values, counted in each part */
    uint64_t row_count;      /* keys, counted in each part */
    uint64_t sst_size;       /* bytes of the SST files that have a filter */
    uint64_t filter_size;    /* bytes of filters on disk, of which: */
    uint64_t locator_size;   /*   which rows contain a value */
    uint64_t presence_size;  /*   whether the file contains it */
    uint64_t keys_size;      /*   keys or anchors */
    uint64_t order_size;     /*   where ranges of values are */
    uint64_t hierarchy_size; /* bytes in memory */
    uint64_t fold_count;     /* times that its parts were halved to fit */
    uint64_t recent_size;    /* bytes in memory for rows in no SST file yet */
    uint64_t recent_count;   /* these rows */

    /* of the whole store, since it was opened */
    uint64_t cache_size;    /* bytes of filter blocks in memory */
    uint64_t built_count;   /* filters built with their SST file */
    uint64_t rebuilt_count; /* built later: they were missing or damaged */
    uint64_t damaged_count; /* filters found damaged */
    uint64_t error_count;   /* failures to build or read a filter */
    char last_error[700];   /* the last of these failures */

    /* more about filter_size of the family */
    uint64_t dictionary_size; /* words of texts, to find pieces of them */
    uint64_t words_size;      /* of locator_size: words of texts, about */
};

/* Returns the state, all zero for a family that does not exist. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_family_filter_stats_sized(struct colander_family *family,
                                   struct colander_filter_stats *stats,
                                   size_t struct_size,
                                   struct colander_error *err);

COLANDER_CHECKED static inline enum colander_code
colander_family_filter_stats(struct colander_family *family,
                             struct colander_filter_stats *stats,
                             struct colander_error *err)
{
    return colander_family_filter_stats_sized(family, stats, sizeof(*stats),
                                              err);
}

/* How the values of one column are kept in order, by which ranges, prefixes and
 * the first rows are found. Values of one type in one part are counted as one
 * piece; all numbers are one type. */
struct colander_order_stats {
    size_t struct_size; /* bytes that the library filled */

    uint64_t ordered_count;     /* pieces in order; the others are not, */
    uint64_t few_count;         /*   as so few values are read faster, */
    uint64_t over_budget_count; /*   as other columns were cheaper, */
    uint64_t no_budget_count;   /*   as order_budget was 0, */
    uint64_t refused_count;     /*   or as the option `unordered` says */
    uint64_t unknown_count; /* parts of older versions or without orders, and
                             * files without a filter: the column may be there
                             */
    uint64_t value_count;  /* values of pieces in order, counted in each row, */
    uint64_t listed_count; /* values that are listed: many rows have each */
    uint64_t group_count;  /* groups of rows with the other values */
    uint64_t size;         /* bytes of all this */
};

/* Returns the state for the column at a path, all zero if there is none. Reads
 * a block or two of each part. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_family_order_stats_sized(struct colander_family *family,
                                  const char *column,
                                  struct colander_order_stats *stats,
                                  size_t struct_size,
                                  struct colander_error *err);

COLANDER_CHECKED static inline enum colander_code
colander_family_order_stats(struct colander_family *family, const char *column,
                            struct colander_order_stats *stats,
                            struct colander_error *err)
{
    return colander_family_order_stats_sized(family, column, stats,
                                             sizeof(*stats), err);
}

/* How often the filters of a family are wrong. Every part of a filter that the
 * hierarchy knows is asked for every one of a number of values that no row has:
 * part_count * value_count probes. */
struct colander_filter_measure {
    uint64_t part_count;           /* parts that were asked */
    uint64_t value_count;          /* values that they were asked for */
    uint64_t false_positive_count; /* probes to which the hierarchy said that
                                    * the part may contain the value: each costs
                                    * a look into a filter on disk */
    uint64_t disk_probe_count;     /* of these, probes repeated with the filter
                                    * on disk, at most
                                    * COLANDER_MEASURE_DISK_PROBES_MAX */
    uint64_t disk_false_positive_count; /* of these, probes to which the filter
                                         * on disk said the same: each costs
                                         * reading rows */
};

#define COLANDER_MEASURE_DISK_PROBES_MAX 20000

/* Measures with `value_count` texts of 128 random bits, the same ones each
 * time. Waits until the filters are known. Returns all zero for a family that
 * does not exist. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_family_measure_filters(struct colander_family *family,
                                uint64_t value_count,
                                struct colander_filter_measure *measure,
                                struct colander_error *err);

/*
 * Reads the filters of all families completely, and asks each for every value
 * of every row of its SST file, as finds do. Reports findings as
 * colander_store_check does: a filter that is damaged, is missing, has no SST
 * file, or denies a value that the file contains. With `repairs` such filters
 * are rebuilt at once; in a read-only store that fails with READ_ONLY. Without
 * `repairs` they are rebuilt later. The exception is a filter that denies a
 * value but is otherwise undamaged.
 */
COLANDER_API COLANDER_CHECKED enum colander_code colander_store_check_filters(
    struct colander_store *store, bool repairs, struct colander_check *check,
    colander_finding *report, void *context, struct colander_error *err);

#ifdef __cplusplus
}
#endif

#endif

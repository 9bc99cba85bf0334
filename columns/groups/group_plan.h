/*
 * Plans: a grouping, parsed. It says which values of a row are read, and where
 * the state of each measure is in the record of a group. It never changes, and
 * any number of threads can use it.
 *
 * Measures with the same state share it: the 50th and the 95th percentile of a
 * column are read from one sketch.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_COLUMNS_GROUPS_GROUP_PLAN_H
#define COLANDER_COLUMNS_GROUPS_GROUP_PLAN_H

#include "columns/groups.h"
#include "columns/groups/bucket.h"
#include "columns/path.h"
#include "core/bytes.h"

#define PLAN_NO_SOURCE SIZE_MAX
#define PLAN_SOURCES_MAX                                                       \
    (COLANDER_GROUP_KEYS_MAX + COLANDER_GROUP_MEASURES_MAX + 1)

/* A value of a row: at a path, or given by the caller. */
struct plan_source {
    struct path path; /* without steps: given */
    size_t given;     /* which, from 0 */
};

/* A source that is a column at the top of a row. */
struct plan_column {
    struct colander_slice name; /* borrowed from its path */
    uint64_t word;              /* its first bytes, see plan_name_word */
    size_t source;
};

/* Returns the first bytes of a name, 8 at most, as a number. Requires that 8
 * can be read. */
static inline uint64_t
plan_name_word(const uint8_t *name, size_t size)
{
    const uint64_t word = bytes_get_le64(name);

    return size < 8 ? word & ((UINT64_C(1) << 8 * size) - 1) : word;
}

struct plan_key {
    char *name;
    size_t source;
    bool is_bucket;
    struct bucket bucket;
    char *zone; /* its name; NULL: UTC */
};

enum slot_kind {
    SLOT_ROWS,
    SLOT_PRESENT, /* rows with a value */
    SLOT_SUM,
    SLOT_LEAST,
    SLOT_GREATEST,
    SLOT_FIRST,
    SLOT_LAST,
    SLOT_SET,
    SLOT_ESTIMATE,
    SLOT_QUANTILES,
};

/* A state in a record. */
struct plan_slot {
    enum slot_kind kind;
    size_t source; /* PLAN_NO_SOURCE: of ROWS */
    size_t offset; /* in the record */
};

struct plan_measure {
    char *name;
    enum colander_aggregate aggregate;
    double quantile;
    size_t slot;
};

/* The group of some rows. Its keys follow, then its states. */
struct record {
    uint32_t missing; /* a bit for each key that has no value */
    uint64_t filled;  /* 0: it has rows; otherwise it was added to fill a gap:
                       * 1, or 2 and the number of the record before it */
    struct colander_value keys[];
};

struct group_plan {
    struct plan_key keys[COLANDER_GROUP_KEYS_MAX];
    size_t key_count;
    struct plan_measure measures[COLANDER_GROUP_MEASURES_MAX];
    size_t measure_count;
    struct plan_slot slots[COLANDER_GROUP_MEASURES_MAX];
    size_t slot_count;
    struct plan_source sources[PLAN_SOURCES_MAX];
    size_t source_count;
    struct plan_column columns[PLAN_SOURCES_MAX];
    size_t column_count;
    uint64_t column_sizes; /* bits: of their names, modulo 64 */
    size_t only_key;    /* the column that is the only key, and of no measure;
                            * SIZE_MAX: none */
    size_t many_key;    /* whose path has []: a row may have several values
                         * there; SIZE_MAX: none */
    size_t time_source; /* PLAN_NO_SOURCE: none */
    size_t record_size;
    size_t fill_key; /* the bucket to fill; SIZE_MAX: none */
    size_t order;    /* a key, or key_count and a measure; SIZE_MAX: keys */
};

/* Makes the plan of a grouping. Release it also on failure. */
COLANDER_CHECKED enum colander_code
group_plan_init(struct group_plan *plan,
                const struct colander_grouping *grouping,
                struct colander_error *err);

void group_plan_release(struct group_plan *plan);

/* Returns whether groups of both can be merged. */
bool group_plan_equal(const struct group_plan *a, const struct group_plan *b);

#endif

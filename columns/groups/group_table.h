/*
 * Tables of groups: a record for each, found by its keys. Threads fill a table
 * each, and share a budget of memory; then the tables are merged.
 *
 * Life:   init -> add, merge -> records, any number of times -> release
 * Memory: the plan and the budget are borrowed until release
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_COLUMNS_GROUPS_GROUP_TABLE_H
#define COLANDER_COLUMNS_GROUPS_GROUP_TABLE_H

#include "columns/groups/group_row.h"
#include "core/hash_index.h"

#include <stdatomic.h>

/* The memory of all tables of a grouping. */
struct budget {
    atomic_size_t used; /* bytes */
    size_t size_max;
};

struct key_block;

#define KNOWN_GROUPS 1024

/* A group that was met lately, by the bytes of its only key in a row. */
struct known_group {
    uint64_t low; /* the first and the last 8 of the bytes */
    uint64_t high;
    uint32_t size; /* of them; 0: there is none */
    uint32_t index;
};

struct group_table {
    const struct group_plan *plan;
    struct budget *budget;
    uint8_t *records;
    size_t count;
    size_t capacity;
    size_t last; /* the record that was found last */
    struct hash_index index;
    uint64_t seed;            /* of its hashes */
    struct key_block *blocks; /* bytes of keys */
    size_t bytes;             /* that it takes */
    size_t charged;           /* of these, to the budget */

    struct group_row row;
    struct colander_value keys[COLANDER_GROUP_KEYS_MAX];
    struct colander_value time;
    struct bucket_span spans[COLANDER_GROUP_KEYS_MAX]; /* the last buckets */
    struct known_group known[KNOWN_GROUPS];
    size_t span_group; /* of the only key in the last bucket; SIZE_MAX: none */
    uint64_t keys_left_out[COLANDER_GROUP_KEYS_MAX];
    uint64_t slots_left_out[COLANDER_GROUP_MEASURES_MAX];
};

COLANDER_CHECKED enum colander_code
group_table_init(struct group_table *table, const struct group_plan *plan,
                 struct budget *budget, struct colander_error *err);

void group_table_release(struct group_table *table);

static inline struct record *
group_table_record(const struct group_table *table, size_t index)
{
    return (void *)(table->records + index * table->plan->record_size);
}

/* Returns the state of a measure in a record. */
static inline void *
group_table_state(const struct record *record, const struct plan_slot *slot)
{
    return (uint8_t *)record + slot->offset;
}

/* Adds a row. Fails with LIMIT if the budget is exceeded. */
COLANDER_CHECKED enum colander_code
group_table_add(struct group_table *table, const struct colander_result *row,
                const struct colander_value *const *given,
                struct colander_error *err);

/* Adds the rows of another table with an equal plan. */
COLANDER_CHECKED enum colander_code
group_table_merge(struct group_table *table, const struct group_table *from,
                  struct colander_error *err);

/* Finds or adds the group with these keys; a bit of `missing` is set for each
 * that there is not. *is_new says whether it was added. */
COLANDER_CHECKED enum colander_code
group_table_find(struct group_table *table, const struct colander_value *keys,
                 uint32_t missing, size_t *index, bool *is_new,
                 struct colander_error *err);

/* Charges `bytes` that are taken for the result. Fails as group_table_add. */
COLANDER_CHECKED enum colander_code
group_table_charge(struct group_table *table, size_t bytes,
                   struct colander_error *err);

#endif

/*
 * Groups: rows counted by the value of a column, and what another column sums
 * up to in each of them.
 *
 * What they take is limited, as it depends on how many values there are.
 *
 * Life:   init -> add ... -> finish -> at -> release
 * Memory: values are copied
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_SCRIPTING_GROUPS_H
#define COLANDER_SCRIPTING_GROUPS_H

#include "columns/columns.h"

struct group {
    struct colander_value value; /* that the rows have in common */
    uint64_t row_count;
    uint64_t number_count; /* rows whose measure is a number */
    int64_t integer_sum;   /* of them while all are integers and it fits, */
    double double_sum;     /* and of all */
    bool is_double;
    bool has_extremes;
    struct colander_value least; /* of the measure, whatever its type */
    struct colander_value most;
};

struct groups {
    struct group *items;
    size_t count;
    size_t capacity;
    uint32_t *places; /* by hash: number of the group, from 1; 0: free */
    size_t place_count;
    size_t size; /* bytes in all */
    size_t size_max;
};

void groups_init(struct groups *groups, size_t size_max);
void groups_release(struct groups *groups);

/* Counts a row whose column has `value`, a scalar. `measure` (NULL: none) is a
 * scalar as well. LIMIT when there are too many. */
COLANDER_CHECKED enum colander_code
groups_add(struct groups *groups, const struct colander_value *value,
           const struct colander_value *measure, struct colander_error *err);

/* Puts them in the order of their values; nothing is added from then on. Once
 * `stops` (NULL: never) says so, the order does not matter. */
void groups_finish(struct groups *groups, bool (*stops)(void));

#endif

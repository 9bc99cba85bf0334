/*
 * Rows, as far as a plan wants to know them. Its columns at the top of a row
 * are found in one walk; what they have is read after that, if it is needed.
 *
 * Life:   init -> (find -> read) for each row -> release
 * Memory: the plan is borrowed until release, and values from the bytes of the
 *         row
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_COLUMNS_GROUPS_GROUP_ROW_H
#define COLANDER_COLUMNS_GROUPS_GROUP_ROW_H

#include "columns/groups/group_plan.h"

struct group_row {
    const struct group_plan *plan;
    uint64_t number;        /* of the row, from 1 */
    uint64_t *found;        /* the last row that had each source; owned */
    const uint8_t **places; /* of the columns that were found; owned */
    struct colander_value *values; /* by source; owned */
    struct colander_value *many;   /* at the path of the many_key; owned */
    size_t many_count;
    size_t many_capacity;
};

/* Release it also on failure. */
COLANDER_CHECKED enum colander_code
group_row_init(struct group_row *row, const struct group_plan *plan,
               struct colander_error *err);

void group_row_release(struct group_row *row);

/* Begins with the next row, and finds its columns. Fails with CORRUPT. */
COLANDER_CHECKED enum colander_code group_row_find(struct group_row *row,
                                                   struct colander_slice bytes,
                                                   struct colander_error *err);

/* Reads the values of the row, but not that of the column `passed` (SIZE_MAX:
 * of all). `given` has those without a path. *memory grows with what is taken.
 * Fails as group_row_find. */
COLANDER_CHECKED enum colander_code
group_row_read(struct group_row *row, struct colander_slice bytes,
               const struct colander_value *const *given, size_t passed,
               size_t *memory, struct colander_error *err);

/* Returns whether the row has a source. */
static inline bool
group_row_has(const struct group_row *row, size_t source)
{
    return row->found[source] == row->number;
}

static inline void
group_row_set(struct group_row *row, size_t source,
              const struct colander_value *value)
{
    row->values[source] = *value;
    row->found[source] = row->number;
}

#endif

/*
 * Ordered rows: holds the rows of a query until all are in, then returns them
 * in the order of a column.
 *
 * Rows with equal values keep the order in which they were added. Rows without
 * the column come last. Memory is limited; if only the first N rows are wanted,
 * at most N are held.
 *
 * Life:   zeroed, options set -> add ... -> finish -> next ... -> release
 * Memory: rows are copied
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_SCRIPTING_ORDERED_H
#define COLANDER_SCRIPTING_ORDERED_H

#include "columns/columns.h"

struct ordered_row;

struct ordered {
    struct ordered_row **rows; /* a heap, the last row first, once N are held */
    size_t count;
    size_t capacity;
    uint64_t added_count;
    uint64_t wanted; /* N; UINT64_MAX: all */
    size_t next;     /* to be returned */
    size_t size;     /* bytes of all rows */
    size_t size_max;
    bool is_descending;
    bool (*is_cancelled)(void); /* NULL: never; once it returns true, the order
                                 * is undefined */
};

void ordered_release(struct ordered *ordered);

/* Adds a row. `value`, inside the row, is that of the column (NULL: none).
 * Fails with LIMIT if the rows take too much. */
COLANDER_CHECKED enum colander_code
ordered_add(struct ordered *ordered, const struct colander_result *row,
            const struct colander_value *value, struct colander_error *err);

void ordered_finish(struct ordered *ordered);

/* Returns the next row, valid until release, or false at the end. */
bool ordered_next(struct ordered *ordered, struct colander_result *row);

#endif

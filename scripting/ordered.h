/*
 * Ordered rows: those of a query, held until all are there, then given in the
 * order of a column.
 *
 * Rows with equal values stay in the order in which they came; rows without the
 * column come last. What they take is limited; when only the first so many are
 * wanted, only about so many are held.
 *
 * Life:   init -> add ... -> finish -> next ... -> release
 * Memory: rows are copied
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_SCRIPTING_ORDERED_H
#define COLANDER_SCRIPTING_ORDERED_H

#include "columns/columns.h"

struct ordered_row;

struct ordered {
    struct ordered_row **rows;
    size_t count;
    size_t capacity;
    uint64_t number; /* of rows that came */
    uint64_t wanted; /* the first so many */
    size_t next;     /* to be given */
    size_t size;     /* bytes of rows */
    size_t size_max;
    bool is_descending;
    bool (*stops)(void); /* NULL: never; true: the order does not matter */
};

void ordered_init(struct ordered *ordered, bool is_descending, uint64_t wanted,
                  size_t size_max, bool (*stops)(void));
void ordered_release(struct ordered *ordered);

/* Copies a row; `value` is of the column, NULL where there is none. LIMIT when
 * they take too much. */
COLANDER_CHECKED enum colander_code
ordered_add(struct ordered *ordered, const struct colander_result *row,
            const struct colander_value *value, struct colander_error *err);

void ordered_finish(struct ordered *ordered);

/* The next row, borrowed until release; false: there is none. */
bool ordered_next(struct ordered *ordered, struct colander_result *row);

#endif

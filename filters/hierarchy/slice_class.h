/*
 * Classes of a sliced hierarchy: a matrix, and the parts of its columns.
 *
 * A column is free if it has no part, and no version sees the part that it had.
 * Everything except the words of the matrix requires the hierarchy's lock.
 *
 * Life: create -> take, leave -> unref; versions also count their classes
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_FILTERS_HIERARCHY_SLICE_CLASS_H
#define COLANDER_FILTERS_HIERARCHY_SLICE_CLASS_H

#include "filters/hierarchy/slice_matrix.h"

#define SLICE_NO_COLUMN UINT32_MAX

struct slice_class {
    struct slice_matrix matrix;
    uint32_t reference_count; /* by the slices while in use, and by versions */
    uint32_t live_count;      /* columns that have a part */
    double fill;              /* mean share of bits set */
    uint64_t mask[SLICE_WORDS_MAX];    /* columns that have a part */
    uint32_t slots[SLICE_COLUMNS_MAX]; /* by column */

    /* For each column, the last version that may see the part that left it. */
    uint64_t seen_until[SLICE_COLUMNS_MAX];
};

/* Returns a class without parts; NULL if memory is short. */
struct slice_class *slice_class_create(const struct presence_shape *shape,
                                       uint32_t column_count);

void slice_class_unref(struct slice_class *class);

/* Returns a column to write to, or SLICE_NO_COLUMN. `oldest` is the number of
 * the oldest version. */
uint32_t slice_class_free_column(const struct slice_class *class,
                                 uint64_t oldest);

/* Assigns a free column to the part of `slot`. */
void slice_class_take(struct slice_class *class, uint32_t column,
                      uint32_t slot);

/* Removes the part of a column. `newest` is the number of the last version that
 * was published. */
void slice_class_leave(struct slice_class *class, uint32_t column,
                       uint64_t newest);

static inline bool
slice_class_has(const struct slice_class *class, uint32_t column)
{
    return (class->mask[column / 64] >> column % 64 & 1) != 0;
}

/* Returns the bytes of its bits. */
static inline uint64_t
slice_class_size(const struct slice_class *class)
{
    return slice_matrix_size(&class->matrix.shape, class->matrix.column_count);
}

#endif

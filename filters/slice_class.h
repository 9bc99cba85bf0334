/*
 * Classes of a sliced hierarchy: a matrix, whose its columns are, and the views
 * that editions have of it.
 *
 * A column is free when it is no part and no view that is left has it as one.
 * All but the words of the matrix is for whoever has the hierarchy's lock;
 * views do not change, and are read by anyone who has one.
 *
 * Life:   create -> take, leave; view ... view_unref -> retire; both live until
 *         the last view of the class goes
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_FILTERS_SLICE_CLASS_H
#define COLANDER_FILTERS_SLICE_CLASS_H

#include "filters/slice_matrix.h"

#define SLICE_NO_COLUMN UINT32_MAX

/* What editions see of a class; unchanging, but for its neighbours. */
struct slice_view {
    struct slice_matrix matrix; /* the class's, borrowed */
    struct slice_class *class;  /* counted */
    uint32_t reference_count;   /* by editions, and by the class as current */
    uint64_t number;            /* of the views of the class, from 1 */
    struct slice_view *older;   /* those of the class that are left */
    struct slice_view *newer;
    uint64_t mask[SLICE_WORDS_MAX]; /* the columns that are parts */
    uint32_t slots[];               /* by column */
};

struct slice_class {
    struct slice_matrix matrix;
    uint32_t reference_count;   /* by the slices while it is in use, by views */
    uint32_t live_count;        /* columns that are parts */
    double fill;                /* share of bits set, mean of those added */
    struct slice_view *current; /* of the class as it is, or NULL */
    struct slice_view *oldest;
    struct slice_view *newest;
    uint64_t view_count; /* made so far */
    uint64_t mask[SLICE_WORDS_MAX];
    uint32_t slots[SLICE_COLUMNS_MAX];
    uint64_t seen_until[SLICE_COLUMNS_MAX]; /* last view with the part that
                                               left the column */
};

/* No parts in it. NULL when memory is short. */
struct slice_class *slice_class_create(const struct presence_shape *shape,
                                       uint32_t column_count);

/* Gives up a class that is no longer in use; its views may still be. */
void slice_class_retire(struct slice_class *class);

/* A column to write to, or SLICE_NO_COLUMN. */
uint32_t slice_class_free_column(const struct slice_class *class);

/* Makes a column, which is free, the part of `slot`. */
void slice_class_take(struct slice_class *class, uint32_t column,
                      uint32_t slot);

/* Makes a column no part. */
void slice_class_leave(struct slice_class *class, uint32_t column);

/* The view of the class as it is, counted; NULL when memory is short. */
struct slice_view *slice_class_view(struct slice_class *class);
void slice_view_unref(struct slice_view *view);

static inline bool
slice_class_has(const struct slice_class *class, uint32_t column)
{
    return (class->mask[column / 64] >> column % 64 & 1) != 0;
}

/* Bytes of its bits. */
static inline uint64_t
slice_class_size(const struct slice_class *class)
{
    return slice_matrix_size(&class->matrix.shape, class->matrix.column_count);
}

#endif

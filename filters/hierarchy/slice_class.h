/*
 * Classes of a sliced hierarchy: a matrix, the parts of its columns, and the
 * views that versions have of it.
 *
 * A column is free if it has no part and no existing view uses it. Everything
 * except the words of the matrix requires the hierarchy's lock. Views never
 * change, and any thread that holds one may read it.
 *
 * Life: create -> take, leave; view ... view_unref -> retire; the class lives
 *       until its last view is released
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_FILTERS_HIERARCHY_SLICE_CLASS_H
#define COLANDER_FILTERS_HIERARCHY_SLICE_CLASS_H

#include "filters/hierarchy/slice_matrix.h"

#define SLICE_NO_COLUMN UINT32_MAX

/* What versions see of a class. Never changes, except for its neighbours. */
struct slice_view {
    struct slice_matrix matrix; /* the class's, borrowed */
    struct slice_class *class;  /* counted */
    uint32_t reference_count;   /* by versions, and by the class as current */
    uint64_t number;            /* of the views of the class, from 1 */
    struct slice_view *older;   /* existing views of the class */
    struct slice_view *newer;
    uint64_t mask[SLICE_WORDS_MAX]; /* columns that have a part */
    uint32_t slots[];               /* by column */
};

struct slice_class {
    struct slice_matrix matrix;
    uint32_t reference_count;   /* by the slices while in use, and by views */
    uint32_t live_count;        /* columns that have a part */
    double fill;                /* mean share of bits set */
    struct slice_view *current; /* of the current state, or NULL */
    struct slice_view *oldest;
    struct slice_view *newest;
    uint64_t view_count; /* made so far */
    uint64_t mask[SLICE_WORDS_MAX];
    uint32_t slots[SLICE_COLUMNS_MAX];

    /* For each column, the last view that has the part that left it. */
    uint64_t seen_until[SLICE_COLUMNS_MAX];
};

/* Returns a class without parts; NULL if memory is short. */
struct slice_class *slice_class_create(const struct presence_shape *shape,
                                       uint32_t column_count);

/* Releases a class that is no longer in use. Its views may still be. */
void slice_class_retire(struct slice_class *class);

/* Returns a column to write to, or SLICE_NO_COLUMN. */
uint32_t slice_class_free_column(const struct slice_class *class);

/* Assigns a free column to the part of `slot`. */
void slice_class_take(struct slice_class *class, uint32_t column,
                      uint32_t slot);

/* Removes the part of a column. */
void slice_class_leave(struct slice_class *class, uint32_t column);

/* Return the current view of the class, counted, and release it. NULL if memory
 * is short. */
struct slice_view *slice_class_view(struct slice_class *class);
void slice_view_unref(struct slice_view *view);

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

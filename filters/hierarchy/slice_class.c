/*
 * Classes of a sliced hierarchy.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filters/hierarchy/slice_class.h"

#include <assert.h>
#include <stdlib.h>

struct slice_class *
slice_class_create(const struct presence_shape *shape, uint32_t column_count)
{
    struct slice_class *class = calloc(1, sizeof(*class));

    if (class == NULL)
        return NULL;
    if (!slice_matrix_init(&class->matrix, shape, column_count)) {
        free(class);
        return NULL;
    }
    class->reference_count = 1;
    return class;
}

static void
class_unref(struct slice_class *class)
{
    if (--class->reference_count > 0)
        return;
    slice_matrix_release(&class->matrix);
    free(class);
}

void
slice_view_unref(struct slice_view *view)
{
    struct slice_class *class = view->class;

    if (--view->reference_count > 0)
        return;
    if (view->older != NULL)
        view->older->newer = view->newer;
    else
        class->oldest = view->newer;
    if (view->newer != NULL)
        view->newer->older = view->older;
    else
        class->newest = view->older;
    free(view);
    class_unref(class);
}

struct slice_view *
slice_class_view(struct slice_class *class)
{
    const uint32_t count = class->matrix.column_count;
    struct slice_view *view = class->current;

    if (view == NULL) {
        view = malloc(sizeof(*view) + count * sizeof(view->slots[0]));
        if (view == NULL)
            return NULL;
        view->matrix = class->matrix;
        view->class = class;
        class->reference_count++;
        view->reference_count = 1;
        view->number = ++class->view_count;
        view->newer = NULL;
        view->older = class->newest;
        if (class->newest != NULL)
            class->newest->newer = view;
        else
            class->oldest = view;
        class->newest = view;
        class->current = view;
        memcpy(view->mask, class->mask, sizeof(view->mask));
        memcpy(view->slots, class->slots, count * sizeof(view->slots[0]));
    }
    view->reference_count++;
    return view;
}

static void
class_forget_view(struct slice_class *class)
{
    struct slice_view *view = class->current;

    class->current = NULL;
    if (view != NULL)
        slice_view_unref(view);
}

void
slice_class_retire(struct slice_class *class)
{
    class_forget_view(class);
    class_unref(class);
}

uint32_t
slice_class_free_column(const struct slice_class *class)
{
    const struct slice_view *oldest = class->oldest;

    if (class->live_count == class->matrix.column_count)
        return SLICE_NO_COLUMN;
    for (uint32_t column = 0; column < class->matrix.column_count; column++) {
        if (!slice_class_has(class, column) &&
            (oldest == NULL || oldest->number > class->seen_until[column]))
            return column;
    }
    return SLICE_NO_COLUMN;
}

void
slice_class_take(struct slice_class *class, uint32_t column, uint32_t slot)
{
    assert(!slice_class_has(class, column));
    class_forget_view(class);
    class->mask[column / 64] |= UINT64_C(1) << column % 64;
    class->slots[column] = slot;
    class->live_count++;
}

void
slice_class_leave(struct slice_class *class, uint32_t column)
{
    assert(slice_class_has(class, column));
    class_forget_view(class);
    class->mask[column / 64] &= ~(UINT64_C(1) << column % 64);
    class->seen_until[column] = class->view_count;
    class->live_count--;
}

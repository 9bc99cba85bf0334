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

void
slice_class_unref(struct slice_class *class)
{
    if (--class->reference_count > 0)
        return;
    slice_matrix_release(&class->matrix);
    free(class);
}

uint32_t
slice_class_free_column(const struct slice_class *class, uint64_t oldest)
{
    if (class->live_count == class->matrix.column_count)
        return SLICE_NO_COLUMN;
    for (uint32_t column = 0; column < class->matrix.column_count; column++) {
        if (!slice_class_has(class, column) &&
            oldest > class->seen_until[column])
            return column;
    }
    return SLICE_NO_COLUMN;
}

void
slice_class_take(struct slice_class *class, uint32_t column, uint32_t slot)
{
    assert(!slice_class_has(class, column));
    class->mask[column / 64] |= UINT64_C(1) << column % 64;
    class->slots[column] = slot;
    class->live_count++;
}

void
slice_class_leave(struct slice_class *class, uint32_t column, uint64_t newest)
{
    assert(slice_class_has(class, column));
    class->mask[column / 64] &= ~(UINT64_C(1) << column % 64);
    class->seen_until[column] = newest;
    class->live_count--;
}

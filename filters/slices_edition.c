/*
 * Editions of slices: views of the classes, those of one shape side by side.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filters/slices_edition.h"

#include <stdlib.h>

struct slices_edition {
    uint32_t slot_count;
    size_t view_count;
    struct slice_view *views[]; /* counted */
};

static bool
is_before(const struct presence_shape *a, const struct presence_shape *b)
{
    if (a->block_count != b->block_count)
        return a->block_count < b->block_count;
    if (a->probes != b->probes)
        return a->probes < b->probes;
    return a->hash_bits < b->hash_bits;
}

/* Puts a view among those of its shape. */
static void
edition_insert(struct slices_edition *edition, struct slice_view *view)
{
    size_t at = edition->view_count++;

    for (; at > 0 && is_before(&view->matrix.shape,
                               &edition->views[at - 1]->matrix.shape);
         at--)
        edition->views[at] = edition->views[at - 1];
    edition->views[at] = view;
}

struct slices_edition *
slices_edition_make(struct slice_class *const *classes, size_t class_count,
                    uint32_t slot_count)
{
    struct slices_edition *edition =
        malloc(sizeof(*edition) + class_count * sizeof(edition->views[0]));

    if (edition == NULL)
        return NULL;
    edition->slot_count = slot_count;
    edition->view_count = 0;
    for (size_t i = 0; i < class_count; i++) {
        struct slice_view *view = slice_class_view(classes[i]);

        if (view == NULL) {
            slices_edition_release(edition);
            return NULL;
        }
        edition_insert(edition, view);
    }
    return edition;
}

void
slices_edition_release(struct slices_edition *edition)
{
    if (edition == NULL)
        return;
    for (size_t i = 0; i < edition->view_count; i++)
        slice_view_unref(edition->views[i]);
    free(edition);
}

uint32_t
slices_edition_slots(const struct slices_edition *edition)
{
    return edition->slot_count;
}

/* The columns whose bit is set, in order; gives their number. */
static inline size_t
list_columns(const uint64_t *hits, uint32_t column_count, uint16_t *columns)
{
    size_t count = 0;

    for (uint32_t first = 0; first < column_count; first += 64) {
        uint64_t word = hits[first / 64];

        /* Most words have one bit or none, by chance: asking which would be
         * guessed wrongly half the time, so the first is always listed. */
        columns[count] = (uint16_t)(first + (unsigned)__builtin_ctzll(
                                                word | UINT64_C(1) << 63));
        count += word != 0;
        for (word &= word - 1; word != 0; word &= word - 1)
            columns[count++] =
                (uint16_t)(first + (unsigned)__builtin_ctzll(word));
    }
    return count;
}

static void
view_find(const struct slice_view *view, const struct presence_probe *probe,
          uint64_t *slots)
{
    uint64_t hits[SLICE_WORDS_MAX];
    uint16_t columns[SLICE_COLUMNS_MAX];
    size_t count;

    slice_matrix_find(&view->matrix, probe, view->mask, hits);
    count = list_columns(hits, view->matrix.column_count, columns);
    for (size_t i = 0; i < count; i++) {
        uint32_t slot = view->slots[columns[i]];

        slots[slot / 64] |= UINT64_C(1) << slot % 64;
    }
}

/* Memory is asked for a lot of views at once, and answers while the first of
 * them are looked at. */
#define LOT 16

void
slices_find(const struct slices_edition *edition, uint64_t value_hash,
            uint64_t *slots)
{
    struct presence_probe probes[LOT];

    for (size_t first = 0; first < edition->view_count; first += LOT) {
        struct slice_view *const *views = edition->views + first;
        size_t count = edition->view_count - first;

        for (size_t i = 0; i < count && i < LOT; i++) {
            const struct slice_matrix *matrix = &views[i]->matrix;

            if (i > 0 && presence_is_same_shape(&matrix->shape,
                                                &views[i - 1]->matrix.shape))
                probes[i] = probes[i - 1];
            else
                presence_locate(&matrix->shape, value_hash, &probes[i]);
            slice_matrix_prefetch(matrix, &probes[i]);
        }
        for (size_t i = 0; i < count && i < LOT; i++)
            view_find(views[i], &probes[i], slots);
    }
}

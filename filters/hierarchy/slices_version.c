/*
 * Versions of slices: views of the classes, ordered by shape.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filters/hierarchy/slices_version.h"

#include <stdlib.h>

struct slices_version {
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

/* Inserts a view next to those of its shape. */
static void
version_insert(struct slices_version *version, struct slice_view *view)
{
    size_t at = version->view_count++;

    for (; at > 0 && is_before(&view->matrix.shape,
                               &version->views[at - 1]->matrix.shape);
         at--)
        version->views[at] = version->views[at - 1];
    version->views[at] = view;
}

struct slices_version *
slices_version_make(struct slice_class *const *classes, size_t class_count,
                    uint32_t slot_count)
{
    struct slices_version *version =
        malloc(sizeof(*version) + class_count * sizeof(version->views[0]));

    if (version == NULL)
        return NULL;
    version->slot_count = slot_count;
    version->view_count = 0;
    for (size_t i = 0; i < class_count; i++) {
        struct slice_view *view = slice_class_view(classes[i]);

        if (view == NULL) {
            slices_version_release(version);
            return NULL;
        }
        version_insert(version, view);
    }
    return version;
}

void
slices_version_release(struct slices_version *version)
{
    if (version == NULL)
        return;
    for (size_t i = 0; i < version->view_count; i++)
        slice_view_unref(version->views[i]);
    free(version);
}

uint32_t
slices_version_slots(const struct slices_version *version)
{
    return version->slot_count;
}

/* Lists the columns whose bit is set, ascending. Returns their number. */
static inline size_t
list_columns(const uint64_t *hits, uint32_t column_count, uint16_t *columns)
{
    size_t count = 0;

    for (uint32_t first = 0; first < column_count; first += 64) {
        uint64_t word = hits[first / 64];

        /* Most words have one bit or none, at random. A branch would be
         * mispredicted half the time, so the first bit is always listed. */
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

/* Memory is prefetched for this many views at once, and arrives while the first
 * of them are searched. */
#define LOT 16

void
slices_find(const struct slices_version *version, uint64_t value_hash,
            uint64_t *slots)
{
    struct presence_probe probes[LOT];

    for (size_t first = 0; first < version->view_count; first += LOT) {
        struct slice_view *const *views = version->views + first;
        size_t count = version->view_count - first;

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

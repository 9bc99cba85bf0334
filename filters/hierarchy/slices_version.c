/*
 * Versions of slices: views of the classes, ordered by shape.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filters/hierarchy/slices_version.h"

#include <stdlib.h>

/* What a version sees of a class. */
struct slice_view {
    struct slice_matrix matrix;     /* the class's, borrowed */
    struct slice_class *class;      /* counted */
    uint64_t mask[SLICE_WORDS_MAX]; /* columns that have a part */
    const uint32_t *slots;          /* by column; after the views */
};

struct slices_version {
    struct hierarchy_version base;
    struct slices_versions *all;
    struct slices_version *older;
    uint64_t number; /* from 1 */
    size_t view_count;
    struct slice_view views[];
};

static int
compare_shapes(const void *left, const void *right)
{
    const struct presence_shape *a =
        &(*(struct slice_class *const *)left)->matrix.shape;
    const struct presence_shape *b =
        &(*(struct slice_class *const *)right)->matrix.shape;

    if (a->block_count != b->block_count)
        return a->block_count < b->block_count ? -1 : 1;
    if (a->probes != b->probes)
        return a->probes - b->probes;
    return a->hash_bits - b->hash_bits;
}

static void
view_class(struct slice_view *view, struct slice_class *class, uint32_t *slots)
{
    view->matrix = class->matrix;
    view->class = class;
    view->slots = slots;
    memcpy(view->mask, class->mask, sizeof(view->mask));
    memcpy(slots, class->slots, class->matrix.column_count * sizeof(*slots));
    class->reference_count++;
}

struct hierarchy_version *
slices_version_publish(struct slices_versions *versions,
                       struct slice_class **classes, size_t class_count,
                       uint32_t slot_count)
{
    const size_t views_size = class_count * sizeof(struct slice_view);
    struct slices_version *version;
    size_t slots_size = 0;
    uint32_t *slots;

    for (size_t i = 0; i < class_count; i++)
        slots_size += classes[i]->matrix.column_count * sizeof(*slots);
    version = malloc(sizeof(*version) + views_size + slots_size);
    if (version == NULL)
        return NULL;
    if (class_count > 1)
        qsort(classes, class_count, sizeof(*classes), compare_shapes);
    slots = (uint32_t *)(version->views + class_count);
    for (size_t i = 0; i < class_count; i++) {
        view_class(&version->views[i], classes[i], slots);
        slots += classes[i]->matrix.column_count;
    }
    version->base.slot_count = slot_count;
    version->view_count = class_count;
    version->all = versions;
    version->number = ++versions->count;
    version->older = versions->newest;
    versions->newest = version;
    return &version->base;
}

void
slices_version_destroy(struct hierarchy_version *destroyed)
{
    struct slices_version *version = (struct slices_version *)destroyed;
    struct slices_version **link = &version->all->newest;

    while (*link != version)
        link = &(*link)->older;
    *link = version->older;
    for (size_t i = 0; i < version->view_count; i++)
        slice_class_unref(version->views[i].class);
    free(version);
}

uint64_t
slices_version_oldest(const struct slices_versions *versions)
{
    uint64_t oldest = versions->count + 1;

    for (const struct slices_version *version = versions->newest;
         version != NULL; version = version->older)
        oldest = version->number;
    return oldest;
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
slices_version_find(const struct hierarchy_version *searched,
                    uint64_t value_hash, uint64_t *slots)
{
    const struct slices_version *version =
        (const struct slices_version *)searched;
    struct presence_probe probes[LOT];

    for (size_t first = 0; first < version->view_count; first += LOT) {
        const struct slice_view *views = version->views + first;
        size_t count = version->view_count - first;

        for (size_t i = 0; i < count && i < LOT; i++) {
            const struct slice_matrix *matrix = &views[i].matrix;

            if (i > 0 && presence_is_same_shape(&matrix->shape,
                                                &views[i - 1].matrix.shape))
                probes[i] = probes[i - 1];
            else
                presence_locate(&matrix->shape, value_hash, &probes[i]);
            slice_matrix_prefetch(matrix, &probes[i]);
        }
        for (size_t i = 0; i < count && i < LOT; i++)
            view_find(&views[i], &probes[i], slots);
    }
}

/*
 * Registry: views. Whatever a find would have to walk all files for is computed
 * when the view is created.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filters/live/registry_inside.h"

#include <stdlib.h>

uint64_t
sst_file_rows(const struct sst_file *file)
{
    const uint64_t typical_row = 100; /* bytes */

    if (file->filter != NULL)
        return file->filter->head.entry_count;
    return file->entry_count != 0 ? file->entry_count
                                  : file->size / typical_row;
}

void
registry_unref_view(struct file_view *view)
{
    if (view == NULL || atomic_fetch_sub_explicit(&view->reference_count, 1,
                                                  memory_order_acq_rel) != 1)
        return;
    for (size_t i = 0; i < view->file_count; i++)
        registry_unref_file(view->files[i]);
    hierarchy_version_release(view->version);
    settings_unref(view->settings);
    free(view->files);
    free(view->slot_files);
    free(view->asides);
    free(view->wordless);
    free(view);
}

/* Records what finds need to know of the file. */
static void
survey(struct file_view *view, size_t index)
{
    const struct sst_file *file = view->files[index];
    const struct filter_file *filter = file->filter;

    view->row_count += sst_file_rows(file);
    view->has_pending |= file->state == FILE_PENDING;
    if (filter == NULL || file->state != FILE_LOADED) {
        view->asides[index / 64] |= UINT64_C(1) << index % 64;
        return;
    }
    if (filter->head.unfiltered_count > 0 ||
        filter->version < FILTER_FILE_VERSION_COLUMNS)
        view->asides[index / 64] |= UINT64_C(1) << index % 64;
    if (filter->head.words_version != TEXT_WORDS_VERSION ||
        filter->head.word_column_count > 0)
        view->wordless[index / 64] |= UINT64_C(1) << index % 64;
    for (uint32_t i = 0; i < filter->part_count; i++)
        view->slot_files[file->slots[i]] = (uint32_t)index;
}

/* Lists the files of the family and surveys each. */
static bool
list_files(struct file_view *view, const struct family_filters *family)
{
    const size_t count = family->file_count;

    view->files = calloc(count + 1, sizeof(struct sst_file *));
    view->asides = calloc(count / 64 + 1, sizeof(*view->asides));
    view->wordless = calloc(count / 64 + 1, sizeof(*view->wordless));
    view->slot_files = calloc(view->slot_count + 1, sizeof(uint32_t));
    if (view->files == NULL || view->asides == NULL || view->wordless == NULL ||
        view->slot_files == NULL)
        return false;
    for (size_t i = 0; i < count; i++) {
        view->files[i] = sst_file_ref(family->files[i]);
        view->file_count++;
        survey(view, i);
    }
    return true;
}

/* Returns a view of the current state; NULL if memory is short. Requires the
 * mutex. */
static struct file_view *
make_view(struct registry *registry, struct family_filters *family)
{
    struct file_view *view = calloc(1, sizeof(*view));

    if (view == NULL)
        return NULL;
    atomic_init(&view->reference_count, 1);
    view->registry = registry;
    view->family = family;
    view->settings = settings_ref(family->settings);
    if (hierarchy_publish(family->hierarchy, &view->version, NULL) ==
        COLANDER_OK) {
        view->slot_count = hierarchy_version_slots(view->version);
        if (list_files(view, family))
            return view;
    }
    registry_unref_view(view);
    return NULL;
}

/* Keeps levels that were listed after `change`, unless newer ones are kept. */
static void
keep_levels(struct registry *registry, struct family_filters *family,
            struct levels *levels, uint64_t change)
{
    struct levels *old = NULL;

    pthread_mutex_lock(&registry->mutex);
    if (family->levels == NULL || family->levels_change <= change) {
        old = family->levels;
        family->levels = levels_ref(levels);
        family->levels_change = change;
    }
    pthread_mutex_unlock(&registry->mutex);
    levels_unref(old);
}

void
registry_drop_levels(struct registry *registry, struct family_filters *family)
{
    struct levels *dropped;

    pthread_mutex_lock(&registry->mutex);
    dropped = family->levels;
    family->levels = NULL;
    pthread_mutex_unlock(&registry->mutex);
    levels_unref(dropped);
}

struct levels *
registry_levels(struct registry *registry, struct family_filters *family,
                struct engine *engine, struct engine_family *engine_family,
                struct levels_memory *memory)
{
    const uint64_t change = atomic_load(&family->changes);
    struct levels *levels = NULL;
    struct levels *kept = NULL;
    bool is_current;

    pthread_mutex_lock(&registry->mutex);
    if (family->levels != NULL)
        kept = levels_ref(family->levels);
    is_current = kept != NULL && family->levels_change >= change;
    pthread_mutex_unlock(&registry->mutex);
    if (is_current)
        return kept;
    if (levels_create(engine, engine_family, kept, memory, &levels, NULL) ==
        COLANDER_OK)
        keep_levels(registry, family, levels, change);
    levels_unref(kept);
    return levels;
}

enum colander_code
registry_view(struct registry *registry, struct family_filters *family,
              struct file_view **view, struct colander_error *err)
{
    pthread_mutex_lock(&registry->mutex);
    if (family->view == NULL)
        family->view = make_view(registry, family);
    *view = family->view;
    if (*view != NULL)
        atomic_fetch_add_explicit(&(*view)->reference_count, 1,
                                  memory_order_relaxed);
    pthread_mutex_unlock(&registry->mutex);
    if (*view == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory for a view of the filters");
    return COLANDER_OK;
}

void
file_view_release(struct file_view *view)
{
    struct registry *registry;
    size_t count;

    if (view == NULL)
        return;
    count = atomic_load_explicit(&view->reference_count, memory_order_relaxed);
    /* Only the last holder frees, which requires the mutex. */
    while (count > 1) {
        if (atomic_compare_exchange_weak_explicit(
                &view->reference_count, &count, count - 1, memory_order_release,
                memory_order_relaxed))
            return;
    }
    registry = view->registry;
    pthread_mutex_lock(&registry->mutex);
    registry_unref_view(view);
    pthread_mutex_unlock(&registry->mutex);
}

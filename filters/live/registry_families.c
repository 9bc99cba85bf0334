/*
 * Families in the registry: their settings, and the hierarchies that these
 * require.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/array.h"
#include "core/clock.h"
#include "filters/live/registry_inside.h"

#include <stdlib.h>

static struct hierarchy *
make_hierarchy(const struct settings *settings)
{
    const struct colander_filter_options *options = &settings->options;

    return hierarchy_create(options->hierarchy == COLANDER_HIERARCHY_TREE
                                ? HIERARCHY_TREE
                                : HIERARCHY_SLICES,
                            options->tree_order, options->memory_budget);
}

void
registry_allow_memory(struct family_filters *family)
{
    const uint64_t own = family->settings->options.memory_budget;
    const uint64_t now = commons_memory_for(family->commons, family->memory);

    hierarchy_set_budget(family->hierarchy, own < now ? own : now, false);
}

void
registry_count_memory(struct family_filters *family)
{
    const uint64_t before = family->memory;

    family->memory = hierarchy_size(family->hierarchy);
    commons_memory_change(family->commons, before, family->memory);
}

void
registry_destroy_family(struct family_filters *family)
{
    if (family == NULL)
        return;
    commons_memory_change(family->commons, family->memory, 0);
    registry_unref_view(family->view);
    for (size_t i = 0; i < family->file_count; i++)
        registry_unref_file(family->files[i]);
    recent_destroy(family->recent);
    hierarchy_destroy(family->hierarchy);
    levels_unref(family->levels);
    settings_unref(family->settings);
    free(family->files);
    free(family->used_slots);
    free(family);
}

static struct family_filters *
make_family(uint32_t id, struct commons *commons)
{
    struct family_filters *created = calloc(1, sizeof(*created));

    if (created == NULL)
        return NULL;
    created->id = id;
    created->commons = commons;
    atomic_init(&created->is_recent_all, true);
    atomic_init(&created->knows_recent_keys, true);
    created->recent = recent_create();
    if (settings_create(NULL, &created->settings, NULL) == COLANDER_OK)
        created->hierarchy = make_hierarchy(created->settings);
    if (created->recent != NULL && created->hierarchy != NULL)
        return created;
    registry_destroy_family(created);
    return NULL;
}

/* Returns the index of the family with that id, or the index that it would
 * have: ids are ascending. */
static size_t
family_place(const struct registry *registry, uint32_t id)
{
    size_t place;

    array_search(place, registry->family_count,
                 registry->families[place]->id < id);
    return place;
}

/* Returns the family, and creates it first if necessary. Requires the mutex. */
static struct family_filters *
find_family(struct registry *registry, uint32_t id)
{
    const size_t place = family_place(registry, id);
    const size_t count = registry->family_count;
    struct family_filters *created;
    struct family_filters **grown;

    if (place < count && registry->families[place]->id == id)
        return registry->families[place];
    grown = realloc(registry->families,
                    (count + 1) * sizeof(struct family_filters *));
    if (grown == NULL)
        return NULL;
    registry->families = grown;
    created = make_family(id, registry->commons);
    if (created == NULL)
        return NULL;
    memmove(&grown[place + 1], &grown[place],
            (count - place) * sizeof(struct family_filters *));
    grown[place] = created;
    registry->family_count++;
    return created;
}

struct family_filters *
registry_family(struct registry *registry, uint32_t id,
                struct settings **settings)
{
    struct family_filters *family;

    pthread_mutex_lock(&registry->mutex);
    family = find_family(registry, id);
    if (settings != NULL)
        *settings = family == NULL ? NULL : settings_ref(family->settings);
    pthread_mutex_unlock(&registry->mutex);
    return family;
}

struct settings *
registry_settings(struct registry *registry, struct family_filters *family)
{
    struct settings *settings;

    pthread_mutex_lock(&registry->mutex);
    settings = settings_ref(family->settings);
    pthread_mutex_unlock(&registry->mutex);
    return settings;
}

struct hierarchy_sizes
registry_hierarchy_sizes(struct registry *registry,
                         struct family_filters *family)
{
    struct hierarchy_sizes sizes;

    pthread_mutex_lock(&registry->mutex);
    sizes = hierarchy_sizes(family->hierarchy);
    pthread_mutex_unlock(&registry->mutex);
    return sizes;
}

/* Lists the files of the family as they are without a hierarchy: LOADED ones
 * become OPEN. The list and its references belong to the caller. NULL if memory
 * is short. */
static struct sst_file **
list_unloaded(struct family_filters *family)
{
    struct sst_file **files =
        malloc((family->file_count + 1) * sizeof(struct sst_file *));

    for (size_t i = 0; files != NULL && i < family->file_count; i++) {
        struct sst_file *file = family->files[i];

        files[i] =
            file->state == FILE_LOADED
                ? registry_derive_file(file, FILE_OPEN, file->filter, NULL)
                : sst_file_ref(file);
        if (files[i] == NULL) {
            while (i-- > 0)
                registry_unref_file(files[i]);
            free(files);
            files = NULL;
        }
    }
    return files;
}

/* Returns whether the presences in memory stay valid. */
static bool
is_same_hierarchy(const struct colander_filter_options *a,
                  const struct colander_filter_options *b)
{
    return a->hierarchy == b->hierarchy && a->tree_order == b->tree_order &&
           a->memory_budget == b->memory_budget && a->fp_rate == b->fp_rate &&
           a->bits_per_value == b->bits_per_value &&
           a->filter_bits == b->filter_bits;
}

/* Requires the mutex. The old hierarchy is freed with the last view that uses
 * it. */
static bool
remake_hierarchy(struct family_filters *family, const struct settings *settings)
{
    struct hierarchy *created = make_hierarchy(settings);
    struct sst_file **files = created == NULL ? NULL : list_unloaded(family);

    if (files == NULL) {
        hierarchy_destroy(created);
        return false;
    }
    for (size_t i = 0; i < family->file_count; i++) {
        registry_unref_file(family->files[i]);
        family->files[i] = files[i];
    }
    free(files);
    registry_touch(family);
    hierarchy_destroy(family->hierarchy);
    family->hierarchy = created;
    registry_count_memory(family);
    family->is_refilled = true;
    return true;
}

/* Returns how often presences must be halved to fit the budget, assuming that
 * they are alike and that an eighth of it is lost to unused columns of the
 * matrix. */
static uint64_t
folds_needed(const struct hierarchy_sizes *sizes, uint64_t budget)
{
    const uint64_t room = budget - budget / 8;
    uint64_t bytes = sizes->full_bytes;
    uint64_t folds = 0;

    for (; bytes / 2 > room; bytes /= 2)
        folds += sizes->part_count;
    if (bytes > room)
        folds += (uint64_t)((double)sizes->part_count * (double)(bytes - room) /
                            ((double)bytes / 2));
    return folds;
}

/* Returns whether the parts were folded much more often than necessary. A
 * rebuilt hierarchy would be folded as often again as long as its size is about
 * the same, so its own counts are the measure: rebuilding comes to an end. */
static bool
is_overfolded(struct family_filters *family)
{
    const struct hierarchy_sizes sizes = hierarchy_sizes(family->hierarchy);
    uint64_t folds;

    registry_allow_memory(family);
    folds = folds_needed(&sizes, hierarchy_budget(family->hierarchy));

    if (family->is_refilled) {
        family->refilled_bytes = sizes.full_bytes;
        family->refilled_folds = sizes.fold_count;
        family->is_refilled = false;
    }
    if (sizes.full_bytes >= family->refilled_bytes / 4 * 3 &&
        sizes.full_bytes / 4 * 3 <= family->refilled_bytes &&
        family->refilled_folds > folds)
        folds = family->refilled_folds;
    return sizes.fold_count > folds + folds / 4 + sizes.part_count / 8;
}

void
registry_shrink(struct registry *registry)
{
    pthread_mutex_lock(&registry->mutex);
    for (size_t i = 0; i < registry->family_count &&
                       commons_memory_is_short(registry->commons);
         i++) {
        struct family_filters *family = registry->families[i];
        const uint64_t share = commons_memory_share(registry->commons);

        if (family->memory <= share)
            continue;
        hierarchy_set_budget(family->hierarchy, share, true);
        registry_count_memory(family);
        registry_touch(family);
    }
    pthread_mutex_unlock(&registry->mutex);
}

bool
registry_unfold(struct registry *registry)
{
    bool is_any = false;

    pthread_mutex_lock(&registry->mutex);
    for (size_t i = 0; i < registry->family_count; i++) {
        struct family_filters *family = registry->families[i];

        if (is_overfolded(family) && remake_hierarchy(family, family->settings))
            is_any = true;
    }
    pthread_mutex_unlock(&registry->mutex);
    return is_any;
}

enum colander_code
registry_set_settings(struct registry *registry, struct family_filters *family,
                      struct settings *settings, struct colander_error *err)
{
    bool is_done = true;

    pthread_mutex_lock(&registry->mutex);
    if (!is_same_hierarchy(&family->settings->options, &settings->options))
        is_done = remake_hierarchy(family, settings);
    if (is_done) {
        settings_unref(family->settings);
        family->settings = settings;
        atomic_store(&family->set_at, clock_us());
        registry_touch(family);
    }
    pthread_mutex_unlock(&registry->mutex);
    if (is_done)
        return COLANDER_OK;
    settings_unref(settings);
    return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                         "no memory for the filters of a family");
}

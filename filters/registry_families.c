/*
 * Families in the registry: their settings, and the hierarchies that follow
 * from those.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filters/registry_inside.h"

#include <stdlib.h>

static struct shared_hierarchy *
make_hierarchy(const struct settings *settings)
{
    const struct colander_filter_options *options = &settings->options;
    struct shared_hierarchy *made = calloc(1, sizeof(*made));

    if (made == NULL)
        return NULL;
    made->reference_count = 1;
    made->hierarchy = hierarchy_create(
        options->hierarchy == COLANDER_HIERARCHY_TREE ? HIERARCHY_TREE
                                                      : HIERARCHY_SLICES,
        options->tree_order, options->memory_budget);
    if (made->hierarchy != NULL)
        return made;
    free(made);
    return NULL;
}

void
registry_destroy_family(struct family_filters *family)
{
    if (family == NULL)
        return;
    registry_unref_view(family->view);
    for (size_t i = 0; i < family->file_count; i++)
        registry_unref_file(family->files[i]);
    recent_destroy(family->recent);
    registry_unref_hierarchy(family->hierarchy);
    settings_unref(family->settings);
    free(family->files);
    free(family->used_slots);
    free(family);
}

static struct family_filters *
make_family(uint32_t id)
{
    struct family_filters *made = calloc(1, sizeof(*made));

    if (made == NULL)
        return NULL;
    made->id = id;
    atomic_init(&made->is_recent_all, true);
    made->recent = recent_create();
    if (settings_create(NULL, &made->settings, NULL) == COLANDER_OK)
        made->hierarchy = make_hierarchy(made->settings);
    if (made->recent != NULL && made->hierarchy != NULL)
        return made;
    registry_destroy_family(made);
    return NULL;
}

/* Where the family of that id is, or would be: they ascend. */
static size_t
family_place(const struct registry *registry, uint32_t id)
{
    size_t low = 0;
    size_t high = registry->family_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (registry->families[middle]->id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The family, made when there is none; under the mutex. */
static struct family_filters *
find_family(struct registry *registry, uint32_t id)
{
    const size_t place = family_place(registry, id);
    const size_t count = registry->family_count;
    struct family_filters *made;
    struct family_filters **grown;

    if (place < count && registry->families[place]->id == id)
        return registry->families[place];
    grown = realloc(registry->families,
                    (count + 1) * sizeof(struct family_filters *));
    if (grown == NULL)
        return NULL;
    registry->families = grown;
    made = make_family(id);
    if (made == NULL)
        return NULL;
    memmove(&grown[place + 1], &grown[place],
            (count - place) * sizeof(struct family_filters *));
    grown[place] = made;
    registry->family_count++;
    return made;
}

struct family_filters *
registry_family(struct registry *registry, uint32_t id)
{
    struct family_filters *family;

    pthread_mutex_lock(&registry->mutex);
    family = find_family(registry, id);
    pthread_mutex_unlock(&registry->mutex);
    return family;
}

struct family_filters *
registry_family_settings(struct registry *registry, uint32_t id,
                         struct settings **settings)
{
    struct family_filters *family;

    pthread_mutex_lock(&registry->mutex);
    family = find_family(registry, id);
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
    sizes = hierarchy_sizes(family->hierarchy->hierarchy);
    pthread_mutex_unlock(&registry->mutex);
    return sizes;
}

/* What the files of the family are when none is in a hierarchy: LOADED ones are
 * OPEN. The caller's, and each of the files; NULL when memory is short. */
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

/* Whether the presences in memory stay as they are. */
static bool
is_same_hierarchy(const struct colander_filter_options *a,
                  const struct colander_filter_options *b)
{
    return a->hierarchy == b->hierarchy && a->tree_order == b->tree_order &&
           a->memory_budget == b->memory_budget && a->fp_rate == b->fp_rate &&
           a->bits_per_value == b->bits_per_value &&
           a->filter_bits == b->filter_bits;
}

/* Under the mutex. The old one goes with the last view that has it. */
static bool
remake_hierarchy(struct family_filters *family, const struct settings *settings)
{
    struct shared_hierarchy *made = make_hierarchy(settings);
    struct sst_file **files = made == NULL ? NULL : list_unloaded(family);

    if (files == NULL) {
        registry_unref_hierarchy(made);
        return false;
    }
    for (size_t i = 0; i < family->file_count; i++) {
        registry_unref_file(family->files[i]);
        family->files[i] = files[i];
    }
    free(files);
    registry_touch(family);
    registry_unref_hierarchy(family->hierarchy);
    family->hierarchy = made;
    family->is_refilled = true;
    return true;
}

/* How often presences must be halved to fit the budget, when all are alike and
 * an eighth of it is lost to columns that no part has. */
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

/*
 * Whether the parts were folded a good deal more often than they need be. What
 * a hierarchy made anew came to is what it would come to again, as long as
 * there is about as much in it: so this does not go on for ever.
 */
static bool
is_overfolded(struct family_filters *family)
{
    const struct hierarchy_sizes sizes =
        hierarchy_sizes(family->hierarchy->hierarchy);
    uint64_t folds =
        folds_needed(&sizes, family->settings->options.memory_budget);

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
        registry_touch(family);
    }
    pthread_mutex_unlock(&registry->mutex);
    if (is_done)
        return COLANDER_OK;
    settings_unref(settings);
    return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                         "no memory for the filters of a family");
}

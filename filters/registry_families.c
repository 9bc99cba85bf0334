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
    made->full_bytes = UINT64_MAX;
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

/* Takes every part out of the family's hierarchy: what is LOADED becomes OPEN.
 * False when memory is short; files that became OPEN stay so. */
static bool
unload_files(struct family_filters *family)
{
    for (size_t i = 0; i < family->file_count; i++) {
        struct sst_file *file = family->files[i];
        struct sst_file *made;

        if (file->state != FILE_LOADED)
            continue;
        made = registry_derive_file(file, FILE_OPEN, file->filter, NULL);
        if (made == NULL)
            return false;
        registry_leave_hierarchy(family, file);
        family->files[i] = made;
        registry_unref_file(file);
    }
    return true;
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

    if (made == NULL)
        return false;
    if (!unload_files(family)) {
        registry_unref_hierarchy(made);
        return false;
    }
    registry_touch(family);
    registry_unref_hierarchy(family->hierarchy);
    family->hierarchy = made;
    family->is_refilled = true;
    return true;
}

/*
 * Whether parts are folded further than the budget asks for: a quarter of it is
 * free. How much of it a hierarchy made anew leaves free is known once one was:
 * that is then the measure, as it would be the same again.
 */
static bool
is_overfolded(struct family_filters *family)
{
    const struct hierarchy_sizes sizes =
        hierarchy_sizes(family->hierarchy->hierarchy);
    uint64_t most = family->settings->options.memory_budget;

    if (family->is_refilled)
        family->full_bytes =
            sizes.fold_count > 0 ? sizes.used_bytes : UINT64_MAX;
    else if (sizes.used_bytes > family->full_bytes)
        family->full_bytes = sizes.used_bytes;
    family->is_refilled = false;
    if (family->full_bytes < most)
        most = family->full_bytes;
    return sizes.fold_count > 0 && sizes.used_bytes <= most / 4 * 3;
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

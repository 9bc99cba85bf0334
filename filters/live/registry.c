/* SPDX-License-Identifier: MIT */
#include "core/array.h"
#include "filters/live/registry_inside.h"
#include "filters/locator.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* ---------------------------------------------------------------- slots --- */

/* Takes the lowest free slot; false when memory is short. */
static bool
take_slot(struct family_filters *family, uint32_t *slot)
{
    uint32_t capacity = family->slot_capacity;
    uint64_t *grown;

    for (uint32_t word = 0; word < capacity / 64; word++) {
        uint64_t free_slots = ~family->used_slots[word];

        if (free_slots != 0) {
            uint32_t bit = (uint32_t)__builtin_ctzll(free_slots);

            family->used_slots[word] |= UINT64_C(1) << bit;
            *slot = word * 64 + bit;
            return true;
        }
    }
    grown = realloc(family->used_slots, (capacity / 64 + 1) * sizeof(*grown));
    if (grown == NULL)
        return false;
    family->used_slots = grown;
    grown[capacity / 64] = 1;
    family->slot_capacity = capacity + 64;
    *slot = capacity;
    return true;
}

static void
give_slot(struct family_filters *family, uint32_t slot)
{
    family->used_slots[slot / 64] &= ~(UINT64_C(1) << slot % 64);
}

/* ---------------------------------------------------------------- files --- */

static uint32_t
part_count(const struct filter_file *filter)
{
    return filter == NULL ? 0 : filter->part_count;
}

int64_t
registry_clock(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return (int64_t)now.tv_sec;
}

struct sst_file *
sst_file_ref(struct sst_file *file)
{
    atomic_fetch_add_explicit(&file->reference_count, 1, memory_order_relaxed);
    return file;
}

static struct sst_descriptor *
make_descriptor(atomic_uint *open_count)
{
    struct sst_descriptor *created = malloc(sizeof(*created));

    if (created == NULL)
        return NULL;
    atomic_init(&created->reference_count, 1);
    atomic_init(&created->fd, -1);
    created->open_count = open_count;
    return created;
}

static void
descriptor_unref(struct sst_descriptor *descriptor)
{
    if (descriptor == NULL ||
        atomic_fetch_sub(&descriptor->reference_count, 1) != 1)
        return;
    if (atomic_load(&descriptor->fd) >= 0) {
        (void)close(atomic_load(&descriptor->fd));
        atomic_fetch_sub(descriptor->open_count, 1);
    }
    free(descriptor);
}

/* Releases a reference to the file. Requires the mutex. */
void
registry_unref_file(struct sst_file *file)
{
    if (atomic_fetch_sub_explicit(&file->reference_count, 1,
                                  memory_order_acq_rel) != 1)
        return;
    for (uint32_t i = 0; file->slots != NULL && i < part_count(file->filter);
         i++)
        give_slot(file->family, file->slots[i]);
    filter_file_unref(file->filter);
    descriptor_unref(file->descriptor);
    free(file->slots);
    free(file);
}

void
sst_file_unref(struct registry *registry, struct sst_file *file)
{
    if (file == NULL)
        return;
    pthread_mutex_lock(&registry->mutex);
    registry_unref_file(file);
    pthread_mutex_unlock(&registry->mutex);
}

void
registry_touch(struct family_filters *family)
{
    registry_unref_view(family->view);
    family->view = NULL;
}

void
registry_leave_hierarchy(struct family_filters *family,
                         const struct sst_file *file)
{
    for (uint32_t i = 0; file->slots != NULL && i < part_count(file->filter);
         i++)
        hierarchy_remove(family->hierarchy, file->slots[i]);
}

/* Finds a file's family and its index there; false: there is no such file. */
static bool
find_file(const struct registry *registry, uint64_t number,
          struct family_filters **family, size_t *place)
{
    for (size_t i = 0; i < registry->family_count; i++) {
        *family = registry->families[i];
        for (*place = 0; *place < (*family)->file_count; (*place)++) {
            if ((*family)->files[*place]->number == number)
                return true;
        }
    }
    return false;
}

static struct gone_file *
find_gone(const struct registry *registry, uint64_t number)
{
    for (size_t i = 0; i < registry->gone_count; i++) {
        if (registry->gone[i].number == number)
            return &registry->gone[i];
    }
    return NULL;
}

/* Remembers a file that was removed. Its size is needed when it is deleted; and
 * while the store is opened, a file may be listed after it was removed. */
static void
remember_gone(struct registry *registry, uint64_t number, uint64_t size)
{
    if (find_gone(registry, number) != NULL)
        return;
    if (array_reserve(&registry->gone, registry->gone_count,
                      &registry->gone_capacity, 1, NULL) != COLANDER_OK) {
        if (registry->is_opening) /* else it might stay listed forever */
            atomic_store(&registry->is_blind, true);
        return;
    }
    registry->gone[registry->gone_count++] =
        (struct gone_file){.number = number, .size = size};
}

/* Drops the files that need not be remembered any more. */
static void
forget_deleted(struct registry *registry)
{
    size_t kept = 0;

    for (size_t i = 0; i < registry->gone_count; i++) {
        if (!registry->gone[i].is_deleted)
            registry->gone[kept++] = registry->gone[i];
    }
    registry->gone_count = kept;
}

static struct sst_file *
make_file(struct family_filters *family, const struct sst_info *file,
          enum file_state state)
{
    struct sst_file *created = calloc(1, sizeof(*created));

    if (created == NULL)
        return NULL;
    atomic_init(&created->reference_count, 1);
    created->family = family;
    created->number = file->number;
    created->size = file->size;
    created->data_size = file->data_size;
    created->joined_at = file->last_sequence;
    created->entry_count = file->entry_count;
    created->is_tag_known = file->is_tag_known;
    memcpy(created->tag, file->tag, SST_TAG_SIZE);
    created->born = registry_clock();
    created->state = state;
    return created;
}

enum colander_code
registry_add(struct registry *registry, const struct sst_info *file,
             enum file_state state, struct colander_error *err)
{
    struct family_filters *family =
        registry_family(registry, file->family, NULL);
    struct family_filters *other;
    bool is_added = false;
    size_t place;

    if (family == NULL) {
        atomic_store(&registry->is_blind, true);
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory for filters of a family");
    }
    pthread_mutex_lock(&registry->mutex);
    if (find_file(registry, file->number, &other, &place) ||
        find_gone(registry, file->number) != NULL) {
        is_added = true;
    } else if (array_reserve(&family->files, family->file_count,
                             &family->file_capacity, 1, NULL) == COLANDER_OK) {
        struct sst_file *created = make_file(family, file, state);

        if (created != NULL)
            created->descriptor = make_descriptor(&registry->open_count);
        is_added = created != NULL;
        if (is_added && registry->is_opening)
            created->born = INT64_MIN; /* it is older than this run */
        if (is_added)
            family->files[family->file_count++] = created;
        registry_touch(family);
    }
    pthread_mutex_unlock(&registry->mutex);
    if (is_added)
        return COLANDER_OK;
    atomic_store(&registry->is_blind, true);
    return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a file");
}

/* Requires the mutex. */
static void
remove_file(struct registry *registry, uint64_t number)
{
    struct family_filters *family;
    uint64_t size = 0;
    size_t place;

    if (find_file(registry, number, &family, &place)) {
        struct sst_file *file = family->files[place];

        size = file->size;
        family->files[place] = family->files[--family->file_count];
        registry_leave_hierarchy(family, file);
        registry_unref_file(file);
        registry_touch(family);
        atomic_fetch_add(&family->changes, 1);
    }
    remember_gone(registry, number, size);
}

void
registry_remove(struct registry *registry, uint64_t number)
{
    pthread_mutex_lock(&registry->mutex);
    remove_file(registry, number);
    pthread_mutex_unlock(&registry->mutex);
}

uint64_t
registry_forget(struct registry *registry, uint64_t number)
{
    struct gone_file *gone;
    uint64_t size = 0;

    pthread_mutex_lock(&registry->mutex);
    remove_file(registry, number);
    gone = find_gone(registry, number);
    if (gone != NULL) {
        size = gone->size;
        gone->is_deleted = true;
    }
    if (!registry->is_opening)
        forget_deleted(registry);
    pthread_mutex_unlock(&registry->mutex);
    return size;
}

struct sst_file *
registry_find(struct registry *registry, uint64_t number)
{
    struct family_filters *family;
    struct sst_file *file = NULL;
    size_t place;

    pthread_mutex_lock(&registry->mutex);
    if (find_file(registry, number, &family, &place))
        file = sst_file_ref(family->files[place]);
    pthread_mutex_unlock(&registry->mutex);
    return file;
}

struct sst_file *
registry_next(struct registry *registry, uint64_t number, enum file_state state)
{
    struct sst_file *next = NULL;

    pthread_mutex_lock(&registry->mutex);
    for (size_t i = 0; i < registry->family_count; i++) {
        const struct family_filters *family = registry->families[i];

        for (size_t k = 0; k < family->file_count; k++) {
            struct sst_file *file = family->files[k];

            if (file->state == state && file->number > number &&
                (next == NULL || file->number < next->number))
                next = file;
        }
    }
    if (next != NULL)
        (void)sst_file_ref(next);
    pthread_mutex_unlock(&registry->mutex);
    return next;
}

/* -------------------------------------------------------- state changes --- */

/* Adds the parts of `file` to the hierarchy: all or none. */
static bool
enter_hierarchy(struct family_filters *family, struct sst_file *file,
                const struct presence *presences)
{
    uint32_t count = part_count(file->filter);
    uint32_t done = 0;

    file->slots = calloc((size_t)count + 1, sizeof(*file->slots));
    if (file->slots == NULL)
        return false;
    for (; done < count; done++) {
        if (!take_slot(family, &file->slots[done]))
            break;
        if (hierarchy_add(family->hierarchy, file->slots[done],
                          &presences[done], NULL) != COLANDER_OK) {
            give_slot(family, file->slots[done]);
            break;
        }
    }
    if (done == count)
        return true;
    while (done-- > 0) {
        hierarchy_remove(family->hierarchy, file->slots[done]);
        give_slot(family, file->slots[done]);
    }
    free(file->slots);
    file->slots = NULL;
    return false;
}

struct sst_file *
registry_derive_file(const struct sst_file *file, enum file_state state,
                     struct filter_file *filter,
                     const struct presence *presences)
{
    struct sst_info info = {
        .number = file->number,
        .size = file->size,
        .data_size = file->data_size,
        .last_sequence = file->joined_at,
        .entry_count = file->entry_count,
        .is_tag_known = file->is_tag_known,
    };
    struct sst_file *created;

    memcpy(info.tag, file->tag, SST_TAG_SIZE);
    created = make_file(file->family, &info, state);
    if (created == NULL)
        return NULL;
    created->born = file->born;
    created->descriptor = file->descriptor;
    if (created->descriptor != NULL)
        atomic_fetch_add(&created->descriptor->reference_count, 1);
    atomic_init(&created->tries, atomic_load(&file->tries));
    if (filter != NULL)
        created->filter = filter_file_ref(filter);
    if (state == FILE_LOADED &&
        !enter_hierarchy(file->family, created, presences)) {
        registry_unref_file(created);
        return NULL;
    }
    return created;
}

enum colander_code
registry_change(struct registry *registry, struct sst_file *file,
                enum file_state state, struct filter_file *filter,
                const struct presence *presences)
{
    struct family_filters *family;
    struct sst_file *created = NULL;
    bool is_listed;
    size_t place;

    pthread_mutex_lock(&registry->mutex);
    is_listed = find_file(registry, file->number, &family, &place) &&
                family->files[place] == file;
    if (is_listed)
        created = registry_derive_file(file, state, filter, presences);
    if (created != NULL) {
        registry_leave_hierarchy(family, file);
        family->files[place] = created;
        registry_unref_file(file);
        registry_touch(family);
    }
    pthread_mutex_unlock(&registry->mutex);
    if (!is_listed)
        return COLANDER_NOT_FOUND;
    return created == NULL ? COLANDER_NO_MEMORY : COLANDER_OK;
}

/* --------------------------------------------------------------- life --- */

enum colander_code
registry_init(struct registry *registry, size_t cache_size,
              struct colander_error *err)
{
    memset(registry, 0, sizeof(*registry));
    registry->is_opening = true;
    atomic_init(&registry->is_blind, false);
    registry->cache = block_cache_create(cache_size, LOCATOR_BLOCK_SIZE);
    if (registry->cache == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for filters");
    pthread_mutex_init(&registry->mutex, NULL);
    return COLANDER_OK;
}

void
registry_release(struct registry *registry)
{
    for (size_t i = 0; i < registry->family_count; i++)
        registry_destroy_family(registry->families[i]);
    free(registry->families);
    free(registry->gone);
    block_cache_destroy(registry->cache);
    pthread_mutex_destroy(&registry->mutex);
}

void
registry_open_end(struct registry *registry)
{
    pthread_mutex_lock(&registry->mutex);
    registry->is_opening = false;
    for (size_t i = 0; i < registry->family_count; i++)
        registry->families[i]->is_refilled = true;
    forget_deleted(registry);
    pthread_mutex_unlock(&registry->mutex);
}

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
make_descriptor(struct registry *registry, uint64_t number)
{
    struct sst_descriptor *created = calloc(1, sizeof(*created));

    if (created == NULL)
        return NULL;
    atomic_init(&created->reference_count, 1);
    atomic_init(&created->fd, -1);
    created->registry = registry;
    created->number = number;
    return created;
}

static void
descriptor_unref(struct sst_descriptor *descriptor)
{
    struct registry *registry;

    if (descriptor == NULL ||
        atomic_fetch_sub(&descriptor->reference_count, 1) != 1)
        return;
    registry = descriptor->registry;
    if (atomic_load(&descriptor->fd) >= 0) {
        (void)close(atomic_load(&descriptor->fd));
        atomic_fetch_sub(&registry->commons->open_count, 1);
    }
    if (descriptor->span_count > 0)
        block_cache_forget(registry->commons->rows,
                           registry_file_id(registry, descriptor->number),
                           descriptor->span_count);
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
    registry_count_memory(family);
}

/* Returns the place of a number among the known files, or where it would be. */
static size_t
known_place(const struct registry *registry, uint64_t number)
{
    const size_t count = registry->known_count;
    size_t place;

    /* most are asked when they are new */
    if (count == 0 || registry->known[count - 1].number < number)
        return count;
    array_search(place, count, registry->known[place].number < number);
    return place;
}

/* Returns what is known of a file, or NULL. */
static struct known_file *
find_known(const struct registry *registry, uint64_t number)
{
    const size_t place = known_place(registry, number);

    return place < registry->known_count &&
                   registry->known[place].number == number
               ? &registry->known[place]
               : NULL;
}

/* Adds a file that is not known. Returns false if memory is short. */
static bool
add_known(struct registry *registry, const struct known_file *file)
{
    const size_t place = known_place(registry, file->number);

    if (array_reserve(&registry->known, registry->known_count,
                      &registry->known_capacity, 1, NULL) != COLANDER_OK)
        return false;
    memmove(&registry->known[place + 1], &registry->known[place],
            (registry->known_count - place) * sizeof(*registry->known));
    registry->known[place] = *file;
    registry->known_count++;
    return true;
}

static void
remove_known(struct registry *registry, const struct known_file *file)
{
    const size_t place = (size_t)(file - registry->known);

    registry->known_count--;
    memmove(&registry->known[place], &registry->known[place + 1],
            (registry->known_count - place) * sizeof(*registry->known));
}

/* Returns the place of a number among the files of a family, or where it would
 * be. */
static size_t
place_in_family(const struct family_filters *family, uint64_t number)
{
    size_t place;

    array_search(place, family->file_count,
                 family->files[place]->number < number);
    return place;
}

/* Returns the place of a listed file in its family. */
static struct sst_file **
listed_file(const struct known_file *known)
{
    return &known->family->files[place_in_family(known->family, known->number)];
}

/* Returns the place of a file in its family; NULL: it is not listed. */
static struct sst_file **
find_file(const struct registry *registry, uint64_t number)
{
    const struct known_file *known = find_known(registry, number);

    return known == NULL || known->family == NULL ? NULL : listed_file(known);
}

/* Remembers that a file was removed which is not known: while the store is
 * opened, it may be listed later. */
static void
remember_gone(struct registry *registry, uint64_t number)
{
    const struct known_file gone = {.number = number};

    if (!add_known(registry, &gone) && registry->is_opening)
        atomic_store(&registry->is_blind, true); /* it might stay listed */
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

/* Lists a file. Returns false if memory is short. */
static bool
list_file(struct registry *registry, struct family_filters *family,
          const struct sst_info *file, enum file_state state)
{
    const size_t place = place_in_family(family, file->number);
    const struct known_file known = {.number = file->number, .family = family};
    struct sst_file *created;

    if (array_reserve(&family->files, family->file_count,
                      &family->file_capacity, 1, NULL) != COLANDER_OK)
        return false;
    created = make_file(family, file, state);
    if (created == NULL || !add_known(registry, &known)) {
        free(created);
        return false;
    }
    created->descriptor = make_descriptor(registry, file->number);
    if (registry->is_opening)
        created->born = INT64_MIN; /* it is older than this run */
    memmove(&family->files[place + 1], &family->files[place],
            (family->file_count - place) * sizeof(struct sst_file *));
    family->files[place] = created;
    family->file_count++;
    registry_touch(family);
    return true;
}

enum colander_code
registry_add(struct registry *registry, const struct sst_info *file,
             enum file_state state, struct colander_error *err)
{
    struct family_filters *family =
        registry_family(registry, file->family, NULL);
    bool is_known;

    if (family == NULL) {
        atomic_store(&registry->is_blind, true);
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory for filters of a family");
    }
    pthread_mutex_lock(&registry->mutex);
    is_known = find_known(registry, file->number) != NULL ||
               list_file(registry, family, file, state);
    pthread_mutex_unlock(&registry->mutex);
    if (is_known)
        return COLANDER_OK;
    atomic_store(&registry->is_blind, true);
    return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a file");
}

/* Its size is needed when it is deleted. Requires the mutex. */
static void
remove_file(struct registry *registry, uint64_t number)
{
    struct known_file *known = find_known(registry, number);
    struct family_filters *family = known == NULL ? NULL : known->family;
    struct sst_file **place;
    struct sst_file *file;

    if (known == NULL)
        remember_gone(registry, number);
    if (family == NULL)
        return;
    place = listed_file(known);
    file = *place;
    known->family = NULL;
    known->size = file->size;
    family->file_count--;
    memmove(place, place + 1,
            (size_t)(&family->files[family->file_count] - place) *
                sizeof(struct sst_file *));
    registry_leave_hierarchy(family, file);
    registry_unref_file(file);
    registry_touch(family);
    atomic_fetch_add(&family->changes, 1);
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
    struct known_file *known;
    uint64_t size = 0;

    pthread_mutex_lock(&registry->mutex);
    remove_file(registry, number);
    known = find_known(registry, number);
    if (known != NULL) {
        size = known->size;
        known->is_deleted = true;
        if (!registry->is_opening)
            remove_known(registry, known);
    }
    pthread_mutex_unlock(&registry->mutex);
    return size;
}

struct sst_file *
registry_find(struct registry *registry, uint64_t number)
{
    struct sst_file *file = NULL;
    struct sst_file **place;

    pthread_mutex_lock(&registry->mutex);
    place = find_file(registry, number);
    if (place != NULL)
        file = sst_file_ref(*place);
    pthread_mutex_unlock(&registry->mutex);
    return file;
}

struct sst_file *
registry_next(struct registry *registry, uint64_t number, enum file_state state)
{
    struct sst_file *next = NULL;

    pthread_mutex_lock(&registry->mutex);
    for (size_t i = known_place(registry, number + 1);
         next == NULL && i < registry->known_count; i++) {
        struct sst_file *file = NULL;

        if (registry->known[i].family != NULL)
            file = *listed_file(&registry->known[i]);
        if (file != NULL && file->state == state)
            next = sst_file_ref(file);
    }
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
    registry_allow_memory(family);
    for (; done < count; done++) {
        if (!take_slot(family, &file->slots[done]))
            break;
        if (hierarchy_add(family->hierarchy, file->slots[done],
                          &presences[done], NULL) != COLANDER_OK) {
            give_slot(family, file->slots[done]);
            break;
        }
    }
    registry_count_memory(family);
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

/* Keeps the descriptor for another state of the file. */
static void
share_descriptor(struct sst_file *file)
{
    struct sst_descriptor *descriptor = file->descriptor;

    if (descriptor == NULL)
        return;
    atomic_fetch_add(&descriptor->reference_count, 1);
    if (file->filter != NULL && file->filter->span_count != 0)
        descriptor->span_count = file->filter->span_count;
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
    atomic_init(&created->tries, atomic_load(&file->tries));
    if (filter != NULL)
        created->filter = filter_file_ref(filter);
    share_descriptor(created);
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
    struct sst_file *created = NULL;
    struct sst_file **place;
    bool is_listed;

    pthread_mutex_lock(&registry->mutex);
    place = find_file(registry, file->number);
    is_listed = place != NULL && *place == file;
    if (is_listed)
        created = registry_derive_file(file, state, filter, presences);
    if (created != NULL) {
        registry_leave_hierarchy(file->family, file);
        *place = created;
        registry_unref_file(file);
        registry_touch(created->family);
    }
    pthread_mutex_unlock(&registry->mutex);
    if (!is_listed)
        return COLANDER_NOT_FOUND;
    return created == NULL ? COLANDER_NO_MEMORY : COLANDER_OK;
}

/* --------------------------------------------------------------- life --- */

/* Numbers of files in one store are below this. */
#define FILE_IDS ((uint64_t)1 << 40)

void
registry_init(struct registry *registry, struct commons *commons)
{
    memset(registry, 0, sizeof(*registry));
    registry->is_opening = true;
    atomic_init(&registry->is_blind, false);
    registry->commons = commons;
    registry->file_ids = atomic_fetch_add(&commons->store_count, 1) * FILE_IDS;
    pthread_mutex_init(&registry->mutex, NULL);
}

void
registry_release(struct registry *registry)
{
    for (size_t i = 0; i < registry->family_count; i++)
        registry_destroy_family(registry->families[i]);
    free(registry->families);
    free(registry->known);
    pthread_mutex_destroy(&registry->mutex);
}

void
registry_open_end(struct registry *registry)
{
    size_t kept = 0;

    pthread_mutex_lock(&registry->mutex);
    registry->is_opening = false;
    for (size_t i = 0; i < registry->family_count; i++)
        registry->families[i]->is_refilled = true;
    for (size_t i = 0; i < registry->known_count; i++) {
        if (!registry->known[i].is_deleted)
            registry->known[kept++] = registry->known[i];
    }
    registry->known_count = kept;
    pthread_mutex_unlock(&registry->mutex);
}

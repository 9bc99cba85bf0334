/* SPDX-License-Identifier: MIT */
#include "filters/levels.h"

#include "core/array.h"
#include "core/sst_places.h"

#include <stdlib.h>

/* The Bloom filter of one SST, counted. */
struct key_filter {
    atomic_size_t reference_count;
    struct levels_memory *memory;
    struct sst_keys *keys; /* NULL: the SST has none that can be read */
};

struct level_file {
    uint64_t number;
    uint32_t run_first; /* the first file of its run, */
    uint32_t run_end;   /* and the end; set in the first */
    struct colander_slice first;
    struct colander_slice last;
    _Atomic(struct key_filter *) filter; /* NULL: not read yet */
};

/* To find a file by its number. */
struct numbered {
    uint64_t number;
    uint32_t place;
};

struct levels {
    atomic_size_t reference_count;
    struct engine *engine;
    struct levels_memory *memory;
    struct level_file *files;
    struct numbered *by_number; /* ascending */
    uint32_t count;
    size_t capacity;
    struct colander_buffer keys; /* the bytes of all keys */
};

/* -------------------------------------------------------- Bloom filters --- */

static void
key_filter_unref(struct key_filter *filter)
{
    if (filter == NULL || atomic_fetch_sub(&filter->reference_count, 1) != 1)
        return;
    if (filter->keys != NULL)
        atomic_fetch_sub(&filter->memory->bytes, sst_keys_size(filter->keys));
    sst_keys_destroy(filter->keys);
    free(filter);
}

/* Reads the filter of a file. Returns NULL if that is not possible now. */
static struct key_filter *
read_filter(const struct levels *levels, uint64_t number)
{
    struct levels_memory *memory = levels->memory;
    struct key_filter *filter;
    enum colander_code code;
    char path[SST_PATH_MAX];

    if (atomic_load_explicit(&memory->bytes, memory_order_relaxed) >=
            memory->max ||
        !engine_sst_path(levels->engine, number, path))
        return NULL;
    filter = calloc(1, sizeof(*filter));
    if (filter == NULL)
        return NULL;
    atomic_init(&filter->reference_count, 1);
    filter->memory = memory;
    code =
        sst_keys_read(path, engine_remote(levels->engine), &filter->keys, NULL);
    /* A file without a filter that can be read may have any key. */
    if (code != COLANDER_OK && code != COLANDER_CORRUPT &&
        code != COLANDER_NOT_FOUND) {
        free(filter);
        return NULL;
    }
    if (filter->keys != NULL)
        atomic_fetch_add(&memory->bytes, sst_keys_size(filter->keys));
    return filter;
}

/* Returns the filter of a file, borrowed. */
static const struct key_filter *
filter_of(const struct levels *levels, struct level_file *file)
{
    struct key_filter *filter =
        atomic_load_explicit(&file->filter, memory_order_acquire);
    struct key_filter *made;

    if (filter != NULL)
        return filter;
    made = read_filter(levels, file->number);
    if (made != NULL &&
        !atomic_compare_exchange_strong(&file->filter, &filter, made)) {
        key_filter_unref(made);
        return filter; /* another thread has read it */
    }
    return made;
}

/* --------------------------------------------------------------- making --- */

static enum colander_code
add_file(void *context, const struct sst_in_run *found,
         struct colander_error *err)
{
    struct levels *levels = context;
    struct level_file *file;
    enum colander_code code;

    if (levels->count == LEVELS_NONE - 1)
        return COLANDER_FAIL(err, COLANDER_LIMIT, "too many files");
    code =
        array_reserve(&levels->files, levels->count, &levels->capacity, 1, err);
    if (code != COLANDER_OK)
        return code;
    file = &levels->files[levels->count];
    memset(file, 0, sizeof(*file));
    file->number = found->number;
    file->first = found->first;
    file->last = found->last;
    file->run_first = found->begins_run || levels->count == 0
                          ? levels->count
                          : file[-1].run_first;
    atomic_init(&file->filter, NULL);
    code = colander_buffer_append(&levels->keys, found->first.data,
                                  found->first.size, err);
    if (code == COLANDER_OK)
        code = colander_buffer_append(&levels->keys, found->last.data,
                                      found->last.size, err);
    if (code == COLANDER_OK)
        levels->files[file->run_first].run_end = ++levels->count;
    return code;
}

static int
compare_numbers(const void *left, const void *right)
{
    const uint64_t a = ((const struct numbered *)left)->number;
    const uint64_t b = ((const struct numbered *)right)->number;

    return (a > b) - (a < b);
}

/* Gives the keys their bytes, and sorts the files by number. */
static enum colander_code
order_files(struct levels *levels, struct colander_error *err)
{
    const uint8_t *key = levels->keys.data;

    levels->by_number =
        malloc(((size_t)levels->count + 1) * sizeof(struct numbered));
    if (levels->by_number == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a find");
    for (uint32_t i = 0; i < levels->count; i++) {
        struct level_file *file = &levels->files[i];

        file->first.data = key;
        file->last.data = key + file->first.size;
        key = file->last.data + file->last.size;
        levels->by_number[i] = (struct numbered){file->number, i};
    }
    qsort(levels->by_number, levels->count, sizeof(struct numbered),
          compare_numbers);
    return COLANDER_OK;
}

/* Shares the Bloom filters that were read before. */
static void
share_filters(struct levels *levels, const struct levels *before)
{
    for (uint32_t i = 0; i < levels->count; i++) {
        const uint32_t place = levels_find(before, levels->files[i].number);
        struct key_filter *filter;

        if (place == LEVELS_NONE)
            continue;
        filter = atomic_load_explicit(&before->files[place].filter,
                                      memory_order_acquire);
        if (filter != NULL)
            atomic_fetch_add(&filter->reference_count, 1);
        atomic_init(&levels->files[i].filter, filter);
    }
}

enum colander_code
levels_create(struct engine *engine, struct engine_family *family,
              struct levels *before, struct levels_memory *memory,
              struct levels **levels, struct colander_error *err)
{
    struct levels *created = calloc(1, sizeof(*created));
    enum colander_code code;

    *levels = NULL;
    if (created == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a find");
    atomic_init(&created->reference_count, 1);
    created->engine = engine;
    created->memory = memory;
    code = engine_runs(family, add_file, created, err);
    if (code == COLANDER_OK)
        code = order_files(created, err);
    if (code != COLANDER_OK) {
        levels_unref(created);
        return code;
    }
    if (before != NULL)
        share_filters(created, before);
    *levels = created;
    return COLANDER_OK;
}

struct levels *
levels_ref(struct levels *levels)
{
    atomic_fetch_add_explicit(&levels->reference_count, 1,
                              memory_order_relaxed);
    return levels;
}

void
levels_unref(struct levels *levels)
{
    if (levels == NULL || atomic_fetch_sub(&levels->reference_count, 1) != 1)
        return;
    for (uint32_t i = 0; i < levels->count; i++)
        key_filter_unref(atomic_load(&levels->files[i].filter));
    colander_buffer_release(&levels->keys);
    free(levels->files);
    free(levels->by_number);
    free(levels);
}

/* -------------------------------------------------------------- finding --- */

uint32_t
levels_find(const struct levels *levels, uint64_t number)
{
    const struct numbered wanted = {number, 0};
    const struct numbered *found =
        bsearch(&wanted, levels->by_number, levels->count,
                sizeof(struct numbered), compare_numbers);

    return found == NULL ? LEVELS_NONE : found->place;
}

/* Whether a file in whose range the key is may have it. */
static bool
may_have(const struct levels *levels, uint32_t place, uint64_t hash)
{
    const struct key_filter *filter = filter_of(levels, &levels->files[place]);

    return filter == NULL || filter->keys == NULL ||
           sst_keys_may_have(filter->keys, hash);
}

/* Returns the first file of a run whose last key is not below `key`, or the
 * end. */
static uint32_t
first_not_below(const struct levels *levels, uint32_t begin, uint32_t end,
                struct colander_slice key)
{
    while (begin < end) {
        const uint32_t middle = begin + (end - begin) / 2;

        if (colander_slice_compare(levels->files[middle].last, key) < 0)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin;
}

/* Files of a run may meet in one key. */
static bool
run_may_have(const struct levels *levels, uint32_t begin, uint32_t end,
             struct colander_slice key, uint64_t hash)
{
    for (uint32_t i = first_not_below(levels, begin, end, key);
         i < end && colander_slice_compare(levels->files[i].first, key) <= 0;
         i++) {
        if (may_have(levels, i, hash))
            return true;
    }
    return false;
}

bool
levels_may_have_newer(const struct levels *levels, uint32_t place,
                      struct colander_slice key, uint64_t hash)
{
    const uint32_t own = levels->files[place].run_first;

    for (uint32_t i = 0; i < own; i = levels->files[i].run_end) {
        if (run_may_have(levels, i, levels->files[i].run_end, key, hash))
            return true;
    }
    return place > own &&
           colander_slice_compare(levels->files[place - 1].last, key) >= 0;
}

/*
 * Loads a filter: opens its file, and puts its presences into the hierarchy.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filters/live.h"

#include <stdlib.h>

/* --------------------------------------------------------------- memory --- */

/* The cache of the engine changes its size in steps of as many bytes. */
#define LEND_STEP ((uint64_t)1 << 20)

static uint64_t
steps_in_use(struct filters *filters)
{
    return (block_cache_bytes_used(filters->commons->rows) +
            atomic_load(&filters->commons->levels_memory.bytes) +
            atomic_load(&filters->commons->span_bytes)) /
           LEND_STEP;
}

void
filters_lend(struct filters *filters)
{
    uint64_t steps;

    if (steps_in_use(filters) == atomic_load(&filters->commons->lent))
        return;
    /* The last one to change the size must know the last sum. */
    pthread_mutex_lock(&filters->commons->lend_mutex);
    steps = steps_in_use(filters);
    if (steps != atomic_load(&filters->commons->lent)) {
        engine_cache_lend(filters->engine, steps * LEND_STEP);
        atomic_store(&filters->commons->lent, steps);
    }
    pthread_mutex_unlock(&filters->commons->lend_mutex);
}

/* -------------------------------------------------------------- opening --- */

enum colander_code
filter_check_head(const struct filter_head *head, uint64_t entry_count,
                  const uint8_t *tag, struct colander_error *err)
{
    if (head->hash_version != COLANDER_HASH_VERSION)
        return COLANDER_FAIL(err, COLANDER_TOO_NEW,
                             "its hashes have version %u, not %d",
                             head->hash_version, COLANDER_HASH_VERSION);
    if ((entry_count != 0 && head->entry_count != entry_count) ||
        (tag != NULL && memcmp(head->tag, tag, SST_TAG_SIZE) != 0))
        return COLANDER_FAIL(err, COLANDER_CORRUPT,
                             "it belongs to another SST");
    return COLANDER_OK;
}

enum colander_code
filters_open_pending(struct filters *filters, struct sst_file *file,
                     struct colander_error *err)
{
    struct filter_file *filter;
    struct colander_error failure;
    char path[FILTER_PATH_MAX];
    enum colander_code code;

    if (!filter_path_of_sst(&filters->names, file->number, file->size, path))
        return COLANDER_FAIL(err, COLANDER_IO,
                             "the path of the store is too long");
    code = filter_file_open_remote(path, filters->remote,
                                   filters->commons->cache, &filter, &failure);
    if (code == COLANDER_OK)
        code =
            filter_check_head(&filter->head, file->entry_count,
                              file->is_tag_known ? file->tag : NULL, &failure);
    if (code != COLANDER_OK) {
        filter_file_unref(filter);
        if (code == COLANDER_IO || code == COLANDER_NO_MEMORY)
            filter_log_error(&filters->log, "cannot open the filter of SST",
                             file->number, &failure); /* may be temporary */
        else
            filters_doubt(filters, file, &failure);
        return COLANDER_OK;
    }
    filter_file_count_spans(filter, &filters->commons->span_bytes,
                            filters->commons->span_bytes_max);
    (void)registry_change(&filters->registry, file, FILE_OPEN, filter, NULL);
    filter_file_unref(filter);
    return COLANDER_OK;
}

/* -------------------------------------------------------------- loading --- */

static void
add_hash(void *context, uint64_t hash)
{
    presence_add(context, hash);
}

/* Fills the presence of a part from its locator, block by block. */
static enum colander_code
presence_from_locator(const struct filter_file *filter,
                      const struct filter_part *part, struct presence *presence,
                      struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    for (uint32_t i = 0;
         i < part->block_count[FILTER_LOCATOR] && code == COLANDER_OK; i++) {
        struct cached_block *block;
        uint32_t first;

        code = filter_file_nth_block(filter, part, FILTER_LOCATOR, i, &block,
                                     &first, err);
        if (code != COLANDER_OK)
            break;
        code = locator_hashes(&part->shape, block->bytes, first, add_hash,
                              presence, err);
        block_cache_release(filter->cache, block);
    }
    return code;
}

/* Fills the presence of a part from its blocks on disk. */
static enum colander_code
presence_from_blocks(const struct filter_file *filter,
                     const struct filter_part *part, struct presence *presence,
                     struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    for (uint32_t i = 0;
         i < part->block_count[FILTER_PRESENCE] && code == COLANDER_OK; i++) {
        struct cached_block *block;
        uint32_t first;
        size_t left;

        code = filter_file_nth_block(filter, part, FILTER_PRESENCE, i, &block,
                                     &first, err);
        if (code != COLANDER_OK)
            break;
        left = presence_size(&presence->shape) -
               (size_t)first * (PRESENCE_BLOCK_BITS / 8);
        if (first >= presence->shape.block_count || block->bytes.size > left)
            code = COLANDER_FAIL(err, COLANDER_CORRUPT,
                                 "a presence has too many blocks");
        else
            memcpy(presence->words + (size_t)first * PRESENCE_BLOCK_WORDS,
                   block->bytes.data, block->bytes.size);
        block_cache_release(filter->cache, block);
    }
    return code;
}

enum colander_code
filters_make_presence(const struct filter_file *filter,
                      const struct filter_part *part,
                      const struct presence_shape *wanted,
                      struct presence *presence, struct colander_error *err)
{
    bool is_kept = part->presence.block_count != 0;
    struct presence_shape shape = part->presence;
    enum colander_code code;

    if (!is_kept) {
        shape = *wanted;
        shape.hash_bits = part->shape.hash_bits;
    }
    code = presence_init(presence, &shape, err);
    if (code != COLANDER_OK)
        return code;
    code = is_kept ? presence_from_blocks(filter, part, presence, err)
                   : presence_from_locator(filter, part, presence, err);
    if (code != COLANDER_OK)
        presence_release(presence);
    return code;
}

enum colander_code
filters_load(struct filters *filters, struct sst_file *file,
             struct colander_error *err)
{
    const uint32_t count = file->filter->part_count;
    struct presence *presences = calloc((size_t)count + 1, sizeof(*presences));
    struct settings *settings =
        registry_settings(&filters->registry, file->family);
    enum colander_code code = COLANDER_OK;
    uint32_t done = 0;

    if (presences == NULL)
        code = COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory to load a filter");
    while (code == COLANDER_OK && done < count) {
        const struct filter_part *part = &file->filter->parts[done];
        const struct presence_shape shape =
            settings_presence_shape(settings, part->hash_count);

        code = filters_make_presence(file->filter, part, &shape,
                                     &presences[done], err);
        done += code == COLANDER_OK;
    }
    if (code == COLANDER_OK &&
        registry_change(&filters->registry, file, FILE_LOADED, file->filter,
                        presences) == COLANDER_NO_MEMORY)
        code = COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory to add it to the hierarchy");
    while (done-- > 0)
        presence_release(&presences[done]);
    free(presences);
    settings_unref(settings);
    return code;
}

/* SPDX-License-Identifier: MIT */
#include "loading/new_keys.h"
#include "core/array.h"

#include <stdlib.h>
#include <xxhash.h>

void
new_keys_release(struct new_keys *new_keys)
{
    for (size_t i = 0; i < NEW_KEYS_LOT; i++)
        colander_buffer_release(&new_keys->rows[i]);
    hash_index_release(&new_keys->index);
    free(new_keys->keys);
    free(new_keys->is_new);
    free(new_keys->had_rows);
}

/* Adds the key of row `index`. *is_new is false if an equal one is there. */
static enum colander_code
add(struct new_keys *new_keys, const struct chunk *chunk, size_t index,
    bool *is_new, struct colander_error *err)
{
    const struct colander_slice key = new_keys->keys[index];
    /* The address is a seed that a foreign file cannot know. */
    const uint32_t hash = (uint32_t)XXH3_64bits_withSeed(
        key.data, key.size, (uint64_t)(uintptr_t)new_keys);
    size_t at = HASH_INDEX_START;
    enum colander_code code;
    uint32_t i;

    *is_new = false;
    while ((i = hash_index_next(&new_keys->index, hash, &at)) !=
           HASH_INDEX_NONE) {
        if (chunk->waiting[i].family == chunk->waiting[index].family &&
            colander_slice_equal(new_keys->keys[i], key))
            return COLANDER_OK;
    }
    code = hash_index_reserve(&new_keys->index, err);
    if (code == COLANDER_OK)
        hash_index_add(&new_keys->index, hash, (uint32_t)index);
    *is_new = code == COLANDER_OK;
    return code;
}

/* Returns how many rows from this one on are looked up at once: they are in one
 * family. */
static size_t
lot_size(const struct chunk *chunk, size_t first)
{
    size_t size = 1;

    while (size < NEW_KEYS_LOT && first + size < chunk->waiting_count &&
           chunk->waiting[first + size].family == chunk->waiting[first].family)
        size++;
    return size;
}

enum colander_code
new_keys_find(struct new_keys *new_keys, const struct chunk *chunk,
              struct colander_error *err)
{
    const size_t count = chunk->waiting_count;
    enum colander_code code =
        array_reserve(&new_keys->keys, 0, &new_keys->key_capacity, count, err);

    if (code == COLANDER_OK)
        code = array_reserve(&new_keys->is_new, 0, &new_keys->new_capacity,
                             count, err);
    if (code == COLANDER_OK)
        code = array_reserve(&new_keys->had_rows, 0, &new_keys->had_capacity,
                             count, err);
    hash_index_clear(&new_keys->index);
    for (size_t i = 0; i < count && code == COLANDER_OK; i++) {
        new_keys->keys[i] = chunk_waiting_key(chunk, i);
        code = add(new_keys, chunk, i, &new_keys->is_new[i], err);
    }
    for (size_t i = 0, lot; i < count && code == COLANDER_OK; i += lot) {
        bool found[NEW_KEYS_LOT];

        lot = lot_size(chunk, i);
        code = colander_family_get_many(chunk->waiting[i].family,
                                        &new_keys->keys[i], lot, NULL,
                                        new_keys->rows, found, err);
        for (size_t k = 0; k < lot && code == COLANDER_OK; k++)
            new_keys->is_new[i + k] = new_keys->is_new[i + k] && !found[k];
    }
    return code;
}

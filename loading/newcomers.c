/*
 * Newcomers: see newcomers.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "loading/newcomers.h"

#include <stdlib.h>
#include <xxhash.h>

#define LOT 64 /* keys that are looked up at once */

struct newcomers {
    struct colander_family *family;
    struct colander_slice *keys; /* of the chunk's rows, in its bytes */
    bool *is_new;
    size_t capacity; /* of both */
    uint32_t *slots; /* a hash table of rows, from 1; 0: nothing there */
    size_t slot_capacity;
    struct colander_buffer rows[LOT];
};

enum colander_code
newcomers_create(struct colander_family *family, struct newcomers **newcomers,
                 struct colander_error *err)
{
    *newcomers = calloc(1, sizeof(**newcomers));
    if (*newcomers == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a load");
    (*newcomers)->family = family;
    return COLANDER_OK;
}

void
newcomers_destroy(struct newcomers *newcomers)
{
    if (newcomers == NULL)
        return;
    for (size_t i = 0; i < LOT; i++)
        colander_buffer_release(&newcomers->rows[i]);
    free(newcomers->keys);
    free(newcomers->is_new);
    free(newcomers->slots);
    free(newcomers);
}

/* Makes room for `count` rows, and an empty table at most half full. */
static enum colander_code
prepare(struct newcomers *newcomers, size_t count, struct colander_error *err)
{
    size_t slot_count = 64;

    while (slot_count < 2 * count)
        slot_count *= 2;
    if (count > newcomers->capacity || slot_count > newcomers->slot_capacity) {
        free(newcomers->keys);
        free(newcomers->is_new);
        free(newcomers->slots);
        newcomers->keys = calloc(slot_count, sizeof(*newcomers->keys));
        newcomers->is_new = calloc(slot_count, sizeof(*newcomers->is_new));
        newcomers->slots = calloc(slot_count, sizeof(*newcomers->slots));
        newcomers->capacity = slot_count;
        newcomers->slot_capacity = slot_count;
    }
    if (newcomers->keys == NULL || newcomers->is_new == NULL ||
        newcomers->slots == NULL) {
        newcomers->capacity = 0;
        newcomers->slot_capacity = 0;
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for keys");
    }
    memset(newcomers->slots, 0,
           newcomers->slot_capacity * sizeof(*newcomers->slots));
    return COLANDER_OK;
}

/* Puts the key of row `index` into the table; false: an equal one is there. */
static bool
enter(struct newcomers *newcomers, size_t index)
{
    const struct colander_slice key = newcomers->keys[index];
    const size_t mask = newcomers->slot_capacity - 1;
    size_t slot = XXH3_64bits(key.data, key.size) & mask;

    while (newcomers->slots[slot] != 0) {
        if (colander_slice_equal(newcomers->keys[newcomers->slots[slot] - 1],
                                 key))
            return false;
        slot = (slot + 1) & mask;
    }
    newcomers->slots[slot] = (uint32_t)index + 1;
    return true;
}

enum colander_code
newcomers_find(struct newcomers *newcomers, const struct chunk *chunk,
               struct colander_error *err)
{
    const size_t count = chunk->waiting_count;
    const uint8_t *at = chunk->waiting_bytes.data;
    enum colander_code code = prepare(newcomers, count, err);

    for (size_t i = 0; i < count && code == COLANDER_OK; i++) {
        newcomers->keys[i] = colander_slice_of(at, chunk->waiting[i].key_size);
        newcomers->is_new[i] = enter(newcomers, i);
        at += chunk->waiting[i].key_size + chunk->waiting[i].row_size;
    }
    for (size_t i = 0; i < count && code == COLANDER_OK; i += LOT) {
        size_t lot = count - i < LOT ? count - i : LOT;
        bool found[LOT];

        code = colander_family_get_many(newcomers->family, &newcomers->keys[i],
                                        lot, NULL, newcomers->rows, found, err);
        for (size_t k = 0; k < lot && code == COLANDER_OK; k++)
            newcomers->is_new[i + k] = newcomers->is_new[i + k] && !found[k];
    }
    return code;
}

bool
newcomers_has(const struct newcomers *newcomers, size_t index)
{
    return newcomers->is_new[index];
}

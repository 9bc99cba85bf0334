/*
 * A hash table of indexes into an array of the caller: open addressing, at most
 * half full. It knows hashes, not keys, so the caller compares:
 *
 *     size_t at = HASH_INDEX_START;
 *     uint32_t i;
 *
 *     while ((i = hash_index_next(&index, hash, &at)) != HASH_INDEX_NONE) {
 *         if (is_equal(&entries[i], key))
 *             return &entries[i];
 *     }
 *     code = hash_index_reserve(&index, err);
 *     if (code == COLANDER_OK)
 *         hash_index_add(&index, hash, entry_count++);
 *
 * Keys from outside need a hash with a seed that they cannot know.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_CORE_HASH_INDEX_H
#define COLANDER_CORE_HASH_INDEX_H

#include "core/core.h"

#include <assert.h>
#include <stdlib.h>

#define HASH_INDEX_NONE UINT32_MAX
#define HASH_INDEX_START SIZE_MAX

struct hash_slot {
    uint32_t hash;
    uint32_t number; /* the index plus 1; 0: the slot is free */
};

/* Starts zeroed. */
struct hash_index {
    struct hash_slot *slots; /* owned */
    size_t slot_count;       /* a power of two, or 0 */
    size_t count;
};

static inline void
hash_index_release(struct hash_index *index)
{
    free(index->slots);
    memset(index, 0, sizeof(*index));
}

/* Removes all indexes and keeps the memory. */
static inline void
hash_index_clear(struct hash_index *index)
{
    if (index->count > 0)
        memset(index->slots, 0, index->slot_count * sizeof(*index->slots));
    index->count = 0;
}

/* Returns the next index that was added with `hash`, or HASH_INDEX_NONE. `*at`
 * is the position of the search: HASH_INDEX_START at first. */
static inline uint32_t
hash_index_next(const struct hash_index *index, uint32_t hash, size_t *at)
{
    const size_t mask = index->slot_count - 1;
    size_t slot = *at == HASH_INDEX_START ? hash : *at + 1;

    if (index->slot_count == 0)
        return HASH_INDEX_NONE;
    for (;; slot++) {
        const struct hash_slot *found = &index->slots[slot & mask];

        *at = slot & mask;
        if (found->number == 0)
            return HASH_INDEX_NONE;
        if (found->hash == hash)
            return found->number - 1;
    }
}

/* Adds `number`, an index below HASH_INDEX_NONE. Requires room for it. */
static inline void
hash_index_add(struct hash_index *index, uint32_t hash, uint32_t number)
{
    const size_t mask = index->slot_count - 1;
    size_t slot = hash & mask;

    assert(index->count < index->slot_count / 2);
    while (index->slots[slot].number != 0)
        slot = (slot + 1) & mask;
    index->slots[slot].hash = hash;
    index->slots[slot].number = number + 1;
    index->count++;
}

/* Makes room for one more index. NO_MEMORY changes nothing. */
COLANDER_CHECKED static inline enum colander_code
hash_index_reserve(struct hash_index *index, struct colander_error *err)
{
    struct hash_index larger = {NULL, 32, 0};

    if (index->count < index->slot_count / 2)
        return COLANDER_OK;
    if (index->slot_count > 0)
        larger.slot_count = 4 * index->slot_count;
    larger.slots =
        (struct hash_slot *)calloc(larger.slot_count, sizeof(*larger.slots));
    if (larger.slots == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory for a hash table of %zu slots",
                             larger.slot_count);
    for (size_t i = 0; i < index->slot_count; i++) {
        const struct hash_slot *slot = &index->slots[i];

        if (slot->number != 0)
            hash_index_add(&larger, slot->hash, slot->number - 1);
    }
    free(index->slots);
    *index = larger;
    return COLANDER_OK;
}

#endif

/*
 * The names of a row: an open-addressing table of indexes into a list.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/names.h"

#include <assert.h>
#include <stdlib.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

static_assert((NAMES_SMALL & (NAMES_SMALL - 1)) == 0,
              "slots are masked by their count less 1");

void
names_init(struct names *names)
{
    names->entries = names->small_entries;
    names->slots = names->small_slots;
    names->count = 0;
    names->slot_count = 2 * NAMES_SMALL;
    memset(names->small_slots, 0, sizeof(names->small_slots));
}

/* The table's address is a seed that a foreign row cannot know. */
static uint32_t
hash_of(const struct names *names, uint32_t map, struct colander_slice name)
{
    uint64_t seed = (uint64_t)(uintptr_t)names + map * 0x9e3779b97f4a7c15u;

    return (uint32_t)XXH3_64bits_withSeed(name.data, name.size, seed);
}

/* The slot of the entry, or the free one where it would be. */
static uint32_t
slot_of(const struct names *names, uint32_t map, struct colander_slice name,
        uint32_t hash)
{
    uint32_t slot = hash & (names->slot_count - 1);

    while (names->slots[slot] != 0) {
        const struct names_entry *entry =
            &names->entries[names->slots[slot] - 1];

        if (entry->hash == hash && entry->map == map &&
            colander_slice_equal(entry->name, name))
            break;
        slot = (slot + 1) & (names->slot_count - 1);
    }
    return slot;
}

static void
fill_slots(const struct names *names, uint32_t *slots, uint32_t slot_count)
{
    for (uint32_t i = 0; i < names->count; i++) {
        uint32_t slot = names->entries[i].hash & (slot_count - 1);

        while (slots[slot] != 0)
            slot = (slot + 1) & (slot_count - 1);
        slots[slot] = i + 1;
    }
}

static enum colander_code
grow(struct names *names, struct colander_error *err)
{
    uint32_t slot_count = names->slot_count * 4;
    uint32_t entry_count = slot_count / 2;
    struct names_entry *entries = malloc(entry_count * sizeof(*entries));
    uint32_t *slots = calloc(slot_count, sizeof(*slots));

    if (entries == NULL || slots == NULL) {
        free(entries);
        free(slots);
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "cannot make room for %u names", entry_count);
    }
    memcpy(entries, names->entries, names->count * sizeof(*entries));
    fill_slots(names, slots, slot_count);
    names_release(names);
    names->entries = entries;
    names->slots = slots;
    names->slot_count = slot_count;
    return COLANDER_OK;
}

enum colander_code
names_add(struct names *names, uint32_t map, struct colander_slice name,
          bool *is_new, struct colander_error *err)
{
    uint32_t hash = hash_of(names, map, name);
    uint32_t slot = slot_of(names, map, name, hash);
    enum colander_code code;

    *is_new = names->slots[slot] == 0;
    if (!*is_new)
        return COLANDER_OK;
    if (names->count == names->slot_count / 2) {
        code = grow(names, err);
        if (code != COLANDER_OK)
            return code;
        slot = slot_of(names, map, name, hash);
    }
    names->entries[names->count].name = name;
    names->entries[names->count].map = map;
    names->entries[names->count].hash = hash;
    names->slots[slot] = ++names->count;
    return COLANDER_OK;
}

uint32_t
names_find(const struct names *names, uint32_t map, struct colander_slice name)
{
    uint32_t hash = hash_of(names, map, name);

    return names->slots[slot_of(names, map, name, hash)] - 1;
}

void
names_release(struct names *names)
{
    if (names->entries == names->small_entries)
        return;
    free(names->entries);
    free(names->slots);
}

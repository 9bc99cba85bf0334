/*
 * The names of a row: a list, and once there are more than a few an
 * open-addressing table of indexes into it.
 *
 * Most rows have a handful of names. To compare a few bytes of each costs less
 * than to hash one, and a foreign row cannot make it cost more than these few
 * comparisons.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/names.h"

#include "core/bytes.h"

#include <assert.h>
#include <stdlib.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

static_assert((NAMES_SMALL & (NAMES_SMALL - 1)) == 0,
              "slots are masked by their count less 1");

static_assert(NAMES_FEW < NAMES_SMALL, "the table has room for them");

void
names_init(struct names *names)
{
    names->entries = names->small_entries;
    names->slots = NULL;
    names->count = 0;
    names->slot_count = 0;
}

/* Differs for most names: size, first and last bytes. */
static uint32_t
digest_of(struct colander_slice name)
{
    const uint32_t size = (uint32_t)name.size;

    if (size >= sizeof(uint32_t))
        return bytes_get_le32(name.data) ^
               bytes_get_le32(name.data + size - sizeof(uint32_t)) *
                   0x9e3779b1u ^
               size;
    if (size == 0)
        return 0;
    return (uint32_t)name.data[0] | (uint32_t)name.data[size / 2] << 8 |
           (uint32_t)name.data[size - 1] << 16 | size << 24;
}

/* The table's address is a seed that a foreign row cannot know. */
static uint32_t
hash_of(const struct names *names, uint32_t map, struct colander_slice name)
{
    uint64_t seed = (uint64_t)(uintptr_t)names + map * 0x9e3779b97f4a7c15u;

    return (uint32_t)XXH3_64bits_withSeed(name.data, name.size, seed);
}

/* The index of the entry, whose hash is a digest; UINT32_MAX: there is none. */
static uint32_t
find_few(const struct names *names, uint32_t map, struct colander_slice name,
         uint32_t digest)
{
    for (uint32_t i = 0; i < names->count; i++) {
        const struct names_entry *entry = &names->entries[i];

        if (entry->hash == digest && entry->map == map &&
            colander_slice_equal(entry->name, name))
            return i;
    }
    return UINT32_MAX;
}

/* Returns the slot of the entry, or the free one where it belongs. */
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

/* Begins the table. */
static void
begin_slots(struct names *names)
{
    for (uint32_t i = 0; i < names->count; i++) {
        struct names_entry *entry = &names->entries[i];

        entry->hash = hash_of(names, entry->map, entry->name);
    }
    names->slots = names->small_slots;
    names->slot_count = 2 * NAMES_SMALL;
    memset(names->small_slots, 0, sizeof(names->small_slots));
    fill_slots(names, names->slots, names->slot_count);
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

static void
append(struct names *names, uint32_t map, struct colander_slice name,
       uint32_t hash)
{
    struct names_entry *entry = &names->entries[names->count++];

    entry->name = name;
    entry->map = map;
    entry->hash = hash;
}

static enum colander_code
add_to_table(struct names *names, uint32_t map, struct colander_slice name,
             bool *is_new, struct colander_error *err)
{
    uint32_t hash = hash_of(names, map, name);
    uint32_t slot;
    enum colander_code code;

    if (names->slot_count == 0)
        begin_slots(names);
    slot = slot_of(names, map, name, hash);
    *is_new = names->slots[slot] == 0;
    if (!*is_new)
        return COLANDER_OK;
    if (names->count == names->slot_count / 2) {
        code = grow(names, err);
        if (code != COLANDER_OK)
            return code;
        slot = slot_of(names, map, name, hash);
    }
    append(names, map, name, hash);
    names->slots[slot] = names->count;
    return COLANDER_OK;
}

/* The unusual cases, in a function that is not inlined, because its calls make
 * it save many registers. */
__attribute__((noinline)) static enum colander_code
add_slowly(struct names *names, uint32_t map, struct colander_slice name,
           bool *is_new, struct colander_error *err)
{
    uint32_t digest = digest_of(name);

    if (names->slot_count > 0 || names->count == NAMES_FEW)
        return add_to_table(names, map, name, is_new, err);
    *is_new = find_few(names, map, name, digest) == UINT32_MAX;
    if (*is_new)
        append(names, map, name, digest);
    return COLANDER_OK;
}

enum colander_code
names_add(struct names *names, uint32_t map, struct colander_slice name,
          bool *is_new, struct colander_error *err)
{
    uint32_t digest = digest_of(name);

    if (names->count >= NAMES_FEW)
        return add_slowly(names, map, name, is_new, err);
    for (uint32_t i = 0; i < names->count; i++) {
        if (names->entries[i].hash == digest)
            return add_slowly(names, map, name, is_new, err);
    }
    append(names, map, name, digest);
    *is_new = true;
    return COLANDER_OK;
}

uint32_t
names_find(const struct names *names, uint32_t map, struct colander_slice name)
{
    uint32_t hash;

    if (names->slot_count == 0)
        return find_few(names, map, name, digest_of(name));
    hash = hash_of(names, map, name);
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

/* SPDX-License-Identifier: MIT */
#include "filters/live/recent_chunk.h"

#include "filters/locator.h"

#include <assert.h>
#include <stdlib.h>

/* At most five of eight slots are taken. Then a search for a missing hash looks
 * at about four. */
#define SLOTS_TAKEN_MAX(slot_count) ((slot_count) / 8 * 5)

/* Bytes of data for each slot that may be taken: an entry and a share of a key.
 * Repeated values take entries without slots, so the data may run out first. */
#define DATA_PER_SLOT 12

#define KEY_HEAD sizeof(uint16_t) /* its size */

#define PLACE_BITS 28
#define PLACE_MASK ((UINT32_C(1) << PLACE_BITS) - 1)

/* Slots that are prefetched together. */
#define FETCH_COUNT 16

/* One value of one row. */
struct entry {
    uint16_t hash;
    uint16_t older; /* entry with the same hash, from 1; 0: none */
    uint32_t place; /* tag, and offset of the row's key in the data */
};

#define DATA_SIZE_MAX                                                          \
    (SLOTS_TAKEN_MAX((size_t)1 << RECENT_SLOT_BITS_MAX) * DATA_PER_SLOT)

/* Entries are counted in 16 bits, and a place must reach all of the data. */
_Static_assert(DATA_SIZE_MAX / sizeof(struct entry) < UINT16_MAX,
               "too many entries");
_Static_assert(RECENT_KEY_SIZE_MAX <= DATA_SIZE_MAX / 4,
               "keys take the space of entries");
_Static_assert(DATA_SIZE_MAX + RECENT_KEY_SIZE_MAX + KEY_HEAD < PLACE_MASK,
               "too much data");
_Static_assert(LOCATOR_TAG_BITS + PLACE_BITS <= 32, "a place is 32 bits");
_Static_assert(sizeof(struct entry) == 8, "an entry is 8 bytes");

static uint16_t
slot_hash(uint64_t hash)
{
    return (uint16_t)(hash >> 32);
}

static uint16_t
entry_hash(uint64_t hash)
{
    return (uint16_t)(hash >> 16);
}

static inline const struct entry *
entries_of(const struct recent_chunk *chunk, unsigned slot_bits)
{
    return (const void *)&chunk->slots[(size_t)1 << slot_bits];
}

/* Returns the slot of the hash, or the free slot that it would take. A slot is
 * 16 bits of a hash, and its newest entry, from 1; 0: free. */
static inline const _Atomic uint32_t *
slot_for(const struct recent_chunk *chunk, unsigned slot_bits, uint64_t hash)
{
    const _Atomic uint32_t *slots = chunk->slots;
    const struct entry *entries = entries_of(chunk, slot_bits);
    uint32_t mask = (UINT32_C(1) << slot_bits) - 1;
    uint32_t index = (uint32_t)(hash >> (64 - slot_bits));

    for (;; index = (index + 1) & mask) {
        uint32_t slot =
            atomic_load_explicit(&slots[index], memory_order_acquire);
        uint32_t entry = slot & UINT16_MAX;

        if (entry == 0 || (slot >> 16 == slot_hash(hash) &&
                           entries[entry - 1].hash == entry_hash(hash)))
            return &slots[index];
    }
}

/* ---------------------------------------------------------------- life --- */

static size_t
data_size_for(size_t slot_count, size_t key_size)
{
    size_t size = SLOTS_TAKEN_MAX(slot_count) * DATA_PER_SLOT;

    /* A key that would take much of the data brings its own space, so that more
     * than a few entries fit. Chunks of the largest size always have enough. */
    return key_size > size / 4 ? size + KEY_HEAD + key_size : size;
}

/* Then a column has 8 bits for each slot, 13 or more for each hash; and keys
 * have 2 for each slot, 19 or more for each row with a key and five values. */
struct recent_sieve_shape
recent_chunk_sieve(unsigned slot_bits)
{
    const unsigned width_bits = slot_bits == RECENT_SLOT_BITS_MAX ? 4 : 0;
    const struct recent_sieve_shape shape = {
        .line_bits = slot_bits - 6 + width_bits,
        .key_bits = slot_bits - 8 + width_bits,
        .width = 1u << width_bits,
    };

    return shape;
}

struct recent_chunk *
recent_chunk_create(unsigned slot_bits, size_t key_size,
                    struct recent_sieve *sieve)
{
    size_t slot_count = (size_t)1 << slot_bits;
    size_t data_size = data_size_for(slot_count, key_size);
    size_t head_size =
        sizeof(struct recent_chunk) + slot_count * sizeof(_Atomic uint32_t);
    struct recent_chunk *chunk;

    assert(slot_bits >= RECENT_SLOT_BITS_MIN);
    assert(slot_bits <= RECENT_SLOT_BITS_MAX);
    assert(key_size <= RECENT_KEY_SIZE_MAX);
    assert(sieve->column_count < sieve->shape.width);
    chunk = malloc(head_size + data_size);
    if (chunk == NULL)
        return NULL;
    /* Entries and keys are not cleared, so memory that the chunk never needs is
     * never touched. */
    memset(chunk, 0, head_size);
    atomic_init(&chunk->reference_count, 1);
    chunk->slot_bits = slot_bits;
    chunk->size = head_size + data_size;
    chunk->sieve = recent_sieve_ref(sieve);
    chunk->column = sieve->column_count++;
    chunk->slots_left = (uint32_t)SLOTS_TAKEN_MAX(slot_count);
    chunk->keys_begin = (uint32_t)data_size;
    return chunk;
}

size_t
recent_chunk_destroy(struct recent_chunk *chunk)
{
    const size_t size = chunk->size + recent_sieve_unref(chunk->sieve);

    free(chunk);
    return size;
}

/* -------------------------------------------------------------- adding --- */

static size_t
data_left(const struct recent_chunk *chunk)
{
    return chunk->keys_begin - chunk->entry_count * sizeof(struct entry);
}

/* Returns how many entries certainly fit, at most `wanted`. */
static size_t
entries_left(const struct recent_chunk *chunk, size_t wanted)
{
    size_t count = data_left(chunk) / sizeof(struct entry);

    if (count > chunk->slots_left)
        count = chunk->slots_left;
    return count < wanted ? count : wanted;
}

/* Returns where entries begin; keys end at the other end. */
static inline void *
data_of(struct recent_chunk *chunk)
{
    return (void *)entries_of(chunk, chunk->slot_bits);
}

/* Returns the offset of the key. */
static uint32_t
add_key(struct recent_chunk *chunk, struct colander_slice key)
{
    uint16_t size = (uint16_t)key.size;
    uint8_t *data = data_of(chunk);

    chunk->keys_begin -= (uint32_t)(KEY_HEAD + key.size);
    memcpy(data + chunk->keys_begin, &size, KEY_HEAD);
    if (key.size > 0)
        memcpy(data + chunk->keys_begin + KEY_HEAD, key.data, key.size);
    return chunk->keys_begin;
}

/* Writes an entry, and then publishes it through its slot. A row that has the
 * value again in a column of the same tag already has its entry. A hash that
 * shares the slot of another still needs its own bits in the sieve. */
static void
add_entry(struct recent_chunk *chunk, uint64_t hash, uint32_t place)
{
    struct entry *entries = data_of(chunk);
    _Atomic uint32_t *slot = (void *)slot_for(chunk, chunk->slot_bits, hash);
    uint16_t older = (uint16_t)atomic_load_explicit(slot, memory_order_relaxed);

    recent_sieve_add(chunk->sieve, chunk->column, hash);
    if (older == 0)
        chunk->slots_left--;
    else if (entries[older - 1].place == place)
        return;
    entries[chunk->entry_count++] =
        (struct entry){entry_hash(hash), older, place};
    atomic_store_explicit(slot,
                          (uint32_t)slot_hash(hash) << 16 | chunk->entry_count,
                          memory_order_release);
}

static void
add_some(struct recent_chunk *chunk, uint32_t place,
         const struct recent_value *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const uint64_t hash = values[i].hash;

        __builtin_prefetch(
            (const void *)&chunk->slots[hash >> (64 - chunk->slot_bits)], 1);
        __builtin_prefetch((const void *)recent_sieve_line(
                               chunk->sieve, chunk->sieve->shape, hash),
                           1);
    }
    for (size_t i = 0; i < count; i++) {
        assert(values[i].tag < LOCATOR_TAGS);
        if (values[i].is_key)
            recent_sieve_add_key(chunk->sieve, values[i].hash);
        add_entry(chunk, values[i].hash, values[i].tag << PLACE_BITS | place);
    }
}

size_t
recent_chunk_add(struct recent_chunk *chunk, struct colander_slice key,
                 const struct recent_value *values, size_t count)
{
    size_t done = 0;
    uint32_t place;

    if (count == 0 || chunk->slots_left == 0 ||
        data_left(chunk) < KEY_HEAD + key.size + sizeof(struct entry))
        return 0;
    place = add_key(chunk, key);
    while (done < count) {
        size_t wanted = count - done < FETCH_COUNT ? count - done : FETCH_COUNT;
        size_t some = entries_left(chunk, wanted);

        if (some == 0)
            break;
        add_some(chunk, place, values + done, some);
        done += some;
    }
    return done;
}

/* ------------------------------------------------------------- finding --- */

uint32_t
recent_chunk_find(const struct recent_chunk *chunk, unsigned slot_bits,
                  uint64_t hash)
{
    return atomic_load_explicit(slot_for(chunk, slot_bits, hash),
                                memory_order_acquire) &
           UINT16_MAX;
}

uint32_t
recent_chunk_match(const struct recent_chunk *chunk, unsigned slot_bits,
                   uint32_t entry, unsigned tag)
{
    const struct entry *entries = entries_of(chunk, slot_bits);

    if (tag == LOCATOR_TAG_ANY)
        return entry;
    while (entry != 0 && entries[entry - 1].place >> PLACE_BITS != tag)
        entry = entries[entry - 1].older;
    return entry;
}

uint32_t
recent_chunk_older(const struct recent_chunk *chunk, unsigned slot_bits,
                   uint32_t entry)
{
    return entries_of(chunk, slot_bits)[entry - 1].older;
}

struct colander_slice
recent_chunk_key(const struct recent_chunk *chunk, unsigned slot_bits,
                 uint32_t entry)
{
    const struct entry *entries = entries_of(chunk, slot_bits);
    const uint8_t *key =
        (const uint8_t *)entries + (entries[entry - 1].place & PLACE_MASK);
    uint16_t size;

    memcpy(&size, key, KEY_HEAD);
    return colander_slice_of(key + KEY_HEAD, size);
}

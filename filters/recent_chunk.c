/*
 * Chunks of recent rows: see recent_chunk.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filters/recent_chunk.h"

#include "filters/locator.h"

#include <assert.h>
#include <stdlib.h>

/* Five slots of eight are taken at most: about four are looked at then for a
 * hash that has none. */
#define SLOTS_TAKEN_MAX(slot_count) ((slot_count) / 8 * 5)

/* Data for each slot that may be taken: a note and its share of a key. Values
 * that repeat take notes without slots, so that data may be short first. */
#define DATA_PER_SLOT 12

#define KEY_HEAD sizeof(uint16_t) /* its size */

#define PLACE_BITS 28
#define PLACE_MASK ((UINT32_C(1) << PLACE_BITS) - 1)

/* Values whose slots are fetched together. */
#define FETCH_COUNT 16

/* A value of a row. */
struct note {
    uint16_t hash;
    uint16_t older; /* note with the same hash, from 1; 0: none */
    uint32_t place; /* tag, and where the row's key begins in the data */
};

#define DATA_SIZE_MAX                                                          \
    (SLOTS_TAKEN_MAX((size_t)1 << RECENT_SLOT_BITS_MAX) * DATA_PER_SLOT)

/* Notes are counted in 16 bits, and places must hold all of the data. */
_Static_assert(DATA_SIZE_MAX / sizeof(struct note) < UINT16_MAX,
               "too many notes");
_Static_assert(RECENT_KEY_SIZE_MAX <= DATA_SIZE_MAX / 4, "keys add notes");
_Static_assert(DATA_SIZE_MAX + RECENT_KEY_SIZE_MAX + KEY_HEAD < PLACE_MASK,
               "too much data");
_Static_assert(LOCATOR_TAG_BITS + PLACE_BITS <= 32, "a place is 32 bits");
_Static_assert(sizeof(struct note) == 8, "a note is 8 bytes");

static uint16_t
slot_hash(uint64_t hash)
{
    return (uint16_t)(hash >> 32);
}

static uint16_t
note_hash(uint64_t hash)
{
    return (uint16_t)(hash >> 16);
}

/* The slots: 16 bits of a hash, and of its newest note from 1; 0: free. */
static inline const _Atomic uint32_t *
slots_of(const struct recent_chunk *chunk, unsigned slot_bits)
{
    return (const void *)&chunk
        ->sieve[(size_t)1 << (slot_bits - RECENT_SIEVE_SHIFT)];
}

static inline const struct note *
notes_of(const struct recent_chunk *chunk, unsigned slot_bits)
{
    return (const void *)&slots_of(chunk, slot_bits)[(size_t)1 << slot_bits];
}

/* The slot of the hash, or the free one where it would be. */
static inline const _Atomic uint32_t *
slot_for(const struct recent_chunk *chunk, unsigned slot_bits, uint64_t hash)
{
    const _Atomic uint32_t *slots = slots_of(chunk, slot_bits);
    const struct note *notes = notes_of(chunk, slot_bits);
    uint32_t mask = (UINT32_C(1) << slot_bits) - 1;
    uint32_t index = (uint32_t)(hash >> (64 - slot_bits));

    for (;; index = (index + 1) & mask) {
        uint32_t slot =
            atomic_load_explicit(&slots[index], memory_order_acquire);
        uint32_t note = slot & UINT16_MAX;

        if (note == 0 || (slot >> 16 == slot_hash(hash) &&
                          notes[note - 1].hash == note_hash(hash)))
            return &slots[index];
    }
}

/* ---------------------------------------------------------------- life --- */

static size_t
data_size_for(size_t slot_count, size_t key_size)
{
    size_t size = SLOTS_TAKEN_MAX(slot_count) * DATA_PER_SLOT;

    /* A key that would take much of the data brings its own, so that there are
     * more than a few notes to it. A chunk of the largest size has enough. */
    return key_size > size / 4 ? size + KEY_HEAD + key_size : size;
}

struct recent_chunk *
recent_chunk_create(unsigned slot_bits, size_t key_size)
{
    size_t slot_count = (size_t)1 << slot_bits;
    size_t data_size = data_size_for(slot_count, key_size);
    size_t head_size =
        sizeof(struct recent_chunk) + slot_count * sizeof(_Atomic uint32_t) +
        (slot_count >> RECENT_SIEVE_SHIFT) * sizeof(_Atomic uint64_t);
    struct recent_chunk *chunk;

    assert(slot_bits >= RECENT_SLOT_BITS_MIN);
    assert(slot_bits <= RECENT_SLOT_BITS_MAX);
    assert(key_size <= RECENT_KEY_SIZE_MAX);
    chunk = malloc(head_size + data_size);
    if (chunk == NULL)
        return NULL;
    /* Notes and keys are left as they are: memory that a chunk does not come
     * to need is not touched. */
    memset(chunk, 0, head_size);
    atomic_init(&chunk->reference_count, 1);
    chunk->slot_bits = slot_bits;
    chunk->size = head_size + data_size;
    chunk->slots_left = (uint32_t)SLOTS_TAKEN_MAX(slot_count);
    chunk->keys_begin = (uint32_t)data_size;
    return chunk;
}

void
recent_chunk_destroy(struct recent_chunk *chunk)
{
    free(chunk);
}

/* -------------------------------------------------------------- adding --- */

static size_t
data_left(const struct recent_chunk *chunk)
{
    return chunk->keys_begin - chunk->note_count * sizeof(struct note);
}

/* Notes that fit in any case, at most `wanted`. */
static size_t
notes_left(const struct recent_chunk *chunk, size_t wanted)
{
    size_t count = data_left(chunk) / sizeof(struct note);

    if (count > chunk->slots_left)
        count = chunk->slots_left;
    return count < wanted ? count : wanted;
}

/* Where notes begin, and keys end. */
static inline void *
data_of(struct recent_chunk *chunk)
{
    return (void *)notes_of(chunk, chunk->slot_bits);
}

/* Gives where it begins. */
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

static void
sieve_add(struct recent_chunk *chunk, uint64_t hash)
{
    _Atomic uint64_t *word =
        (void *)recent_chunk_word(chunk, chunk->slot_bits, hash);
    uint64_t bits = atomic_load_explicit(word, memory_order_relaxed);

    atomic_store_explicit(word, bits | recent_chunk_word_bits(hash),
                          memory_order_relaxed);
}

/* A note is written, and then published by its slot. A row that has the value
 * once more in the same column, as far as the tag tells, has its note. A hash
 * that shares the slot of another needs its own bits in the sieve. */
static void
add_note(struct recent_chunk *chunk, uint64_t hash, uint32_t place)
{
    struct note *notes = data_of(chunk);
    _Atomic uint32_t *slot = (void *)slot_for(chunk, chunk->slot_bits, hash);
    uint16_t older = (uint16_t)atomic_load_explicit(slot, memory_order_relaxed);

    sieve_add(chunk, hash);
    if (older == 0)
        chunk->slots_left--;
    else if (notes[older - 1].place == place)
        return;
    notes[chunk->note_count++] = (struct note){note_hash(hash), older, place};
    atomic_store_explicit(slot,
                          (uint32_t)slot_hash(hash) << 16 | chunk->note_count,
                          memory_order_release);
}

static void
add_some(struct recent_chunk *chunk, uint32_t place,
         const struct recent_value *values, size_t count)
{
    const _Atomic uint32_t *slots = slots_of(chunk, chunk->slot_bits);

    for (size_t i = 0; i < count; i++)
        __builtin_prefetch(
            (const void *)&slots[values[i].hash >> (64 - chunk->slot_bits)], 1);
    for (size_t i = 0; i < count; i++) {
        assert(values[i].tag < LOCATOR_TAGS);
        add_note(chunk, values[i].hash, values[i].tag << PLACE_BITS | place);
    }
}

size_t
recent_chunk_add(struct recent_chunk *chunk, struct colander_slice key,
                 const struct recent_value *values, size_t count)
{
    size_t done = 0;
    uint32_t place;

    if (count == 0 || chunk->slots_left == 0 ||
        data_left(chunk) < KEY_HEAD + key.size + sizeof(struct note))
        return 0;
    place = add_key(chunk, key);
    while (done < count) {
        size_t wanted = count - done < FETCH_COUNT ? count - done : FETCH_COUNT;
        size_t some = notes_left(chunk, wanted);

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
                   uint32_t note, unsigned tag)
{
    const struct note *notes = notes_of(chunk, slot_bits);

    if (tag == LOCATOR_TAG_ANY)
        return note;
    while (note != 0 && notes[note - 1].place >> PLACE_BITS != tag)
        note = notes[note - 1].older;
    return note;
}

uint32_t
recent_chunk_older(const struct recent_chunk *chunk, unsigned slot_bits,
                   uint32_t note)
{
    return notes_of(chunk, slot_bits)[note - 1].older;
}

struct colander_slice
recent_chunk_key(const struct recent_chunk *chunk, unsigned slot_bits,
                 uint32_t note)
{
    const struct note *notes = notes_of(chunk, slot_bits);
    const uint8_t *key =
        (const uint8_t *)notes + (notes[note - 1].place & PLACE_MASK);
    uint16_t size;

    memcpy(&size, key, KEY_HEAD);
    return colander_slice_of(key + KEY_HEAD, size);
}

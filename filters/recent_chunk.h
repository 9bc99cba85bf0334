/*
 * A chunk of recent rows: a hash table that is filled once and never grown.
 *
 * One piece of memory: a head, the sieve, *slots*, then notes from the front
 * and keys from the back until they meet. A slot stands for one hash and leads
 * to its newest note, and each note to the next older one of the same hash: so
 * a value that every row has does not slow the search for others.
 *
 * A note keeps 16 bits of its hash, and a slot 16 others. Together with where
 * the slot lies they tell one hash from another.
 *
 * Before the slots stands a *sieve*, a word for eight of them, in which every
 * hash sets two bits. Most look-ups end there, in a chunk that has nothing: one
 * line is read, and no jump taken that could not be foretold.
 *
 * Threads: one thread adds at a time; any number looks up meanwhile. A slot is
 *          stored after the note and the key that it leads to, and what it
 *          leads to does not change.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_FILTERS_RECENT_CHUNK_H
#define COLANDER_FILTERS_RECENT_CHUNK_H

#include "filters/recent.h"

#include <stdatomic.h>

#define RECENT_SIEVE_SHIFT 3 /* a word for 8 slots */
#define RECENT_SLOT_BITS_MIN 10
#define RECENT_SLOT_BITS_MAX 16
#define RECENT_KEY_SIZE_MAX UINT16_MAX

struct recent_chunk {
    atomic_size_t reference_count; /* the list's and those of views */
    unsigned slot_bits;
    size_t size; /* bytes of all this */

    /* kept by recent.c, under its mutex */
    struct recent *recent;
    struct recent_chunk *next_dropped;
    uint64_t row_count;
    uint64_t pending_count; /* writes that are not over */
    uint64_t sequence;      /* of the newest write that is; 0: all failed */

    /* for who adds */
    uint32_t note_count;
    uint32_t slots_left; /* that may still be taken */
    uint32_t keys_begin; /* in the data */

    _Atomic uint64_t sieve[]; /* then slots, notes and keys */
};

/* An empty chunk, which one reference is counted of, with 2^slot_bits slots and
 * with room for a key of `key_size`. NULL when memory is short. */
struct recent_chunk *recent_chunk_create(unsigned slot_bits, size_t key_size);

/* Nothing may refer to it. */
void recent_chunk_destroy(struct recent_chunk *chunk);

/* Notes values of a row, from the first on. Gives how many: when less than
 * `count`, the chunk is full; an empty chunk takes some. */
size_t recent_chunk_add(struct recent_chunk *chunk, struct colander_slice key,
                        const struct recent_value *values, size_t count);

/* The word of the sieve for a hash. Touches no memory. */
static inline const _Atomic uint64_t *
recent_chunk_word(const struct recent_chunk *chunk, unsigned slot_bits,
                  uint64_t hash)
{
    return &chunk->sieve[hash >> (64 - slot_bits + RECENT_SIEVE_SHIFT)];
}

static inline uint64_t
recent_chunk_word_bits(uint64_t hash)
{
    return UINT64_C(1) << (hash & 63) | UINT64_C(1) << (hash >> 6 & 63);
}

/* False: no note has the hash. The functions from here on get `slot_bits` from
 * the caller, so that the head of the chunk need not be read for it. */
static inline bool
recent_chunk_may_have(const struct recent_chunk *chunk, unsigned slot_bits,
                      uint64_t hash)
{
    uint64_t bits = recent_chunk_word_bits(hash);
    uint64_t word = atomic_load_explicit(
        recent_chunk_word(chunk, slot_bits, hash), memory_order_relaxed);

    return (word & bits) == bits;
}

/* The newest note of the hash, or 0. */
uint32_t recent_chunk_find(const struct recent_chunk *chunk, unsigned slot_bits,
                           uint64_t hash);

/* From `note` on (0: none), the newest with the tag, or 0. */
uint32_t recent_chunk_match(const struct recent_chunk *chunk,
                            unsigned slot_bits, uint32_t note, unsigned tag);

/* The next older note of the hash, or 0. */
uint32_t recent_chunk_older(const struct recent_chunk *chunk,
                            unsigned slot_bits, uint32_t note);

/* The key of the row of a note, borrowed from the chunk. */
struct colander_slice recent_chunk_key(const struct recent_chunk *chunk,
                                       unsigned slot_bits, uint32_t note);

#endif

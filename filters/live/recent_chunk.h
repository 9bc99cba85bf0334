/*
 * A chunk of recent rows: a hash table that is filled once and never grows.
 *
 * It is one block of memory: a head, *slots*, then entries from the front and
 * keys from the back until they meet. A slot stands for one hash and leads to
 * its newest entry. Each entry leads to the next older one of the same hash, so
 * a value that every row has does not slow down the search for others.
 *
 * An entry keeps 16 bits of its hash, and a slot 16 others. Together with the
 * position of the slot they identify the hash.
 *
 * Each hash is in a column of a sieve too (recent_sieve.h), where most searches
 * for a value that the chunk does not have end.
 *
 * Threads: one thread adds at a time, and any number search at the same time. A
 *          slot is stored after the entry and the key that it leads to, which
 *          never change.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_FILTERS_LIVE_RECENT_CHUNK_H
#define COLANDER_FILTERS_LIVE_RECENT_CHUNK_H

#include "filters/live/recent_sieve.h"
#include "filters/recent.h"

#define RECENT_SLOT_BITS_MIN 10
#define RECENT_SLOT_BITS_MAX 16
#define RECENT_KEY_SIZE_MAX UINT16_MAX

struct recent_chunk {
    atomic_size_t reference_count; /* the list's and the views' */
    unsigned slot_bits;
    size_t size;                /* bytes of the whole chunk */
    struct recent_sieve *sieve; /* counted */
    unsigned column;            /* in the sieve */

    /* Kept by recent.c, under its mutex. */
    struct recent *recent;
    struct recent_chunk *next_dropped;
    uint64_t row_count;
    uint64_t pending_count; /* writes that have not ended */
    uint64_t sequence;      /* of the newest write that has; 0: all failed */

    /* Used by the thread that adds. */
    uint32_t entry_count;
    uint32_t slots_left; /* that may still be taken */
    uint32_t keys_begin; /* offset in the data */

    _Atomic uint32_t slots[]; /* then entries and keys */
};

/* Returns the shape of the sieve for chunks of 2^slot_bits slots. The largest
 * ones share a sieve. */
struct recent_sieve_shape recent_chunk_sieve(unsigned slot_bits);

/* Returns an empty chunk with one reference, 2^slot_bits slots and room for a
 * key of `key_size` bytes, which takes the next column of the sieve. NULL if
 * memory is short. */
struct recent_chunk *recent_chunk_create(unsigned slot_bits, size_t key_size,
                                         struct recent_sieve *sieve);

/* Requires that no reference is left. Returns how many bytes this has freed. */
size_t recent_chunk_destroy(struct recent_chunk *chunk);

/* Adds the first values of a row and returns how many. If these are fewer than
 * `count`, the chunk is full. An empty chunk takes at least one. */
size_t recent_chunk_add(struct recent_chunk *chunk, struct colander_slice key,
                        const struct recent_value *values, size_t count);

/* Returns the newest entry of the hash, or 0. This and the next functions take
 * `slot_bits` from the caller, so that they need not read the chunk's head. */
uint32_t recent_chunk_find(const struct recent_chunk *chunk, unsigned slot_bits,
                           uint64_t hash);

/* Returns `entry`, or the next older one, that has the tag; 0: none. */
uint32_t recent_chunk_match(const struct recent_chunk *chunk,
                            unsigned slot_bits, uint32_t entry, unsigned tag);

/* Returns the next older entry of the hash, or 0. */
uint32_t recent_chunk_older(const struct recent_chunk *chunk,
                            unsigned slot_bits, uint32_t entry);

/* Returns the key of an entry's row, borrowed from the chunk. */
struct colander_slice recent_chunk_key(const struct recent_chunk *chunk,
                                       unsigned slot_bits, uint32_t entry);

#endif

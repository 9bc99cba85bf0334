/*
 * A sieve: which of a few chunks of recent rows may have a hash, and whether
 * any of them may have a key.
 *
 * A hash belongs to one *line*, the size of a cache line, and to a few of its
 * positions. At each position every chunk has a bit, in the *column* that it
 * has taken. A chunk has the hash only if its bits at all of them are set. So a
 * search reads one cache line for all chunks of a sieve, and takes no
 * unpredictable branch. Columns are not used again: who still searches a chunk
 * that was removed must find what it had.
 *
 * Each row that a find reads directly is looked for by its key, and is seldom
 * there. So hashes of keys have further lines, in which all chunks share their
 * bits: these are few enough to stay in the caches of the processor. The bits
 * of a chunk that was removed stay: they cost a search, and no row.
 *
 * Threads: one thread takes columns and adds at a time, and any number search
 *          at the same time.
 * Memory:  counted
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_FILTERS_LIVE_RECENT_SIEVE_H
#define COLANDER_FILTERS_LIVE_RECENT_SIEVE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RECENT_SIEVE_WIDTH_MAX 16
#define RECENT_SIEVE_LINE 8      /* words of 64 bits */
#define RECENT_SIEVE_POSITIONS 4 /* of a hash, some of them maybe the same */

/* The shape of a sieve, with which it is searched without reading its head. */
struct recent_sieve_shape {
    unsigned line_bits; /* it has 2^line_bits lines, */
    unsigned key_bits;  /* and 2^key_bits of keys after them */
    unsigned width;     /* columns, a power of two */
};

struct recent_sieve {
    atomic_size_t reference_count;
    struct recent_sieve_shape shape;
    unsigned column_count; /* taken */
    _Alignas(64) _Atomic uint64_t words[];
};

/* Returns an empty sieve with one reference, or NULL if memory is short. */
struct recent_sieve *recent_sieve_create(struct recent_sieve_shape shape);

struct recent_sieve *recent_sieve_ref(struct recent_sieve *sieve);

/* Returns how many bytes this has freed. */
size_t recent_sieve_unref(struct recent_sieve *sieve);

/* Returns the bytes of a sieve. */
size_t recent_sieve_size(struct recent_sieve_shape shape);

/* Returns the first word of the hash's line without reading memory. */
static inline const _Atomic uint64_t *
recent_sieve_line(const struct recent_sieve *sieve,
                  struct recent_sieve_shape shape, uint64_t hash)
{
    return &sieve->words[(hash >> (64 - shape.line_bits)) * RECENT_SIEVE_LINE];
}

/* Returns where position `i` of the hash begins, as a bit of its line. */
static inline unsigned
recent_sieve_place(struct recent_sieve_shape shape, uint64_t hash, unsigned i)
{
    const unsigned positions = RECENT_SIEVE_LINE * 64 / shape.width;

    return ((unsigned)(hash >> 9 * i) & (positions - 1)) * shape.width;
}

/* Returns the first word of the line of a key. */
static inline const _Atomic uint64_t *
recent_sieve_key_line(const struct recent_sieve *sieve,
                      struct recent_sieve_shape shape, uint64_t hash)
{
    const uint64_t line =
        (UINT64_C(1) << shape.line_bits) + (hash >> (64 - shape.key_bits));

    return &sieve->words[line * RECENT_SIEVE_LINE];
}

/* Returns position `i` of the hash of a key, as a bit of its line. */
static inline unsigned
recent_sieve_key_place(uint64_t hash, unsigned i)
{
    return (unsigned)(hash >> 9 * i) % (RECENT_SIEVE_LINE * 64);
}

/* Adds the hash to a column, */
void recent_sieve_add(struct recent_sieve *sieve, unsigned column,
                      uint64_t hash);

/* and that of a key to the keys. */
void recent_sieve_add_key(struct recent_sieve *sieve, uint64_t hash);

/* Returns the columns that may have the hash, the first as bit 0. */
static inline uint64_t
recent_sieve_find(const struct recent_sieve *sieve,
                  struct recent_sieve_shape shape, uint64_t hash)
{
    const _Atomic uint64_t *line = recent_sieve_line(sieve, shape, hash);
    uint64_t columns = (UINT64_C(1) << shape.width) - 1;

    for (unsigned i = 0; i < RECENT_SIEVE_POSITIONS; i++) {
        const unsigned place = recent_sieve_place(shape, hash, i);

        columns &=
            atomic_load_explicit(&line[place / 64], memory_order_relaxed) >>
            place % 64;
    }
    return columns;
}

/* Returns whether a chunk may have a key of this hash. */
static inline bool
recent_sieve_has_key(const struct recent_sieve *sieve,
                     struct recent_sieve_shape shape, uint64_t hash)
{
    const _Atomic uint64_t *line = recent_sieve_key_line(sieve, shape, hash);
    uint64_t bit = 1;

    for (unsigned i = 0; i < RECENT_SIEVE_POSITIONS; i++) {
        const unsigned place = recent_sieve_key_place(hash, i);

        bit &= atomic_load_explicit(&line[place / 64], memory_order_relaxed) >>
               place % 64;
    }
    return bit != 0;
}

#endif

/*
 * Presences: blocked Bloom filters that answer "may this part hold v?". A query
 * looks at one cache line.
 *
 * A presence has 1 to 2^26 blocks of 512 bits. A hash selects its block by the
 * remainder of a division by the number of blocks, and its bits in the block by
 * other bits. So the OR of the two halves of a presence is a presence with half
 * as many blocks (*folding*), and repeating a presence gives one of any
 * multiple (*tiling*). Both may hold everything that the original may hold.
 * This makes presences of different parts fit each other.
 *
 * A hash is the first `hash_bits` bits of a value's hash. A presence must be
 * asked with the same number of bits as it was built with.
 *
 * The number of probes is 1, 2, 3, 4, 6, 8 or 12, so that parts of many sizes
 * have few different shapes, and the hierarchy few rows to read.
 *
 * Life:   init -> add ... -> may_hold -> release
 * Bytes:  filters/FORMAT.md, "Presence blocks"
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_FILTERS_PRESENCE_H
#define COLANDER_FILTERS_PRESENCE_H

#include "core/core.h"

#define PRESENCE_BLOCK_BITS 512u
#define PRESENCE_BLOCK_WORDS (PRESENCE_BLOCK_BITS / 64)
#define PRESENCE_BLOCKS_MAX (UINT32_C(1) << 26)
#define PRESENCE_PROBES_MAX 12

/* What two presences must share to be asked for the same bits. */
struct presence_shape {
    uint32_t block_count;
    uint8_t probes;    /* bits set for a value: 1 to PRESENCE_PROBES_MAX */
    uint8_t hash_bits; /* bits of a value's hash that count: 1 to 64 */
};

struct presence {
    struct presence_shape shape;
    uint64_t *words; /* PRESENCE_BLOCK_WORDS for each block, aligned to a cache
                      * line */
};

/* Returns whether such a presence can exist. Ask this first about a shape that
 * was read from a file. */
static inline bool
presence_shape_is_valid(const struct presence_shape *shape)
{
    return shape->block_count >= 1 &&
           shape->block_count <= PRESENCE_BLOCKS_MAX && shape->probes >= 1 &&
           shape->probes <= PRESENCE_PROBES_MAX && shape->hash_bits >= 1 &&
           shape->hash_bits <= 64;
}

static inline bool
presence_is_same_shape(const struct presence_shape *a,
                       const struct presence_shape *b)
{
    return a->block_count == b->block_count && a->probes == b->probes &&
           a->hash_bits == b->hash_bits;
}

/* Returns the smallest power of two of blocks whose false-positive rate for
 * `value_count` values is at most `fp_rate` (above 0, below 1), with the number
 * of probes that suits the rate, whatever the count. All 64 bits of a hash
 * count; the caller may lower hash_bits. */
struct presence_shape presence_shape_for_rate(uint64_t value_count,
                                              double fp_rate);

/* Returns as many blocks as fit `bits` (1 to PRESENCE_BLOCKS_MAX), with the
 * number of probes with the lowest false-positive rate. hash_bits as above. */
struct presence_shape presence_shape_for_bits(uint64_t value_count,
                                              uint64_t bits);

/* Returns the expected false-positive rate of a presence of `shape` that holds
 * `value_count` values. Takes into account that blocks fill unevenly, and
 * hashes that become equal when they are cut. */
double presence_expected_rate(const struct presence_shape *shape,
                              uint64_t value_count);

/* Creates an empty presence. On failure all members are 0. */
COLANDER_CHECKED enum colander_code
presence_init(struct presence *presence, const struct presence_shape *shape,
              struct colander_error *err);

/* Frees the presence and sets all members to 0. One with all members 0 is
 * allowed. */
void presence_release(struct presence *presence);

static inline size_t
presence_size(const struct presence_shape *shape)
{
    return (size_t)shape->block_count * (PRESENCE_BLOCK_BITS / 8);
}

/* Where to look for a hash in presences of one shape. */
struct presence_probe {
    uint32_t block;
    uint16_t bits[PRESENCE_PROBES_MAX]; /* positions in the block */
};

void presence_locate(const struct presence_shape *shape, uint64_t value_hash,
                     struct presence_probe *probe);

/* Returns whether the bits of `probe` are set in block `block`. That is the
 * probe's own block or, for a presence of another size, its remainder when
 * divided by the number of blocks there (see presence_fits). */
static inline bool
presence_may_hold_probe(const struct presence *presence,
                        const struct presence_probe *probe, uint32_t block)
{
    const uint64_t *words =
        presence->words + (size_t)block * PRESENCE_BLOCK_WORDS;

    for (unsigned i = 0; i < presence->shape.probes; i++) {
        if ((words[probe->bits[i] / 64] >> probe->bits[i] % 64 & 1) == 0)
            return false;
    }
    return true;
}

void presence_add(struct presence *presence, uint64_t value_hash);

bool presence_may_hold(const struct presence *presence, uint64_t value_hash);

/* Returns the largest odd divisor of a block count. */
static inline uint32_t
presence_odd_blocks(uint32_t block_count)
{
    while (block_count % 2 == 0)
        block_count /= 2;
    return block_count;
}

/* Returns whether presences of `a` and `b` can be united. */
static inline bool
presence_fits(const struct presence_shape *a, const struct presence_shape *b)
{
    return a->probes == b->probes && a->hash_bits == b->hash_bits &&
           presence_odd_blocks(a->block_count) ==
               presence_odd_blocks(b->block_count);
}

/*
 * ORs `from` into `into`; one block count is a multiple of the other by a
 * power of two, the rest of the shapes equal: then nothing that `from` holds
 * is denied by `into`. It keeps its size: `from` is tiled or folded to it.
 */
void presence_unite(struct presence *into, const struct presence *from);

/* Which share of its bits is set: 0 to 1. */
double presence_fill(const struct presence *presence);

/* How many bits are set in a word. */
static inline unsigned
presence_bit_count(uint64_t word)
{
    word -= word >> 1 & UINT64_C(0x5555555555555555);
    word = (word & UINT64_C(0x3333333333333333)) +
           (word >> 2 & UINT64_C(0x3333333333333333));
    word = (word + (word >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    return (unsigned)(word * UINT64_C(0x0101010101010101) >> 56);
}

#endif

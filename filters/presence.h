/*
 * Presences: Bloom filters that answer "may this part hold v?", blocked, so
 * that a question looks at one cache line.
 *
 * A presence has 1 to 2^26 blocks of 512 bits. A hash picks its block by the
 * remainder of a division by the number of blocks, and its bits in the block
 * from other bits: so the presence of half as many blocks is the OR of the two
 * halves (*folding*), and one of a size can be repeated to any multiple
 * (*tiling*): both say maybe wherever the original does. They make presences of
 * different parts fit each other.
 *
 * A hash is that of a value, cut to its first `hash_bits` bits: what was cut
 * off when a presence was made must be cut off when it is asked.
 *
 * The number of probes is one of a few (1, 2, 3, 4, 6, 8, 12): so that parts of
 * many sizes have few shapes between them, and the hierarchy few rows to read.
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

/* What two presences must have in common to be asked the same bits. */
struct presence_shape {
    uint32_t block_count;
    uint8_t probes;    /* bits set for a value: 1 to PRESENCE_PROBES_MAX */
    uint8_t hash_bits; /* of a value's hash that count: 1 to 64 */
};

struct presence {
    struct presence_shape shape;
    uint64_t *words; /* PRESENCE_BLOCK_WORDS for each block, on a cache line */
};

/* Whether there can be such a presence: to be asked of bytes from a file before
 * anything else is. */
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

/* The smallest power of two of blocks with which `value_count` values are taken
 * for held wrongly at most at `fp_rate` (above 0, below 1), and the number of
 * probes that suits the rate, whatever the count. All 64 bits of a hash count;
 * the caller may lower hash_bits. */
struct presence_shape presence_shape_for_rate(uint64_t value_count,
                                              double fp_rate);

/* As many blocks as fit `bits` (at least one, at most PRESENCE_BLOCKS_MAX), and
 * the probes with which the rate is lowest. hash_bits as above. */
struct presence_shape presence_shape_for_bits(uint64_t value_count,
                                              uint64_t bits);

/* The rate at which values are wrongly taken for held when `value_count` are in
 * a presence of `shape`: the unevenness of blocks is counted in, and hashes
 * that are equal where they are cut. */
double presence_expected_rate(const struct presence_shape *shape,
                              uint64_t value_count);

/* An empty one; all is 0 on failure. */
COLANDER_CHECKED enum colander_code
presence_init(struct presence *presence, const struct presence_shape *shape,
              struct colander_error *err);

/* Leaves all 0; so does it with one that is all 0. */
void presence_release(struct presence *presence);

static inline size_t
presence_size(const struct presence_shape *shape)
{
    return (size_t)shape->block_count * (PRESENCE_BLOCK_BITS / 8);
}

/* A hash as presences of one shape use it: where to look. */
struct presence_probe {
    uint32_t block;
    uint16_t bits[PRESENCE_PROBES_MAX]; /* places in the block, `probes` */
};

void presence_locate(const struct presence_shape *shape, uint64_t value_hash,
                     struct presence_probe *probe);

/* Whether the places of `probe` are set in block `block`: the probe's own, or,
 * asked of a presence that it was not located for, its remainder when divided
 * by the number of blocks there (see presence_fits). */
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

/* What is left of a block count when it is halved as often as that can be. */
static inline uint32_t
presence_odd_blocks(uint32_t block_count)
{
    while (block_count % 2 == 0)
        block_count /= 2;
    return block_count;
}

/* Whether presences of `a` and `b` can be united. */
static inline bool
presence_fits(const struct presence_shape *a, const struct presence_shape *b)
{
    return a->probes == b->probes && a->hash_bits == b->hash_bits &&
           presence_odd_blocks(a->block_count) ==
               presence_odd_blocks(b->block_count);
}

/* Halves the number of blocks, which is even. The memory stays as it is. */
void presence_fold(struct presence *presence);

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

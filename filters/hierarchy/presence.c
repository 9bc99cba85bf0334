/*
 * Presences: Bloom filters in blocks of one cache line.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filters/presence.h"

#include <assert.h>
#include <stdlib.h>

/* Files depend on these positions: filters/FORMAT.md, "Presence blocks". */
#define STEP UINT64_C(0x9e3779b97f4a7c15)
#define PLACE_BITS 9 /* PRESENCE_BLOCK_BITS is 2^9 */

_Static_assert(PRESENCE_BLOCK_BITS == 1u << PLACE_BITS, "places fill a block");

/* ------------------------------------------------------------- shaping --- */

/* Few, so that there are few shapes. The last is the largest possible. */
static const uint8_t probe_choices[] = {1, 2, 3, 4, 6, 8, PRESENCE_PROBES_MAX};

#define PROBE_CHOICES (sizeof(probe_choices) / sizeof(probe_choices[0]))

static double
power(double base, uint64_t exponent)
{
    double result = 1;

    for (; exponent > 0; exponent >>= 1, base *= base) {
        if (exponent & 1)
            result *= base;
    }
    return result;
}

/*
 * Returns the false-positive rate of a block with `load` values on average.
 *
 * The number of values in a block has a Poisson distribution. Its weights are
 * summed from the most frequent number outwards and divided by their sum, which
 * needs no exp() and does not overflow.
 */
static double
rate_at(double load, unsigned probes)
{
    const double spared =
        power(1 - 1.0 / PRESENCE_BLOCK_BITS, probes); /* one bit, set by one
                                                       * value */
    const uint64_t middle = (uint64_t)load;
    const double middle_clear = power(spared, middle);
    const double weight_min = 1e-18;
    double weight = 1;
    double clear = middle_clear;
    double weights = 0;
    double rates = 0;

    for (uint64_t count = middle; weight > weight_min; count++) {
        weights += weight;
        rates += weight * power(1 - clear, probes);
        weight *= load / (double)(count + 1);
        clear *= spared;
    }
    weight = 1;
    clear = middle_clear;
    for (uint64_t count = middle; count > 0 && weight > weight_min; count--) {
        weight *= (double)count / load;
        clear /= spared;
        weights += weight;
        rates += weight * power(1 - clear, probes);
    }
    return rates / weights;
}

/* With this many values in a block, all of its bits are set. */
#define LOAD_FULL (64.0 * PRESENCE_BLOCK_BITS)

static double
rate_of(uint64_t value_count, uint32_t block_count, unsigned probes)
{
    double load = (double)value_count / (double)block_count;

    return load > LOAD_FULL ? 1 : rate_at(load, probes);
}

/* Returns the most values for a block that keep `fp_rate`. */
static double
load_for_rate(double fp_rate, unsigned probes)
{
    double low = 0;
    double high = LOAD_FULL;

    for (unsigned round = 0; round < 48; round++) {
        double middle = (low + high) / 2;

        if (rate_at(middle, probes) <= fp_rate)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* The probes with which a block may have the most values, and how many. */
struct filling {
    double fp_rate;
    double load_max;
    uint8_t probes;
};

static struct filling
filling_for_rate(double fp_rate)
{
    struct filling best = {fp_rate, 0, probe_choices[0]};

    for (size_t i = 0; i < PROBE_CHOICES; i++) {
        double load = load_for_rate(fp_rate, probe_choices[i]);

        if (load > best.load_max) {
            best.load_max = load;
            best.probes = probe_choices[i];
        }
    }
    return best;
}

struct presence_shape
presence_shape_for_rate(uint64_t value_count, double fp_rate)
{
    /* Finding it takes longer than loading a small filter. */
    static _Thread_local struct filling last;
    struct presence_shape shape = {1, probe_choices[0], 64};

    assert(fp_rate > 0 && fp_rate < 1);
    if (last.fp_rate != fp_rate)
        last = filling_for_rate(fp_rate);
    shape.probes = last.probes;
    while ((double)shape.block_count * last.load_max < (double)value_count &&
           shape.block_count < PRESENCE_BLOCKS_MAX)
        shape.block_count *= 2;
    return shape;
}

struct presence_shape
presence_shape_for_bits(uint64_t value_count, uint64_t bits)
{
    struct presence_shape shape = {1, probe_choices[0], 64};
    uint64_t blocks = bits / PRESENCE_BLOCK_BITS;
    double lowest = 2;

    if (blocks > PRESENCE_BLOCKS_MAX)
        blocks = PRESENCE_BLOCKS_MAX;
    if (blocks > 1)
        shape.block_count = (uint32_t)blocks;
    for (size_t i = 0; i < PROBE_CHOICES; i++) {
        double rate = rate_of(value_count, shape.block_count, probe_choices[i]);

        if (rate < lowest) {
            lowest = rate;
            shape.probes = probe_choices[i];
        }
    }
    return shape;
}

double
presence_expected_rate(const struct presence_shape *shape, uint64_t value_count)
{
    double rate = rate_of(value_count, shape->block_count, shape->probes);
    double equal = (double)value_count;

    for (unsigned i = 0; i < shape->hash_bits; i++)
        equal /= 2;
    if (equal > 1)
        equal = 1;
    return rate + (1 - rate) * equal;
}

/* ---------------------------------------------------------------- life --- */

enum colander_code
presence_init(struct presence *presence, const struct presence_shape *shape,
              struct colander_error *err)
{
    size_t size = presence_size(shape);

    assert(presence_shape_is_valid(shape));
    memset(presence, 0, sizeof(*presence));
    presence->words = aligned_alloc(PRESENCE_BLOCK_BITS / 8, size);
    if (presence->words == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory for a filter of %zu bytes", size);
    presence->shape = *shape;
    memset(presence->words, 0, size);
    return COLANDER_OK;
}

void
presence_release(struct presence *presence)
{
    free(presence->words);
    memset(presence, 0, sizeof(*presence));
}

/* -------------------------------------------------------------- asking --- */

/* The finalizer of splitmix64: each bit of `word` affects all others. */
static inline uint64_t
mix(uint64_t word)
{
    word = (word ^ word >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    word = (word ^ word >> 27) * UINT64_C(0x94d049bb133111eb);
    return word ^ word >> 31;
}

static inline void
locate(const struct presence_shape *shape, uint64_t value_hash,
       struct presence_probe *probe)
{
    const unsigned cut = 64u - shape->hash_bits;
    uint64_t state = (value_hash >> cut << cut) + STEP;
    uint64_t word = mix(state);
    uint32_t number = (uint32_t)(word >> 32);
    uint32_t blocks = shape->block_count;
    unsigned left = 3; /* positions left in this half of the word */

    probe->block =
        (blocks & (blocks - 1)) == 0 ? number & (blocks - 1) : number % blocks;
    for (unsigned i = 0; i < shape->probes; i++, left--) {
        if (left == 0) {
            state += STEP;
            word = mix(state);
            left = 64 / PLACE_BITS;
        }
        probe->bits[i] = (uint16_t)(word & (PRESENCE_BLOCK_BITS - 1));
        word >>= PLACE_BITS;
    }
}

void
presence_locate(const struct presence_shape *shape, uint64_t value_hash,
                struct presence_probe *probe)
{
    assert(presence_shape_is_valid(shape));
    locate(shape, value_hash, probe);
}

void
presence_add(struct presence *presence, uint64_t value_hash)
{
    struct presence_probe probe;
    uint64_t *block;

    locate(&presence->shape, value_hash, &probe);
    block = presence->words + (size_t)probe.block * PRESENCE_BLOCK_WORDS;
    for (unsigned i = 0; i < presence->shape.probes; i++)
        block[probe.bits[i] / 64] |= UINT64_C(1) << probe.bits[i] % 64;
}

bool
presence_may_hold(const struct presence *presence, uint64_t value_hash)
{
    struct presence_probe probe;

    locate(&presence->shape, value_hash, &probe);
    return presence_may_hold_probe(presence, &probe, probe.block);
}

/* ------------------------------------------------------------- fitting --- */

static inline void
unite_words(uint64_t *restrict into, const uint64_t *restrict from,
            size_t count)
{
    for (size_t i = 0; i < count; i++)
        into[i] |= from[i];
}

static size_t
word_count_of(const struct presence *presence)
{
    return (size_t)presence->shape.block_count * PRESENCE_BLOCK_WORDS;
}

void
presence_unite(struct presence *into, const struct presence *from)
{
    size_t into_count = word_count_of(into);
    size_t from_count = word_count_of(from);
    size_t least = into_count < from_count ? into_count : from_count;
    size_t most = into_count < from_count ? from_count : into_count;

    assert(presence_fits(&into->shape, &from->shape));
    for (size_t at = 0; at < most; at += least)
        unite_words(into->words + at % into_count,
                    from->words + at % from_count, least);
}

double
presence_fill(const struct presence *presence)
{
    size_t count = word_count_of(presence);
    uint64_t set = 0;

    for (size_t i = 0; i < count; i++)
        set += presence_bit_count(presence->words[i]);
    return (double)set / ((double)count * 64);
}

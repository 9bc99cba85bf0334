/* SPDX-License-Identifier: MIT */
#include "filters/live/recent_sieve.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

size_t
recent_sieve_size(struct recent_sieve_shape shape)
{
    return sizeof(struct recent_sieve) +
           RECENT_SIEVE_LINE * sizeof(uint64_t) *
               (((size_t)1 << shape.line_bits) + ((size_t)1 << shape.key_bits));
}

struct recent_sieve *
recent_sieve_create(struct recent_sieve_shape shape)
{
    const size_t size = recent_sieve_size(shape);
    struct recent_sieve *sieve =
        aligned_alloc(_Alignof(struct recent_sieve), size);

    assert(shape.width <= RECENT_SIEVE_WIDTH_MAX);
    if (sieve == NULL)
        return NULL;
    memset(sieve, 0, size);
    atomic_init(&sieve->reference_count, 1);
    sieve->shape = shape;
    return sieve;
}

struct recent_sieve *
recent_sieve_ref(struct recent_sieve *sieve)
{
    atomic_fetch_add(&sieve->reference_count, 1);
    return sieve;
}

size_t
recent_sieve_unref(struct recent_sieve *sieve)
{
    const size_t size = recent_sieve_size(sieve->shape);

    if (atomic_fetch_sub(&sieve->reference_count, 1) != 1)
        return 0;
    free(sieve);
    return size;
}

/* Sets a bit of a line. */
static void
set_bit(_Atomic uint64_t *line, unsigned place)
{
    _Atomic uint64_t *word = &line[place / 64];
    uint64_t bits = atomic_load_explicit(word, memory_order_relaxed);

    bits |= UINT64_C(1) << place % 64;
    atomic_store_explicit(word, bits, memory_order_relaxed);
}

void
recent_sieve_add(struct recent_sieve *sieve, unsigned column, uint64_t hash)
{
    _Atomic uint64_t *line =
        (void *)recent_sieve_line(sieve, sieve->shape, hash);

    for (unsigned i = 0; i < RECENT_SIEVE_POSITIONS; i++)
        set_bit(line, recent_sieve_place(sieve->shape, hash, i) + column);
}

void
recent_sieve_add_key(struct recent_sieve *sieve, uint64_t hash)
{
    _Atomic uint64_t *line =
        (void *)recent_sieve_key_line(sieve, sieve->shape, hash);

    for (unsigned i = 0; i < RECENT_SIEVE_POSITIONS; i++)
        set_bit(line, recent_sieve_key_place(hash, i));
}

/*
 * Slots: memory for blocks of one size, in chunks of large pages.
 *
 * A find reads some twenty cached blocks. With malloc each is on a separate
 * page, which the processor has to look up.
 *
 * Threads: any
 * Memory:  returned slots are reused; unused chunks are freed, except one
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_CORE_BLOCK_SLOTS_H
#define COLANDER_CORE_BLOCK_SLOTS_H

#include <pthread.h>
#include <stddef.h>

#define BLOCK_SLOT_ALIGNMENT 64u

struct block_chunk;

struct block_slots {
    pthread_mutex_t mutex;
    size_t size;                /* of a slot, in bytes */
    struct block_chunk *chunks; /* those with a free slot */
};

/* Requires a size that is a multiple of BLOCK_SLOT_ALIGNMENT. */
void block_slots_init(struct block_slots *slots, size_t size);

/* Requires that all slots were returned. */
void block_slots_release(struct block_slots *slots);

/* Returns a slot, aligned to a cache line, or NULL without memory. */
void *block_slots_take(struct block_slots *slots);

/* Returns a slot to `slots`. */
void block_slots_give(struct block_slots *slots, void *slot);

#endif

/*
 * Slots: memory for blocks of one size, side by side.
 *
 * A find touches some twenty blocks of files that are in memory. Wherever
 * malloc has put them, each is on a page that the processor must look up; slots
 * lie in chunks of large pages.
 *
 * Threads: any
 * Memory:  what was given back is used again; a chunk of which all was given
 *          back is freed, but for one
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_CORE_BLOCK_SLOTS_H
#define COLANDER_CORE_BLOCK_SLOTS_H

#include <pthread.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define BLOCK_SLOT_ALIGNMENT 64u

struct block_chunk;

struct block_slots {
    pthread_mutex_t mutex;
    size_t size;                /* of a slot */
    struct block_chunk *chunks; /* that have a slot to take */
};

/* Of slots of `size` bytes, a multiple of BLOCK_SLOT_ALIGNMENT. */
void block_slots_init(struct block_slots *slots, size_t size);

/* All were given back. */
void block_slots_release(struct block_slots *slots);

/* On cache lines; NULL when memory is short. */
void *block_slots_take(struct block_slots *slots);
void block_slots_give(struct block_slots *slots, void *slot);

#ifdef __cplusplus
}
#endif

#endif

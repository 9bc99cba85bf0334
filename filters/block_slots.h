/*
 * Slots: memory for blocks of the usual size, side by side.
 *
 * A find touches some ten blocks. Wherever malloc has put them, each is on a
 * page that the processor must look up; slots lie in chunks of large pages.
 *
 * Threads: any
 * Memory:  what was given back is used again; chunks are freed at the end
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_FILTERS_BLOCK_SLOTS_H
#define COLANDER_FILTERS_BLOCK_SLOTS_H

#include <pthread.h>
#include <stddef.h>

/* A block of a filter file is seldom larger, with what is kept beside it. */
#define BLOCK_SLOT_SIZE 4608u

struct block_chunk;

struct block_slots {
    pthread_mutex_t mutex;
    void *free; /* the first of those given back: each leads to the next */
    struct block_chunk *chunks; /* the one begun last leads to the others */
    size_t left;                /* slots of it that were never taken */
};

void block_slots_init(struct block_slots *slots);

/* All were given back. */
void block_slots_release(struct block_slots *slots);

/* BLOCK_SLOT_SIZE bytes, on cache lines; NULL when memory is short. */
void *block_slots_take(struct block_slots *slots);
void block_slots_give(struct block_slots *slots, void *slot);

#endif

/*
 * Slots: see block_slots.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/block_slots.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define CHUNK_SIZE ((size_t)2 << 20) /* a large page */

struct block_chunk {
    struct block_chunk *next;
    unsigned char rest[BLOCK_SLOT_ALIGNMENT - sizeof(struct block_chunk *)];
    unsigned char slots[CHUNK_SIZE - BLOCK_SLOT_ALIGNMENT];
};

_Static_assert(sizeof(struct block_chunk) == CHUNK_SIZE, "a chunk is a page");

void
block_slots_init(struct block_slots *slots, size_t size)
{
    assert(size > 0 && size % BLOCK_SLOT_ALIGNMENT == 0);
    assert(size <= sizeof(((struct block_chunk *)NULL)->slots));
    memset(slots, 0, sizeof(*slots));
    slots->size = size;
    pthread_mutex_init(&slots->mutex, NULL);
}

void
block_slots_release(struct block_slots *slots)
{
    while (slots->chunks != NULL) {
        struct block_chunk *chunk = slots->chunks;

        slots->chunks = chunk->next;
        free(chunk);
    }
    pthread_mutex_destroy(&slots->mutex);
}

/* Begins another chunk; under the mutex. */
static void
add_chunk(struct block_slots *slots)
{
    struct block_chunk *chunk = aligned_alloc(CHUNK_SIZE, sizeof(*chunk));

    if (chunk == NULL)
        return;
    (void)madvise(chunk, sizeof(*chunk), MADV_HUGEPAGE); /* or as it is */
    chunk->next = slots->chunks;
    slots->chunks = chunk;
    slots->left = sizeof(chunk->slots) / slots->size;
}

void *
block_slots_take(struct block_slots *slots)
{
    void *slot;

    pthread_mutex_lock(&slots->mutex);
    slot = slots->free;
    if (slot != NULL) {
        memcpy(&slots->free, slot, sizeof(slots->free));
    } else {
        if (slots->left == 0)
            add_chunk(slots);
        if (slots->left > 0)
            slot = &slots->chunks->slots[--slots->left * slots->size];
    }
    pthread_mutex_unlock(&slots->mutex);
    return slot;
}

void
block_slots_give(struct block_slots *slots, void *slot)
{
    pthread_mutex_lock(&slots->mutex);
    memcpy(slot, &slots->free, sizeof(slots->free));
    slots->free = slot;
    pthread_mutex_unlock(&slots->mutex);
}

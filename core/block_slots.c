/* SPDX-License-Identifier: MIT */
#include "core/block_slots.h"

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define CHUNK_SIZE ((size_t)2 << 20) /* a large page */

struct chunk_head {
    struct block_chunk *next; /* with a free slot */
    struct block_chunk *previous;
    void *free;  /* returned slots, as a list */
    size_t left; /* slots that were never used */
    size_t used; /* slots in use */
};

struct block_chunk {
    struct chunk_head head;
    unsigned char rest[BLOCK_SLOT_ALIGNMENT - sizeof(struct chunk_head)];
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

        slots->chunks = chunk->head.next;
        free(chunk);
    }
    pthread_mutex_destroy(&slots->mutex);
}

static bool
has_slot(const struct block_chunk *chunk)
{
    return chunk->head.free != NULL || chunk->head.left > 0;
}

static void
link_chunk(struct block_slots *slots, struct block_chunk *chunk)
{
    chunk->head.previous = NULL;
    chunk->head.next = slots->chunks;
    if (slots->chunks != NULL)
        slots->chunks->head.previous = chunk;
    slots->chunks = chunk;
}

static void
unlink_chunk(struct block_slots *slots, struct block_chunk *chunk)
{
    if (chunk->head.next != NULL)
        chunk->head.next->head.previous = chunk->head.previous;
    if (chunk->head.previous != NULL)
        chunk->head.previous->head.next = chunk->head.next;
    else
        slots->chunks = chunk->head.next;
}

static void
add_chunk(struct block_slots *slots)
{
    struct block_chunk *chunk = aligned_alloc(CHUNK_SIZE, sizeof(*chunk));

    if (chunk == NULL)
        return;
    (void)madvise(chunk, sizeof(*chunk), MADV_HUGEPAGE); /* a hint */
    memset(&chunk->head, 0, sizeof(chunk->head));
    chunk->head.left = sizeof(chunk->slots) / slots->size;
    link_chunk(slots, chunk);
}

/* Takes a slot of a chunk that has a free one. */
static void *
take_from(struct block_slots *slots, struct block_chunk *chunk)
{
    void *slot = chunk->head.free;

    if (slot != NULL)
        memcpy(&chunk->head.free, slot, sizeof(slot));
    else
        slot = &chunk->slots[--chunk->head.left * slots->size];
    chunk->head.used++;
    if (!has_slot(chunk))
        unlink_chunk(slots, chunk);
    return slot;
}

void *
block_slots_take(struct block_slots *slots)
{
    void *slot = NULL;

    pthread_mutex_lock(&slots->mutex);
    if (slots->chunks == NULL)
        add_chunk(slots);
    if (slots->chunks != NULL)
        slot = take_from(slots, slots->chunks);
    pthread_mutex_unlock(&slots->mutex);
    return slot;
}

/* Chunks are aligned to their size. */
static struct block_chunk *
chunk_of(void *slot)
{
    unsigned char *bytes = slot;

    return (struct block_chunk *)(void *)(bytes - (uintptr_t)slot % CHUNK_SIZE);
}

void
block_slots_give(struct block_slots *slots, void *slot)
{
    struct block_chunk *chunk = chunk_of(slot);
    struct block_chunk *unused = NULL;

    pthread_mutex_lock(&slots->mutex);
    if (!has_slot(chunk))
        link_chunk(slots, chunk);
    memcpy(slot, &chunk->head.free, sizeof(chunk->head.free));
    chunk->head.free = slot;
    chunk->head.used--;
    if (chunk->head.used == 0 &&
        (chunk->head.next != NULL || chunk->head.previous != NULL)) {
        unlink_chunk(slots, chunk);
        unused = chunk;
    }
    pthread_mutex_unlock(&slots->mutex);
    free(unused);
}

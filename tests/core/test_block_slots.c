/*
 * Slots of the block cache: each has one user at a time, and is reused.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/block_slots.h"
#include "support/cases.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define SLOT_SIZE 4608u
#define SLOTS 1500 /* more than three chunks */

static int
compare(const void *left, const void *right)
{
    uintptr_t a = (uintptr_t) * (void *const *)left;
    uintptr_t b = (uintptr_t) * (void *const *)right;

    return (a > b) - (a < b);
}

/* Chunks with a free slot form a list, linked at their beginning. */
static size_t
chunk_count(struct block_slots *all)
{
    size_t count = 0;

    for (const struct block_chunk *chunk = all->chunks; chunk != NULL;
         chunk = *(struct block_chunk *const *)chunk)
        count++;
    return count;
}

TEST(slots_lie_apart_and_are_used_again)
{
    static void *slots[SLOTS];
    static void *again[SLOTS];
    struct block_slots all;

    block_slots_init(&all, SLOT_SIZE);
    for (size_t i = 0; i < SLOTS; i++) {
        slots[i] = block_slots_take(&all);
        assert_non_null(slots[i]);
        assert_int_equal((uintptr_t)slots[i] % 64, 0);
        memset(slots[i], (int)i, SLOT_SIZE);
    }
    for (size_t i = 0; i < SLOTS; i++) {
        const uint8_t *bytes = slots[i];

        assert_int_equal(bytes[0], (uint8_t)i);
        assert_int_equal(bytes[SLOT_SIZE - 1], (uint8_t)i);
    }
    for (size_t i = 0; i < SLOTS; i++)
        again[i] = slots[i];
    for (size_t i = 0; i < SLOTS; i += 2)
        block_slots_give(&all, again[i]);
    for (size_t i = 0; i < SLOTS; i += 2)
        again[i] = block_slots_take(&all);
    qsort(slots, SLOTS, sizeof(slots[0]), compare);
    qsort(again, SLOTS, sizeof(again[0]), compare);
    assert_memory_equal(slots, again, sizeof(slots));
    for (size_t i = 0; i < SLOTS; i++)
        block_slots_give(&all, again[i]);
    assert_int_equal(chunk_count(&all), 1); /* the others are freed */
    block_slots_release(&all);
}

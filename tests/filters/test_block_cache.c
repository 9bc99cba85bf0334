/*
 * Block cache: what it keeps and removes, and use by many threads at once.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filters/block_cache.h"
#include "support/cases.h"
#include "support/random.h"
#include "support/scoped.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

SCOPED_DEFINE(struct block_cache, block_cache_destroy)
#define SCOPED_CACHE SCOPED(scoped_block_cache_destroy) struct block_cache *

#define BLOCK_SIZE 4000

/* The maximum size of a block in addition to its bytes. */
#define OVERHEAD_MAX 256

/* Bytes that identify the block. */
static void
fill(uint8_t *bytes, size_t size, uint64_t file, uint32_t index)
{
    uint64_t state = file * 31 + index;

    for (size_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)random_next(&state);
}

static bool
is_block(const struct cached_block *block, size_t size, uint64_t file,
         uint32_t index)
{
    uint64_t state = file * 31 + index;

    if (block->bytes.size != size)
        return false;
    for (size_t i = 0; i < size; i++) {
        if (block->bytes.data[i] != (uint8_t)random_next(&state))
            return false;
    }
    return true;
}

/* Adds a block, and holds it. */
static struct cached_block *
put(struct block_cache *cache, size_t size, uint64_t file, uint32_t index)
{
    struct cached_block *block = block_cache_allocate(cache, size);

    assert_non_null(block);
    fill(block_cache_bytes(block), size, file, index);
    block_cache_add(cache, block, file, index);
    return block;
}

static bool
has(struct block_cache *cache, uint64_t file, uint32_t index)
{
    struct cached_block *block = block_cache_find(cache, file, index);

    block_cache_release(cache, block);
    return block != NULL;
}

TEST(blocks_are_found_by_file_and_index)
{
    SCOPED_CACHE cache = block_cache_create(64 << 20, 4096);

    for (uint64_t file = 0; file < 40; file++) {
        for (uint32_t i = 0; i < 100; i++)
            block_cache_release(cache, put(cache, file + i, file, i));
    }
    for (uint64_t file = 0; file < 40; file++) {
        for (uint32_t i = 0; i < 100; i++) {
            struct cached_block *block = block_cache_find(cache, file, i);

            assert_non_null(block);
            assert_true(is_block(block, file + i, file, i));
            block_cache_release(cache, block);
        }
        assert_false(has(cache, file, 100));
    }
    assert_int_equal(block_cache_sizes(cache).hits, 4000);
    assert_int_equal(block_cache_sizes(cache).misses, 40);
}

TEST(capacity_is_kept_when_nothing_is_held)
{
    const size_t capacities[] = {0, 100000, 1 << 20, 9 << 20};

    for (size_t i = 0; i < COUNT(capacities); i++) {
        SCOPED_CACHE cache = block_cache_create(capacities[i], 4096);
        struct block_cache_sizes sizes;

        for (uint32_t index = 0; index < 4000; index++) {
            block_cache_release(cache, put(cache, BLOCK_SIZE, 7, index));
            assert_true(block_cache_sizes(cache).bytes <= capacities[i]);
        }
        sizes = block_cache_sizes(cache);
        /* And nearly all of it is used. */
        assert_true(sizes.bytes + 16 * (BLOCK_SIZE + OVERHEAD_MAX) >=
                    capacities[i]);
    }
}

TEST(blocks_in_use_stay_and_others_are_removed)
{
    SCOPED_CACHE cache = block_cache_create(8 << 20, 4096);
    const uint32_t used = 50;

    for (uint32_t i = 0; i < 20000; i++) {
        block_cache_release(cache, put(cache, BLOCK_SIZE, 1, i));
        /* Each used block is read every 50 blocks; 2,000 fit. */
        if (i >= used)
            assert_true(has(cache, 1, i % used));
    }
    for (uint32_t i = used; i < 15000; i++)
        assert_false(has(cache, 1, i));
    for (uint32_t i = 19400; i < 20000; i++)
        assert_true(has(cache, 1, i));
}

TEST(held_block_outlives_its_eviction_and_counts)
{
    enum { HELD = 300 };
    SCOPED_CACHE cache = block_cache_create(1 << 20, 4096);
    struct cached_block *held[HELD];

    for (uint32_t i = 0; i < HELD; i++)
        held[i] = put(cache, BLOCK_SIZE, 1, i);
    /* More than the capacity is held. */
    assert_true(block_cache_sizes(cache).bytes >= HELD * BLOCK_SIZE);
    for (uint32_t i = 0; i < 1000; i++)
        block_cache_release(cache, put(cache, BLOCK_SIZE, 2, i));
    block_cache_forget(cache, 1, HELD);
    assert_true(block_cache_sizes(cache).bytes >= HELD * BLOCK_SIZE);
    for (uint32_t i = 0; i < HELD; i++) {
        assert_true(is_block(held[i], BLOCK_SIZE, 1, i));
        block_cache_release(cache, held[i]);
    }
    assert_true(block_cache_sizes(cache).bytes <= 1 << 20);
}

/* The last holder restores the capacity, not the next add. */
TEST(release_of_the_last_holder_keeps_the_capacity)
{
    enum { HELD = 600 };
    SCOPED_CACHE cache = block_cache_create(1 << 20, 4096);
    struct cached_block *held[HELD];

    for (uint32_t i = 0; i < HELD; i++)
        held[i] = put(cache, BLOCK_SIZE, 1, i);
    for (uint32_t i = 0; i < HELD; i++)
        block_cache_release(cache, held[i]);
    assert_true(block_cache_sizes(cache).bytes <= 1 << 20);
    assert_true(block_cache_sizes(cache).bytes > 1 << 19);
}

TEST(block_larger_than_the_cache_is_returned_and_removed)
{
    SCOPED_CACHE cache = block_cache_create(100000, 4096);
    struct cached_block *large = put(cache, 1 << 20, 3, 0);

    assert_true(is_block(large, 1 << 20, 3, 0));
    assert_false(has(cache, 3, 0));
    assert_true(block_cache_sizes(cache).bytes >= 1 << 20);
    block_cache_release(cache, large);
    assert_int_equal(block_cache_sizes(cache).bytes, 0);
}

TEST(second_block_under_a_name_is_its_holders_alone)
{
    SCOPED_CACHE cache = block_cache_create(1 << 20, 4096);
    struct cached_block *first = put(cache, 10, 1, 1);
    struct cached_block *second = put(cache, 10, 1, 1);
    struct cached_block *found = block_cache_find(cache, 1, 1);

    assert_ptr_equal(found, first);
    assert_ptr_not_equal(second, first);
    assert_true(is_block(second, 10, 1, 1));
    block_cache_release(cache, second);
    block_cache_release(cache, first);
    assert_true(is_block(found, 10, 1, 1));
    block_cache_release(cache, found);
    block_cache_forget(cache, 1, 2);
    assert_int_equal(block_cache_sizes(cache).bytes, 0);
}

TEST(forgetting_a_file_leaves_the_others)
{
    SCOPED_CACHE cache = block_cache_create(16 << 20, 4096);

    for (uint32_t i = 0; i < 1000; i++)
        block_cache_release(cache, put(cache, 100, i % 3, i));
    block_cache_forget(cache, 1, 1000);
    for (uint32_t i = 0; i < 1000; i++)
        assert_int_equal(has(cache, i % 3, i), i % 3 != 1);
}

TEST(cut_block_shows_only_what_is_left)
{
    SCOPED_CACHE cache = block_cache_create(1 << 20, 4096);
    struct cached_block *block = block_cache_allocate(cache, 100);

    fill(block_cache_bytes(block), 100, 5, 5);
    block_cache_cut(block, 92);
    block_cache_add(cache, block, 5, 5);
    assert_true(is_block(block, 92, 5, 5));
    block_cache_release(cache, block);
    /* A block that is never added. */
    block_cache_release(cache, block_cache_allocate(cache, 100));
    block_cache_release(cache, NULL);
    block_cache_destroy(NULL);
}

/* ------------------------------------------------------------- threads --- */

enum { THREADS = 4, FILES = 5, BLOCKS = 200, HELD = 8 };

struct crowd {
    struct block_cache *cache;
    uint64_t seed;
    uint64_t steps;
    atomic_size_t joined; /* threads so far */
    atomic_size_t wrong;  /* blocks with another block's bytes */
};

static struct cached_block *
find_or_put(struct crowd *crowd, uint64_t file, uint32_t index)
{
    struct cached_block *block = block_cache_find(crowd->cache, file, index);

    if (block == NULL) {
        block = block_cache_allocate(crowd->cache, 100 + index);
        if (block == NULL)
            abort();
        fill(block_cache_bytes(block), 100 + index, file, index);
        block_cache_add(crowd->cache, block, file, index);
    }
    return block;
}

static void *
member(void *argument)
{
    struct crowd *crowd = argument;
    struct cached_block *held[HELD] = {NULL};
    uint64_t files[HELD] = {0};
    uint32_t indexes[HELD] = {0};
    uint64_t random = crowd->seed + atomic_fetch_add(&crowd->joined, 1);

    for (uint64_t step = 0; step < crowd->steps; step++) {
        size_t i = random_below(&random, HELD);

        if (held[i] != NULL &&
            !is_block(held[i], 100 + indexes[i], files[i], indexes[i]))
            atomic_fetch_add(&crowd->wrong, 1);
        block_cache_release(crowd->cache, held[i]);
        files[i] = random_below(&random, FILES);
        indexes[i] = (uint32_t)random_below(&random, BLOCKS);
        held[i] = find_or_put(crowd, files[i], indexes[i]);
        if (step % 500 == 0)
            block_cache_forget(crowd->cache, random_below(&random, FILES),
                               BLOCKS);
        if (step % 100 == 0)
            (void)block_cache_sizes(crowd->cache);
    }
    for (size_t i = 0; i < HELD; i++)
        block_cache_release(crowd->cache, held[i]);
    return NULL;
}

TEST(threads_see_the_right_bytes_and_leave_the_capacity_kept)
{
    const size_t capacity = 100000;
    struct crowd crowd = {block_cache_create(capacity, 4096),
                          random_seed("block_cache"), random_runs(20000), 0, 0};
    pthread_t threads[THREADS];

    for (size_t i = 0; i < THREADS; i++)
        ZERO(pthread_create(&threads[i], NULL, member, &crowd));
    for (size_t i = 0; i < THREADS; i++)
        ZERO(pthread_join(threads[i], NULL));
    assert_int_equal(crowd.wrong, 0);
    assert_true(block_cache_sizes(crowd.cache).bytes <= capacity);
    for (uint64_t file = 0; file < FILES; file++)
        block_cache_forget(crowd.cache, file, BLOCKS);
    assert_int_equal(block_cache_sizes(crowd.cache).bytes, 0);
    block_cache_destroy(crowd.cache);
}

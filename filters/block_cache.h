/*
 * Block cache: blocks of filter files in memory, within a number of bytes.
 *
 * One per store, for all threads. The blocks that were not used for long go
 * first; what somebody holds stays valid until it is released, and counts:
 * only what is held can keep the cache above its capacity. A block under way,
 * allocated and not added, is not counted yet.
 *
 * Memory: a block is the cache's, counted by those who hold it
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_FILTERS_BLOCK_CACHE_H
#define COLANDER_FILTERS_BLOCK_CACHE_H

#include "core/core.h"

struct block_cache;

/* A block in memory. */
struct cached_block {
    struct colander_slice bytes; /* begin where any type may */
    /* the rest is the cache's */
};

/* NULL when memory is short. */
struct block_cache *block_cache_create(size_t capacity);

/* Everything is released. NULL is allowed. */
void block_cache_destroy(struct block_cache *cache);

/* The block `index` of the file with the id `file`, or NULL: it is not here.
 * The caller's to release. */
struct cached_block *block_cache_find(struct block_cache *cache, uint64_t file,
                                      uint32_t index);

/* Memory for a block of `size` bytes that is to be filled and then added, or
 * released; NULL when memory is short. */
struct cached_block *block_cache_allocate(struct block_cache *cache,
                                          size_t size);

/* The bytes of a block that was allocated and not added yet. */
uint8_t *block_cache_bytes(struct cached_block *block);

/* Leaves only the first `size` bytes of a block that was not added yet. The
 * memory behind them stays, and counts. */
void block_cache_cut(struct cached_block *block, size_t size);

/* Puts the filled block under (file, index), where somebody may have put one
 * before: then that stays. The caller holds it on. Never fails. */
void block_cache_add(struct block_cache *cache, struct cached_block *block,
                     uint64_t file, uint32_t index);

/* NULL is allowed. */
void block_cache_release(struct block_cache *cache, struct cached_block *block);

/* Forgets the blocks of a file. */
void block_cache_forget(struct block_cache *cache, uint64_t file);

struct block_cache_sizes {
    uint64_t bytes;
    uint64_t hits;
    uint64_t misses;
};

struct block_cache_sizes block_cache_sizes(struct block_cache *cache);

#endif

/*
 * Block cache: keeps blocks of files in memory, up to a number of bytes.
 *
 * A store has one for filters and one for rows, for all threads. Blocks that
 * were not used for long are removed first. A block that is held stays valid
 * until it is released, and counts; only held blocks can keep the cache above
 * its capacity. A block that was allocated and not added yet does not count.
 *
 * Memory: blocks belong to the cache, which counts their holders
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_FILTERS_BLOCK_CACHE_H
#define COLANDER_FILTERS_BLOCK_CACHE_H

#include "core/core.h"

struct block_cache;

/* A block in memory. */
struct cached_block {
    struct colander_slice bytes; /* aligned for any type */
    /* the rest is private */
};

/* Most blocks have about `block_size` bytes. Returns NULL if memory is
 * short. */
struct block_cache *block_cache_create(size_t capacity, size_t block_size);

/* Requires that all blocks are released. NULL is allowed. */
void block_cache_destroy(struct block_cache *cache);

/* Returns block `index` of the file with id `file`, or NULL if it is not in the
 * cache. The caller must release it. */
struct cached_block *block_cache_find(struct block_cache *cache, uint64_t file,
                                      uint32_t index);

/* Begin to bring into the processor's cache what finding a block reads: where
 * it is looked up, and then its head and the line at `offset` of its bytes. In
 * two steps for several blocks, their misses overlap. Take no lock. */
void block_cache_fetch(struct block_cache *cache, uint64_t file,
                       uint32_t index);
void block_cache_fetch_block(struct block_cache *cache, uint64_t file,
                             uint32_t index, size_t offset);

/* Adds a holder to a block that is held, and returns it. */
struct cached_block *block_cache_hold(struct cached_block *block);

/* Returns memory for a block of `size` bytes, which the caller fills and then
 * adds or releases. NULL if memory is short. */
struct cached_block *block_cache_allocate(struct block_cache *cache,
                                          size_t size);

/* Returns the bytes of a block that was not added yet. */
uint8_t *block_cache_bytes(struct cached_block *block);

/* Shortens a block that was not added yet to `size` bytes. Its memory stays and
 * counts. */
void block_cache_cut(struct cached_block *block, size_t size);

/* Says of a block that was not added yet that it is read in turn with all that
 * belong together, so that such blocks can be kept from filling the cache. */
void block_cache_set_in_turn(struct cached_block *block);

/* Adds the filled block as (file, index). A block that another thread has added
 * before stays instead. The caller still holds its block. Never fails. */
void block_cache_add(struct block_cache *cache, struct cached_block *block,
                     uint64_t file, uint32_t index);

/* NULL is allowed. */
void block_cache_release(struct block_cache *cache, struct cached_block *block);

/* Removes the blocks of a file, which has `count` of them. */
void block_cache_forget(struct block_cache *cache, uint64_t file,
                        uint32_t count);

struct block_cache_sizes {
    uint64_t bytes;
    uint64_t hits;
    uint64_t misses;
};

struct block_cache_sizes block_cache_sizes(struct block_cache *cache);

/* Returns how many bytes fit. While a caller holds most of them, every change
 * of the cache is slow. */
size_t block_cache_capacity(const struct block_cache *cache);

/* Returns the bytes only. Takes no lock. */
uint64_t block_cache_bytes_used(struct block_cache *cache);

/* The same of blocks that are read in turn. */
uint64_t block_cache_bytes_in_turn(struct block_cache *cache);

#endif

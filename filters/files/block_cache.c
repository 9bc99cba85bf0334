/*
 * Block cache: shards, each a hash table under a mutex.
 *
 * The table is a clock. While there are too many blocks, a hand goes round the
 * buckets, takes a turn from each block that has one left, and removes the
 * others. A new block has one turn, and finding it gives it two. So finding is
 * a lock, a lookup and a count, and releasing takes no lock unless the shard is
 * too full.
 *
 * The first links of the buckets are read without the lock, to fetch what they
 * lead to, but not to read it.
 *
 * A block counts its holders, and the table is one of them. Its first other
 * holder is added only under the lock, so a block that only the table holds can
 * be removed.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filters/block_cache.h"

#include "core/block_slots.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#define SHARDS_MAX 16

/* A shard of only a few blocks would soon be too full while another is empty,
 * so a small cache has fewer shards. */
#define SHARD_CAPACITY_MIN (256u << 10)

/* Chains stay short: most blocks take several times as many bytes. */
#define BYTES_PER_BUCKET 1024
#define BUCKETS_MAX ((size_t)1 << 20) /* of a shard; chains grow beyond */

struct shard;

struct block {
    struct cached_block shown; /* first: what callers have */
    struct block_slots *slots; /* that has its memory; NULL: malloc */
    struct shard *shard;       /* that counts it; NULL: not added yet */
    struct block *next;        /* in its bucket */
    uint64_t file;
    uint32_t index;
    unsigned turns;  /* that the hand leaves it */
    bool is_in_turn; /* as its user said */
    atomic_uint holders;
    size_t cost;
    _Alignas(max_align_t) uint8_t data[];
};

/* What a block takes besides its bytes; 32 for its bucket and the allocator. */
#define BLOCK_OVERHEAD (sizeof(struct block) + 32)

struct shard {
    pthread_mutex_t mutex;
    size_t capacity;
    struct block **buckets;
    size_t bucket_count; /* a power of two */
    size_t hand;         /* bucket from which the next blocks are removed */
    uint64_t hits;
    uint64_t misses;
    atomic_size_t bytes; /* of blocks in the table and of others still held, */
    atomic_size_t in_turn_bytes; /* and of those among them that are read in
                                  * turn */
    uint8_t apart[64]; /* keeps the next shard on another cache line */
};

struct block_cache {
    size_t shard_count; /* a power of two */
    size_t slot_size;   /* most blocks fit, with what is kept about them */
    struct shard shards[SHARDS_MAX];
    struct block_slots slots;
};

/* -------------------------------------------------------------- shards --- */

static uint64_t
hash_of(uint64_t file, uint32_t index)
{
    uint64_t hash = file + index * UINT64_C(0x9e3779b97f4a7c15);

    hash = (hash ^ hash >> 32) * UINT64_C(0xd6e8feb86659fd93);
    return hash ^ hash >> 32;
}

/* Buckets use the low bits of the hash, shards the high ones. */
static struct shard *
shard_of(struct block_cache *cache, uint64_t hash)
{
    return &cache->shards[hash >> 60 & (cache->shard_count - 1)];
}

static void
lock(struct shard *shard)
{
    pthread_mutex_lock(&shard->mutex);
}

static void
unlock(struct shard *shard)
{
    pthread_mutex_unlock(&shard->mutex);
}

static bool
is_too_full(struct shard *shard)
{
    return atomic_load_explicit(&shard->bytes, memory_order_relaxed) >
           shard->capacity;
}

static size_t
in_turn_cost(const struct block *block)
{
    return block->is_in_turn ? block->cost : 0;
}

static void
block_free(struct block *block)
{
    if (block->shard != NULL) {
        atomic_fetch_sub_explicit(&block->shard->bytes, block->cost,
                                  memory_order_relaxed);
        atomic_fetch_sub_explicit(&block->shard->in_turn_bytes,
                                  in_turn_cost(block), memory_order_relaxed);
    }
    if (block->slots != NULL)
        block_slots_give(block->slots, block);
    else
        free(block);
}

/* Releases one holder. Returns how many there were before. */
static unsigned
block_drop(struct block *block)
{
    unsigned before =
        atomic_fetch_sub_explicit(&block->holders, 1, memory_order_acq_rel);

    if (before == 1)
        block_free(block);
    return before;
}

/* --------------------------------------------------------------- table --- */

static struct block **
bucket_of(struct shard *shard, uint64_t hash)
{
    return &shard->buckets[hash & (shard->bucket_count - 1)];
}

/* Returns the link to the block; it links to NULL if there is none. */
static struct block **
table_find(struct shard *shard, uint64_t hash, uint64_t file, uint32_t index)
{
    struct block **link = bucket_of(shard, hash);

    while (*link != NULL && ((*link)->file != file || (*link)->index != index))
        link = &(*link)->next;
    return link;
}

static void
set_link(struct block **link, struct block *block)
{
    __atomic_store_n(link, block, __ATOMIC_RELAXED);
}

static void
shard_add(struct shard *shard, struct block *block, uint64_t hash)
{
    struct block **bucket = bucket_of(shard, hash);

    block->next = *bucket;
    set_link(bucket, block);
    block->turns = 1;
    atomic_fetch_add_explicit(&block->holders, 1, memory_order_relaxed);
}

/* Removes a block from its chain. Other holders keep it. */
static void
chain_remove(struct block **link)
{
    struct block *block = *link;

    set_link(link, block->next);
    block_drop(block);
}

/* Removes blocks until the rest fits or is held. Three rounds suffice: two may
 * only take turns. */
static void
shard_shrink(struct shard *shard)
{
    size_t steps = shard->bucket_count * 3;

    while (steps-- > 0 && is_too_full(shard)) {
        struct block **link = &shard->buckets[shard->hand];

        shard->hand = (shard->hand + 1) & (shard->bucket_count - 1);
        while (*link != NULL) {
            struct block *block = *link;

            if (block->turns == 0 &&
                atomic_load_explicit(&block->holders, memory_order_relaxed) ==
                    1) {
                chain_remove(link);
                continue;
            }
            block->turns -= block->turns > 0;
            link = &block->next;
        }
    }
}

/* ---------------------------------------------------------------- cache --- */

static bool
shard_init(struct shard *shard, size_t capacity)
{
    shard->capacity = capacity;
    shard->bucket_count = 1;
    while (shard->bucket_count < capacity / BYTES_PER_BUCKET &&
           shard->bucket_count < BUCKETS_MAX)
        shard->bucket_count *= 2;
    shard->buckets = calloc(shard->bucket_count, sizeof(struct block *));
    if (shard->buckets == NULL)
        return false;
    if (pthread_mutex_init(&shard->mutex, NULL) == 0)
        return true;
    free(shard->buckets);
    shard->buckets = NULL;
    return false;
}

static void
shard_release(struct shard *shard)
{
    for (size_t i = 0; i < shard->bucket_count; i++) {
        while (shard->buckets[i] != NULL)
            chain_remove(&shard->buckets[i]);
    }
    free(shard->buckets);
    pthread_mutex_destroy(&shard->mutex);
}

/* A block ends after what fills it, so some are larger. */
static size_t
slot_size_for(size_t block_size)
{
    const size_t size = block_size + block_size / 16 + sizeof(struct block) +
                        BLOCK_SLOT_ALIGNMENT - 1;

    return size - size % BLOCK_SLOT_ALIGNMENT;
}

struct block_cache *
block_cache_create(size_t capacity, size_t block_size)
{
    struct block_cache *cache = calloc(1, sizeof(*cache));
    size_t count = SHARDS_MAX;

    if (cache == NULL)
        return NULL;
    cache->slot_size = slot_size_for(block_size);
    block_slots_init(&cache->slots, cache->slot_size);
    while (count > 1 && capacity / count < SHARD_CAPACITY_MIN)
        count /= 2;
    while (cache->shard_count < count) {
        if (!shard_init(&cache->shards[cache->shard_count], capacity / count)) {
            block_cache_destroy(cache);
            return NULL;
        }
        cache->shard_count++;
    }
    return cache;
}

void
block_cache_destroy(struct block_cache *cache)
{
    if (cache == NULL)
        return;
    for (size_t i = 0; i < cache->shard_count; i++)
        shard_release(&cache->shards[i]);
    block_slots_release(&cache->slots);
    free(cache);
}

struct cached_block *
block_cache_find(struct block_cache *cache, uint64_t file, uint32_t index)
{
    uint64_t hash = hash_of(file, index);
    struct shard *shard = shard_of(cache, hash);
    struct block *block;

    lock(shard);
    block = *table_find(shard, hash, file, index);
    if (block != NULL) {
        atomic_fetch_add_explicit(&block->holders, 1, memory_order_relaxed);
        block->turns = 2;
        shard->hits++;
    } else
        shard->misses++;
    unlock(shard);
    return block == NULL ? NULL : &block->shown;
}

void
block_cache_fetch(struct block_cache *cache, uint64_t file, uint32_t index)
{
    const uint64_t hash = hash_of(file, index);

    __builtin_prefetch(bucket_of(shard_of(cache, hash), hash));
}

void
block_cache_fetch_block(struct block_cache *cache, uint64_t file,
                        uint32_t index, size_t offset)
{
    const uint64_t hash = hash_of(file, index);
    const uint8_t *block = (const uint8_t *)__atomic_load_n(
        bucket_of(shard_of(cache, hash), hash), __ATOMIC_RELAXED);

    if (block == NULL)
        return;
    /* It may be another block, or none any more. */
    __builtin_prefetch(block);
    __builtin_prefetch(block + sizeof(struct block) + offset);
}

struct cached_block *
block_cache_hold(struct cached_block *block)
{
    atomic_fetch_add_explicit(&((struct block *)block)->holders, 1,
                              memory_order_relaxed);
    return block;
}

struct cached_block *
block_cache_allocate(struct block_cache *cache, size_t size)
{
    const bool is_usual = size <= cache->slot_size - sizeof(struct block) &&
                          size > cache->slot_size / 2;
    struct block *block;

    if (size > SIZE_MAX - BLOCK_OVERHEAD)
        return NULL;
    block = is_usual ? block_slots_take(&cache->slots)
                     : malloc(sizeof(*block) + size);
    if (block == NULL)
        return NULL;
    block->slots = is_usual ? &cache->slots : NULL;
    block->shown.bytes.data = block->data;
    block->shown.bytes.size = size;
    block->shard = NULL;
    block->is_in_turn = false;
    block->cost = is_usual ? cache->slot_size : BLOCK_OVERHEAD + size;
    atomic_init(&block->holders, 1);
    return &block->shown;
}

uint8_t *
block_cache_bytes(struct cached_block *block)
{
    return ((struct block *)block)->data;
}

void
block_cache_cut(struct cached_block *block, size_t size)
{
    if (size < block->bytes.size)
        block->bytes.size = size;
}

void
block_cache_set_in_turn(struct cached_block *block)
{
    ((struct block *)block)->is_in_turn = true;
}

void
block_cache_add(struct block_cache *cache, struct cached_block *block,
                uint64_t file, uint32_t index)
{
    struct block *added = (struct block *)block;
    uint64_t hash = hash_of(file, index);
    struct shard *shard = shard_of(cache, hash);

    added->file = file;
    added->index = index;
    added->shard = shard;
    lock(shard);
    atomic_fetch_add_explicit(&shard->bytes, added->cost, memory_order_relaxed);
    atomic_fetch_add_explicit(&shard->in_turn_bytes, in_turn_cost(added),
                              memory_order_relaxed);
    /* A block that can never fit belongs to its holder alone. */
    if (added->cost <= shard->capacity &&
        *table_find(shard, hash, file, index) == NULL)
        shard_add(shard, added, hash);
    shard_shrink(shard);
    unlock(shard);
}

void
block_cache_release(struct block_cache *cache, struct cached_block *block)
{
    struct shard *shard;

    (void)cache;
    if (block == NULL)
        return;
    /* Read first: once only the table holds the block, it may be freed at any
     * time. */
    shard = ((struct block *)block)->shard;
    if (block_drop((struct block *)block) == 2 && is_too_full(shard)) {
        lock(shard);
        shard_shrink(shard);
        unlock(shard);
    }
}

void
block_cache_forget(struct block_cache *cache, uint64_t file, uint32_t count)
{
    for (uint32_t index = 0; index < count; index++) {
        const uint64_t hash = hash_of(file, index);
        struct shard *shard = shard_of(cache, hash);
        struct block **link;

        lock(shard);
        link = table_find(shard, hash, file, index);
        if (*link != NULL)
            chain_remove(link);
        unlock(shard);
    }
}

size_t
block_cache_capacity(const struct block_cache *cache)
{
    return cache->shards[0].capacity * cache->shard_count;
}

uint64_t
block_cache_bytes_used(struct block_cache *cache)
{
    uint64_t bytes = 0;

    for (size_t i = 0; i < cache->shard_count; i++)
        bytes +=
            atomic_load_explicit(&cache->shards[i].bytes, memory_order_relaxed);
    return bytes;
}

uint64_t
block_cache_bytes_in_turn(struct block_cache *cache)
{
    uint64_t bytes = 0;

    for (size_t i = 0; i < cache->shard_count; i++)
        bytes += atomic_load_explicit(&cache->shards[i].in_turn_bytes,
                                      memory_order_relaxed);
    return bytes;
}

struct block_cache_sizes
block_cache_sizes(struct block_cache *cache)
{
    struct block_cache_sizes sizes = {0, 0, 0};

    for (size_t i = 0; i < cache->shard_count; i++) {
        struct shard *shard = &cache->shards[i];

        lock(shard);
        sizes.bytes +=
            atomic_load_explicit(&shard->bytes, memory_order_relaxed);
        sizes.hits += shard->hits;
        sizes.misses += shard->misses;
        unlock(shard);
    }
    return sizes;
}

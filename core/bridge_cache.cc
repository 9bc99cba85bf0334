/*
 * The cache of the database's blocks: their bytes lie in slots.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/bridge_cache.h"

#include "core/block_slots.h"

#include <rocksdb/memory_allocator.h>

#include <cstddef>
#include <new>

/* Of larger blocks, a large page holds too few. */
#define BLOCK_IN_SLOT_MAX (64u << 10)

namespace
{

/* Before the bytes: whether they are in a slot. It keeps them aligned. */
struct alignas(std::max_align_t) prefix {
    bool is_slot;
};

class slot_allocator : public rocksdb::MemoryAllocator
{
  public:
    explicit slot_allocator(size_t block_size)
    {
        /* A block ends with the row that fills it: some are a little larger. */
        size_t size = block_size + block_size / 16 + sizeof(prefix);

        size += BLOCK_SLOT_ALIGNMENT - 1;
        block_slots_init(&slots, size - size % BLOCK_SLOT_ALIGNMENT);
    }

    slot_allocator(const slot_allocator &) = delete;
    slot_allocator &operator=(const slot_allocator &) = delete;

    ~slot_allocator() override
    {
        block_slots_release(&slots);
    }

    const char *
    Name() const override
    {
        return "colander.slots";
    }

    void *
    Allocate(size_t size) override
    {
        const size_t full = size + sizeof(prefix);
        void *memory = nullptr;
        struct prefix *made;

        if (full < size)
            throw std::bad_alloc();
        /* what is much smaller would waste the rest */
        if (full <= slots.size && full > slots.size / 4 * 3)
            memory = block_slots_take(&slots);
        const bool is_slot = memory != nullptr;
        if (!is_slot)
            memory = ::operator new(full); /* as RocksDB's own is */
        made = new (memory) prefix{is_slot};
        return made + 1;
    }

    void
    Deallocate(void *bytes) override
    {
        struct prefix *made = static_cast<struct prefix *>(bytes) - 1;

        if (made->is_slot)
            block_slots_give(&slots, made);
        else
            ::operator delete(made);
    }

    /* What counts against the cache: all of a slot. */
    size_t
    UsableSize(void *bytes, size_t size) const override
    {
        const struct prefix *made = static_cast<struct prefix *>(bytes) - 1;

        return made->is_slot ? slots.size - sizeof(prefix) : size;
    }

  private:
    struct block_slots slots;
};

} // namespace

std::shared_ptr<rocksdb::Cache>
make_block_cache(const struct colander_options &options)
{
    rocksdb::LRUCacheOptions cache;

    cache.capacity = options.cache_size;
    /* Few shards: the default gives each 1 MiB or less, and the Bloom filter
     * of one SST, which is one block, would fill it. */
    cache.num_shard_bits = 2;
    /* What is kept longer, indexes and Bloom filters of SSTs, is so also when
     * compactions have deleted those: half of the cache, as is the default, is
     * taken by them after a load. */
    cache.high_pri_pool_ratio = 0.2;
    if (options.block_size <= BLOCK_IN_SLOT_MAX)
        cache.memory_allocator =
            std::make_shared<slot_allocator>(options.block_size);
    return rocksdb::NewLRUCache(cache);
}

/* SPDX-License-Identifier: MIT */
#include "core/engine/cache.h"

#include "core/engine/engine_inside.h"

extern "C" {
#include "core/block_slots.h"
}

#include <rocksdb/memory_allocator.h>

#include <cstddef>
#include <new>

/* A large page has room for too few larger blocks. */
#define BLOCK_IN_SLOT_MAX (64u << 10)

namespace
{

/* Before the bytes of a block. Keeps them aligned. */
struct alignas(std::max_align_t) prefix {
    bool is_slot;
};

class slot_allocator : public rocksdb::MemoryAllocator
{
  public:
    explicit slot_allocator(size_t block_size)
    {
        /* A block ends after the row that fills it, so some are larger. */
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
        /* a much smaller block would waste the rest */
        if (full <= slots.size && full > slots.size / 4 * 3)
            memory = block_slots_take(&slots);
        const bool is_slot = memory != nullptr;
        if (!is_slot)
            memory = ::operator new(full); /* as RocksDB does */
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

    /* The cache counts the whole slot. */
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
    /* With the default number, a shard may have 1 MiB or less, which the Bloom
     * filter of one SST, a single block, would fill. */
    cache.num_shard_bits = 2;
    /* Indexes and Bloom filters have priority even after their SSTs were
     * deleted. With the default, they fill half of the cache after a load. */
    cache.high_pri_pool_ratio = 0.2;
    if (options.block_size <= BLOCK_IN_SLOT_MAX)
        cache.memory_allocator =
            std::make_shared<slot_allocator>(options.block_size);
    return rocksdb::NewLRUCache(cache);
}

void
engine_cache_lend(struct engine *engine, uint64_t bytes)
{
    const size_t size = engine->options.cache_size;

    engine->cache->SetCapacity(bytes < size ? size - bytes : 0);
}

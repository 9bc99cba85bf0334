/*
 * The cache of the database's blocks.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_CORE_ENGINE_CACHE_H
#define COLANDER_CORE_ENGINE_CACHE_H

#include "core/core.h"

#include <rocksdb/cache.h>

#include <memory>

/* Returns a cache of `cache_size` bytes. Blocks of the usual size are in slots
 * (core/block_slots.h). */
std::shared_ptr<rocksdb::Cache>
make_block_cache(const struct colander_options &options);

#endif

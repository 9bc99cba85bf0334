/*
 * The cache of the database's blocks.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_CORE_BRIDGE_CACHE_H
#define COLANDER_CORE_BRIDGE_CACHE_H

#include "core/core.h"

#include <rocksdb/cache.h>

#include <memory>

/* Of cache_size bytes. Blocks of the usual size, as a find touches some ten of
 * them, lie side by side (core/block_slots.h). */
std::shared_ptr<rocksdb::Cache>
make_block_cache(const struct colander_options &options);

#endif

/*
 * Levels: the files of a family at one moment, in the order in which a read of
 * the whole database searches them for a key.
 *
 * So they tell whether a version of a row that was found in one file may be
 * older than one in another file. Which keys a file may have is known from its
 * lowest and highest key and from the Bloom filter of its SST, which is read
 * when it is needed first and kept.
 *
 * Threads: any
 * Memory:  counted; levels share Bloom filters with those that they replace
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_FILTERS_LEVELS_H
#define COLANDER_FILTERS_LEVELS_H

#include "core/sst.h"

#include <stdatomic.h>

struct levels;

/* Bytes of the Bloom filters of a store. */
struct levels_memory {
    size_t max; /* no other filter is read once there are as many */
    atomic_size_t bytes;
};

/* Lists the files as they are now. `before` (NULL: none) has Bloom filters that
 * may be shared. `memory` is borrowed. */
COLANDER_CHECKED enum colander_code
levels_create(struct engine *engine, struct engine_family *family,
              struct levels *before, struct levels_memory *memory,
              struct levels **levels, struct colander_error *err);

struct levels *levels_ref(struct levels *levels);

/* NULL is allowed. */
void levels_unref(struct levels *levels);

#define LEVELS_NONE UINT32_MAX

/* Returns where the file of that number is, lower if it is searched earlier, or
 * LEVELS_NONE. */
uint32_t levels_find(const struct levels *levels, uint64_t number);

/* Returns false if no file that is searched before the one at `place` has an
 * entry of the key. `hash` is that of the key (engine_key_hash). */
bool levels_may_have_newer(const struct levels *levels, uint32_t place,
                           struct colander_slice key, uint64_t hash);

#endif

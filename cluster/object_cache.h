/*
 * Pieces of objects on the local disk, for all processes of a user.
 *
 * A piece is OBJECT_PIECE_SIZE bytes of an object, from a multiple of that, or
 * the rest of it. It is a file that is named by the address, the object and the
 * place, and begins with a checksum of all that. It is put there by a rename,
 * so any number of processes may read, add and remove pieces at once. A piece
 * that is damaged is none.
 *
 * Objects never change, so pieces stay right until there are too many bytes of
 * them. Then those that were not used for longest are removed.
 *
 *     $COLANDER_CACHE        the directory
 *                            ($XDG_CACHE_HOME/colander, ~/.cache/colander;
 *                            without $HOME no pieces stay)
 *     $COLANDER_CACHE_SIZE   how many MiB pieces may take (1024); 0: none stay
 *
 * Threads: any
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef CLUSTER_OBJECT_CACHE_H
#define CLUSTER_OBJECT_CACHE_H

#include "core/core.h"

#define OBJECT_PIECE_SIZE ((size_t)16 << 10)

struct object_cache;

/* Opens the cache for the objects at an address. Creates nothing yet. Fails
 * with INVALID for a size that is none. */
COLANDER_CHECKED enum colander_code
object_cache_open(const char *address, struct object_cache **cache,
                  struct colander_error *err);

/* NULL is allowed. */
void object_cache_close(struct object_cache *cache);

/* Reads piece `index` of an object, which has `size` bytes, into `bytes`.
 * Returns false if it is not there. */
bool object_cache_get(struct object_cache *cache, const char *object,
                      uint64_t index, uint8_t *bytes, size_t size);

/* Adds a piece. One that cannot be written is left out. */
void object_cache_put(struct object_cache *cache, const char *object,
                      uint64_t index, const uint8_t *bytes, size_t size);

#endif

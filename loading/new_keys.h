/*
 * New keys: which rows of a chunk have a key that no other row has, neither in
 * the family nor earlier in the chunk. Others may write such a row meanwhile,
 * so the commit of the chunk has to look again.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef LOADING_NEW_KEYS_H
#define LOADING_NEW_KEYS_H

#include "core/hash_index.h"
#include "loading/chunk.h"

#define NEW_KEYS_LOT 64 /* keys that are looked up at once */

/* Starts zeroed. */
struct new_keys {
    struct colander_slice *keys; /* of the chunk's rows, in its bytes */
    size_t key_capacity;
    bool *is_new; /* of each row: the result */
    size_t new_capacity;
    bool *had_rows; /* the same, for the commit to look again */
    size_t had_capacity;
    struct hash_index index; /* of keys */
    struct colander_buffer rows[NEW_KEYS_LOT];
};

void new_keys_release(struct new_keys *new_keys);

/* Looks up the keys of the rows that wait in the chunk, each in its family. */
COLANDER_CHECKED enum colander_code new_keys_find(struct new_keys *new_keys,
                                                  const struct chunk *chunk,
                                                  struct colander_error *err);

#endif

/*
 * Key tally: how many keys of a load are new, as far as that is known at little
 * cost.
 *
 * A key after all keys of the family and of the load is new. Of other keys, a
 * hash shows whether the load had them before, for the first million of keys.
 * If the family had rows, they are also looked up there, 2,000 at most. What is
 * beyond that makes the tally unknown.
 *
 * Life:    a zeroed struct -> begin -> chunk* -> release
 * Threads: one at a time
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef LOADING_KEY_TALLY_H
#define LOADING_KEY_TALLY_H

#include "loading/chunk.h"

struct key_tally {
    struct colander_family *family; /* borrowed */
    bool is_known;
    bool had_rows;                     /* the family, at first */
    struct colander_buffer last_bytes; /* the largest key, between chunks */
    struct colander_slice last;        /* the same; empty: none */
    uint64_t *hashes;                  /* a hash table, owned; 0: free */
    size_t hash_count;
    size_t slot_count; /* a power of two, or 0 */
    size_t lookup_count;
    struct colander_buffer row; /* of a lookup */
};

COLANDER_CHECKED enum colander_code
key_tally_begin(struct key_tally *tally, struct colander_family *family,
                struct colander_error *err);

void key_tally_release(struct key_tally *tally);

/* Sets *new_count to how many keys of the rows that were taken from the chunk
 * are new. The rows of the chunks before need not be written yet. Once the
 * tally is unknown it does nothing. */
COLANDER_CHECKED enum colander_code key_tally_chunk(struct key_tally *tally,
                                                    const struct chunk *chunk,
                                                    uint64_t *new_count,
                                                    struct colander_error *err);

#endif

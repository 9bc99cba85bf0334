/*
 * Direct reads: rows read from the SST in which a filter has found them.
 *
 * A filter knows the number of a row in its SST, and in which block of data it
 * is. So key and row can be read without a search through the database. Whether
 * that version is what the whole database would return is another question:
 *
 *     - the file must be one of the levels, and no file that a read of the
 *       database searches before may have the key
 *     - no recent row may have the key
 *     - the snapshot must see the version
 *
 * What is in doubt is left to the engine.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_FILTERS_DIRECT_H
#define COLANDER_FILTERS_DIRECT_H

#include "filters/context.h"

/* A row in memory. */
struct direct_row {
    struct colander_slice key;
    struct colander_slice value;
    struct cached_block *block; /* has both; held; NULL: not read */
    bool is_visible;            /* the snapshot sees it */
};

/* Where a row is in its file. */
struct direct_place {
    uint64_t number; /* of the row */
    uint32_t span;
    uint32_t index;             /* in the block */
    struct cached_block *block; /* held; NULL: not known to be in the cache */
};

/* Returns the place of row `number` of a file whose filter has spans. */
struct direct_place direct_place_of(const struct sst_file *file,
                                    uint64_t number);

/* Fetches what direct_read will read of `count` places, as far as it is in the
 * cache of rows, and holds their blocks. Misses of the processor's cache
 * overlap, also of several files: if for each of them `step` 0 is done first,
 * then 1, then 2. */
#define DIRECT_STEPS 3
void direct_fetch(struct filters *filters, const struct sst_file *file,
                  struct direct_place *places, size_t count, unsigned step);

/* Releases the block. */
void direct_place_release(struct filters *filters, struct direct_place *place);

/* Reads the row at a place, whose block it takes. Leaves `row->block` NULL if
 * that is not possible: the block has several versions of a key, its place is
 * not known, or the engine had better find out why it cannot be read. Fails
 * with CORRUPT, naming the file, if the block is not where it was written. */
COLANDER_CHECKED enum colander_code
direct_read(struct filters *filters, const struct sst_file *file,
            struct direct_place *place, uint64_t snapshot,
            struct direct_row *row, struct colander_error *err);

/* Releases the block. */
void direct_release(struct filters *filters, struct direct_row *row);

/* Returns whether no recent row, and no file before `place` in the levels, may
 * have a version of the key. `hash` is that of the key (engine_key_hash). */
bool direct_is_newest(const struct recent_view *recent,
                      const struct levels *levels, uint32_t place,
                      struct colander_slice key, uint64_t hash);

#endif

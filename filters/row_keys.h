/*
 * Row keys: the keys of a part, by which a row found by number can be read.
 *
 * If each unit has one row (`fine` 1), these are the keys of the rows. If a
 * unit has more rows, it has one *anchor*: the shortest bytes that are above
 * the last key of the unit before and not above its own first key. So the keys
 * of unit u are in [anchor u, anchor u + 1).
 *
 * Keys are front-coded in blocks, with a whole one every ROW_KEYS_RESTART.
 *
 * Life:   coder_init -> add, for each unit -> finish -> release; then open the
 *         block that holds the unit -> get, search -> release
 * Errors: CORRUPT for a block that the coder cannot have made; no memory
 *         outside the block is read before that is noticed
 * Bytes:  filters/FORMAT.md, "Key blocks"
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_FILTERS_ROW_KEYS_H
#define COLANDER_FILTERS_ROW_KEYS_H

#include "core/core.h"

#define ROW_KEYS_RESTART 16
#define ROW_KEYS_BLOCK_SIZE (4u << 10) /* a block ends after this size */

/* Takes a finished block that begins with unit `first_unit`. The block is
 * borrowed. */
typedef enum colander_code row_keys_sink(void *context,
                                         struct colander_slice block,
                                         uint32_t first_unit,
                                         struct colander_error *err);

struct row_keys_coder {
    row_keys_sink *sink;
    void *context;
    uint32_t unit_count; /* added so far */
    uint32_t first_unit; /* of the current block */
    struct colander_buffer block;
    struct colander_buffer restarts; /* offsets of whole keys */
    struct colander_buffer last;     /* last key added */
};

void row_keys_coder_init(struct row_keys_coder *coder, row_keys_sink *sink,
                         void *context);
void row_keys_coder_release(struct row_keys_coder *coder);

/* Adds the key of the next unit. Requires ascending keys. */
COLANDER_CHECKED enum colander_code
row_keys_coder_add(struct row_keys_coder *coder, struct colander_slice key,
                   struct colander_error *err);

/* Passes the last block to the sink. */
COLANDER_CHECKED enum colander_code
row_keys_coder_finish(struct row_keys_coder *coder, struct colander_error *err);

/* Returns how many first bytes the keys share. */
size_t row_keys_shared(struct colander_slice a, struct colander_slice b);

/* Returns the shortest beginning of `key` that is above `before`, borrowed.
 * Requires before < key. */
struct colander_slice row_keys_separator(struct colander_slice before,
                                         struct colander_slice key);

/* Reads keys of a block. In order this is fastest. */
struct row_keys_reader {
    struct colander_slice entries; /* the block without its end, borrowed */
    uint32_t count;                /* keys in the block */
    uint32_t next;                 /* index of the next key */
    size_t offset;                 /* of the next key */
    struct colander_buffer key;    /* read last */
};

#define ROW_KEYS_READER_EMPTY                                                  \
    {                                                                          \
        {NULL, 0}, 0, 0, 0, COLANDER_BUFFER_EMPTY                              \
    }

void row_keys_reader_release(struct row_keys_reader *reader);

/* Begins with a block, which is borrowed until the next one is opened. On
 * failure the reader has no keys. */
COLANDER_CHECKED enum colander_code
row_keys_open(struct row_keys_reader *reader, struct colander_slice block,
              struct colander_error *err);

/* Reads the key at `index` of the block into reader->key. */
COLANDER_CHECKED enum colander_code row_keys_get(struct row_keys_reader *reader,
                                                 uint32_t index,
                                                 struct colander_error *err);

/* Returns the index of the first key that is not below `key`, or the count, by
 * binary search over the whole keys. Uses reader->key. */
COLANDER_CHECKED enum colander_code
row_keys_search(struct row_keys_reader *reader, struct colander_slice key,
                uint32_t *index, struct colander_error *err);

#endif

/*
 * Row keys: the keys of a part, so that a row found by number can be read.
 *
 * With a key for every row (`fine` 1) they are the rows' keys themselves. With
 * more rows to a unit there is one *anchor* for each unit: the shortest bytes
 * above the last key of the unit before it, up to its own first key. So the
 * keys of unit u are those from anchor u to below anchor u + 1.
 *
 * Keys are front-coded, with a whole one every ROW_KEYS_RESTART, in blocks.
 *
 * Life:   coder_init -> add, for each unit -> finish -> release; then find in
 *         the block that holds the unit
 * Errors: CORRUPT for a block that the coder never made, found before memory
 *         is touched that is not its own
 * Bytes:  filters/FORMAT.md, "Key blocks"
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_FILTERS_ROW_KEYS_H
#define COLANDER_FILTERS_ROW_KEYS_H

#include "core/core.h"

#define ROW_KEYS_RESTART 16
#define ROW_KEYS_BLOCK_SIZE (4u << 10) /* where a block is ended */

/* Takes a finished block that begins with unit `first_unit`; borrowed. */
typedef enum colander_code row_keys_sink(void *context,
                                         struct colander_slice block,
                                         uint32_t first_unit,
                                         struct colander_error *err);

struct row_keys_coder {
    row_keys_sink *sink;
    void *context;
    uint32_t unit_count; /* added so far */
    uint32_t first_unit; /* of the block under way */
    struct colander_buffer block;
    struct colander_buffer restarts; /* their offsets */
    struct colander_buffer last;     /* the key added last */
};

void row_keys_coder_init(struct row_keys_coder *coder, row_keys_sink *sink,
                         void *context);
void row_keys_coder_release(struct row_keys_coder *coder);

/* Adds the key of the next unit; keys ascend. */
COLANDER_CHECKED enum colander_code
row_keys_coder_add(struct row_keys_coder *coder, struct colander_slice key,
                   struct colander_error *err);

/* Gives the last block to the sink. */
COLANDER_CHECKED enum colander_code
row_keys_coder_finish(struct row_keys_coder *coder, struct colander_error *err);

/* The shortest slice that is above `before` and not above `key`: the beginning
 * of `key`, borrowed from it. before < key. */
struct colander_slice row_keys_separator(struct colander_slice before,
                                         struct colander_slice key);

/* How many units the block holds; 0 when it is damaged. */
uint32_t row_keys_count(struct colander_slice block);

/*
 * A place in a block: gives key by key from some unit on. `key` holds the one
 * that was given last.
 */
struct row_keys_reader {
    struct colander_slice block;
    uint32_t next;  /* index in the block of the next key */
    uint32_t count; /* keys in the block */
    size_t offset;  /* of the next key */
    struct colander_buffer key;
};

#define ROW_KEYS_READER_EMPTY                                                  \
    {                                                                          \
        {NULL, 0}, 0, 0, 0, COLANDER_BUFFER_EMPTY                              \
    }

void row_keys_reader_release(struct row_keys_reader *reader);

/* Goes to the key at `index` of the block (borrowed until the next seek). */
COLANDER_CHECKED enum colander_code
row_keys_seek(struct row_keys_reader *reader, struct colander_slice block,
              uint32_t index, struct colander_error *err);

/* Fills reader->key with the next key; there is one: next < count. */
COLANDER_CHECKED enum colander_code
row_keys_next(struct row_keys_reader *reader, struct colander_error *err);

/*
 * The index of the first key of the block that is not below `key`, or the
 * count: binary search over the restarts. Uses reader->key.
 */
COLANDER_CHECKED enum colander_code
row_keys_search(struct row_keys_reader *reader, struct colander_slice block,
                struct colander_slice key, uint32_t *index,
                struct colander_error *err);

#endif

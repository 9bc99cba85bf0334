/*
 * One block of a table file, and its entries.
 *
 * Content: entries | restarts u32[count] | count u32
 * Entry:   bytes shared with the key before | bytes of the key's rest | bytes
 * of the value | rest of the key | value; numbers are varints. In an index the
 * value is a place, which has no size field.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_CORE_TABLES_TABLE_BLOCK_H
#define COLANDER_CORE_TABLES_TABLE_BLOCK_H

#include "core/tables.h"
#include "core/tables/table_codec.h"

/* Sequence and type, after the user key. */
#define TABLE_KEY_TAIL 8

/* Limit of a key with its tail, above that of any layer. */
#define TABLE_KEY_SIZE_MAX 65536

/* Reads up to `size` bytes, fewer at the end of the file, and appends them.
 * Bytes that the disk cannot read become zeros. */
COLANDER_CHECKED enum colander_code
table_source_read(const struct table_source *source, uint64_t offset,
                  size_t size, struct colander_buffer *bytes,
                  struct colander_error *err);

/* The place of a block, without its trailer. */
struct table_place {
    uint64_t offset;
    uint64_t size;
};

/* Kinds of entries of data, in the tail of the key. */
enum entry_type { DELETION = 0, VALUE = 1, SINGLE_DELETION = 7 };

struct table_block {
    struct colander_buffer stored; /* as in the file */
    struct colander_buffer room;   /* for what was decompressed */
    struct colander_slice entries; /* borrowed from either */
    struct bytes_reader left;      /* entries after the last one */
    uint8_t *key;                  /* of the last one, owned */
    size_t key_size;
    uint8_t *spare; /* for the next key, owned */
};

COLANDER_CHECKED enum colander_code
table_block_init(struct table_block *block, struct colander_error *err);

void table_block_release(struct table_block *block);

/* Reads the block at a place, which may be wrong. Sets *why to what is wrong
 * with it, or NULL. Fails with IO or NO_MEMORY. */
COLANDER_CHECKED enum colander_code
table_block_read(struct table_block *block, const struct table_source *source,
                 struct table_place place, const char **why,
                 struct colander_error *err);

/* The same for whole bytes in memory, which are copied. */
COLANDER_CHECKED enum colander_code
table_block_take(struct table_block *block, const uint8_t *stored, size_t size,
                 const char **why, struct colander_error *err);

/* Returns the entries of a decompressed block: all but the restarts at its end.
 * NULL without bytes if it is not a block. */
struct colander_slice table_block_entries(struct colander_slice content);

void table_block_rewind(struct table_block *block);

enum table_parse { TABLE_PARSED, TABLE_PARSED_ALL, TABLE_PARSED_NONE };

/* Steps to the next entry, borrowed until the next step. TABLE_PARSED_NONE
 * means that the bytes are not an entry. */
enum table_parse table_block_next(struct table_block *block,
                                  struct colander_slice *key,
                                  struct colander_slice *value);

/* Reads a place. One without a size may also be bytes that are not a place. */
static inline struct table_place
table_place_read(struct bytes_reader *in)
{
    const uint64_t offset = bytes_read_varint(in);
    const struct table_place place = {offset, bytes_read_varint(in)};

    return place;
}

/* Returns the offset of the next block. */
static inline uint64_t
table_place_end(struct table_place place)
{
    return place.offset + place.size + TABLE_TRAILER_SIZE;
}

/* Steps to the next entry of an index. *place is that of the entry before. */
enum table_parse table_block_next_place(struct table_block *block,
                                        struct colander_slice *key,
                                        struct table_place *place);

/* Returns where the blocks of an index end, which must be contiguous from the
 * beginning of the file. Returns 0 if this is not an index, or not one of
 * blocks before `limit`, of which one ends at `known` (0: not known). */
uint64_t table_block_index_end(struct table_block *block, uint64_t known,
                               uint64_t limit);

/* ----------------------------------------------------------------- data --- */

/* The key of an entry of data. */
struct table_key {
    struct colander_slice user;
    uint64_t sequence;
    uint8_t type;
};

/* `key` has a tail. */
struct table_key table_key_of(struct colander_slice key);

/* <0, 0 or >0: by key, and of one key the newest first. */
int table_key_compare(const struct table_key *a, const struct table_key *b);

/* Checks that a block has entries of data in order. Returns NULL, or what is
 * wrong. *first is borrowed. The last key stays in the block, which must be
 * rewound. */
const char *table_block_check(struct table_block *block,
                              struct colander_slice *first);

#endif

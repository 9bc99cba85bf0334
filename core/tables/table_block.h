/*
 * One block of a table file, read and taken apart into entries.
 *
 * Content: entries | restarts u32[count] | count u32
 * Entry:   bytes shared with the key before | bytes of the key's rest | bytes
 * of the value | rest of the key | value; numbers are varints. In an index the
 * value is a place, and tells its own size.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_CORE_TABLES_TABLE_BLOCK_H
#define COLANDER_CORE_TABLES_TABLE_BLOCK_H

#include "core/tables.h"
#include "core/tables/table_codec.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Behind the user's key: sequence and type. */
#define TABLE_KEY_TAIL 8

/* Of a key with its tail: more than any layer allows. */
#define TABLE_KEY_SIZE_MAX 65536

/* The least that an entry of data takes. */
#define TABLE_ENTRY_SIZE_MIN (3 + TABLE_KEY_TAIL)

/* Reads up to `size` bytes, fewer at the end of the file, and appends them.
 * What the disk cannot read is zeros. */
COLANDER_CHECKED enum colander_code
table_source_read(const struct table_source *source, uint64_t offset,
                  size_t size, struct colander_buffer *bytes,
                  struct colander_error *err);

/* Where a block is, without what stands behind each. */
struct table_place {
    uint64_t offset;
    uint64_t size;
};

struct table_block {
    struct colander_buffer stored; /* as in the file */
    struct colander_buffer room;   /* for what was decompressed */
    struct colander_slice entries; /* borrowed from either */
    size_t at;                     /* of the next entry */
    uint8_t *key;                  /* of the last one, owned */
    size_t key_size;
    uint8_t *spare; /* for the next key, owned */
};

COLANDER_CHECKED enum colander_code
table_block_init(struct table_block *block, struct colander_error *err);

void table_block_release(struct table_block *block);

/* Reads the block at a place, which may be any. *why is NULL, or says what is
 * wrong with it. OK, IO or NO_MEMORY. */
COLANDER_CHECKED enum colander_code
table_block_read(struct table_block *block, const struct table_source *source,
                 struct table_place place, unsigned *checksum_kind,
                 const char **why, struct colander_error *err);

/* The same of bytes in memory that are whole: copied. */
COLANDER_CHECKED enum colander_code
table_block_take(struct table_block *block, const uint8_t *stored, size_t size,
                 const char **why, struct colander_error *err);

void table_block_rewind(struct table_block *block);

enum table_parse { TABLE_PARSED, TABLE_PARSED_ALL, TABLE_PARSED_NONE };

/* The next entry: key and value are borrowed until the next step. NONE: what is
 * there is no entry. */
enum table_parse table_block_next(struct table_block *block,
                                  struct colander_slice *key,
                                  struct colander_slice *value);

/* Where the block behind one begins. */
static inline uint64_t
table_place_end(struct table_place place)
{
    return place.offset + place.size + TABLE_TRAILER_SIZE;
}

/* The next entry of an index. *place is that of the entry before, and becomes
 * this one's. */
enum table_parse table_block_next_place(struct table_block *block,
                                        bool is_delta,
                                        struct colander_slice *key,
                                        struct table_place *place);

/* Where the blocks end that an index has, which stand one behind the other from
 * the beginning of the file; 0: this is no index, or not of blocks before
 * `limit`, of which one ends at `known` (0: none is known). */
uint64_t table_block_index_end(struct table_block *block, bool is_delta,
                               uint64_t known, uint64_t limit);

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

/* Whether a block has entries of data, and in order: NULL, or why not. *first
 * is borrowed; the last key is left in the block, which is to be rewound. */
const char *table_block_check(struct table_block *block,
                              struct colander_slice *first);

/* Where a block of data ends that is not compressed, as table_codec_lz4_end. */
enum table_extent table_block_plain_end(const uint8_t *bytes, size_t size,
                                        size_t *end);

#ifdef __cplusplus
}
#endif

#endif

/*
 * What a table file says about itself: its properties, and the places of its
 * blocks of data.
 *
 * These follow the data. Each is a block with a checksum:
 *
 *     data ... | filter | index | properties | metaindex | footer
 *
 * The footer leads to metaindex and index, and the metaindex to the properties,
 * which say how to read the index. The footer has no checksum, and is only a
 * hint. Blocks that it does not lead to are found by their neighbours.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_CORE_TABLES_TABLE_MAP_H
#define COLANDER_CORE_TABLES_TABLE_MAP_H

#include "core/tables/table_block.h"

#define TABLE_END_UNKNOWN UINT64_MAX

/* A block of data, as the index has it. */
struct table_indexed {
    struct table_place place;
    size_t key_at; /* in `keys`; not below the keys of the block, and not above
                    * those of the next one */
    size_t key_size;
    size_t lower;   /* the last block with a lower key, plus 1, or 0 */
    bool may_go_on; /* the next block may begin with the same key */
};

struct table_map {
    struct table_head head;
    struct colander_buffer family_name;
    uint64_t data_end;         /* of the blocks of data, or TABLE_END_UNKNOWN */
    struct table_place filter; /* its size is 0: none is known */

    bool has_index;       /* false: the following is empty */
    bool is_index_placed; /* it is where the footer says */
    bool has_keys;
    struct table_indexed *blocks; /* owned */
    size_t block_count;
    struct colander_buffer keys;
};

/* Reads as much as possible into a zeroed map, which must be released in any
 * case. Fails with IO or NO_MEMORY. */
COLANDER_CHECKED enum colander_code
table_map_read(struct table_map *map, const struct table_source *source,
               struct table_block *block, struct colander_error *err);

/* Does what table_check_properties does, and sets *filter to the place of the
 * Bloom filter; its size is 0 if there is none. */
COLANDER_CHECKED enum colander_code
table_map_check(const struct table_source *source, struct table_place *filter,
                const char **why, struct colander_error *err);

void table_map_release(struct table_map *map);

/* Returns the key of a block in the index. */
static inline struct colander_slice
table_map_key(const struct table_map *map, size_t index)
{
    const struct table_indexed *block = &map->blocks[index];

    return colander_slice_of(map->keys.data + block->key_at, block->key_size);
}

/* Returns a key that is below all keys of a block, or {NULL, 0} if the index
 * has none. */
struct colander_slice table_map_after(const struct table_map *map,
                                      size_t index);

#endif

/*
 * What a table file says of itself: what it is and where its blocks of data
 * are.
 *
 * All of it stands behind the data, each block under a checksum:
 *
 *     data ... | filter | index | properties | metaindex | footer
 *
 * The footer leads to metaindex and index, the metaindex to the properties, and
 * they say how the index is to be read. Nothing is believed of the footer,
 * which has no checksum: it is a hint where to look. What it does not lead to
 * is found by what stands around it.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_CORE_TABLES_TABLE_MAP_H
#define COLANDER_CORE_TABLES_TABLE_MAP_H

#include "core/tables/table_block.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TABLE_END_UNKNOWN UINT64_MAX

/* A block of data, as the index has it. */
struct table_indexed {
    struct table_place place;
    size_t key_at; /* in `keys` of the map: not below the block's keys, and not
                    * above those of the next block */
    size_t key_size;
    size_t lower;   /* the last block before whose key is lower, plus 1; 0 */
    bool may_go_on; /* the next block may begin with the same key */
};

struct table_map {
    unsigned checksum_kind; /* 0: not known */
    struct table_head head;
    struct colander_buffer family_name;
    uint64_t data_end; /* of the blocks of data, or TABLE_END_UNKNOWN */

    bool has_index; /* without it the following is empty */
    bool has_keys;
    struct table_indexed *blocks; /* owned */
    size_t block_count;
    struct colander_buffer keys;
};

/* Reads as much as can be read; `map` is zeros, and to be released in any
 * case. OK, IO or NO_MEMORY. */
COLANDER_CHECKED enum colander_code
table_map_read(struct table_map *map, const struct table_source *source,
               struct table_block *block, struct colander_error *err);

void table_map_release(struct table_map *map);

/* The key of a block in the index. */
static inline struct colander_slice
table_map_key(const struct table_map *map, size_t index)
{
    const struct table_indexed *block = &map->blocks[index];

    return colander_slice_of(map->keys.data + block->key_at, block->key_size);
}

/* What the keys of a block are above, as far as the index tells; {NULL, 0}: it
 * does not. */
struct colander_slice table_map_after(const struct table_map *map,
                                      size_t index);

#ifdef __cplusplus
}
#endif

#endif

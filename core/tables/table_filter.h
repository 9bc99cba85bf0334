/*
 * The Bloom filter of a table file, which RocksDB asks before it looks for a
 * key. A filter that denies a key of its file hides the row.
 *
 * Bytes:  lines of 64 bytes | 0xff 0 | probes u8 | 0 0
 * A key sets one bit of one line for each probe. The upper half of its hash
 * leads to the bits, and the lower half to the line.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_CORE_TABLES_TABLE_FILTER_H
#define COLANDER_CORE_TABLES_TABLE_FILTER_H

#include "core/tables/table_block.h"

struct table_filter {
    struct colander_buffer bytes; /* empty: the file has none */
    size_t line_count;
    unsigned probe_count;
};

/* Whether the bytes at the end of a block, with its trailer, are those of a
 * Bloom filter. Other blocks never end like that. */
#define TABLE_FILTER_END 5
bool
table_filter_ends(const uint8_t end[TABLE_FILTER_END + TABLE_TRAILER_SIZE]);

/* Reads the filter at a place into a zeroed struct, which must be released in
 * any case. Sets *why to what is wrong with it, or NULL. Fails with NO_MEMORY.
 */
COLANDER_CHECKED enum colander_code
table_filter_read(struct table_filter *filter,
                  const struct table_source *source, struct table_place place,
                  const char **why, struct colander_error *err);

void table_filter_release(struct table_filter *filter);

/* Returns false if no key with this hash was added. */
bool table_filter_may_have(const struct table_filter *filter, uint64_t hash);

#endif

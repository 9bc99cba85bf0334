/*
 * How RocksDB stores the blocks of a table file: compressed or not, then the
 * kind of compression, then a checksum of both.
 *
 * The only code that knows LZ4 and Zstandard, which RocksDB uses as well.
 *
 * Bytes:  content | compression u8 | checksum u32
 *         compressed content: its size as a varint, then the compressed bytes
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_CORE_TABLES_TABLE_CODEC_H
#define COLANDER_CORE_TABLES_TABLE_CODEC_H

#include "core/bytes.h"

/* Bytes after each block. */
#define TABLE_TRAILER_SIZE 5

/* Limit of an uncompressed block, many times the largest that options and rows
 * allow. */
#define TABLE_BLOCK_SIZE_MAX ((size_t)80 << 20)

/* Whether the block of `size` bytes has the right checksum. */
bool table_codec_is_whole(const uint8_t *stored, size_t size);

/* Finds where a block ends: the first place with a right checksum. Returns its
 * size without trailer, or 0 if none ends within `size` bytes. */
size_t table_codec_find_end(const uint8_t *bytes, size_t size);

#define TABLE_PLAIN 0
#define TABLE_LZ4 4
#define TABLE_ZSTD 7

/* Decompresses `size` bytes. *content is borrowed from them or from `room`.
 * Sets *why to what is wrong, or NULL. Fails with NO_MEMORY. */
COLANDER_CHECKED enum colander_code
table_codec_decompress(const uint8_t *stored, size_t size,
                       struct colander_buffer *room,
                       struct colander_slice *content, const char **why,
                       struct colander_error *err);

#endif

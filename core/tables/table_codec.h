/*
 * How RocksDB puts the blocks of a table file on the disk: compressed or not,
 * then the kind of their compression, then a checksum over both.
 *
 * The one place that knows LZ4 and Zstandard, which RocksDB uses as well.
 *
 * Bytes:  content | compression u8 | checksum u32
 *         compressed content: its size as a varint, then what the library made
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_CORE_TABLES_TABLE_CODEC_H
#define COLANDER_CORE_TABLES_TABLE_CODEC_H

#include "core/core.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Behind each block. */
#define TABLE_TRAILER_SIZE 5

/* What a block may be when it is not compressed: the largest that options allow
 * and the largest row many times over. */
#define TABLE_BLOCK_SIZE_MAX ((size_t)80 << 20)

/* Whether `size` bytes and the one behind them have the checksum behind that. A
 * *kind of 0 is not known: each is tried, and that which is right noted. */
bool table_codec_is_whole(const uint8_t *stored, size_t size, unsigned *kind);

enum table_extent {
    TABLE_EXTENT_NONE,  /* no compressed block begins here */
    TABLE_EXTENT_SHORT, /* its end is behind the bytes that are there */
    TABLE_EXTENT_FOUND,
};

/* Where compressed bytes end, as far as they themselves say. *end is how far
 * they were looked at, and so, where FOUND, the place of the byte that says how
 * they are compressed. */
enum table_extent table_codec_lz4_end(const uint8_t *bytes, size_t size,
                                      size_t *end);
enum table_extent table_codec_zstd_end(const uint8_t *bytes, size_t size,
                                       size_t *end);

#define TABLE_PLAIN 0
#define TABLE_LZ4 4
#define TABLE_ZSTD 7

/* Decompresses `size` bytes and makes *content of them, borrowed from either
 * these or `room`. *why says why that cannot be done, else it is NULL. OK or
 * NO_MEMORY. */
COLANDER_CHECKED enum colander_code
table_codec_decompress(const uint8_t *stored, size_t size,
                       struct colander_buffer *room,
                       struct colander_slice *content, const char **why,
                       struct colander_error *err);

/* A number of up to `bits` bits, little-endian in groups of 7; moves *at. False
 * when it does not end before `end`, or has more bits. */
bool table_get_varint(const uint8_t **at, const uint8_t *end, unsigned bits,
                      uint64_t *number);

static inline uint32_t
table_get_32(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 |
           (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static inline uint64_t
table_get_64(const uint8_t *bytes)
{
    return (uint64_t)table_get_32(bytes) | (uint64_t)table_get_32(bytes + 4)
                                               << 32;
}

#ifdef __cplusplus
}
#endif

#endif

/*
 * Blocks of table files as they are stored: see table_codec.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/tables/table_codec.h"

#include "core/crc32c.h"

#include <lz4.h>
#include <xxhash.h>
#include <zstd.h>
#include <zstd_errors.h>

#define LZ4_RATIO_MAX 255 /* a byte stands for no more of them */
#define LZ4_MATCH_MIN 4
#define FOUR_BITS 15

bool
table_get_varint(const uint8_t **at, const uint8_t *end, unsigned bits,
                 uint64_t *number)
{
    *number = 0;
    for (unsigned shift = 0; shift < bits && *at < end; shift += 7) {
        const uint64_t group = **at & 127u;

        if (shift + 7 > bits && group >> (bits - shift) != 0)
            return false;
        *number |= group << shift;
        if (*(*at)++ < 128)
            return true;
    }
    return false;
}

/* ------------------------------------------------------------ checksums --- */

enum checksum_kind { CRC32C = 1, XXHASH, XXHASH64, XXHASH3 };

static uint32_t
checksum_of(const uint8_t *stored, size_t size, unsigned kind)
{
    uint32_t crc;

    switch (kind) {
    case CRC32C:
        crc = crc32c(0, stored, size + 1);
        return (crc >> 15 | crc << 17) + UINT32_C(0xa282ead8);
    case XXHASH:
        return XXH32(stored, size + 1, 0);
    case XXHASH64:
        return (uint32_t)XXH64(stored, size + 1, 0);
    default:
        /* RocksDB mixes the last byte in by itself. */
        return (uint32_t)XXH3_64bits(stored, size) ^
               stored[size] * UINT32_C(0x6b9083d9);
    }
}

bool
table_codec_is_whole(const uint8_t *stored, size_t size, unsigned *kind)
{
    const uint32_t checksum = table_get_32(stored + size + 1);

    if (*kind != 0)
        return checksum_of(stored, size, *kind) == checksum;
    for (unsigned guess = XXHASH3; guess >= CRC32C; guess--) {
        if (checksum_of(stored, size, guess) == checksum) {
            *kind = guess;
            return true;
        }
    }
    return false;
}

/* ----------------------------------------------------------------- ends --- */

/* The size of the content that stands before compressed bytes; 0: none that a
 * block may have. Moves *at. */
static size_t
content_size(const uint8_t **at, const uint8_t *end)
{
    uint64_t size;

    if (!table_get_varint(at, end, 32, &size) || size > TABLE_BLOCK_SIZE_MAX)
        return 0;
    return (size_t)size;
}

/* Adds to a length what stands in the bytes behind it, if anything does. False:
 * it is not all there. */
static bool
lengthen(const uint8_t **at, const uint8_t *end, size_t *length)
{
    uint8_t more = 255;

    if (*length < FOUR_BITS)
        return true;
    while (more == 255) {
        if (*at == end)
            return false;
        more = *(*at)++;
        *length += more;
    }
    return true;
}

/* Steps over literals and the match behind them; only the last have none. */
static enum table_extent
step_lz4(const uint8_t **at, const uint8_t *end, size_t whole, size_t *made)
{
    size_t literals = **at >> 4;
    size_t match = *(*at)++ & FOUR_BITS;
    size_t distance;

    if (!lengthen(at, end, &literals))
        return TABLE_EXTENT_SHORT;
    if (literals > whole - *made)
        return TABLE_EXTENT_NONE;
    if (literals > (size_t)(end - *at))
        return TABLE_EXTENT_SHORT;
    *at += literals;
    *made += literals;
    if (*made == whole)
        return TABLE_EXTENT_FOUND;
    if (end - *at < 2)
        return TABLE_EXTENT_SHORT;
    distance = (size_t)(*at)[0] | (size_t)(*at)[1] << 8;
    *at += 2;
    if (distance == 0 || distance > *made)
        return TABLE_EXTENT_NONE;
    if (!lengthen(at, end, &match))
        return TABLE_EXTENT_SHORT;
    *made += match + LZ4_MATCH_MIN;
    return *made < whole ? TABLE_EXTENT_FOUND : TABLE_EXTENT_NONE;
}

enum table_extent
table_codec_lz4_end(const uint8_t *bytes, size_t size, size_t *end)
{
    const uint8_t *const limit = bytes + size;
    const uint8_t *at = bytes;
    const size_t whole = content_size(&at, limit);
    enum table_extent extent =
        whole > 0 ? TABLE_EXTENT_FOUND : TABLE_EXTENT_NONE;
    size_t made = 0;

    while (extent == TABLE_EXTENT_FOUND && made < whole)
        extent = at < limit ? step_lz4(&at, limit, whole, &made)
                            : TABLE_EXTENT_SHORT;
    *end = (size_t)(at - bytes);
    return extent;
}

enum table_extent
table_codec_zstd_end(const uint8_t *bytes, size_t size, size_t *end)
{
    const uint8_t *at = bytes;
    const size_t whole = content_size(&at, bytes + size);
    const size_t left = size - (size_t)(at - bytes);
    size_t frame;

    *end = 0;
    if (whole == 0)
        return TABLE_EXTENT_NONE;
    if (left < 4)
        return TABLE_EXTENT_SHORT;
    if (table_get_32(at) != ZSTD_MAGICNUMBER)
        return TABLE_EXTENT_NONE;
    *end = size;
    frame = ZSTD_findFrameCompressedSize(at, left);
    if (ZSTD_isError(frame))
        return ZSTD_getErrorCode(frame) == ZSTD_error_srcSize_wrong
                   ? TABLE_EXTENT_SHORT
                   : TABLE_EXTENT_NONE;
    *end = (size_t)(at - bytes) + frame;
    return TABLE_EXTENT_FOUND;
}

/* -------------------------------------------------------- decompression --- */

static bool
decompress_lz4(const uint8_t *bytes, size_t size, uint8_t *to, size_t whole)
{
    return LZ4_decompress_safe((const char *)bytes, (char *)to, (int)size,
                               (int)whole) == (int)whole;
}

static bool
decompress_zstd(const uint8_t *bytes, size_t size, uint8_t *to, size_t whole)
{
    return ZSTD_decompress(to, whole, bytes, size) == whole;
}

/* Whether so many compressed bytes may say that they stand for so many. */
static bool
is_likely(const uint8_t *bytes, size_t size, unsigned compression, size_t whole)
{
    if (size > TABLE_BLOCK_SIZE_MAX || whole == 0)
        return false;
    if (compression == TABLE_LZ4)
        return whole / LZ4_RATIO_MAX <= size;
    return ZSTD_getFrameContentSize(bytes, size) == whole;
}

enum colander_code
table_codec_decompress(const uint8_t *stored, size_t size,
                       struct colander_buffer *room,
                       struct colander_slice *content, const char **why,
                       struct colander_error *err)
{
    const unsigned compression = stored[size];
    const uint8_t *at = stored;
    enum colander_code code;
    size_t whole;
    bool is_good;

    *why = NULL;
    *content = colander_slice_of(stored, size);
    if (compression == TABLE_PLAIN)
        return COLANDER_OK;
    if (compression != TABLE_LZ4 && compression != TABLE_ZSTD) {
        *why = "it is compressed in a way that this store does not use";
        return COLANDER_OK;
    }
    whole = content_size(&at, stored + size);
    size -= (size_t)(at - stored);
    *why = "it cannot be decompressed";
    if (!is_likely(at, size, compression, whole))
        return COLANDER_OK;
    colander_buffer_clear(room);
    code = colander_buffer_reserve(room, whole, err);
    if (code != COLANDER_OK)
        return code;
    is_good = compression == TABLE_LZ4
                  ? decompress_lz4(at, size, room->data, whole)
                  : decompress_zstd(at, size, room->data, whole);
    if (is_good) {
        room->size = whole;
        *content = colander_buffer_slice(room);
        *why = NULL;
    }
    return COLANDER_OK;
}

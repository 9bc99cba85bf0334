/* SPDX-License-Identifier: MIT */
#define XXH_STATIC_LINKING_ONLY /* for states without an allocation */

#include "core/tables/table_codec.h"

#include <lz4.h>
#include <xxhash.h>
#include <zstd.h>

#define LZ4_RATIO_MAX 255 /* bytes that one compressed byte expands to */

/* ------------------------------------------------------------ checksums --- */

/* Returns the checksum of bytes with that hash and the kind of compression,
 * which RocksDB adds in a way of its own. */
static uint32_t
checksum_of(XXH64_hash_t hash, uint8_t compression)
{
    return (uint32_t)hash ^ compression * UINT32_C(0x6b9083d9);
}

bool
table_codec_is_whole(const uint8_t *stored, size_t size)
{
    return checksum_of(XXH3_64bits(stored, size), stored[size]) ==
           bytes_get_le32(stored + size + 1);
}

/* Whether a block may have `size` bytes. Zeros, which a file may have anywhere,
 * almost never are a checksum. */
static bool
may_end(const uint8_t *bytes, size_t size)
{
    const uint8_t compression = bytes[size];

    return (compression == TABLE_PLAIN || compression == TABLE_LZ4 ||
            compression == TABLE_ZSTD) &&
           bytes_get_le32(bytes + size + 1) != 0;
}

size_t
table_codec_find_end(const uint8_t *bytes, size_t size)
{
    XXH3_state_t hashed;
    size_t added = 0;

    (void)XXH3_64bits_reset(&hashed);
    for (size_t end = 1; end + TABLE_TRAILER_SIZE <= size; end++) {
        if (!may_end(bytes, end))
            continue;
        (void)XXH3_64bits_update(&hashed, bytes + added, end - added);
        added = end;
        if (checksum_of(XXH3_64bits_digest(&hashed), bytes[end]) ==
            bytes_get_le32(bytes + end + 1))
            return end;
    }
    return 0;
}

/* -------------------------------------------------------- decompression --- */

/* Whether the compressed bytes may expand to `whole` bytes. */
static bool
is_likely(struct colander_slice bytes, unsigned compression, uint64_t whole)
{
    if (bytes.size > TABLE_BLOCK_SIZE_MAX || whole == 0 ||
        whole > TABLE_BLOCK_SIZE_MAX)
        return false;
    if (compression == TABLE_LZ4)
        return whole / LZ4_RATIO_MAX <= bytes.size;
    return ZSTD_getFrameContentSize(bytes.data, bytes.size) == whole;
}

static bool
decompress(struct colander_slice bytes, unsigned compression, uint8_t *to,
           size_t whole)
{
    if (compression == TABLE_LZ4)
        return LZ4_decompress_safe((const char *)bytes.data, (char *)to,
                                   (int)bytes.size, (int)whole) == (int)whole;
    return ZSTD_decompress(to, whole, bytes.data, bytes.size) == whole;
}

enum colander_code
table_codec_decompress(const uint8_t *stored, size_t size,
                       struct colander_buffer *room,
                       struct colander_slice *content, const char **why,
                       struct colander_error *err)
{
    const unsigned compression = stored[size];
    struct bytes_reader in = bytes_reader_of(colander_slice_of(stored, size));
    enum colander_code code;
    uint64_t whole;

    *why = NULL;
    *content = in.left;
    if (compression == TABLE_PLAIN)
        return COLANDER_OK;
    if (compression != TABLE_LZ4 && compression != TABLE_ZSTD) {
        *why = "it is compressed in a way that this store does not use";
        return COLANDER_OK;
    }
    whole = bytes_read_varint(&in);
    *why = "it cannot be decompressed";
    if (!is_likely(in.left, compression, whole))
        return COLANDER_OK;
    colander_buffer_clear(room);
    code = colander_buffer_reserve(room, (size_t)whole, err);
    if (code == COLANDER_OK &&
        decompress(in.left, compression, room->data, (size_t)whole)) {
        room->size = (size_t)whole;
        *content = colander_buffer_slice(room);
        *why = NULL;
    }
    return code;
}

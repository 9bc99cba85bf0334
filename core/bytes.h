/*
 * Numbers as bytes: little-endian, big-endian and varint; and a reader of bytes
 * from outside, which checks every bound.
 *
 * A varint has seven bits in each byte, the lowest first. The highest bit of a
 * byte says that another follows.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_CORE_BYTES_H
#define COLANDER_CORE_BYTES_H

#include "core/core.h"

#include <endian.h>

/* -------------------------------------------------------- fixed sizes --- */

#define BYTES_DEFINE(name, type, to_host, from_host)                           \
    static inline type bytes_get_##name(const void *from)                      \
    {                                                                          \
        type number;                                                           \
                                                                               \
        memcpy(&number, from, sizeof(number));                                 \
        return to_host(number);                                                \
    }                                                                          \
                                                                               \
    static inline void bytes_put_##name(void *to, type number)                 \
    {                                                                          \
        number = from_host(number);                                            \
        memcpy(to, &number, sizeof(number));                                   \
    }

/* bytes_get_le16(from), bytes_put_le16(to, number), and so on. */
BYTES_DEFINE(le16, uint16_t, le16toh, htole16)
BYTES_DEFINE(le32, uint32_t, le32toh, htole32)
BYTES_DEFINE(le64, uint64_t, le64toh, htole64)
BYTES_DEFINE(be16, uint16_t, be16toh, htobe16)
BYTES_DEFINE(be32, uint32_t, be32toh, htobe32)
BYTES_DEFINE(be64, uint64_t, be64toh, htobe64)

#undef BYTES_DEFINE

/* Returns whether both have the same bytes. For a few it is faster than memcmp,
 * which is a call. */
static inline bool
bytes_equal(const uint8_t *a, const uint8_t *b, size_t size)
{
    if (size > 16)
        return memcmp(a, b, size) == 0;
    if (size >= 8) /* both ends, which may overlap */
        return bytes_get_le64(a) == bytes_get_le64(b) &&
               bytes_get_le64(a + size - 8) == bytes_get_le64(b + size - 8);
    if (size >= 4)
        return bytes_get_le32(a) == bytes_get_le32(b) &&
               bytes_get_le32(a + size - 4) == bytes_get_le32(b + size - 4);
    while (size > 0 && a[size - 1] == b[size - 1])
        size--;
    return size == 0;
}

/* The four below take any size up to 8. */

/* Reads pieces that may overlap, which is faster than byte by byte. */
static inline uint64_t
bytes_get_le(const uint8_t *from, size_t size)
{
    if (size == 8)
        return bytes_get_le64(from);
    if (size >= 4)
        return bytes_get_le32(from) | (uint64_t)bytes_get_le32(from + size - 4)
                                          << (8 * (size - 4));
    if (size == 0)
        return 0;
    return from[0] | (uint64_t)from[size / 2] << (8 * (size / 2)) |
           (uint64_t)from[size - 1] << (8 * (size - 1));
}

static inline void
bytes_put_le(uint8_t *to, uint64_t number, size_t size)
{
    for (size_t i = 0; i < size; i++)
        to[i] = (uint8_t)(number >> (8 * i));
}

static inline uint64_t
bytes_get_be(const uint8_t *from, size_t size)
{
    uint64_t number = 0;

    for (size_t i = 0; i < size; i++)
        number = number << 8 | from[i];
    return number;
}

static inline void
bytes_put_be(uint8_t *to, uint64_t number, size_t size)
{
    for (size_t i = 0; i < size; i++)
        to[i] = (uint8_t)(number >> (8 * (size - 1 - i)));
}

/* ------------------------------------------------------------- varints --- */

#define BYTES_VARINT_MAX 10

/* Writes at most BYTES_VARINT_MAX bytes. Returns the byte after them. */
static inline uint8_t *
bytes_put_varint(uint8_t *to, uint64_t number)
{
    for (; number >= 0x80; number >>= 7)
        *to++ = (uint8_t)(number | 0x80);
    *to++ = (uint8_t)number;
    return to;
}

COLANDER_CHECKED static inline enum colander_code
bytes_append_varint(struct colander_buffer *bytes, uint64_t number,
                    struct colander_error *err)
{
    enum colander_code code =
        colander_buffer_reserve(bytes, BYTES_VARINT_MAX, err);

    if (code == COLANDER_OK)
        bytes->size =
            (size_t)(bytes_put_varint(bytes->data + bytes->size, number) -
                     bytes->data);
    return code;
}

/* -------------------------------------------------------------- reader --- */

/* Takes bytes from the front. Once something is missing or malformed the reader
 * is bad, and all that is read is 0 or empty. */
struct bytes_reader {
    struct colander_slice left;
    bool is_bad;
};

static inline struct bytes_reader
bytes_reader_of(struct colander_slice bytes)
{
    const struct bytes_reader reader = {bytes, false};

    return reader;
}

static inline bool
bytes_reader_has_more(const struct bytes_reader *reader)
{
    return !reader->is_bad && reader->left.size > 0;
}

/* Returns the next `size` bytes, borrowed. */
static inline struct colander_slice
bytes_read(struct bytes_reader *reader, uint64_t size)
{
    struct colander_slice bytes = {NULL, 0};

    reader->is_bad = reader->is_bad || size > reader->left.size;
    if (reader->is_bad || size == 0)
        return bytes;
    bytes = colander_slice_of(reader->left.data, (size_t)size);
    reader->left.data += size;
    reader->left.size -= (size_t)size;
    return bytes;
}

/* Returns a little-endian number of `size` bytes. */
static inline uint64_t
bytes_read_le(struct bytes_reader *reader, size_t size)
{
    const struct colander_slice bytes = bytes_read(reader, size);

    return bytes_get_le(bytes.data, bytes.size);
}

static inline uint64_t
bytes_read_varint(struct bytes_reader *reader)
{
    uint64_t number = 0;
    uint64_t byte = 0x80;

    for (unsigned shift = 0; (byte & 0x80) != 0; shift += 7) {
        byte = bytes_read_le(reader, 1);
        reader->is_bad =
            reader->is_bad || shift > 63 || (shift == 63 && byte > 1);
        if (reader->is_bad)
            return 0;
        number |= (byte & 0x7f) << shift;
    }
    return number;
}

/* Returns the bytes after a varint that is their number, borrowed. */
static inline struct colander_slice
bytes_read_text(struct bytes_reader *reader)
{
    return bytes_read(reader, bytes_read_varint(reader));
}

#endif

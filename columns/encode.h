/*
 * Encode: the one way in which msgpack is written, each item in its shortest
 * form.
 *
 * The functions write at `at`, where there must be room, and return the byte
 * after what they wrote. They are inlined: every row of a load passes them.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_COLUMNS_ENCODE_H
#define COLANDER_COLUMNS_ENCODE_H

#include "columns/values.h"
#include "core/bytes.h"

/* The longest head of an item, and the longest item without `bytes`. */
#define ENCODED_HEAD_MAX 6
#define ENCODED_SCALAR_MAX 15

/* Writes a number of `size` bytes, 1 to 8. */
static inline uint8_t *
encode_bytes(uint8_t *at, uint64_t number, size_t size)
{
    const uint64_t bytes = htobe64(number << (64 - 8 * size));

    memcpy(at, &bytes, size);
    return at + size;
}

static inline uint8_t *
encode_head(uint8_t *at, uint8_t head, uint64_t number, size_t size)
{
    *at = head;
    return encode_bytes(at + 1, number, size);
}

/* -------------------------------------------------------------- numbers --- */

static inline uint8_t *
encode_natural(uint8_t *at, uint64_t number)
{
    if (number < 0x80)
        return encode_bytes(at, number, 1);
    if (number <= UINT8_MAX)
        return encode_head(at, 0xcc, number, 1);
    if (number <= UINT16_MAX)
        return encode_head(at, 0xcd, number, 2);
    if (number <= UINT32_MAX)
        return encode_head(at, 0xce, number, 4);
    return encode_head(at, 0xcf, number, 8);
}

static inline uint8_t *
encode_integer(uint8_t *at, int64_t number)
{
    if (number >= 0)
        return encode_natural(at, (uint64_t)number);
    if (number >= -32)
        return encode_bytes(at, (uint64_t)number, 1);
    if (number >= INT8_MIN)
        return encode_head(at, 0xd0, (uint64_t)number, 1);
    if (number >= INT16_MIN)
        return encode_head(at, 0xd1, (uint64_t)number, 2);
    if (number >= INT32_MIN)
        return encode_head(at, 0xd2, (uint64_t)number, 4);
    return encode_head(at, 0xd3, (uint64_t)number, 8);
}

static inline uint8_t *
encode_double(uint8_t *at, double number)
{
    uint64_t bits;

    memcpy(&bits, &number, sizeof(bits));
    return encode_head(at, 0xcb, bits, 8);
}

static inline uint8_t *
encode_boolean(uint8_t *at, bool boolean)
{
    return encode_bytes(at, boolean ? 0xc3 : 0xc2, 1);
}

static inline uint8_t *
encode_null(uint8_t *at)
{
    return encode_bytes(at, 0xc0, 1);
}

/* ---------------------------------------------------------------- bytes --- */

/* The head of an item of `size` bytes, which has three widths: `head` and the
 * two after it. */
static inline uint8_t *
encode_size(uint8_t *at, uint8_t head, uint32_t size)
{
    if (size <= UINT8_MAX)
        return encode_head(at, head, size, 1);
    if (size <= UINT16_MAX)
        return encode_head(at, head + 1, size, 2);
    return encode_head(at, head + 2, size, 4);
}

static inline uint8_t *
encode_string_head(uint8_t *at, uint32_t size)
{
    return size < 32 ? encode_bytes(at, 0xa0 | size, 1)
                     : encode_size(at, 0xd9, size);
}

static inline uint8_t *
encode_extension_head(uint8_t *at, int8_t type, uint32_t size)
{
    const bool is_fixed =
        size == 1 || size == 2 || size == 4 || size == 8 || size == 16;

    at = is_fixed ? encode_bytes(at, 0xd4u + (unsigned)__builtin_ctz(size), 1)
                  : encode_size(at, 0xc7, size);
    return encode_bytes(at, (uint8_t)type, 1);
}

static inline uint8_t *
encode_content(uint8_t *at, struct colander_slice content)
{
    if (content.size > 0)
        memcpy(at, content.data, content.size);
    return at + content.size;
}

/* Requires less than 4 GiB. */
static inline uint8_t *
encode_string(uint8_t *at, struct colander_slice text)
{
    return encode_content(encode_string_head(at, (uint32_t)text.size), text);
}

static inline uint8_t *
encode_timestamp(uint8_t *at, int64_t second, uint32_t nanosecond)
{
    if (second >> 34 != 0) {
        at = encode_extension_head(at, -1, 12);
        at = encode_bytes(at, nanosecond, 4);
        return encode_bytes(at, (uint64_t)second, 8);
    }
    if (nanosecond == 0 && second <= UINT32_MAX)
        return encode_bytes(encode_extension_head(at, -1, 4), (uint64_t)second,
                            4);
    return encode_bytes(encode_extension_head(at, -1, 8),
                        (uint64_t)nanosecond << 34 | (uint64_t)second, 8);
}

/* -------------------------------------------------------------- scalars --- */

/* Returns at least the size of the scalar as it is encoded. */
static inline size_t
encoded_size_max(const struct colander_value *scalar)
{
    return ENCODED_SCALAR_MAX +
           (colander_type_has_bytes(scalar->type) ? scalar->bytes.size : 0);
}

/* Writes a scalar. Requires that its bytes are less than 4 GiB. */
static inline uint8_t *
encode_scalar(uint8_t *at, const struct colander_value *scalar)
{
    const struct colander_slice bytes = scalar->bytes;

    switch (scalar->type) {
    case COLANDER_INTEGER:
        return encode_integer(at, scalar->integer);
    case COLANDER_UNSIGNED:
        return encode_natural(at, scalar->natural);
    case COLANDER_DOUBLE:
        return encode_double(at, scalar->number);
    case COLANDER_STRING:
        return encode_string(at, bytes);
    case COLANDER_BOOLEAN:
        return encode_boolean(at, scalar->boolean);
    case COLANDER_TIMESTAMP:
        return encode_timestamp(at, scalar->second, scalar->nanosecond);
    case COLANDER_BINARY:
        return encode_content(encode_size(at, 0xc4, (uint32_t)bytes.size),
                              bytes);
    case COLANDER_EXTENSION:
        at = encode_extension_head(at, scalar->extension_type,
                                   (uint32_t)bytes.size);
        return encode_content(at, bytes);
    default:
        return encode_null(at);
    }
}

/* Appends a scalar to `out`, with room made for it. */
COLANDER_CHECKED static inline enum colander_code
encode_append(struct colander_buffer *out, const struct colander_value *scalar,
              struct colander_error *err)
{
    enum colander_code code =
        colander_buffer_reserve(out, encoded_size_max(scalar), err);

    if (code == COLANDER_OK)
        out->size =
            (size_t)(encode_scalar(out->data + out->size, scalar) - out->data);
    return code;
}

/* ----------------------------------------------------------- containers --- */

/* Writes the head of a map or an array of `count` members. */
static inline uint8_t *
encode_container_head(uint8_t *at, bool is_map, uint32_t count)
{
    if (count < 16)
        return encode_bytes(at, (is_map ? 0x80 : 0x90) | count, 1);
    if (count <= UINT16_MAX)
        return encode_head(at, is_map ? 0xde : 0xdc, count, 2);
    return encode_head(at, is_map ? 0xdf : 0xdd, count, 4);
}

/* Writes the head of a map before `end`, and returns where it begins. */
static inline uint8_t *
encode_map_head_before(uint8_t *end, uint32_t count)
{
    uint8_t head[ENCODED_HEAD_MAX];
    const size_t size =
        (size_t)(encode_container_head(head, true, count) - head);

    return (uint8_t *)memcpy(end - size, head, size);
}

#endif

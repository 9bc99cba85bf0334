/*
 * Encode: writes msgpack, each item in its shortest form, as a row builder
 * does.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef LOADING_ENCODE_H
#define LOADING_ENCODE_H

#include "columns/columns.h"
#include "core/bytes.h"

/* The longest head of an item, and the longest item that is not a string. */
#define ENCODED_HEAD_MAX 6
#define ENCODED_SCALAR_MAX 15

static inline uint8_t *
encode_bytes(uint8_t *at, uint64_t number, unsigned size)
{
    bytes_put_be(at, number, size);
    return at + size;
}

static inline uint8_t *
encode_head(uint8_t *at, uint8_t head, uint64_t number, unsigned size)
{
    *at = head;
    return encode_bytes(at + 1, number, size);
}

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
encode_string_head(uint8_t *at, uint32_t size)
{
    if (size < 32)
        return encode_bytes(at, 0xa0 | size, 1);
    if (size <= UINT8_MAX)
        return encode_head(at, 0xd9, size, 1);
    if (size <= UINT16_MAX)
        return encode_head(at, 0xda, size, 2);
    return encode_head(at, 0xdb, size, 4);
}

/* Requires less than 4 GiB. */
static inline uint8_t *
encode_string(uint8_t *at, struct colander_slice text)
{
    at = encode_string_head(at, (uint32_t)text.size);
    if (text.size > 0)
        memcpy(at, text.data, text.size);
    return at + text.size;
}

static inline uint8_t *
encode_timestamp(uint8_t *at, int64_t second, uint32_t nanosecond)
{
    uint8_t type = 0xff;

    if (second >> 34 != 0) {
        at = encode_head(at, 0xc7, 12, 1);
        at = encode_head(at, type, nanosecond, 4);
        return encode_bytes(at, (uint64_t)second, 8);
    }
    if (nanosecond == 0 && second <= UINT32_MAX) {
        at = encode_head(at, 0xd6, type, 1);
        return encode_bytes(at, (uint64_t)second, 4);
    }
    at = encode_head(at, 0xd7, type, 1);
    return encode_bytes(at, (uint64_t)nanosecond << 34 | (uint64_t)second, 8);
}

/* Requires room for the scalar, which is not BINARY or EXTENSION. */
static inline uint8_t *
encode_scalar(uint8_t *at, const struct colander_value *value)
{
    switch (value->type) {
    case COLANDER_INTEGER:
        return encode_integer(at, value->integer);
    case COLANDER_UNSIGNED:
        return encode_natural(at, value->natural);
    case COLANDER_DOUBLE:
        return encode_double(at, value->number);
    case COLANDER_STRING:
        return encode_string(at, value->bytes);
    case COLANDER_BOOLEAN:
        return encode_bytes(at, value->boolean ? 0xc3 : 0xc2, 1);
    case COLANDER_TIMESTAMP:
        return encode_timestamp(at, value->second, value->nanosecond);
    default:
        return encode_bytes(at, 0xc0, 1);
    }
}

/* Writes the head of a map before `end`, and returns where it begins. */
static inline uint8_t *
encode_map_head_before(uint8_t *end, uint32_t count)
{
    uint8_t *at = end - (count < 16 ? 1 : count <= UINT16_MAX ? 3 : 5);

    if (count < 16)
        (void)encode_bytes(at, 0x80 | count, 1);
    else if (count <= UINT16_MAX)
        (void)encode_head(at, 0xde, count, 2);
    else
        (void)encode_head(at, 0xdf, count, 4);
    return at;
}

#endif

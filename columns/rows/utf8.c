/*
 * UTF-8: one check for every string that enters a store.
 *
 * Names and texts are mostly ASCII, which is checked eight bytes at a time.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/utf8.h"

#include "core/bytes.h"

#define HIGH_BITS UINT64_C(0x8080808080808080)

static bool
is_continuation(uint8_t byte)
{
    return (byte & 0xC0) == 0x80;
}

/* The second byte decides about overlong forms, surrogates and the end of
 * Unicode: its range depends on the first. */
static bool
is_second(uint8_t first, uint8_t second)
{
    switch (first) {
    case 0xE0:
        return second >= 0xA0 && second <= 0xBF;
    case 0xED:
        return second >= 0x80 && second <= 0x9F;
    case 0xF0:
        return second >= 0x90 && second <= 0xBF;
    case 0xF4:
        return second >= 0x80 && second <= 0x8F;
    default:
        return is_continuation(second);
    }
}

static size_t
size_by_first(uint8_t first)
{
    if (first < 0x80)
        return 1;
    if (first < 0xC2)
        return 0;
    if (first < 0xE0)
        return 2;
    if (first < 0xF0)
        return 3;
    return first < 0xF5 ? 4 : 0;
}

size_t
utf8_character_size(const uint8_t *data, size_t size)
{
    size_t wanted;

    if (size == 0)
        return 0;
    wanted = size_by_first(data[0]);
    if (wanted > size)
        return 0;
    if (wanted > 1 && !is_second(data[0], data[1]))
        return 0;
    for (size_t i = 2; i < wanted; i++) {
        if (!is_continuation(data[i]))
            return 0;
    }
    return wanted;
}

size_t
utf8_cut(const uint8_t *data, size_t size, size_t max)
{
    size_t cut = max;

    if (size <= max)
        return size;
    while (cut > 0 && max - cut < 3 && is_continuation(data[cut]))
        cut--;
    return cut;
}

/* Returns a number of leading bytes that are ASCII. There may be more. */
static size_t
ascii_run(const uint8_t *data, size_t size)
{
    size_t run = 0;

    while (size - run >= sizeof(uint64_t) &&
           (bytes_get_le64(data + run) & HIGH_BITS) == 0)
        run += sizeof(uint64_t);
    return run;
}

/* Of fewer than 8 bytes. Two words that overlap are all of them. */
static bool
short_is_ascii(const uint8_t *data, size_t size)
{
    uint32_t bits;

    if (size >= sizeof(uint32_t))
        bits = bytes_get_le32(data) |
               bytes_get_le32(data + size - sizeof(uint32_t));
    else if (size > 0)
        bits = data[0] | data[size / 2] | data[size - 1];
    else
        bits = 0;
    return (bits & (uint32_t)HIGH_BITS) == 0;
}

/* Most strings are, and short. */
static bool
is_ascii(const uint8_t *data, size_t size)
{
    if (size < sizeof(uint64_t))
        return short_is_ascii(data, size);
    return size - ascii_run(data, size) < sizeof(uint64_t) &&
           (bytes_get_le64(data + size - sizeof(uint64_t)) & HIGH_BITS) == 0;
}

size_t
colander_utf8_size(struct colander_slice text)
{
    size_t at = 0;

    while (at < text.size) {
        size_t step = 1;

        if (text.data[at] >= 0x80)
            step = utf8_character_size(text.data + at, text.size - at);
        else if (text.size - at >= sizeof(uint64_t))
            step += ascii_run(text.data + at + 1, text.size - at - 1);
        if (step == 0)
            break;
        at += step;
    }
    return at;
}

bool
utf8_is_valid(const uint8_t *data, size_t size)
{
    return is_ascii(data, size) ||
           colander_utf8_size(colander_slice_of(data, size)) == size;
}

/*
 * Text: mostly ASCII, so that is skipped by words.
 *
 * SPDX-License-Identifier: MIT
 */
#include "loading/text.h"

#define HIGH_BITS UINT64_C(0x8080808080808080)

/* Bytes that are ASCII, from the first on; stops early, never late. */
static size_t
ascii_size(const uint8_t *data, size_t size)
{
    uint64_t words[4];
    size_t at = 0;

    for (; size - at >= sizeof(words); at += sizeof(words)) {
        memcpy(words, data + at, sizeof(words));
        if (((words[0] | words[1] | words[2] | words[3]) & HIGH_BITS) != 0)
            break;
    }
    while (at < size && data[at] < 0x80)
        at++;
    return at;
}

/* Bytes of the character that begins with `first`; 0: none does. */
static size_t
size_by_first(uint8_t first)
{
    if (first < 0x80)
        return 1;
    if (first < 0xc2 || first > 0xf4)
        return 0;
    return first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}

/* The second byte decides on overlong forms, surrogates and the end. */
static bool
is_second(uint8_t first, uint8_t second)
{
    uint8_t least = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
    uint8_t most = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;

    return second >= least && second <= most;
}

/* Bytes of the character at `data`; 0: none is there whole. */
static size_t
character_size(const uint8_t *data, size_t size)
{
    size_t wanted = size_by_first(data[0]);

    if (wanted > size || (wanted > 1 && !is_second(data[0], data[1])))
        return 0;
    for (size_t i = 2; i < wanted; i++) {
        if (data[i] >> 6 != 2)
            return 0;
    }
    return wanted;
}

size_t
text_valid_size(struct colander_slice text)
{
    size_t at = 0;

    for (;;) {
        size_t character;

        if (at < text.size)
            at += ascii_size(text.data + at, text.size - at);
        if (at == text.size)
            return at;
        character = character_size(text.data + at, text.size - at);
        if (character == 0)
            return at;
        at += character;
    }
}

/* See columns/fold.h. SPDX-License-Identifier: MIT */
#include "columns/fold.h"

#include "columns/text/unicode_tables.h"
#include "columns/utf8.h"

#include <string.h>

#define BLOCK 256 /* characters of class_blocks */
#define FOLD_RUNS (sizeof(fold_runs) / sizeof(fold_runs[0]))

struct character
character_at(const uint8_t *at, const uint8_t *end)
{
    struct character character = {*at, 1, true};
    size_t size;

    if (*at < 0x80)
        return character;
    size = utf8_character_size(at, (size_t)(end - at));
    if (size == 0) {
        character.is_valid = false;
        return character;
    }
    character.size = size;
    character.code = *at & (0x7Fu >> size);
    for (size_t i = 1; i < size; i++)
        character.code = character.code << 6 | (at[i] & 0x3F);
    return character;
}

enum character_class
character_class_of(struct character character)
{
    const uint32_t code = character.code;
    const uint64_t *block;

    if (!character.is_valid)
        return CHARACTER_OTHER;
    if (code / BLOCK >= sizeof(class_index))
        return code >= MARKS_FIRST && code <= MARKS_LAST ? CHARACTER_MARK
                                                         : CHARACTER_OTHER;
    block = class_blocks[class_index[code / BLOCK]];
    return (enum character_class)(block[code % BLOCK / 32] >> 2 * (code % 32) &
                                  3);
}

static uint32_t
fold_code(uint32_t code)
{
    size_t low = 0;
    size_t high = FOLD_RUNS;

    if (code < 0x80)
        return character_fold_ascii((uint8_t)code);
    while (high - low > 1) {
        const size_t middle = (low + high) / 2;

        if (fold_runs[middle].first <= code)
            low = middle;
        else
            high = middle;
    }
    if (code < fold_runs[low].first ||
        code - fold_runs[low].first > fold_runs[low].last_after ||
        (code - fold_runs[low].first) % fold_runs[low].step != 0)
        return code;
    return code + (uint32_t)fold_runs[low].difference;
}

static size_t
put_utf8(uint32_t code, uint8_t bytes[4])
{
    static const uint8_t leads[] = {0, 0, 0xC0, 0xE0, 0xF0};
    const size_t size = code < 0x80      ? 1
                        : code < 0x800   ? 2
                        : code < 0x10000 ? 3
                                         : 4;

    for (size_t i = size - 1; i > 0; i--) {
        bytes[i] = (uint8_t)(0x80 | (code & 0x3F));
        code >>= 6;
    }
    bytes[0] = (uint8_t)(leads[size] | code);
    return size;
}

size_t
character_fold(struct character character, const uint8_t *at, uint8_t bytes[4])
{
    const uint32_t folded =
        character.is_valid ? fold_code(character.code) : character.code;

    if (character.is_valid && folded != character.code)
        return put_utf8(folded, bytes);
    memcpy(bytes, at, character.size);
    return character.size;
}

enum colander_code
fold_append(struct colander_buffer *folded, struct colander_slice text,
            struct colander_error *err)
{
    const uint8_t *at = text.data;
    const uint8_t *end = text.size > 0 ? at + text.size : at;

    while (at < end) {
        const struct character character = character_at(at, end);
        uint8_t bytes[4];
        const size_t size = character_fold(character, at, bytes);
        const enum colander_code code =
            colander_buffer_append(folded, bytes, size, err);

        if (code != COLANDER_OK)
            return code;
        at += character.size;
    }
    return COLANDER_OK;
}

bool
fold_matches(struct colander_slice text, struct colander_slice folded,
             bool is_beginning)
{
    const uint8_t *at = text.data;
    const uint8_t *end = text.size > 0 ? at + text.size : at;
    const uint8_t *wanted = folded.data;
    size_t left = folded.size;

    while (at < end && left > 0) {
        struct character character;
        uint8_t bytes[4];
        size_t size;

        if (*at < 0x80) {
            if (fold_code(*at) != *wanted)
                return false;
            at++;
            wanted++;
            left--;
            continue;
        }
        character = character_at(at, end);
        size = character_fold(character, at, bytes);
        if (size > left || memcmp(bytes, wanted, size) != 0)
            return false;
        at += character.size;
        wanted += size;
        left -= size;
    }
    return left == 0 && (is_beginning || at == end);
}

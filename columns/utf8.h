/*
 * UTF-8: whether bytes are text.
 *
 * Strict as Unicode has it: no overlong forms, no surrogates, nothing above
 * U+10FFFF. A zero byte is a character like any other.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_UTF8_H
#define COLANDER_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* `data` may be NULL when `size` is 0: no bytes are valid text. */
bool utf8_is_valid(const uint8_t *data, size_t size);

/* Bytes of the character at `data`, or 0 when none stands there whole. */
size_t utf8_character_size(const uint8_t *data, size_t size);

/* How much of a text fits `max` bytes without a cut inside a character; of
 * bytes that are no text, at most 3 fewer. */
size_t utf8_cut(const uint8_t *data, size_t size, size_t max);

#ifdef __cplusplus
}
#endif

#endif

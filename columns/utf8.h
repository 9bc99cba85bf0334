/*
 * UTF-8: whether bytes are text.
 *
 * As strict as Unicode: no overlong forms, no surrogates, nothing above
 * U+10FFFF. A zero byte is an ordinary character.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_COLUMNS_UTF8_H
#define COLANDER_COLUMNS_UTF8_H

#include "core/core.h"

/* Returns how many bytes of `text`, from its beginning, are UTF-8. Exported for
 * the layers above. */
COLANDER_API size_t colander_utf8_size(struct colander_slice text);

/* Returns whether the bytes are text. `data` may be NULL if `size` is 0. */
bool utf8_is_valid(const uint8_t *data, size_t size);

/* Returns the size of the character at `data`, or 0 if there is not a whole
 * one. */
size_t utf8_character_size(const uint8_t *data, size_t size);

/* Returns how much of a text fits `max` bytes without a cut inside a character.
 * If the bytes are not text, that is `max` or up to 3 fewer. */
size_t utf8_cut(const uint8_t *data, size_t size, size_t max);

#endif

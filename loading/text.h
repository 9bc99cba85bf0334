/*
 * Text: whether bytes are UTF-8, and if not, where.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef LOADING_TEXT_H
#define LOADING_TEXT_H

#include "core/core.h"

/* Bytes of `text` before the first that is not UTF-8 (no overlong forms, no
 * surrogates, nothing above U+10FFFF): all of them where it is text. */
size_t text_valid_size(struct colander_slice text);

#endif

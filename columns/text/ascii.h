/*
 * Bytes of texts: most are ASCII, and are looked up here.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_COLUMNS_TEXT_ASCII_H
#define COLANDER_COLUMNS_TEXT_ASCII_H

#include <stdint.h>

/* What a byte is: one of the folded letters, digits and _ of ASCII, another
 * character of ASCII, or part of another character. */
enum { ASCII_SIGN = 0, ASCII_NONE = 1 };

/* clang-format off */
#define SIGNS ASCII_SIGN, ASCII_SIGN, ASCII_SIGN, ASCII_SIGN, \
    ASCII_SIGN, ASCII_SIGN, ASCII_SIGN, ASCII_SIGN
#define LETTERS \
    'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l', 'm', \
    'n', 'o', 'p', 'q', 'r', 's', 't', 'u', 'v', 'w', 'x', 'y', 'z'
#define OTHERS ASCII_NONE, ASCII_NONE, ASCII_NONE, ASCII_NONE, \
    ASCII_NONE, ASCII_NONE, ASCII_NONE, ASCII_NONE

static const uint8_t ascii_folded[256] = {
    SIGNS, SIGNS, SIGNS, SIGNS, SIGNS, SIGNS,
    '0', '1', '2', '3', '4', '5', '6', '7', '8', '9',
    ASCII_SIGN, ASCII_SIGN, ASCII_SIGN, ASCII_SIGN,
    ASCII_SIGN, ASCII_SIGN, ASCII_SIGN,
    LETTERS, ASCII_SIGN, ASCII_SIGN, ASCII_SIGN, ASCII_SIGN,
    '_', ASCII_SIGN,
    LETTERS, ASCII_SIGN, ASCII_SIGN, ASCII_SIGN, ASCII_SIGN,
    ASCII_SIGN,
    OTHERS, OTHERS, OTHERS, OTHERS, OTHERS, OTHERS, OTHERS, OTHERS,
    OTHERS, OTHERS, OTHERS, OTHERS, OTHERS, OTHERS, OTHERS, OTHERS,
};
#undef SIGNS
#undef LETTERS
#undef OTHERS
/* clang-format on */

#endif

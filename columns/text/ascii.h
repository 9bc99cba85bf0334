/*
 * Bytes of texts: most are ASCII, and are looked up here.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_COLUMNS_TEXT_ASCII_H
#define COLANDER_COLUMNS_TEXT_ASCII_H

#include <stddef.h>
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

/* Returns how many of eight bytes (the first is the lowest) are letters, digits
 * and _ of ASCII, before another one. Sets *folded to those, folded, and zeros.
 * Sums carry into the highest bit of a byte if it is at least as large as the
 * first number of each pair. */
static inline size_t
ascii_fold_eight(uint64_t bytes, uint64_t *folded)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    const uint64_t high = 0x80 * ones;
    const uint64_t low = bytes & ~high;
    const uint64_t upper =
        (low + (0x80 - 'A') * ones) & ~(low + (0x7f - 'Z') * ones) & high;
    const uint64_t lower = low | upper >> 2; /* 0x20: 'a' - 'A' */
    const uint64_t letter =
        (lower + (0x80 - 'a') * ones) & ~(lower + (0x7f - 'z') * ones);
    const uint64_t digit =
        (low + (0x80 - '0') * ones) & ~(low + (0x7f - '9') * ones);
    const uint64_t line = high - (low ^ '_' * ones);
    const uint64_t others = ~((letter | digit | line) & ~bytes) & high;
    const unsigned bits =
        others == 0 ? 64 : (unsigned)__builtin_ctzll(others) - 7;

    *folded = bits == 64 ? lower : lower & ((UINT64_C(1) << bits) - 1);
    return bits / 8;
}

#endif

/*
 * Numerals: numbers as text, to the last digit.
 *
 * What is a number is decided first, without a locale; then an integer is
 * exact up to 64 bits, and a double the one nearest to what is written.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef LOADING_NUMERAL_H
#define LOADING_NUMERAL_H

#include "columns/columns.h"

enum numeral_grammar {
    NUMERAL_JSON,  /* 0, -17, 2.5, 1e5 */
    NUMERAL_LOOSE, /* also +5, 007, 1., .5 */
};

/* A numeral taken apart: digits times ten to the exponent. */
struct numeral {
    struct colander_slice digits; /* of the text; with a point, perhaps */
    uint64_t significand;         /* its first 19 digits, zeros ahead apart */
    uint64_t digit_count;         /* all of them, zeros ahead apart */
    int64_t exponent;             /* of ten, for all of them as a whole number;
                                   * beyond a million millions it stays there */
    bool is_negative;
    bool is_whole; /* there is no point and no exponent */
};

/* False when `text`, all of it, is no number. */
bool numeral_scan(struct colander_slice text, enum numeral_grammar grammar,
                  struct numeral *numeral);

/* An integer. False when it is not written as one, or over 64 bits. */
bool numeral_integer(const struct numeral *numeral,
                     struct colander_value *value);

/* The nearest double. False when it is beyond all of them. */
bool numeral_double(const struct numeral *numeral,
                    struct colander_value *value);

#endif

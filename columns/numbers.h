/*
 * Numbers as text, independent of the locale: what is one, and its value.
 *
 * An integer is exact up to 64 bits. A double is the one nearest to the text,
 * however many digits that has; colander_number_keeps_digits says whether it is
 * printed as the same number.
 *
 * Example:
 *
 *     bool is_whole;
 *
 *     if (colander_number_size(text, COLANDER_NUMBER_JSON, &is_whole) ==
 *             text.size &&
 *         (is_whole ? colander_number_integer(text, &value)
 *                   : colander_number_double(text, &value)))
 *         return value;
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_COLUMNS_NUMBERS_H
#define COLANDER_COLUMNS_NUMBERS_H

#include "columns/values.h"

enum colander_number_grammar {
    COLANDER_NUMBER_JSON,  /* 0, -17, 2.5, 1e5 */
    COLANDER_NUMBER_LOOSE, /* also +5, 007, 1., .5 */
};

/* Returns how many bytes of `text`, from its beginning, are a number; 0 if it
 * does not begin with one. Sets *is_whole to whether the number has neither a
 * point nor an exponent. */
COLANDER_API size_t colander_number_size(struct colander_slice text,
                                         enum colander_number_grammar grammar,
                                         bool *is_whole);

/* Reads a whole number. Requires that all of `text` is one. Returns false if it
 * does not fit 64 bits. */
COLANDER_API bool colander_number_integer(struct colander_slice text,
                                          struct colander_value *value);

/* Reads any number as a double. Requires that all of `text` is one. Returns
 * false if it is beyond all doubles. */
COLANDER_API bool colander_number_double(struct colander_slice text,
                                         struct colander_value *value);

/* Returns whether a double is printed as the same number as `text`: so 1.10,
 * but not a decimal with more digits than the double has. Requires that all of
 * `text` is a number, and `number` was read from it. */
COLANDER_API bool colander_number_keeps_digits(struct colander_slice text,
                                               double number);

#endif

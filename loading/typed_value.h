/*
 * Typed value: what a text means, as a type says, or as a guess has it.
 *
 * CSV has only texts. Without a type a text is
 *
 *     an integer   if it is one of JSON and fits 64 bits, signed or unsigned:
 *                  5, -17, 18446744073709551615
 *     a double     if it is a number of JSON with a point or an exponent: 2.5,
 *                  1e5
 *     a boolean    if it is true or false
 *     a string     in all other cases: 007, +5, 1., .5, 99999999999999999999,
 *                  NaN, TRUE, "" and texts with blanks around
 *
 * so that a text is not guessed to be what would be written in another way,
 * but for numbers with a point or an exponent: 1.10 is 1.1; and -0, which is 0.
 * A number with a point or an exponent that is beyond all doubles, 1e999, is a
 * string. A type says otherwise. It never refuses a text: what it cannot read
 * stays a string.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef LOADING_TYPED_VALUE_H
#define LOADING_TYPED_VALUE_H

#include "columns/columns.h"

enum value_type {
    VALUE_GUESSED = 0,
    VALUE_STRING,  /* as it is: "007", "1e5" */
    VALUE_INTEGER, /* decimal, also with leading zeros or a plus */
    VALUE_NUMBER,  /* an integer or a double, also as .5, 1., +1, inf, nan;
                    * an integer over 64 bits is the nearest double */
    VALUE_BOOLEAN, /* true false, t f, yes no, y n, 1 0, in any case */
    VALUE_TIME,    /* an instant, as its format says */
};

/* How to read one column. */
struct value_reading {
    enum value_type type;
    const char *time_format; /* of TIME: see times.h, which also has several
                              * formats, one a line; NULL: RFC 3339 */
};

/* Guesses. A string is `text` itself, borrowed. */
struct colander_value typed_value_guess(struct colander_slice text);

/* Reads `text` so; false, and a string, where it does not read as that. */
bool typed_value_read(const struct value_reading *reading,
                      struct colander_slice text, struct colander_value *value);

#endif

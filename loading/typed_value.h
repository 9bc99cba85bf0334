/*
 * Typed value: what a text means, by its type or by guess.
 *
 * CSV has only texts. Without a type, a text is
 *
 *     an integer   if it is one of JSON and fits 64 bits, signed or unsigned:
 *                  5, -17, 18446744073709551615
 *     a double     if it is a number of JSON with a point or an exponent, and
 *                  the double is printed as the same number: 2.5, 1.5e5, 1e-5
 *     a boolean    if it is true or false
 *     a string     otherwise: 007, +5, 1., .5, 99999999999999999999, 1e999,
 *                  0.1234567890123456789, NaN, TRUE, "" and texts with blanks
 *                  around; also 1e5, which may be an id
 *
 * So a guess never changes a number. It may change how the number is written:
 * 1.10 becomes 1.1, and -0 becomes 0. A type changes more. It never refuses a
 * text: what it cannot read stays a string.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef LOADING_TYPED_VALUE_H
#define LOADING_TYPED_VALUE_H

#include "columns/columns.h"

enum value_type {
    VALUE_GUESSED = 0,
    VALUE_STRING,  /* unchanged: "007", "1e5" */
    VALUE_INTEGER, /* decimal, also with leading zeros or a plus */
    VALUE_NUMBER,  /* an integer or a double, also as .5, 1., +1, inf, nan;
                    * an integer of more than 64 bits is the nearest double */
    VALUE_BOOLEAN, /* true false, t f, yes no, y n, 1 0, in any case */
    VALUE_TIME,    /* an instant in a given format */
};

/* How to read one column. */
struct value_reading {
    enum value_type type;
    const char *time_format; /* of TIME: formats of times.h, one per line; NULL:
                              * RFC 3339 */
    /* of a column of a tree (column_tree.h): */
    const char *path;
    size_t number; /* among those of the tree, from 0 */
};

/* Reads the name of a type: guess, string, integer, number, boolean, time.
 * Returns false if it is unknown. */
bool value_type_parse(struct colander_slice name, enum value_type *type);

/* Returns its name. */
const char *value_type_name(enum value_type type);

/* Returns whether a value of the other type may be one of this. */
bool value_type_fits(enum value_type type, enum colander_type other);

/* Guesses the type. A string is `text` itself, borrowed. */
struct colander_value typed_value_guess(struct colander_slice text);

/* Reads `text` as a type. If it cannot be read, returns false and a string. */
bool typed_value_read(const struct value_reading *reading,
                      struct colander_slice text, struct colander_value *value);

#endif

/*
 * Doubles as JSON has them.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_COLUMNS_JSON_NUMBERS_INSIDE_H
#define COLANDER_COLUMNS_JSON_NUMBERS_INSIDE_H

#include <stddef.h>

/* What is longest: -0.000ddddddddddddddddd. */
#define NUMBER_TEXT_MAX 32

/* Writes a finite number, with a point, so that it reads back as the same
 * double. Returns the size; there is no zero byte at the end. */
size_t number_print(double number, char text[NUMBER_TEXT_MAX]);

#endif

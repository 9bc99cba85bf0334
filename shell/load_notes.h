/*
 * Load notes: what a load has noticed of the values of columns: several types,
 * and others than the column has.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_LOAD_NOTES_H
#define SHELL_LOAD_NOTES_H

#include <stdio.h>

struct colander_load;

/* Prints a line about each of the first such columns. */
void load_notes_print(struct colander_load *load, FILE *file);

#endif

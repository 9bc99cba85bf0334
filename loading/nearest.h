/*
 * Nearest: the name that was probably meant, among those that exist.
 *
 * Life:    nearest_of -> try* -> nearest_hint
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef LOADING_NEAREST_H
#define LOADING_NEAREST_H

#include "core/core.h"

/* The best name so far; borrowed. */
struct nearest {
    struct colander_slice wanted;
    struct colander_slice name; /* empty: none is near */
    size_t distance;            /* of it; first the limit, excluded */
};

struct nearest nearest_of(struct colander_slice wanted);

/* Keeps the name if fewer letters differ. */
void nearest_try(struct nearest *nearest, struct colander_slice name);

#define NEAREST_HINT_SIZE 128

/* Writes ": did you mean 'NAME'?", or an empty text. Returns `hint`. */
const char *nearest_hint(const struct nearest *nearest,
                         char hint[NEAREST_HINT_SIZE]);

#endif

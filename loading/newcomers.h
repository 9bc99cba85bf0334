/*
 * Newcomers: which rows of a chunk have a key that no row has yet, neither in
 * the family nor before them in the chunk.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef LOADING_NEWCOMERS_H
#define LOADING_NEWCOMERS_H

#include "loading/chunk.h"

struct newcomers;

/* The family is borrowed until destroy. */
COLANDER_CHECKED enum colander_code
newcomers_create(struct colander_family *family, struct newcomers **newcomers,
                 struct colander_error *err);

/* NULL is allowed. */
void newcomers_destroy(struct newcomers *newcomers);

/* Looks at the rows that wait in the chunk. */
COLANDER_CHECKED enum colander_code newcomers_find(struct newcomers *newcomers,
                                                   const struct chunk *chunk,
                                                   struct colander_error *err);

/* Whether row `index` of them is new. */
bool newcomers_has(const struct newcomers *newcomers, size_t index);

#endif

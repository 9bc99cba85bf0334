/*
 * Items: writes the actions of a chunk (item_rows.h) to the families that they
 * name, and reports what became of each, in their order.
 *
 * The rows of a chunk are one batch. Whether a row is there is looked up while
 * the batch is written, so of two creates of a key one wins, in whatever loads
 * they are.
 *
 * Life:    items_create -> (items_write -> items_report)* -> items_destroy
 * Threads: the writer
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef LOADING_ITEMS_H
#define LOADING_ITEMS_H

#include "loading/chunk.h"
#include "loading/load.h"

#define ITEMS_FAMILIES_MAX 100 /* that the items of a load may name */

struct items;

/* `family`, borrowed, is that of items that name none; see
 * colander_load_options. */
COLANDER_CHECKED enum colander_code
items_create(struct colander_store *store, struct colander_family *family,
             const struct colander_load_options *options, struct items **items,
             struct colander_error *err);

/* NULL is allowed. */
void items_destroy(struct items *items);

/* Writes the rows that wait in the chunk, and rejects those that cannot be
 * written. Adds to the counts of `stats`. */
COLANDER_CHECKED enum colander_code
items_write(struct items *items, struct chunk *chunk,
            struct colander_load_stats *stats, struct colander_error *err);

/* Reports all items of the chunk. Requires that its rejects are in order. */
COLANDER_CHECKED enum colander_code items_report(struct items *items,
                                                 const struct chunk *chunk,
                                                 struct colander_error *err);

#endif

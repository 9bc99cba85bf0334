/*
 * The names of a row, in all of its maps.
 *
 * One table serves all maps. An entry is a name and the place of its map, so a
 * row of a hundred thousand names takes linear time however it is nested. Small
 * rows need no heap.
 *
 * Life:   names_init -> add, find -> names_release
 * Memory: names are borrowed from the row
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_COLUMNS_NAMES_H
#define COLANDER_COLUMNS_NAMES_H

#include "columns/columns.h"

/* Names that need no heap. */
#define NAMES_SMALL 32

/* Names that need no table. */
#define NAMES_FEW 16

struct names_entry {
    struct colander_slice name;
    uint32_t map;  /* where the map begins in the row */
    uint32_t hash; /* a digest while there are few */
};

struct names {
    struct names_entry *entries; /* in the order they came */
    uint32_t *slots;             /* index of an entry plus 1; 0: free */
    uint32_t count;
    uint32_t slot_count; /* a power of two, of which half may be used; 0: there
                          * are few names and no table */
    struct names_entry small_entries[NAMES_SMALL];
    uint32_t small_slots[2 * NAMES_SMALL];
};

/* Initialises `names`, which may not move afterwards. */
void names_init(struct names *names);

/* Adds `name` of the map at `map`. Sets *is_new to false if it was there. */
COLANDER_CHECKED enum colander_code names_add(struct names *names, uint32_t map,
                                              struct colander_slice name,
                                              bool *is_new,
                                              struct colander_error *err);

/* Returns the index of the entry, or UINT32_MAX if there is none. */
uint32_t names_find(const struct names *names, uint32_t map,
                    struct colander_slice name);

/* Afterwards only names_init is allowed. */
void names_release(struct names *names);

#endif

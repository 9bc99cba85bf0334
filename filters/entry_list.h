/*
 * Entry lists: the entries of a part while it is built, and their sorting.
 *
 * A value that is in many rows would be noted for each of them, though its list
 * will be one of segments: a small table of values seen before leaves most of
 * those out.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_FILTERS_ENTRY_LIST_H
#define COLANDER_FILTERS_ENTRY_LIST_H

#include "filters/locator.h"

struct entry_seen;

struct entry_list {
    uint64_t *entries; /* see locator_entry */
    uint64_t *spare;   /* as many, to sort into; NULL: none yet */
    size_t count;
    size_t capacity;
    uint32_t hash_bits;      /* kept of an entry's hash */
    unsigned coarse_shift;   /* units of long lists have 2^coarse_shift rows */
    struct entry_seen *seen; /* values of late, by their hash */
};

/* `hash_bits` of each hash are kept; `coarse`, a power of two, are the rows of
 * a unit in long lists. */
COLANDER_CHECKED enum colander_code entry_list_init(struct entry_list *list,
                                                    uint32_t hash_bits,
                                                    uint32_t coarse,
                                                    struct colander_error *err);
void entry_list_release(struct entry_list *list);

/* Forgets the entries, keeps the memory. */
void entry_list_clear(struct entry_list *list);

/* Notes that `row` has a value of this hash; rows ascend. */
COLANDER_CHECKED enum colander_code entry_list_add(struct entry_list *list,
                                                   uint64_t value_hash,
                                                   unsigned tag, uint32_t row,
                                                   struct colander_error *err);

/* Sorts, and leaves out doubles. */
COLANDER_CHECKED enum colander_code entry_list_sort(struct entry_list *list,
                                                    struct colander_error *err);

/* Of a sorted list: how many different hashes. */
uint64_t entry_list_hashes(const struct entry_list *list);

#endif

/*
 * Entry lists: collect and sort the entries of a part while it is built.
 *
 * A value that is in many rows ends up with a list of segments, so most of its
 * entries are not needed. A small table of recently seen values omits most of
 * them early. Columns have a table of their own, because all values of a row
 * pass between two entries of a column, and so have words, which are many.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_FILTERS_BUILD_ENTRY_LIST_H
#define COLANDER_FILTERS_BUILD_ENTRY_LIST_H

#include "filters/locator.h"

struct entry_seen;

struct entry_list {
    uint64_t *entries; /* see locator_entry */
    size_t count;
    size_t capacity;
    uint32_t hash_bits;      /* bits kept of an entry's hash */
    unsigned coarse_shift;   /* units of long lists have 2^coarse_shift rows */
    struct entry_seen *seen; /* recently seen values, by hash */
    struct entry_seen *seen_columns;
    struct entry_seen *seen_words;
};

/* Keeps `hash_bits` bits of each hash. `coarse`, a power of two, is the number
 * of rows in a unit of long lists. */
COLANDER_CHECKED enum colander_code entry_list_init(struct entry_list *list,
                                                    uint32_t hash_bits,
                                                    uint32_t coarse,
                                                    struct colander_error *err);
void entry_list_release(struct entry_list *list);

/* Removes the entries and keeps the memory. */
void entry_list_clear(struct entry_list *list);

/* Adds an entry: `row` has a value of this hash. Requires ascending rows. */
COLANDER_CHECKED enum colander_code entry_list_add(struct entry_list *list,
                                                   uint64_t value_hash,
                                                   unsigned tag, uint32_t row,
                                                   struct colander_error *err);

/* Adds an entry of the column itself, under the hash of its path: `row` has
 * something there. Requires ascending rows. */
COLANDER_CHECKED enum colander_code
entry_list_add_column(struct entry_list *list, uint64_t path_hash, unsigned tag,
                      uint32_t row, struct colander_error *err);

/* Adds an entry of a word of a text. Requires ascending rows. */
COLANDER_CHECKED enum colander_code
entry_list_add_word(struct entry_list *list, uint64_t word_hash, unsigned tag,
                    uint32_t row, struct colander_error *err);

/* Sorts the entries and removes duplicates. */
COLANDER_CHECKED enum colander_code entry_list_sort(struct entry_list *list,
                                                    struct colander_error *err);

/* Returns about how many rows a locator of the sorted entries leads to from
 * this hash and tag, where a long list of rows has at most `listed_max`; any
 * number above `most` if they are more, which takes no longer than to count
 * `most`. */
uint64_t entry_list_rows(const struct entry_list *list, uint64_t hash,
                         unsigned tag, uint32_t listed_max, uint64_t most);

/* Returns the number of different hashes. Requires a sorted list. */
uint64_t entry_list_hashes(const struct entry_list *list);

#endif

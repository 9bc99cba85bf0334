/*
 * The entries of the paper's experiments: a key and a value that are strings,
 * about 29 bytes in all, as rows of one column; and lookups of them.
 *
 * Entry i is made from its number. Keys are in no order. Values are different
 * from each other, or drawn at random from a *domain*: so many different ones
 * as are a share of the entries. Some of a domain may then be in no entry.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BENCH_PAPER_ENTRIES_H
#define BENCH_PAPER_ENTRIES_H

#include "bench.h"

#define PAPER_TEXT_SIZE 12 /* of a key or value, and a zero */

struct paper_entries {
    uint64_t count;
    uint64_t domain; /* different values; 0: as many as entries, each once */
    struct colander_row_builder *builder;
    struct colander_buffer key;
};

/* `domain` in percent of the entries; 0: every value once. */
void paper_entries_init(struct paper_entries *entries, uint64_t count,
                        unsigned domain);
void paper_entries_release(struct paper_entries *entries);

/* Key and row are borrowed until the entries are next used. */
void paper_entry_make(struct paper_entries *entries, uint64_t number,
                      struct colander_slice *key, struct colander_slice *row);

/* The mean bytes of a key and a row, encoded. */
double paper_entry_size(struct paper_entries *entries);

/* The rows that were found, or are to be: how many, and a sum over the hashes
 * of their keys, which does not depend on their order. */
struct paper_answer {
    uint64_t count;
    uint64_t key_sum;
};

void paper_answer_add(struct paper_answer *answer, struct colander_slice key);

/* What is looked up: the rows with a value, or the row under a key. Do not copy
 * it: value and key point into it. */
struct paper_lookup {
    struct colander_value value;
    struct colander_value key; /* of an entry picked at random */
    uint64_t value_number;
    uint64_t hash; /* of the value */
    struct paper_answer by_value;
    struct paper_answer by_key;
    char value_text[PAPER_TEXT_SIZE];
    char key_text[PAPER_TEXT_SIZE];
};

/* `count` lookups picked at random, with what they must find: reads through
 * all entries. Free it. */
struct paper_lookup *paper_lookups_make(struct paper_entries *entries,
                                        size_t count);

#endif

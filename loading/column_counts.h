/*
 * Column counts: how often the columns of CSV, in all files of a load, were
 * read as values of each type. Of columns that have a type, in all formats, the
 * values that are not of it are counted.
 *
 * Life:    init -> add* -> column_counts_mixed* -> release
 * Threads: many may add at once
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef LOADING_COLUMN_COUNTS_H
#define LOADING_COLUMN_COUNTS_H

#include "core/hash_index.h"
#include "loading/load.h"
#include "loading/misfits.h"

#include <pthread.h>

#define MISSING_TEXT_SIZE 7

/* The values of one column. Starts zeroed. */
struct value_counts {
    uint64_t of[COLANDER_STRING + 1]; /* by type */
    /* strings that often mean a missing value, in columns of other types: */
    uint64_t missing;
    char missing_text[MISSING_TEXT_SIZE]; /* the first of them */
    bool has_other_missing;
};

struct column_counts {
    pthread_mutex_t mutex;
    struct counted_column *columns; /* owned */
    size_t count;
    size_t capacity;
    struct hash_index index; /* of columns, by name */
    struct misfits misfits;  /* of columns with a type */
};

void column_counts_init(struct column_counts *counts);
void column_counts_release(struct column_counts *counts);

/* Notes one more string that often means a missing value. */
void value_counts_miss(struct value_counts *counts, struct colander_slice text);

/* Adds the values of a column. Without memory, or after 10,000 columns, a new
 * column is ignored. */
void column_counts_add(struct column_counts *counts, struct colander_slice name,
                       const struct value_counts *values);

/* Adds the misfits of a file, or of a part of it. */
void column_counts_add_misfits(struct column_counts *counts,
                               const struct misfits *misfits, const char *file);

/* Returns the next column at or after *at that has values of several types, and
 * moves *at after it. Returns false after the last. */
bool column_counts_mixed(struct column_counts *counts, size_t *at,
                         struct colander_load_mixed *mixed);

#endif

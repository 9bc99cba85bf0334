/*
 * Row sorters: any number of rows, sorted by key in bounded memory.
 *
 * Rows are collected in a run. A thread sorts a full run and writes it to disk
 * while the next one fills. The last run stays in memory. Before a run is
 * written, the head of the bulk may take it.
 *
 * Life:    create -> add ... -> finish -> look at the sources -> destroy
 * Memory:  two runs, and buffers
 * Threads: one at a time, except for `is_cancelled`
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_COLUMNS_BULK_ROW_SORTER_H
#define COLANDER_COLUMNS_BULK_ROW_SORTER_H

#include "columns/bulk/bulk_head.h"

struct row_sorter_limits {
    size_t run_size; /* bytes */
    size_t run_rows;
    size_t fan_in; /* runs that are merged into one */
};

struct row_sorter;

/* Files are written to `directory`. It, `head` (NULL: none) and `is_cancelled`
 * are borrowed. */
COLANDER_CHECKED enum colander_code
row_sorter_create(const char *directory, const struct row_sorter_limits *limits,
                  struct bulk_head *head, const atomic_bool *is_cancelled,
                  struct row_sorter **sorter, struct colander_error *err);

/* NULL is allowed. */
void row_sorter_destroy(struct row_sorter *sorter);

/* Adds a copy. A failure may be about rows that were added before; afterwards
 * the sorter can only be destroyed. Fails with CANCELLED after that is set,
 * unless the row fits in memory. */
COLANDER_CHECKED enum colander_code row_sorter_add(struct row_sorter *sorter,
                                                   struct colander_slice key,
                                                   struct colander_slice row,
                                                   struct colander_error *err);

/* Fills `sources`, which have no files and are borrowed from the sorter, *rows
 * and *bytes. The head is finished by then. */
COLANDER_CHECKED enum colander_code
row_sorter_finish(struct row_sorter *sorter, struct row_sources *sources,
                  uint64_t *rows, uint64_t *bytes, struct colander_error *err);

#endif

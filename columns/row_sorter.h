/*
 * Row sorters: any number of rows, sorted by key in bounded memory.
 *
 * Rows gather in a run. A full one is sorted and goes to disk in a thread of
 * its own, while the next one fills; the last one stays in memory. Before that,
 * it is offered to who can do without waiting for all others: an outlet.
 *
 * Life:    create -> add ... -> finish -> look at the sources -> destroy
 * Memory:  two runs, and buffers
 * Threads: one at a time, but for `is_cancelled`
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_COLUMNS_ROW_SORTER_H
#define COLANDER_COLUMNS_ROW_SORTER_H

#include "columns/row_merge.h"

#include <stdatomic.h>

struct row_sorter_limits {
    size_t run_size; /* bytes */
    size_t run_rows;
    size_t fan_in; /* runs that become one */
};

/* Both are called in the sorter's thread; without one, never. */
struct row_outlet {
    void *context;

    /* Takes the rows of a sorted run, if it can. */
    enum colander_code (*take)(void *context, const struct row_run *run,
                               bool *is_taken, struct colander_error *err);

    /* No run comes any more; `is_well`: and none has failed. */
    enum colander_code (*end)(void *context, bool is_well,
                              struct colander_error *err);
};

struct row_sorter;

/* Waiting rows go to `directory`; it, `is_cancelled` and what the outlet
 * (copied; NULL: none) refers to are borrowed. */
COLANDER_CHECKED enum colander_code
row_sorter_create(const char *directory, const struct row_sorter_limits *limits,
                  const struct row_outlet *outlet,
                  const atomic_bool *is_cancelled, struct row_sorter **sorter,
                  struct colander_error *err);

/* NULL is allowed. */
void row_sorter_destroy(struct row_sorter *sorter);

/* Adds a copy. After a failure, which may be of rows added before, it can only
 * be destroyed. CANCELLED once that is set and there is something to wait for.
 */
COLANDER_CHECKED enum colander_code row_sorter_add(struct row_sorter *sorter,
                                                   struct colander_slice key,
                                                   struct colander_slice row,
                                                   struct colander_error *err);

/* Fills the sources, which are no files, borrowed from the sorter; *rows and
 * *bytes of them. The outlet has ended by then. */
COLANDER_CHECKED enum colander_code
row_sorter_finish(struct row_sorter *sorter, struct row_sources *sources,
                  uint64_t *rows, uint64_t *bytes, struct colander_error *err);

#endif

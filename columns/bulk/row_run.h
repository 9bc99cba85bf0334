/*
 * Row runs: rows in a piece of memory of fixed size, sorted by key.
 *
 * A row is appended when it is added. Sorting builds a list in which each key
 * appears once, with the row that was added last.
 *
 * Life:   create -> add ... -> sort -> look -> clear -> add ... -> destroy
 * Memory: `size`, and 32 bytes for each row, half of them only while sorting
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_COLUMNS_BULK_ROW_RUN_H
#define COLANDER_COLUMNS_BULK_ROW_RUN_H

#include "core/core.h"

/* Enough for the largest row, and few enough to bound the list. */
#define ROW_RUN_SIZE (UINT32_C(32) << 20)
#define ROW_RUN_ROWS_MAX (UINT32_C(1) << 20)

struct row_run;

/* Creates a run with `size` bytes for at most `rows_max` rows. A single row
 * fits in any case. */
COLANDER_CHECKED enum colander_code row_run_create(size_t size, size_t rows_max,
                                                   struct row_run **run,
                                                   struct colander_error *err);

/* NULL is allowed. */
void row_run_destroy(struct row_run *run);

/* Adds a copy. If there is no room, sets *is_full and adds nothing. */
COLANDER_CHECKED enum colander_code row_run_add(struct row_run *run,
                                                struct colander_slice key,
                                                struct colander_slice row,
                                                bool *is_full,
                                                struct colander_error *err);

/* Returns whether each key is above all keys that were added before it. */
bool row_run_is_ascending(const struct row_run *run);

/* Builds the list. */
COLANDER_CHECKED enum colander_code row_run_sort(struct row_run *run,
                                                 struct colander_error *err);

/* Return how many keys the list has, and the bytes of all rows and keys. */
size_t row_run_count(const struct row_run *run);
uint64_t row_run_bytes(const struct row_run *run);

/* Returns the row at a place of the list. Valid until the run is cleared. */
void row_run_get(const struct row_run *run, size_t place,
                 struct colander_slice *key, struct colander_slice *row);

/* Returns the place of the first key that is not below `key`. */
size_t row_run_find(const struct row_run *run, struct colander_slice key);

/* Removes all rows and keeps the memory. */
void row_run_clear(struct row_run *run);

#endif

/*
 * Row runs: rows in a piece of memory of fixed size, sorted by key.
 *
 * A row is put behind the last one as it comes; sorting makes a list of them,
 * in which each key stands once, with the row that was added last.
 *
 * Life:   create -> add ... -> sort -> look -> clear -> add ... -> destroy
 * Memory: `size` and a list of 32 bytes for each row, half of which is only
 *         needed while sorting
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_COLUMNS_ROW_RUN_H
#define COLANDER_COLUMNS_ROW_RUN_H

#include "core/core.h"

/* Enough for the largest row, and few enough to bound the list. */
#define ROW_RUN_SIZE (UINT32_C(32) << 20)
#define ROW_RUN_ROWS_MAX (UINT32_C(1) << 20)

struct row_run;

/* `size` bytes for rows, of which there are `rows_max` at most; a single one
 * fits in any case. */
COLANDER_CHECKED enum colander_code row_run_create(size_t size, size_t rows_max,
                                                   struct row_run **run,
                                                   struct colander_error *err);

/* NULL is allowed. */
void row_run_destroy(struct row_run *run);

/* Adds a copy; *is_full, and nothing is added: there is no room. */
COLANDER_CHECKED enum colander_code row_run_add(struct row_run *run,
                                                struct colander_slice key,
                                                struct colander_slice row,
                                                bool *is_full,
                                                struct colander_error *err);

/* How many rows were added. */
size_t row_run_added(const struct row_run *run);

/* Whether each key came behind those before it. */
bool row_run_is_ascending(const struct row_run *run);

/* Makes the list. */
COLANDER_CHECKED enum colander_code row_run_sort(struct row_run *run,
                                                 struct colander_error *err);

/* How many keys the list has, and the bytes of its rows and keys. */
size_t row_run_count(const struct row_run *run);
uint64_t row_run_bytes(const struct row_run *run);

/* The row at a place of the list, borrowed until the run is cleared. */
void row_run_get(const struct row_run *run, size_t place,
                 struct colander_slice *key, struct colander_slice *row);

/* The place of the first key that is not below `key`. */
size_t row_run_find(const struct row_run *run, struct colander_slice key);

/* Forgets all rows, keeps the memory. */
void row_run_clear(struct row_run *run);

#endif

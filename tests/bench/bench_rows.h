/*
 * Generated rows, each computed from its number.
 *
 * Row i of n has six columns: `id` and `text`, in no other row; `group5` and
 * `group20`, in 5 and in 20 rows; `likes`, one of 1,000; `lang`, one of 5. Its
 * key is practically random, so rows of a group are all over the store. The
 * rows from n on have groups of their own. Some experiments have a seventh
 * column, `group1000`, in 1,000 rows.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BENCH_ROWS_H
#define BENCH_ROWS_H

#include "bench.h"

/* Returns the number of rows that --rows asks for, or else `suggested`, rounded
 * to whole groups: a multiple of 20. Fails below 1,000. */
uint64_t bench_round_rows(const struct bench_options *options,
                          uint64_t suggested);

/* The key, and the values of columns: that of `id` by the number of its row,
 * those of groups by that of the group. A text needs 40 bytes. */
struct colander_value bench_made_key(uint64_t number);
struct colander_value bench_made_id(uint64_t number);
struct colander_value bench_made_group5(uint64_t group, char *text);
struct colander_value bench_made_group20(uint64_t group);
struct colander_value bench_made_group1000(uint64_t group);

/* Receives an encoded key and row, borrowed for the call. */
typedef void bench_take_keyed(void *context, struct colander_slice key,
                              struct colander_slice row);

/* Makes rows `first` to `end` - 1 of `rows`, a result of bench_round_rows. */
void bench_make_rows(uint64_t rows, uint64_t first, uint64_t end,
                     bench_take_keyed *take, void *context);

/* The same with `group1000`. Requires a multiple of 1,000 rows. */
void bench_make_wide_rows(uint64_t rows, uint64_t first, uint64_t end,
                          bench_take_keyed *take, void *context);

/* ---------------------------------------------------------- kept rows --- */

/* Encoded keys and rows in memory. Start zeroed. */
struct bench_rows {
    struct colander_buffer bytes;
    size_t *ends; /* of key 0, row 0, key 1, ... in the bytes */
    size_t capacity;
    uint64_t count;
};

/* Copies a key and its row into the struct bench_rows. */
bench_take_keyed bench_rows_add;
void bench_rows_clear(struct bench_rows *rows);
void bench_rows_release(struct bench_rows *rows);

/* Both are borrowed until the next change. */
struct colander_slice bench_key(const struct bench_rows *rows, uint64_t i);
struct colander_slice bench_row(const struct bench_rows *rows, uint64_t i);

#endif

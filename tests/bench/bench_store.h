/*
 * A store of one family, as the experiments about filters need it.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BENCH_STORE_H
#define BENCH_STORE_H

#include "bench_questions.h"

#include "filters/filters.h"

struct bench_store {
    struct colander_store *store;
    struct colander_family *family;
    struct colander_batch *batch; /* not committed yet: */
    uint64_t put_count;           /* rows put since it was opened */
};

/* Opens or creates a store. NULL: the default options, the default filters. */
void bench_store_open(struct bench_store *store, const char *path,
                      const struct colander_options *options,
                      const struct colander_filter_options *filters);
void bench_store_close(struct bench_store *store);

/* Puts a row into the struct bench_store, and commits each BENCH_BATCH rows. */
bench_take_keyed bench_store_put;
void bench_store_commit(struct bench_store *store);

/* Puts and commits all rows. */
void bench_store_put_rows(struct bench_store *store,
                          const struct bench_rows *rows);

/* Puts generated rows 0 to `rows` - 1, flushes, compacts and waits. */
void bench_store_load(struct bench_store *store, uint64_t rows);

/* Rebuilds all filters, and waits until the store is idle. */
void bench_store_refilter(struct bench_store *store, uint32_t rows_per_segment);

/* Waits until the store is idle. Returns the time, by bench_now, when it became
 * idle; it waits a while longer to be sure. */
double bench_store_wait(struct bench_store *store);

/* Commits, flushes, compacts, waits. */
void bench_store_settle(struct bench_store *store);

struct colander_filter_stats bench_store_stats(struct bench_store *store);
struct colander_family_sizes bench_store_sizes(struct bench_store *store);

/* Returns "auto" or the number, valid until the next call. */
const char *bench_segment_name(uint32_t rows_per_segment);

/* Returns the predicate, and fails if it is NULL. */
struct colander_predicate *bench_sound(struct colander_predicate *predicate);

/* Reads all rows that match, visits each, and returns their number. Sets
 * *explain to what it did. `where`, `visit` and `explain` may be NULL. */
uint64_t bench_store_find(struct bench_store *store,
                          const struct colander_predicate *where,
                          bench_take_keyed *visit, void *context,
                          struct colander_explain *explain);

/* The same without using filters. `where` is taken. */
uint64_t bench_store_scan(struct bench_store *store,
                          struct colander_predicate *where,
                          bench_take_keyed *visit, void *context);

/* Ways of answering. The context is a struct bench_store. */
bench_answer bench_find_rows;
bench_answer bench_scan_rows; /* filters cannot help */
bench_answer bench_get_row;

/* Returns the name of the plan of a question. */
const char *bench_plan(struct bench_store *store, enum bench_kind kind,
                       uint64_t rows);

#endif

/*
 * A store of one family, as the experiments about filters need it.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BENCH_STORE_H
#define BENCH_STORE_H

#include "bench_made.h"

#include "filters/filters.h"

struct bench_store {
    struct colander_store *store;
    struct colander_family *family;
};

/* A new store at `path`; NULL: the default options, the default filters. */
void bench_store_open(struct bench_store *store, const char *path,
                      const struct colander_options *options,
                      const struct colander_filter_options *filters);
void bench_store_close(struct bench_store *store);

/* Rows `first` to `end` - 1 of `rows` made ones, in batches. */
void bench_store_load(struct bench_store *store, uint64_t rows, uint64_t first,
                      uint64_t end);

/* Makes all filters anew; then nothing is under way. */
void bench_store_refilter(struct bench_store *store, uint32_t rows_per_segment,
                          uint32_t hash_bits);

/* Waits until nothing is under way; gives when that was so, as bench_now tells
 * it: waiting goes on for a while to be sure. */
double bench_store_wait(struct bench_store *store);

/* Flushes, compacts, waits. */
void bench_store_settle(struct bench_store *store);

struct colander_filter_stats bench_store_stats(struct bench_store *store);
struct colander_family_sizes bench_store_sizes(struct bench_store *store);

/* Bytes of `rows` made rows as JSON lines. */
uint64_t bench_json_size(uint64_t rows);

/* "auto" or the number; static, overwritten by the next call. */
const char *bench_segment_name(uint32_t rows_per_segment);

/* What is to be done with the key of a row that was found. */
typedef void bench_visit(void *context, struct colander_slice key);

/* How many rows match, each read and visited (if given); *plan (if given) of
 * the find. */
uint64_t bench_store_find(struct bench_store *store,
                          const struct colander_predicate *where,
                          bench_visit *visit, void *context,
                          enum colander_plan *plan);

/* The same without help of filters; `where` is taken. */
uint64_t bench_store_scan(struct bench_store *store,
                          struct colander_predicate *where, bench_visit *visit,
                          void *context);

/* Ways of answering; the context is a struct bench_store. */
bench_answer bench_find_rows;
bench_answer bench_scan_rows; /* the same question, but filters cannot help */
bench_answer bench_get_row;

/* The plan of a question, as a word. */
const char *bench_plan(struct bench_store *store, enum bench_kind kind,
                       uint64_t rows);

#endif

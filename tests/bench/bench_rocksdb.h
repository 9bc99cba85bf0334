/*
 * RocksDB alone, through its C API: what Colander is compared with.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BENCH_ROCKSDB_H
#define BENCH_ROCKSDB_H

#include "bench_made.h"

#include <rocksdb/c.h>

/* What core/bridge_open.cc sets by default, as far as it matters. */
rocksdb_options_t *bench_rocksdb_options(void);

/* Fails when there is a message. */
void bench_rocksdb_check(char *message);

/*
 * An index over all columns as people make it by hand: one family of rows
 * under their keys, one of empty values under column, value and key.
 */
struct bench_index;

struct bench_index *bench_index_open(const char *path);
void bench_index_close(struct bench_index *index);

/* Puts `row` and its index entries; written with the next commit. */
void bench_index_put(struct bench_index *index, struct colander_slice key,
                     struct colander_slice row);
void bench_index_commit(struct bench_index *index);

void bench_index_flush(struct bench_index *index);
void bench_index_compact(struct bench_index *index);

/* How rows are read once their keys are known; one by one at first. */
void bench_index_read_at_once(struct bench_index *index, bool at_once);

/* Bytes of SST files. */
uint64_t bench_index_row_size(struct bench_index *index);
uint64_t bench_index_entry_size(struct bench_index *index);

/* The context is a struct bench_index. */
bench_answer bench_index_rows;

#endif

/*
 * RocksDB alone, through its C API: rows under their keys, and an index
 * maintained by hand, a second family of empty values.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BENCH_ROCKSDB_H
#define BENCH_ROCKSDB_H

#include "bench_lines.h"
#include "bench_questions.h"

struct bench_rocksdb;

/* Creates a database with Colander's default settings, but for the bytes of its
 * cache if these are not 0, and with or without the index. An entry is a value,
 * the column and the key, so that the rows with a value in one column are a
 * range, and so are those with it in any column. */
struct bench_rocksdb *bench_rocksdb_open(const char *path, bool has_index,
                                         size_t cache_size);
void bench_rocksdb_close(struct bench_rocksdb *it);

/* Limits the index to this column and others set this way; otherwise it has all
 * but `key_name` (NULL: all), which is borrowed until close. */
void bench_rocksdb_index_column(struct bench_rocksdb *it, const char *column);
void bench_rocksdb_leave_out(struct bench_rocksdb *it, const char *key_name);
bool bench_rocksdb_has_index(const struct bench_rocksdb *it,
                             const char *column);

/* Puts a row into the struct bench_rocksdb, with its index entries, and commits
 * each BENCH_BATCH rows. */
bench_take_keyed bench_rocksdb_put;
void bench_rocksdb_commit(struct bench_rocksdb *it);

/* Commits and flushes. */
void bench_rocksdb_flush(struct bench_rocksdb *it);

/* Compacts like colander_family_compact. */
void bench_rocksdb_compact(struct bench_rocksdb *it);

/* Waits until no compaction runs. */
void bench_rocksdb_settle(struct bench_rocksdb *it);

/* Bytes of SST files. */
uint64_t bench_rocksdb_row_size(struct bench_rocksdb *it);
uint64_t bench_rocksdb_entry_size(struct bench_rocksdb *it);

/* Visits all rows. */
void bench_rocksdb_scan(struct bench_rocksdb *it, bench_take_keyed *take,
                        void *context);

/* Adds the entries of all rows to the index of a further column. */
void bench_rocksdb_add_column(struct bench_rocksdb *it, const char *column);

/* Reads, by MultiGet, the rows that the index has for a value, in any column if
 * `column` is NULL. Returns their number. */
uint64_t bench_rocksdb_find(struct bench_rocksdb *it, const char *column,
                            const struct colander_value *value);

/* A way of answering. The context is a struct bench_rocksdb. */
bench_answer bench_index_rows;

#endif

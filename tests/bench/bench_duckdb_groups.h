/*
 * Readings in DuckDB: a table with typed columns, in a file.
 *
 * Its library is loaded if it is there: that of $COLANDER_DUCKDB, or else the
 * one that `script/install-dependencies --peers` fetches. Nothing is built
 * against it. A failure ends the program.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BENCH_DUCKDB_GROUPS_H
#define BENCH_DUCKDB_GROUPS_H

#include "bench.h"

struct bench_duckdb_groups;

/* Returns NULL if there is no DuckDB. */
struct bench_duckdb_groups *bench_duckdb_groups_open(const char *directory);

/* NULL is allowed. */
void bench_duckdb_groups_close(struct bench_duckdb_groups *it);

void bench_duckdb_groups_add(struct bench_duckdb_groups *it, int64_t key,
                             int64_t at, const char *sensor, const char *user,
                             double t);

/* Writes what was added, and creates an index on the user. */
void bench_duckdb_groups_settle(struct bench_duckdb_groups *it);

/* As bench_sqlite_groups_ask, with a number of threads. */
uint64_t bench_duckdb_groups_ask(struct bench_duckdb_groups *it, bool by_hour,
                                 const char *user, unsigned thread_count,
                                 uint64_t *rows);

/* Its version. */
const char *bench_duckdb_groups_version(const struct bench_duckdb_groups *it);

#endif

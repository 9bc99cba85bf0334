/*
 * Readings in SQLite: a table with typed columns and an index on the user, with
 * the settings of bench_sqlite_rows.h.
 *
 * A failure ends the program. Built if SQLite is there (BENCH_SQLITE).
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BENCH_SQLITE_GROUPS_H
#define BENCH_SQLITE_GROUPS_H

#include "bench.h"

struct bench_sqlite_groups;

struct bench_sqlite_groups *bench_sqlite_groups_open(const char *directory);
void bench_sqlite_groups_close(struct bench_sqlite_groups *it);

void bench_sqlite_groups_add(struct bench_sqlite_groups *it, int64_t key,
                             int64_t at, const char *sensor, const char *user,
                             double t);

/* Commits and creates the index. */
void bench_sqlite_groups_settle(struct bench_sqlite_groups *it);

/* Groups all rows, or those of a user (NULL: all), by the sensor or by the hour
 * of their time. Returns the number of groups, and adds their counts to *rows.
 */
uint64_t bench_sqlite_groups_ask(struct bench_sqlite_groups *it, bool by_hour,
                                 const char *user, uint64_t *rows);

#endif

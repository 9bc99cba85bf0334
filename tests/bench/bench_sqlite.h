/*
 * SQLite: what people keep JSON in.
 *
 * It is given what it can have: lines in one table under the integer that is
 * their key, which ascends, so each row goes to the end; a prepared statement;
 * transactions of 10,000 rows; a log, and as little waiting for the disk as a
 * load does (what was committed survives a dead process); a cache of 256 MiB;
 * and two threads to sort with (each may fill as much memory as the cache).
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BENCH_SQLITE_H
#define BENCH_SQLITE_H

#include "bench.h"

enum bench_sqlite_indexes {
    BENCH_SQLITE_NONE,
    BENCH_SQLITE_FIRST, /* an index on each column, before the rows */
    BENCH_SQLITE_LAST,  /* once all rows are there */
};

/* Inserts tweets, as they stand in the lines, into a new database in the
 * directory `path`, until it can be asked: seconds. */
double bench_sqlite_load(struct colander_slice lines, const char *path,
                         enum bench_sqlite_indexes indexes);

/* The version. */
const char *bench_sqlite_version(void);

#endif

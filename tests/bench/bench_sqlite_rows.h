/*
 * Rows in SQLite: JSON text under integer keys, found by indexes on
 * expressions.
 *
 * Settings: prepared statements; transactions of 10,000 rows; a log, synced as
 * little as a load's (what was committed survives a killed process); a cache of
 * 256 MiB; and two threads to sort with (each may use as much memory as the
 * cache).
 *
 * A search in any column is an OR over all columns, each of which an index
 * answers. A UNION of one query for each column was not measured.
 *
 * A failure ends the program. Built if SQLite is there (BENCH_SQLITE).
 *
 * Life: open -> add ... -> commit -> index ... -> settle -> question_prepare ->
 *       ask ... -> question_destroy -> close
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BENCH_SQLITE_ROWS_H
#define BENCH_SQLITE_ROWS_H

#include "bench_questions.h"

struct bench_sqlite;
struct bench_sqlite_question;

/* Creates a database in the directory, which exists. */
struct bench_sqlite *bench_sqlite_open(const char *directory);
void bench_sqlite_close(struct bench_sqlite *it);

/* Adds a row, and commits each 10,000. */
void bench_sqlite_add(struct bench_sqlite *it, int64_t key,
                      struct colander_slice json);
void bench_sqlite_commit(struct bench_sqlite *it);

/* The same for a generated row and the struct bench_sqlite. */
bench_take_keyed bench_sqlite_put;

/* Creates an index on a path, as in bench_lines.h, without elements. */
void bench_sqlite_index(struct bench_sqlite *it, const char *path);

/* Merges the log into the file, as happens from time to time. */
void bench_sqlite_settle(struct bench_sqlite *it);

/* Prepares a question for the rows that have a value at one of `count` paths;
 * 0: at any path, without an index, as none can have values in arrays. */
struct bench_sqlite_question *
bench_sqlite_question_prepare(struct bench_sqlite *it, const char *const *paths,
                              size_t count);

/* Prepares a question for the rows whose value at a path is from ?1 to ?2, that
 * one included or not, and for the `limit` rows with the greatest values. */
struct bench_sqlite_question *
bench_sqlite_range_prepare(struct bench_sqlite *it, const char *path,
                           bool includes_end);
struct bench_sqlite_question *bench_sqlite_top_prepare(struct bench_sqlite *it,
                                                       const char *path,
                                                       unsigned limit);

/* NULL is allowed. */
void bench_sqlite_question_destroy(struct bench_sqlite_question *question);

/* Reads all rows that have the value, and returns their number. */
uint64_t bench_sqlite_ask(struct bench_sqlite_question *question,
                          const struct colander_value *value);

/* Receives a row, borrowed for the call. */
typedef void bench_take_json(void *context, struct colander_slice json);

/* The same for a question with several values, and visits each row. */
uint64_t bench_sqlite_read(struct bench_sqlite_question *question,
                           const struct colander_value *values, size_t count,
                           bench_take_json *visit, void *context);

/* A way of answering. The context is the question, prepared. */
bench_answer bench_sqlite_find;

#endif

/*
 * Texts in SQLite: JSON text under integer keys, and the words of one text of
 * each row in FTS5 (unicode61), with the settings of bench_sqlite_rows.h.
 *
 * A failure ends the program. Built if SQLite is there (BENCH_SQLITE).
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BENCH_SQLITE_TEXTS_H
#define BENCH_SQLITE_TEXTS_H

#include "bench.h"

struct bench_sqlite_texts;

struct bench_sqlite_texts *bench_sqlite_texts_open(const char *directory);
void bench_sqlite_texts_close(struct bench_sqlite_texts *it);

void bench_sqlite_texts_add(struct bench_sqlite_texts *it, int64_t key,
                            struct colander_slice json, const char *text);

/* Commits, and merges the words into one index. */
void bench_sqlite_texts_settle(struct bench_sqlite_texts *it);

/* Reads all rows that match a query of FTS5, and returns their number. */
uint64_t bench_sqlite_texts_ask(struct bench_sqlite_texts *it,
                                const char *query);

#endif

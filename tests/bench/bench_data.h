/*
 * Real rows from files: JSON lines and CSV, plain or compressed with gzip.
 *
 * What a column of CSV holds is told by what stands there: NA or nothing is
 * null, a number is one (an integer, without point and exponent, if it fits),
 * everything else is text. JSON is read as a load reads it.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BENCH_DATA_H
#define BENCH_DATA_H

#include "bench.h"

/* Gets every row; `row` is borrowed for the call. */
typedef void bench_take_row(void *context, struct colander_slice row);

/* Reads the file to its end: .jsonl or .csv, with .gz behind it or not. Ends
 * the program on a line that is not as it should be. */
void bench_data_read(const char *path, bench_take_row *take, void *context);

#endif

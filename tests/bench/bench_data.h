/*
 * Real rows from files: JSON lines and CSV, plain or compressed with gzip.
 *
 * What a column of CSV holds is told by what stands there: NA or nothing is
 * null, a number is one, everything else is text. In JSON a number without
 * point and exponent is an integer if it fits, else a double.
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

/* --------------------------------------------------- for bench_data.c --- */

/* Adds the columns of a JSON object; false when it is not one. The buffers
 * are scratch. */
bool bench_json_add(struct colander_row_builder *builder, const char *line,
                    size_t size, struct colander_buffer *name,
                    struct colander_buffer *text);

/* Reads a JSON number, all of `size` bytes: false when it is not one. There is
 * a zero byte behind them. */
bool bench_json_number(const char *text, size_t size,
                       struct colander_value *value);

#endif

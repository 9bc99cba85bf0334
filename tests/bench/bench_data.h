/*
 * Real rows from files.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BENCH_DATA_H
#define BENCH_DATA_H

#include "bench_rows.h"

/* Reads all rows of a file as `colander load` does, in their order and with new
 * keys. In CSV, NA is null. Ends the program if a record is rejected. */
void bench_data_read(const struct bench_options *options, const char *path,
                     bench_take_keyed *take, void *context);

#endif

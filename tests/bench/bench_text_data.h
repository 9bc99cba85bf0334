/*
 * Words, pieces and patterns of real rows (--data): what words cost a load and
 * in bytes, and how long a search for a word of some row takes. Each answer is
 * compared with that of a scan.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BENCH_TEXT_DATA_H
#define BENCH_TEXT_DATA_H

#include "bench_figures.h"

/* Adds figures of the rows of all files, in a group "data". */
void bench_text_data(const struct bench_options *options,
                     struct bench_figures *figures);

#endif

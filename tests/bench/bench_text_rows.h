/*
 * Texts made from the number of their row: words of a vocabulary by Zipf's law,
 * a word that all rows have ("every"), and one that five rows have, before the
 * word "tail". Two words that each twentieth row has, "alpha" and "beta", meet
 * in five rows.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BENCH_TEXT_ROWS_H
#define BENCH_TEXT_ROWS_H

#include "bench.h"

#include <inttypes.h>

#define BENCH_TEXT_SIZE 400
#define BENCH_TEXT_GROUP 5 /* rows that have a word */

/* The word of a group in texts, and as it is asked for. */
#define BENCH_TEXT_WORD_THERE "Five%06" PRIu64
#define BENCH_TEXT_WORD "five%06" PRIu64
#define BENCH_TEXT_PHRASE BENCH_TEXT_WORD " tail"
#define BENCH_TEXT_PIECE "ive%06" PRIu64
#define BENCH_TEXT_ABSENT "absent%06" PRIu64

struct bench_text_rows;

struct bench_text_rows *bench_text_rows_create(uint64_t count);
void bench_text_rows_destroy(struct bench_text_rows *rows);

/* The group of a row, below count / BENCH_TEXT_GROUP. */
uint64_t bench_text_group(const struct bench_text_rows *rows, uint64_t number);

void bench_text_make(const struct bench_text_rows *rows, uint64_t number,
                     char text[BENCH_TEXT_SIZE]);

#endif

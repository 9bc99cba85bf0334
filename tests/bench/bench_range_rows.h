/*
 * Generated rows for ranges, prefixes and order, each computed from its number,
 * and questions about them.
 *
 * A row has a practically random key, a column of each kind below, and a
 * long text that is not asked: about 270 bytes as JSON.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BENCH_RANGE_ROWS_H
#define BENCH_RANGE_ROWS_H

#include "bench_rows.h"

enum bench_range_column {
    BENCH_UNIFORM,   /* numbers, many distinct */
    BENCH_ZIPF,      /* integers, the smallest often */
    BENCH_CLUSTERED, /* integers near those of the neighbouring keys */
    BENCH_MIXED,     /* half numbers, half texts */
    BENCH_NAME,      /* texts, whose beginnings are common or rare */
    BENCH_STATE,     /* 64 texts, common or rare */
    BENCH_RANGE_COLUMNS,
};

/* Returns the name of the column. */
const char *bench_range_column_name(enum bench_range_column column);

/* Makes `rows` rows. */
void bench_range_rows_make(uint64_t rows, bench_take_keyed *take,
                           void *context);

/* ----------------------------------------------------------- questions --- */

/* What is asked of a column. Where values repeat, the rows are about as many:
 * from half of them to twice as many. */
enum bench_range_kind {
    BENCH_RANGE_10,  /* the rows from one value to another */
    BENCH_RANGE_100, /* from any row of the column on */
    BENCH_RANGE_1000,
    BENCH_RANGE_10000,
    BENCH_PREFIX_100,
    BENCH_TOP, /* the rows with the greatest values */
    BENCH_RANGE_KINDS,
};

#define BENCH_TOP_ROWS 20
#define BENCH_RANGE_TEXT 40 /* bytes of a text */

struct bench_range_question {
    struct colander_value values[BENCH_TOP_ROWS]; /* the ends of a range; the
        prefix and the next text that does not begin so; or those at the top */
    char texts[BENCH_TOP_ROWS][BENCH_RANGE_TEXT]; /* of them: do not copy */
    uint64_t expected;                            /* rows */
    uint64_t key_sum; /* of their keys; 0: values may repeat at the top */
};

/* Questions of one kind about one column. None if there are no such ranges. */
struct bench_range_set {
    struct bench_range_question *questions;
    uint64_t count;
};

/* Makes up to counts[kind] questions of each kind about a column of `rows`
 * rows. Free the questions. */
void bench_range_sets_make(uint64_t rows, enum bench_range_column column,
                           const uint64_t counts[BENCH_RANGE_KINDS],
                           struct bench_range_set sets[BENCH_RANGE_KINDS]);

#endif

/*
 * Rows made from their number, one by one, and questions about them: for the
 * experiments that find.
 *
 * Row i of n has six columns: `id` and `text`, in no other row; `group5` and
 * `group20`, in 5 and in 20 rows; `likes`, one of 1,000; `lang`, one of 5. Its
 * key is as good as random, so rows of a group are all over the store. The
 * rows from n on have groups of their own.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BENCH_MADE_H
#define BENCH_MADE_H

#include "bench.h"

struct bench_maker {
    struct colander_row_builder *builder;
    struct colander_buffer key;
    uint64_t rows; /* n */
};

/* `rows` is what bench_round_rows gave. */
void bench_maker_init(struct bench_maker *maker, uint64_t rows);
void bench_maker_release(struct bench_maker *maker);

/* Whole groups only: a multiple of 20; fails below 1,000. */
uint64_t bench_round_rows(uint64_t rows);

/* Key and row are borrowed until the maker is next used. */
void bench_make(struct bench_maker *maker, uint64_t number,
                struct colander_slice *key, struct colander_slice *row);

/* All `count` rows from number 0 on, kept. */
void bench_rows_make_grouped(struct bench_rows *rows, uint64_t count);

/* ----------------------------------------------------------- questions --- */

enum bench_kind {
    BENCH_FIVE,   /* group5 = 'x', of 5 rows */
    BENCH_TWENTY, /* group20 = x, of 20 rows */
    BENCH_ABSENT, /* group5 = 'x', of no row */
    BENCH_ANY,    /* any column = 'x', of 5 rows */
    BENCH_KEY,    /* the row under a key */
};

struct bench_question {
    const char *path; /* NULL: any column */
    struct colander_value value;
    struct colander_value key; /* of KEY */
    uint64_t expected;         /* rows */
    char text[40];             /* of the value: do not copy the question */
};

/* Question `number` of its kind, about a value picked at random. */
void bench_question_make(struct bench_question *question, enum bench_kind kind,
                         uint64_t rows, uint64_t number);

/* Answers a question and gives the number of rows. */
typedef uint64_t bench_answer(void *context,
                              const struct bench_question *question);

/* One way of answering questions. */
struct bench_way {
    const char *name;
    enum bench_kind kind;
    bench_answer *answer;
    void *context;
    uint64_t rows;      /* that were made */
    uint64_t questions; /* different ones */
    unsigned repeats;   /* of each of them in a round */
    double *times;      /* microseconds for a question, of each round */
};

/*
 * Measures all ways in turns, each round beginning with another. A way is
 * first asked all its questions once, so that what it reads is in memory. One
 * that is slow gets fewer questions. Wrong answers end the program.
 */
void bench_measure(struct bench_way *ways, size_t count, unsigned rounds);
void bench_ways_release(struct bench_way *ways, size_t count);

#endif

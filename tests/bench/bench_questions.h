/*
 * Questions about generated rows, and ways of answering them that are measured
 * in turns.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BENCH_QUESTIONS_H
#define BENCH_QUESTIONS_H

#include "bench_rows.h"
#include "bench_turns.h"

enum bench_kind {
    BENCH_FIVE,     /* group5 = 'x', of 5 rows */
    BENCH_TWENTY,   /* group20 = x, of 20 rows */
    BENCH_ABSENT,   /* group5 = 'x', of no row */
    BENCH_KEY,      /* the row under a key */
    BENCH_ONE,      /* id = x, of one row */
    BENCH_THOUSAND, /* group1000 = x, of 1,000 rows, if rows are wide */

    /* The same for any column. */
    BENCH_ANY,
    BENCH_ANY_ONE,
    BENCH_ANY_TWENTY,
    BENCH_ANY_THOUSAND,
};

struct bench_question {
    const char *path; /* NULL: any column */
    struct colander_value value;
    struct colander_value key; /* of KEY */
    uint64_t expected;         /* rows */
    char text[40];             /* of the value: do not copy the question */
};

/* Makes question `number` of its kind, about a value picked at random. */
void bench_question_make(struct bench_question *question, enum bench_kind kind,
                         uint64_t rows, uint64_t number);

/* Answers a question and returns the number of rows. */
typedef uint64_t bench_answer(void *context,
                              const struct bench_question *question);

/* One way of answering questions. */
struct bench_way {
    const char *name;
    bench_answer *answer;
    enum bench_kind kind;
    unsigned repeats;   /* of each question in a round */
    uint64_t questions; /* different ones */
    void *context;
    uint64_t rows; /* that were generated */
};

/*
 * Measures all ways in turns: times[0] is the microseconds for a question. A
 * way is first asked all its questions once, so that what it reads is in
 * memory. A slow way gets fewer questions. Wrong answers end the program.
 */
void bench_measure(struct bench_turns *turns, unsigned rounds,
                   struct bench_way *ways, unsigned count);

#endif

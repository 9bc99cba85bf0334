/*
 * Ways of doing one thing, each in a new directory, measured in turns: each
 * round begins with another.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BENCH_TURNS_H
#define BENCH_TURNS_H

#include "bench.h"

#define BENCH_WAYS_MAX 8

/* Seconds of one turn, as far as the way sets them. */
enum bench_time {
    BENCH_ELAPSED,
    BENCH_FLUSHED,
    BENCH_COMPACTED,
    BENCH_CLOSED,
    BENCH_PROCESSOR, /* of all threads */
    BENCH_TIMES
};

struct bench_turns;

/* Does it once in the directory, and sets times. */
typedef void bench_turn(const struct bench_turns *turns, unsigned way,
                        const char *directory, double times[BENCH_TIMES]);

struct bench_turns {
    const struct bench_options *options;
    const char *const *names; /* of the ways */
    unsigned way_count;
    bench_turn *turn;
    const void *context;

    /* set by bench_turns_take */
    double *times[BENCH_WAYS_MAX][BENCH_TIMES]; /* of each round */
};

void bench_turns_take(struct bench_turns *turns);
void bench_turns_release(struct bench_turns *turns);

/* The median of a way, and of the ratios of two. */
double bench_turns_median(const struct bench_turns *turns, unsigned way,
                          enum bench_time time);
double bench_turns_ratio(const struct bench_turns *turns, unsigned way,
                         unsigned other, enum bench_time time);

#endif

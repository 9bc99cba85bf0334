/*
 * Ways of doing one thing, measured in turns: each round begins with another.
 *
 * Life: bench_turns_take -> median, ratio ... -> bench_turns_release
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BENCH_TURNS_H
#define BENCH_TURNS_H

#include "bench.h"

#define BENCH_TIMES 6 /* of a turn, as far as it sets them */

struct bench_turns {
    unsigned rounds;
    double *times; /* of each way, time and round */
};

/* Does it once in this way, and sets times. */
typedef void bench_turn(void *context, unsigned way, double times[BENCH_TIMES]);

void bench_turns_take(struct bench_turns *turns, unsigned rounds,
                      unsigned way_count, bench_turn *turn, void *context);
void bench_turns_release(struct bench_turns *turns);

/* The median of a way, and of the ratios of two. */
double bench_turns_median(const struct bench_turns *turns, unsigned way,
                          unsigned time);
double bench_turns_ratio(const struct bench_turns *turns, unsigned way,
                         unsigned other, unsigned time);

#endif

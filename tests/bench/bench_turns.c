/*
 * Ways of doing one thing, measured in turns.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench_turns.h"

#include <stdlib.h>

static double *
times_of(const struct bench_turns *turns, unsigned way, unsigned time)
{
    return turns->times + (size_t)(way * BENCH_TIMES + time) * turns->rounds;
}

void
bench_turns_take(struct bench_turns *turns, unsigned rounds, unsigned way_count,
                 bench_turn *turn, void *context)
{
    turns->rounds = rounds;
    turns->times = bench_allocate((size_t)way_count * BENCH_TIMES * rounds,
                                  sizeof(double));
    for (unsigned i = 0; i < rounds * way_count; i++) {
        const unsigned round = i / way_count;
        const unsigned way = (i + round) % way_count;
        double times[BENCH_TIMES] = {0};

        bench_progress("round %u of %u, way %u of %u", round + 1, rounds,
                       way + 1, way_count);
        turn(context, way, times);
        for (unsigned time = 0; time < BENCH_TIMES; time++)
            times_of(turns, way, time)[round] = times[time];
    }
    bench_progress("%s", "");
}

void
bench_turns_release(struct bench_turns *turns)
{
    free(turns->times);
}

double
bench_turns_median(const struct bench_turns *turns, unsigned way, unsigned time)
{
    return bench_median(times_of(turns, way, time), turns->rounds);
}

double
bench_turns_ratio(const struct bench_turns *turns, unsigned way, unsigned other,
                  unsigned time)
{
    return bench_ratio(times_of(turns, way, time), times_of(turns, other, time),
                       turns->rounds);
}

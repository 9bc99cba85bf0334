/*
 * Ways of doing one thing, measured in turns.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench_turns.h"

#include <stdlib.h>

static void
take_turn(struct bench_turns *turns, unsigned way, unsigned round)
{
    char *directory = bench_make_directory(turns->options);
    double times[BENCH_TIMES] = {0};

    bench_progress("round %u of %u: %s", round + 1, turns->options->rounds,
                   turns->names[way]);
    turns->turn(turns, way, directory, times);
    for (unsigned i = 0; i < BENCH_TIMES; i++)
        turns->times[way][i][round] = times[i];
    bench_remove_directory(directory);
}

void
bench_turns_take(struct bench_turns *turns)
{
    for (unsigned way = 0; way < turns->way_count; way++) {
        for (unsigned i = 0; i < BENCH_TIMES; i++)
            turns->times[way][i] =
                bench_allocate(turns->options->rounds, sizeof(double));
    }
    for (unsigned round = 0; round < turns->options->rounds; round++) {
        for (unsigned turn = 0; turn < turns->way_count; turn++)
            take_turn(turns, (turn + round) % turns->way_count, round);
    }
    bench_progress("%s", "");
}

void
bench_turns_release(struct bench_turns *turns)
{
    for (unsigned way = 0; way < turns->way_count; way++) {
        for (unsigned i = 0; i < BENCH_TIMES; i++)
            free(turns->times[way][i]);
    }
}

double
bench_turns_median(const struct bench_turns *turns, unsigned way,
                   enum bench_time time)
{
    return bench_median(turns->times[way][time], turns->options->rounds);
}

double
bench_turns_ratio(const struct bench_turns *turns, unsigned way, unsigned other,
                  enum bench_time time)
{
    return bench_ratio(turns->times[way][time], turns->times[other][time],
                       turns->options->rounds);
}

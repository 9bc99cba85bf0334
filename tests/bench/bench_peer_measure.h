/*
 * What a peer does in one of its ways, in figures.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BENCH_PEER_MEASURE_H
#define BENCH_PEER_MEASURE_H

#include "bench_peer.h"

/* In seconds, bytes and microseconds. */
struct bench_peer_figures {
    const char *name; /* of the way */
    bool is_server;
    double load;                    /* until it is ready for questions */
    double size;                    /* on disk */
    double asked[BENCH_WORK_KINDS]; /* a question, in the middle; those about
                                     * the new column, once it has what it
                                     * needs for them */
    double first_answer; /* from the start of loading later rows until the
                          * first right answer about their new column */
    double adding;       /* to make what it needs for it; 0: nothing */
};

/* Measures in the empty folder `directory`. NULL, or why the peer does not
 * run. A wrong answer ends the program. */
const char *bench_peer_measure(const struct bench_peer *peer,
                               const struct bench_peer_way *way,
                               const struct bench_work *work,
                               const char *directory,
                               struct bench_peer_figures *figures);

#endif

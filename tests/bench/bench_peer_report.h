/*
 * The figures of all peers, told in tables and plots.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BENCH_PEER_REPORT_H
#define BENCH_PEER_REPORT_H

#include "bench_peer_measure.h"
#include "bench_report.h"

/* A section for one work. The first of the figures is what the others are
 * compared with. */
void bench_peer_report(struct bench_report *report,
                       const struct bench_work *work,
                       const struct bench_peer_figures *figures, size_t count);

#endif

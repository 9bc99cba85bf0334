/*
 * The figures of an experiment. Each has a name, under which it is printed as
 * text immediately and, with --json, as a member of one object on the last
 * line.
 *
 * Life: bench_figures_begin -> bench_figure*, bench_figure_text*, lists and
 *       groups -> bench_figures_end
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BENCH_FIGURES_H
#define BENCH_FIGURES_H

#include "bench.h"

struct bench_figures;

/* `rows` is printed unless it is 0. */
struct bench_figures *bench_figures_begin(const struct bench_options *options,
                                          const char *experiment,
                                          uint64_t rows);

/* A number with this number of decimals. */
void bench_figure(struct bench_figures *figures, int decimals, double value,
                  const char *name, ...) COLANDER_FORMAT(4, 5);
void bench_figure_text(struct bench_figures *figures, const char *name,
                       const char *text);

/* Opens a list of groups (brackets "[") or a group ("{"), whose name is NULL in
 * a list. The text has one line for a group. */
void bench_figures_open(struct bench_figures *figures, const char *name,
                        char bracket);
void bench_figures_close(struct bench_figures *figures, char bracket);

/* Prints the object, and frees the figures. */
void bench_figures_end(struct bench_figures *figures);

#endif

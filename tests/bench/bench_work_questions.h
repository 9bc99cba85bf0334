/*
 * Questions about the rows of a work, picked and counted. Only bench_work.c
 * needs this.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BENCH_WORK_QUESTIONS_H
#define BENCH_WORK_QUESTIONS_H

#include "bench_data.h"
#include "bench_work.h"

/* Fills in paths and questions (but for those about the column added later),
 * and the columns asked about where the work names none. */
void bench_work_pick(struct bench_work *work);

/* Calls `take` with each row of the work, encoded. */
void bench_work_visit(const struct bench_work *work, bench_take_row *take,
                      void *context);

#endif

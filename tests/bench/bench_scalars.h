/*
 * The scalars of a row, at every depth, with their paths.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BENCH_SCALARS_H
#define BENCH_SCALARS_H

#include "bench.h"

/* Gets each scalar. `path` is as in predicates, but that names stand as they
 * are; it and the value are borrowed for the call. */
typedef void bench_take_scalar(void *context, const char *path,
                               const struct colander_value *value);

void bench_scalars_visit(struct colander_slice row, bench_take_scalar *take,
                         void *context);

#endif

/*
 * The scalars of a row, at every depth, with their paths.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BENCH_SCALARS_H
#define BENCH_SCALARS_H

#include "bench.h"

/* What stands in a path before the name of a member, but for the first, and
 * for each array: bytes that a name of JSON hardly has, so that names stand as
 * they are, dots and all. */
#define BENCH_PATH_MEMBER '\x1f'
#define BENCH_PATH_ELEMENT '\x1e'
#define BENCH_PATH_MARKS "\x1f\x1e"

/* Gets each scalar; path and value are borrowed for the call. */
typedef void bench_take_scalar(void *context, const char *path,
                               const struct colander_value *value);

void bench_scalars_visit(struct colander_slice row, bench_take_scalar *take,
                         void *context);

#endif

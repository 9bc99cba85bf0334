/*
 * Lines made rows and questions made predicates, for peers that keep bytes
 * under keys and know nothing of what is in them.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BENCH_PEER_ROWS_H
#define BENCH_PEER_ROWS_H

#include "bench_work.h"

/* Gets a key and a row, encoded as Colander does; borrowed for the call. */
typedef void bench_take_made(void *context, struct colander_slice key,
                             struct colander_slice row);

/* Makes a row of each line of a file, on this thread. */
void bench_peer_rows_make(const struct bench_work *work, const char *path,
                          bench_take_made *take, void *context);

/* For the caller to destroy. */
struct colander_predicate *
bench_peer_predicate(const struct bench_work_question *question);

bool bench_peer_matches(const struct colander_predicate *predicate,
                        struct colander_slice row);

#endif

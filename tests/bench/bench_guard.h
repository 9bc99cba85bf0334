/*
 * Work in a process of its own, watched by this one: however the work ends, by
 * itself, by a failure or by a signal, what it started is ended and what it
 * left behind is removed.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BENCH_GUARD_H
#define BENCH_GUARD_H

#include <sys/types.h>

/* Runs work(context) and then, when no process of it is left, clean(context):
 * the exit code of the work, or 1 when a signal ended it. */
int bench_guard_run(int (*work)(void *context), void (*clean)(void *context),
                    void *context);

/* As fork. When this process ends, the new one and what it becomes get
 * `signal`; not if it changes its user later on. */
pid_t bench_guard_fork(int signal);

/* The second part alone, for after a change of user. */
void bench_guard_follow(int signal);

#endif

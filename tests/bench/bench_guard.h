/*
 * Work in a process of its own, watched by this one. However it ends, what it
 * started is ended and what it left is removed.
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

/* Runs work(context) in a process of its own, which returns what it wrote to
 * the `size` bytes of `result`. Returns the peak memory of the process in MB,
 * without the system's cache of files. Ends the program if it fails. */
double bench_guard_measure(void (*work)(void *context, void *result),
                           void *context, void *result, size_t size);

/* The second part alone, for after a change of user. */
void bench_guard_follow(int signal);

#endif

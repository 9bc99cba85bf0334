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

/* Starts a program in `directory`, with these descriptors as its input, output
 * and errors. It gets `signal` as above. */
pid_t bench_guard_start(char *const *arguments, const char *directory,
                        const int standard[3], int signal);
#define BENCH_GUARD_INHERITED ((const int[]){0, 1, 2})

/* Waits for the end of a process. Returns its exit code (MISSING: the program
 * could not be started), or 128 and the number of the signal that ended it. */
#define BENCH_GUARD_MISSING 127
int bench_guard_await(pid_t process);

/* Sends a signal, and waits. */
void bench_guard_stop(pid_t process, int signal);

/* Runs work(context) in a process of its own, which returns what it wrote to
 * the `size` bytes of `result`. Returns the peak memory of the process in MB,
 * without the system's cache of files. Ends the program if it fails. */
double bench_guard_measure(void (*work)(void *context, void *result),
                           void *context, void *result, size_t size);

#endif

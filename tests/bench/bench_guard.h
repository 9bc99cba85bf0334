/*
 * Runs work in a separate process and watches it. However the work ends, the
 * processes it started are ended and the files it left are removed.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BENCH_GUARD_H
#define BENCH_GUARD_H

#include <sys/types.h>

/* Runs work(context) and then, when none of its processes remain,
 * clean(context). Returns the exit code of the work, or 1 if a signal ended
 * it. */
int bench_guard_run(int (*work)(void *context), void (*clean)(void *context),
                    void *context);

/* Like fork. When this process ends, the new one and its programs get `signal`,
 * unless the user of the process changes later. */
pid_t bench_guard_fork(int signal);

/* Starts a program in `directory`, with these descriptors as its input, output
 * and errors. It gets `signal` as above. */
pid_t bench_guard_start(char *const *arguments, const char *directory,
                        const int standard[3], int signal);
#define BENCH_GUARD_INHERITED ((const int[]){0, 1, 2})

/* Waits for the end of a process. Returns its exit code (MISSING: the program
 * could not be started), or 128 plus the number of the signal that ended it. */
#define BENCH_GUARD_MISSING 127
int bench_guard_await(pid_t process);

/* Sends a signal, and waits. */
void bench_guard_stop(pid_t process, int signal);

/* Runs work(context) in a separate process, which returns what it wrote to the
 * `size` bytes of `result`. Returns the peak memory of the process in MB,
 * without the system's file cache. Ends the program if it fails. */
double bench_guard_measure(void (*work)(void *context, void *result),
                           void *context, void *result, size_t size);

#endif

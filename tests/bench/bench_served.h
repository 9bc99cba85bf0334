/*
 * The program `colander`: a server in another process, and commands.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BENCH_SERVED_H
#define BENCH_SERVED_H

#include <stdbool.h>
#include <sys/types.h>

/* Starts `colander serve` for the store, and waits until it is ready. */
pid_t bench_served_start(const char *store, bool is_read_only);
void bench_served_stop(pid_t server);

/* Returns the MB of a process, without the system's cache of files. */
double bench_served_memory(pid_t server);

/* Starts `colander load STORE FAMILY FILE --key id`. */
pid_t bench_served_load(const char *store, const char *family,
                        const char *file);

/* Waits for the end of a command, which must succeed. */
void bench_served_await(pid_t command);

#endif

/*
 * Processes that run this program again. A plain fork would not copy the
 * threads of RocksDB.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_SUPPORT_CHILDREN_H
#define TESTS_SUPPORT_CHILDREN_H

#include <stdint.h>
#include <sys/types.h>

/* Starts it with these arguments, the first of which is its name, ended by
 * NULL. Fails the test if the process cannot be started. */
pid_t child_start(const char *const *arguments);

/* The same, and waits until it ends. Returns its wait status. */
int child_run(const char *const *arguments);

/* Starts it, waits until it has written a byte to standard output, and kills it
 * after some microseconds more. Fails the test if it ends by itself. */
void child_kill_after(const char *const *arguments, uint64_t microseconds);

#endif

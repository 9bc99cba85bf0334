/*
 * Processes that run this program again: RocksDB's threads do not come along
 * with a fork.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_SUPPORT_CHILDREN_H
#define TESTS_SUPPORT_CHILDREN_H

#include <sys/types.h>

/* Starts it with these arguments, the first of which is its name; they end with
 * NULL. Fails the test when there can be no process. */
pid_t child_start(const char *const *arguments);

/* The same, and waits until it has ended; returns how. */
int child_run(const char *const *arguments);

#endif

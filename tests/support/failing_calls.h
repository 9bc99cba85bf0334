/*
 * Calls to the system that fail with EIO: those of the program and of what is
 * linked into it, but not those of shared libraries. The linker sends them to
 * failing_calls.c: see CMakeLists.txt. io_faults.h fails those of RocksDB, too.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_SUPPORT_FAILING_CALLS_H
#define TESTS_SUPPORT_FAILING_CALLS_H

#include <stdatomic.h>
#include <stdbool.h>

/* How many succeed until one fails, in any thread; below 0: none fails. */
extern atomic_long calls_left;

/* Set by one that failed. */
extern atomic_bool call_failed;

/* Counts a call; true: it is to fail, and errno says why. */
bool call_fails(void);

#endif

/*
 * System calls that fail with EIO: those of the program and of what is linked
 * into it, but not those of shared libraries. The linker redirects them to
 * failing_calls.c: see CMakeLists.txt. io_faults.h makes RocksDB's fail, too.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_SUPPORT_FAILING_CALLS_H
#define TESTS_SUPPORT_FAILING_CALLS_H

#include <stdatomic.h>
#include <stdbool.h>

/* The number of calls, in any thread, before one fails; below 0: none does. */
extern atomic_long calls_left;

/* Set by the call that failed. */
extern atomic_bool call_failed;

/* Counts a call. Returns true if it must fail, with errno set. */
bool call_fails(void);

#endif

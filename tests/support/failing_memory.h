/*
 * Allocations that fail: those of the program and of what is linked into it,
 * but not those of shared libraries. The linker sends them to
 * failing_memory.c: see CMakeLists.txt.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_SUPPORT_FAILING_MEMORY_H
#define TESTS_SUPPORT_FAILING_MEMORY_H

#include <stdatomic.h>

/* How many succeed until one fails, in any thread; below 0: none fails. In a
 * program with io_faults.c its FAULT_MEMORY fails allocations as well. */
extern atomic_long allocations_left;

/* All that come after the one that fails, fail as well. */
extern atomic_bool memory_is_gone;

/* Set by one that failed. */
extern atomic_bool allocation_failed;

#endif

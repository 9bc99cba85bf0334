/*
 * Allocations that fail: those of the program and of what is linked into it,
 * but not those of shared libraries. The linker redirects them to
 * failing_memory.c: see CMakeLists.txt.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_SUPPORT_FAILING_MEMORY_H
#define TESTS_SUPPORT_FAILING_MEMORY_H

#include <stdatomic.h>

/* The number of allocations, in any thread, before one fails; below 0: none
 * does. In a program with io_faults.c, FAULT_MEMORY fails them as well. */
extern atomic_long allocations_left;

/* All allocations after the one that fails fail as well. */
extern atomic_bool memory_is_gone;

/* Set by the allocation that failed. */
extern atomic_bool allocation_failed;

#endif

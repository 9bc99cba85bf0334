/*
 * A directory for a fuzz target that needs one: in memory if the system
 * supports it, removed when the process exits normally.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_FUZZ_DIRECTORY_H
#define TESTS_FUZZ_DIRECTORY_H

#include "fuzz/fuzz.h"
#include "support/temporary.h"

static char fuzz_directory[TEMPORARY_SIZE];

static inline void
fuzz_directory_remove(void)
{
    temporary_remove(fuzz_directory);
}

/* Creates it; call once. */
static inline void
fuzz_directory_make(void)
{
    static const char memory[] = "/dev/shm";

    if (access(memory, W_OK) == 0)
        expect(setenv("TMPDIR", memory, 1) == 0);
    temporary_make(fuzz_directory);
    expect(atexit(fuzz_directory_remove) == 0);
}

#endif

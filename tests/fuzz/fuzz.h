/*
 * What all fuzz targets have in common: how they are called, and how they say
 * that something is wrong.
 *
 * A target is one function that is given bytes. libFuzzer makes them up, and
 * replay.c takes them from files.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The target; gives 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Ends the process as a crash does, unless it is so: in every build. */
static inline void
expect(bool is_so)
{
    if (!is_so)
        abort();
}

#endif

/*
 * What all fuzz targets share: how they are called, and how they report
 * failures.
 *
 * A target is one function that receives bytes, which libFuzzer generates and
 * replay.c reads from files.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The target. Returns 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Aborts the process in every build if the condition is false. */
static inline void
expect(bool is_so)
{
    if (!is_so)
        abort();
}

/* Expects the call to succeed. */
#define OK(call) expect((call) == COLANDER_OK)

/* Copies bytes into an allocation of their size, so that the sanitizer detects
 * an overrun. Free it. */
static inline uint8_t *
fuzz_copy(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size > 0 ? size : 1);

    expect(copy != NULL);
    memcpy(copy, data, size);
    return copy;
}

/* Writes the bytes to a file in memory, whose path is valid until the next
 * call for this `fd`, which starts at -1. */
static inline const char *
fuzz_file(int *fd, const void *bytes, size_t size, char path[32])
{
    if (*fd < 0)
        *fd = memfd_create("fuzz", MFD_CLOEXEC);
    expect(*fd >= 0 && ftruncate(*fd, 0) == 0);
    expect(pwrite(*fd, bytes, size, 0) == (ssize_t)size);
    (void)snprintf(path, 32, "/proc/self/fd/%d", *fd);
    return path;
}

#endif

/*
 * Clock: one that only goes forward.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_CLOCK_H
#define SHELL_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Microseconds since some moment. Also for signal handlers. */
static inline uint64_t
clock_us(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now); /* every Linux has this one */
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static inline double
clock_seconds(void)
{
    return (double)clock_us() / 1e6;
}

#endif

/*
 * The monotonic clock, and deadlines for functions that wait.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_CORE_CLOCK_H
#define COLANDER_CORE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Returns nanoseconds since an unspecified moment. Never decreases. Safe in
 * signal handlers. */
static inline uint64_t
clock_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now); /* cannot fail on Linux */
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Returns microseconds of the same clock. */
static inline uint64_t
clock_us(void)
{
    return clock_ns() / 1000;
}

/* Returns seconds of the same clock. */
static inline double
clock_seconds(void)
{
    return (double)clock_ns() / 1e9;
}

/* Returns the time of `clock` in `wait_ms` milliseconds. pthread_cond_timedwait
 * and pthread_timedjoin_np take a time of CLOCK_REALTIME, which may be set back
 * while they wait, unless told to use another clock; pthread_cond_clockwait
 * takes one. */
static inline struct timespec
clock_after(clockid_t clock, uint64_t wait_ms)
{
    struct timespec time;

    (void)clock_gettime(clock, &time); /* cannot fail on Linux */
    time.tv_nsec += (long)(wait_ms % 1000) * 1000000;
    time.tv_sec += (time_t)(wait_ms / 1000) + time.tv_nsec / 1000000000;
    time.tv_nsec %= 1000000000;
    return time;
}

#endif

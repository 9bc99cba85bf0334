/*
 * Random numbers that can be repeated from a seed, which is printed.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_SUPPORT_RANDOM_H
#define TESTS_SUPPORT_RANDOM_H

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* $COLANDER_SEED, or the clock; printed either way. */
static inline uint64_t
random_seed(const char *test)
{
    const char *given = getenv("COLANDER_SEED");
    struct timespec now;
    uint64_t seed;

    clock_gettime(CLOCK_REALTIME, &now);
    seed = given != NULL
               ? strtoull(given, NULL, 10)
               : (uint64_t)now.tv_sec * 1000003 + (uint64_t)now.tv_nsec;
    printf("%s: COLANDER_SEED=%" PRIu64 "\n", test, seed);
    fflush(stdout);
    return seed;
}

/* The state of a program that has one for all tests. */
static inline uint64_t *
random_state(void)
{
    static uint64_t state;
    static bool is_seeded;

    if (!is_seeded)
        state = random_seed(program_invocation_short_name);
    is_seeded = true;
    return &state;
}

/* AddressSanitizer makes a test about four times slower. */
#ifdef __SANITIZE_ADDRESS__
#define RANDOM_RUNS_SHARE 4
#else
#define RANDOM_RUNS_SHARE 1
#endif

/* How often a random test repeats: $COLANDER_RUNS, or `normally`, or part of it
 * where tests run slowly. */
static inline uint64_t
random_runs(uint64_t normally)
{
    const char *given = getenv("COLANDER_RUNS");

    if (given != NULL)
        return strtoull(given, NULL, 10);
    return (normally + RANDOM_RUNS_SHARE - 1) / RANDOM_RUNS_SHARE;
}

/* The next number (splitmix64). */
static inline uint64_t
random_next(uint64_t *state)
{
    uint64_t x = *state += UINT64_C(0x9e3779b97f4a7c15);

    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

static inline uint64_t
random_below(uint64_t *state, uint64_t limit)
{
    return random_next(state) % limit;
}

#endif

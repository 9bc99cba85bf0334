/*
 * Tests that register themselves where they are defined:
 *
 *     TEST(a_claim_that_is_the_name)
 *     {
 *         assert_true(...);
 *     }
 *
 * They run in the order of the file. A program that needs its own setup has its
 * own `main`, which calls tests_run; its tests get what the setup created as
 * `state`.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_SUPPORT_CASES_H
#define TESTS_SUPPORT_CASES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/why.h"

#define TEST(name) TEST_WITH(void *state, name, NULL, NULL)

/* A test with what its `setup` made, which is its parameter:
 *
 *     TEST_WITH(struct sample *sample, a_claim, make_sample, drop_sample)
 */
#define TEST_WITH(parameter, name, setup, teardown)                            \
    static void name(parameter);                                               \
                                                                               \
    static void run_##name(void **state)                                       \
    {                                                                          \
        name(*state);                                                          \
    }                                                                          \
                                                                               \
    __attribute__((constructor)) static void add_##name(void)                  \
    {                                                                          \
        const struct CMUnitTest test = {#name, run_##name, setup, teardown,    \
                                        NULL};                                 \
                                                                               \
        tests_add(test, __LINE__);                                             \
    }                                                                          \
                                                                               \
    static void name(parameter)

/* Asserts that the call succeeds. A failure prints the message in `why()`. */
#define OK(call) assert_ok((call), #call, __FILE__, __LINE__)

static inline void
assert_ok(enum colander_code code, const char *call, const char *file, int line)
{
    if (code == COLANDER_OK)
        return;
    print_error("%s is %s: %s\n", call, colander_code_name(code), error_text());
    _fail(file, line);
}

/* Asserts that the call returns 0, as system calls do on success. */
#define ZERO(call) assert_int_equal((call), 0)

/* Asserts that the call fails with `code`. */
#define FAILS(call, code) assert_int_equal((call), (code))

/* Asserts that the two slices have the same bytes. */
#define ASSERT_SAME(a, b) assert_true(colander_slice_equal((a), (b)))

/* What the program does when it is run again (children.h) with `--name` as its
 * first argument:
 *
 *     ROLE(write)
 *     {
 *         write_until_killed(arguments[2]);
 *     }
 */
#define ROLE(name)                                                             \
    static int role_##name(char **arguments);                                  \
                                                                               \
    __attribute__((constructor)) static void add_role_##name(void)             \
    {                                                                          \
        tests_add_role("--" #name, role_##name);                               \
    }                                                                          \
                                                                               \
    static int role_##name(char **arguments)

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

void tests_add(struct CMUnitTest test, int line);

void tests_add_role(const char *word, int (*play)(char **arguments));

/* Runs all tests. Returns the number of failures. */
int tests_run(CMFixtureFunction setup, CMFixtureFunction teardown);

#endif

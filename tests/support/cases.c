/*
 * A list of tests in the order of their lines, and a program that runs it.
 *
 * SPDX-License-Identifier: MIT
 */
#include "support/cases.h"

#include <stdlib.h>

#define TESTS_MAX 100

static struct CMUnitTest tests[TESTS_MAX];
static int lines[TESTS_MAX];
static size_t test_count;

void
tests_add(struct CMUnitTest test, int line)
{
    size_t at = test_count++;

    if (at == TESTS_MAX)
        abort();
    for (; at > 0 && lines[at - 1] > line; at--) {
        tests[at] = tests[at - 1];
        lines[at] = lines[at - 1];
    }
    tests[at] = test;
    lines[at] = line;
}

int
tests_run(CMFixtureFunction setup, CMFixtureFunction teardown)
{
    return _cmocka_run_group_tests("tests", tests, test_count, setup, teardown);
}

__attribute__((weak)) int
main(void)
{
    return tests_run(NULL, NULL);
}

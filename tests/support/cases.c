/*
 * The list of tests in the order of their lines, and a program that runs them.
 *
 * SPDX-License-Identifier: MIT
 */
#include "support/cases.h"

#include <stdlib.h>
#include <string.h>

#define TESTS_MAX 100

static struct CMUnitTest tests[TESTS_MAX];
static int lines[TESTS_MAX];
static size_t test_count;

static struct {
    const char *word;
    int (*play)(char **arguments);
} roles[3];
static size_t role_count;

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

void
tests_add_role(const char *word, int (*play)(char **arguments))
{
    if (role_count == COUNT(roles))
        abort();
    roles[role_count].word = word;
    roles[role_count++].play = play;
}

int
tests_run(CMFixtureFunction setup, CMFixtureFunction teardown)
{
    return _cmocka_run_group_tests("tests", tests, test_count, setup, teardown);
}

__attribute__((weak)) int
main(int argc, char **argv)
{
    for (size_t i = 0; argc > 1 && i < role_count; i++) {
        if (strcmp(argv[1], roles[i].word) == 0)
            return roles[i].play(argv);
    }
    return tests_run(NULL, NULL);
}

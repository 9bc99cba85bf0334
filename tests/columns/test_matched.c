/*
 * The columns that matched in a find: counted, and bounded.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/matched.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static void
add(struct matched *matched, const char *path)
{
    const struct colander_columns columns = {&path, 1, false};

    assert_int_equal(matched_add(matched, columns, NULL), COLANDER_OK);
}

static void
only_the_first_paths_are_told_but_those_exactly(void **state)
{
    struct matched *matched = matched_create();
    char path[32];
    const char *told;
    uint64_t count;
    size_t index;

    (void)state;
    for (size_t round = 0; round < 3; round++) {
        for (size_t i = 0; i < MATCHED_PATHS_MAX + 200; i++) {
            (void)snprintf(path, sizeof(path), "column%zu", i);
            if (i % (round + 1) == 0)
                add(matched, path);
        }
    }
    for (index = 0; matched_get(matched, index, &told, &count); index++) {
        (void)snprintf(path, sizeof(path), "column%zu", index);
        assert_string_equal(told, path);
        assert_int_equal(count, 1 + (index % 2 == 0) + (index % 3 == 0));
    }
    assert_int_equal(index, MATCHED_PATHS_MAX);
    matched_destroy(matched);
}

static void
long_paths_are_left_out_when_there_is_no_room(void **state)
{
    struct matched *matched = matched_create();
    char *path = calloc(1, 60001);
    const char *told;
    uint64_t count;
    size_t size = 0, index;

    (void)state;
    memset(path, 'x', 60000);
    for (int i = 0; i < 10; i++) {
        path[0] = (char)('a' + i);
        add(matched, path);
    }
    add(matched, "");
    add(matched, "short");
    for (index = 0; matched_get(matched, index, &told, &count); index++)
        size += strlen(told) + 1;
    assert_int_equal(index, 6); /* four of the long ones */
    assert_string_equal(told, "short");
    assert_true(size <= MATCHED_SIZE_MAX);
    matched_destroy(matched);
    free(path);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_the_first_paths_are_told_but_those_exactly),
        cmocka_unit_test(long_paths_are_left_out_when_there_is_no_room),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

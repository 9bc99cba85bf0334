/*
 * The columns that matched in a find are counted, up to a limit.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/finds/match_paths.h"
#include "support/cases.h"
#include "support/scoped.h"

#include <stdio.h>
#include <stdlib.h>

static void
add(struct match_counts *counts, const char *path)
{
    const struct colander_columns columns = {&path, 1, false};

    OK(match_counts_add(counts, columns, NULL));
}

TEST(only_the_first_paths_are_counted_but_those_exactly)
{
    struct match_counts *counts = match_counts_create();
    char path[32];
    const char *text;
    uint64_t count;
    size_t index;

    for (size_t round = 0; round < 3; round++) {
        for (size_t i = 0; i < MATCH_COUNTS_PATHS_MAX + 200; i++) {
            (void)snprintf(path, sizeof(path), "column%zu", i);
            if (i % (round + 1) == 0)
                add(counts, path);
        }
    }
    for (index = 0; match_counts_get(counts, index, &text, &count); index++) {
        (void)snprintf(path, sizeof(path), "column%zu", index);
        assert_string_equal(text, path);
        assert_int_equal(count, 1 + (index % 2 == 0) + (index % 3 == 0));
    }
    assert_int_equal(index, MATCH_COUNTS_PATHS_MAX);
    match_counts_destroy(counts);
}

TEST(long_paths_are_left_out_when_there_is_no_room)
{
    struct match_counts *counts = match_counts_create();
    SCOPED_MEMORY char *path = calloc(1, 60001);
    const char *text;
    uint64_t count;
    size_t size = 0, index;

    memset(path, 'x', 60000);
    for (int i = 0; i < 10; i++) {
        path[0] = (char)('a' + i);
        add(counts, path);
    }
    add(counts, "");
    add(counts, "short");
    for (index = 0; match_counts_get(counts, index, &text, &count); index++)
        size += strlen(text) + 1;
    assert_int_equal(index, 6); /* four of the long ones */
    assert_string_equal(text, "short");
    assert_true(size <= MATCH_COUNTS_SIZE_MAX);
    match_counts_destroy(counts);
}

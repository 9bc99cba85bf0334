/*
 * What a load says of itself while it is under way.
 *
 * SPDX-License-Identifier: MIT
 */
#include "shell/clock.h"
#include "shell/progress.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define BEGUN_US 1000000000 /* ago: a test that is slow changes little */

/* A load that is shown, be standard error a terminal or not. */
static void
begin(struct progress *progress)
{
    progress_begin(progress);
    progress->is_shown = true;
    progress->begin_us = clock_us() - BEGUN_US;
}

/* The line that these figures show, in *line. */
static void
show(struct progress *progress, const struct loading_figures *figures,
     char line[200])
{
    int terminal = dup(STDERR_FILENO);
    int out[2];
    ssize_t size;

    progress->shown_us = 0;
    assert_true(terminal >= 0);
    assert_int_equal(pipe(out), 0);
    assert_true(dup2(out[1], STDERR_FILENO) >= 0);
    progress_show(progress, figures);
    assert_true(dup2(terminal, STDERR_FILENO) >= 0);
    close(terminal);
    close(out[1]);
    size = read(out[0], line, 199);
    assert_true(size >= 0);
    line[size] = '\0';
    close(out[0]);
}

/* It read 2 MB in a thousand seconds, and 4 MB are left. */
static void
the_rest_takes_as_long_as_what_this_load_has_read(void **state)
{
    struct loading_figures figures = {.bytes_all = 100000000};
    struct progress progress;
    char line[200];

    (void)state;
    begin(&progress);
    figures.bytes_read = 94000000; /* skipped, for an earlier load read them */
    show(&progress, &figures, line);
    figures.bytes_read = 96000000;
    figures.text_size = 2000000;
    figures.row_count = 20000;
    show(&progress, &figures, line);
    assert_non_null(strstr(line, "\r96 %, 20,000 rows, "));
    assert_non_null(strstr(line, " rows/s, 0.0 MB/s, 33:"));
}

static void
a_bulk_load_tells_no_rows_while_it_has_none(void **state)
{
    struct loading_figures figures = {.bytes_read = 25000000,
                                      .bytes_all = 100000000,
                                      .text_size = 25000000,
                                      .reject_count = 1234};
    struct progress progress;
    char line[200];

    (void)state;
    begin(&progress);
    show(&progress, &figures, line);
    assert_ptr_equal(strstr(line, "\r25 %, 0.0 MB/s, 50:"), line);
    assert_non_null(strstr(line, " min left, 1,234 rejected\x1b[K"));
    figures.bulk_rows = 3;
    figures.bulk_all = 4;
    show(&progress, &figures, line);
    assert_string_equal(line, "\rbuilding 75 %\x1b[K");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_rest_takes_as_long_as_what_this_load_has_read),
        cmocka_unit_test(a_bulk_load_tells_no_rows_while_it_has_none),
    };

    setenv("COLUMNS", "200", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}

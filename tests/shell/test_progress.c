/*
 * The progress line of a load.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/clock.h"
#include "shell/commands/progress.h"
#include "support/cases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BEGUN_US 1000000000 /* ago, so that a slow test changes little */

/* Shows a load, whether standard error is a terminal or not. */
static void
begin(struct progress *progress)
{
    static const struct session session = {.client = NULL};

    progress_begin(progress, &session);
    progress->is_shown = true;
    progress->begin_us = clock_us() - BEGUN_US;
}

/* Sets *line to the line shown for these stats. */
static void
show(struct progress *progress, const struct colander_load_stats *stats,
     char line[200])
{
    int terminal = dup(STDERR_FILENO);
    int out[2];
    ssize_t size;

    progress->shown_us = 0;
    assert_true(terminal >= 0);
    ZERO(pipe(out));
    assert_true(dup2(out[1], STDERR_FILENO) >= 0);
    progress_show(progress, stats);
    assert_true(dup2(terminal, STDERR_FILENO) >= 0);
    close(terminal);
    close(out[1]);
    size = read(out[0], line, 199);
    assert_true(size >= 0);
    line[size] = '\0';
    close(out[0]);
}

/* It read 2 MB in a thousand seconds, and 4 MB remain. */
TEST(the_rest_takes_as_long_as_what_this_load_has_read)
{
    struct colander_load_stats stats = {.bytes_all = 100000000};
    struct progress progress;
    char line[200];

    begin(&progress);
    stats.bytes_read = 94000000; /* skipped, as an earlier load read them */
    show(&progress, &stats, line);
    stats.bytes_read = 96000000;
    stats.text_size = 2000000;
    stats.row_count = 20000;
    show(&progress, &stats, line);
    assert_non_null(strstr(line, "\r96 %, 20,000 rows, "));
    assert_non_null(strstr(line, " rows/s, 0.0 MB/s, 33:"));
}

TEST(a_bulk_load_shows_no_rows_while_it_has_none)
{
    struct colander_load_stats stats = {.bytes_read = 25000000,
                                        .bytes_all = 100000000,
                                        .text_size = 25000000,
                                        .reject_count = 1234};
    struct progress progress;
    char line[200];

    begin(&progress);
    show(&progress, &stats, line);
    assert_ptr_equal(strstr(line, "\r25 %, 0.0 MB/s, 50:"), line);
    assert_non_null(strstr(line, " min left, 1,234 rejected\x1b[K"));
    stats.bulk_rows = 3;
    stats.bulk_all = 4;
    show(&progress, &stats, line);
    assert_string_equal(line, "\rbuilding 75 %\x1b[K");
}

int
main(void)
{
    setenv("COLUMNS", "200", 1);
    return tests_run(NULL, NULL);
}

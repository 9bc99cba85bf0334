/*
 * quick: all experiments, as small as they can be, to keep them working.
 *
 * Each runs in a process of its own: one that fails ends with a message, and
 * the others are run all the same.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench.h"
#include "bench_guard.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>

/* Runs one in a child, which leaves its files below `directory`. */
static bool
run(const struct bench_listed *experiment, const char *directory)
{
    char report[4200];
    const struct bench_options options = {
        .rows = experiment->quick_rows,
        .rounds = 1,
        .is_json = true,
        .directory = directory,
        .report_directory = report,
    };
    pid_t child;
    int status;

    (void)snprintf(report, sizeof(report), "%s/%s", directory,
                   experiment->name);
    child = bench_guard_fork(SIGKILL);
    if (child == 0)
        exit(experiment->run(&options));
    if (waitpid(child, &status, 0) != child)
        bench_fail("waitpid", strerror(errno));
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

int
bench_quick(const struct bench_options *options,
            const struct bench_listed *experiments, size_t count)
{
    unsigned failed_count = 0;

    for (size_t i = 0; i < count; i++) {
        const double start = bench_now();
        bool is_ok;

        printf("=== %s\n", experiments[i].name);
        is_ok = run(&experiments[i], options->directory);
        printf("=== %s: %s, %.1f s\n", experiments[i].name,
               is_ok ? "works" : "FAILED", bench_now() - start);
        failed_count += !is_ok;
    }
    printf("quick: %zu experiments, %u failed\n", count, failed_count);
    return failed_count > 0;
}

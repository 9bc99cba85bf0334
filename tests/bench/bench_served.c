/*
 * The program `colander`, run by an experiment.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench_served.h"
#include "bench.h"
#include "bench_guard.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

pid_t
bench_served_start(const char *store, bool is_read_only)
{
    char *const arguments[] = {BENCH_COLANDER, "serve", (char *)store,
                               is_read_only ? "--read-only" : NULL, NULL};
    char line[4200];
    FILE *ready;
    int ends[2];
    pid_t server;

    if (pipe2(ends, O_CLOEXEC) != 0)
        bench_fail("a server", strerror(errno));
    server = bench_guard_start(
        arguments, "/", (const int[]){STDIN_FILENO, ends[1], STDERR_FILENO},
        SIGKILL);
    (void)close(ends[1]);
    ready = fdopen(ends[0], "r");
    if (ready == NULL || fgets(line, sizeof(line), ready) == NULL)
        bench_fail("a server", "it does not start");
    (void)fclose(ready);
    return server;
}

void
bench_served_stop(pid_t server)
{
    (void)kill(server, SIGTERM);
    bench_served_await(server);
}

double
bench_served_memory(pid_t server)
{
    unsigned long kilobytes = 0;
    char path[64];
    char line[200];
    FILE *file;

    (void)snprintf(path, sizeof(path), "/proc/%d/status", (int)server);
    file = fopen(path, "re");
    if (file == NULL)
        bench_fail(path, strerror(errno));
    while (fgets(line, sizeof(line), file) != NULL)
        (void)sscanf(line, "RssAnon: %lu kB", &kilobytes);
    (void)fclose(file);
    return (double)kilobytes * 1024 / 1e6;
}

pid_t
bench_served_load(const char *store, const char *family, const char *file)
{
    char *const arguments[] = {BENCH_COLANDER, "load",       (char *)store,
                               (char *)family, (char *)file, "--key",
                               "id",           NULL};
    const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    pid_t command;

    if (null < 0)
        bench_fail("/dev/null", strerror(errno));
    command = bench_guard_start(arguments, "/", (const int[]){null, null, null},
                                SIGKILL);
    (void)close(null);
    return command;
}

void
bench_served_await(pid_t command)
{
    if (bench_guard_await(command) != 0)
        bench_fail("colander", "a command of it fails");
}

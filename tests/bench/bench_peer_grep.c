/*
 * grep over the file of lines: what reading everything costs. What is looked
 * for is in no other column, so it looks in the whole line.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench_guard.h"
#include "bench_lines.h"
#include "bench_peer.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

struct peer {
    const char *directory;
    char rows[4200];
    char found[4200];
};

static const struct bench_peer_way ways[] = {
    {"grep", BENCH_PEER_NONE, 0, false},
};

static void *
open_peer(const char *directory, const struct bench_work *work,
          const struct bench_peer_way *way, const char **reason)
{
    struct peer *peer = bench_allocate(1, sizeof(*peer));

    (void)work;
    (void)way;
    (void)reason;
    peer->directory = directory;
    (void)snprintf(peer->rows, sizeof(peer->rows), "%s/rows.jsonl", directory);
    (void)snprintf(peer->found, sizeof(peer->found), "%s/found", directory);
    return peer;
}

static void
load(void *it, const char *path)
{
    const struct peer *peer = it;
    const struct colander_slice lines = bench_map(path);
    FILE *file = fopen(peer->rows, "a");

    if (file == NULL)
        bench_fail(peer->rows, strerror(errno));
    (void)fwrite(lines.data, 1, lines.size, file);
    bench_close_written(file, peer->rows);
    bench_unmap(lines);
}

static uint64_t
count_lines(const char *path)
{
    FILE *file = fopen(path, "r");
    uint64_t count = 0;
    int byte;

    if (file == NULL)
        bench_fail(path, strerror(errno));
    while ((byte = getc(file)) != EOF)
        count += byte == '\n';
    (void)fclose(file);
    return count;
}

static uint64_t
ask(void *it, const struct bench_work_question *question)
{
    const struct peer *peer = it;
    char *const arguments[] = {"env", "LC_ALL=C",      "grep",
                               "-iF", question->value, (char *)peer->rows,
                               NULL};
    const int found =
        open(peer->found, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    int status;

    if (found < 0)
        bench_fail(peer->found, strerror(errno));
    status = bench_guard_await(bench_guard_start(
        arguments, peer->directory,
        (const int[]){STDIN_FILENO, found, STDERR_FILENO}, SIGTERM));
    (void)close(found);
    if (status > 1)
        bench_fail("grep", "it failed");
    return count_lines(peer->found);
}

static void
close_peer(void *it)
{
    free(it);
}

const struct bench_peer bench_peer_grep = {
    .ways = ways,
    .way_count = 1,
    .open = open_peer,
    .load = load,
    .ask = ask,
    .close = close_peer,
};

/*
 * Tarantool's vinyl engine: an LSM tree of tuples, in a process that runs Lua.
 * It is a server. Here it is a child process that reads commands from its input
 * and answers on its output, which costs about as much as a socket.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench_guard.h"
#include "bench_peer.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#define PROGRAM "/usr/bin/tarantool"

struct peer {
    const struct bench_work *work;
    pid_t process;
    FILE *to;
    FILE *from;
    char answer[200];
};

static const struct bench_peer_way ways[] = {
    {"Tarantool vinyl, scan", BENCH_PEER_NONE, 0, false},
    {"Tarantool vinyl, index on one", BENCH_PEER_ONE, 0, false},
    {"Tarantool vinyl, index on all", BENCH_PEER_ALL, 0, false},
};

static char version[80] = "Tarantool";

/* ---------------------------------------------------------- open, close --- */

static void
start(struct peer *peer, const char *directory, enum bench_peer_indexes indexes)
{
    static const char *const words[] = {
        [BENCH_PEER_NONE] = "none",
        [BENCH_PEER_ONE] = "one",
        [BENCH_PEER_ALL] = "all",
    };
    char *const arguments[] = {PROGRAM,
                               BENCH_TARANTOOL_SCRIPT,
                               (char *)directory,
                               (char *)peer->work->key_name,
                               (char *)words[indexes],
                               NULL};
    int ends[2];

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        bench_fail("tarantool", strerror(errno));
    peer->process = bench_guard_start(
        arguments, directory, (const int[]){ends[1], ends[1], STDERR_FILENO},
        SIGKILL);
    (void)close(ends[1]);
    peer->to = fdopen(ends[0], "w");
    peer->from = fdopen(dup(ends[0]), "r");
    if (peer->to == NULL || peer->from == NULL)
        bench_fail("tarantool", strerror(errno));
}

/* Returns false if it has ended. */
static bool
read_answer(struct peer *peer)
{
    if (fgets(peer->answer, sizeof(peer->answer), peer->from) == NULL)
        return false;
    peer->answer[strcspn(peer->answer, "\n")] = '\0';
    return true;
}

static void
close_peer(void *it)
{
    struct peer *peer = it;

    (void)fclose(peer->to);
    (void)fclose(peer->from);
    bench_guard_stop(peer->process, SIGKILL);
    free(peer);
}

static void *
open_peer(const char *directory, const struct bench_work *work,
          const struct bench_peer_way *way, const char **reason)
{
    struct peer *peer;

    if (access(PROGRAM, X_OK) != 0) {
        *reason = "it is not installed (Debian: tarantool)";
        return NULL;
    }
    peer = bench_allocate(1, sizeof(*peer));
    peer->work = work;
    start(peer, directory, way->indexes);
    if (!read_answer(peer)) {
        close_peer(peer);
        *reason = "it does not start";
        return NULL;
    }
    (void)snprintf(version, sizeof(version), "Tarantool %.60s", peer->answer);
    return peer;
}

/* ----------------------------------------------------------- commands --- */

/* Runs a command and returns the number that it answers. Any other answer is an
 * error message. */
static uint64_t
run(struct peer *peer, const char *command, const char *first,
    const char *second)
{
    struct colander_buffer json = COLANDER_BUFFER_EMPTY;

    for (size_t i = 0; i < 3; i++) {
        const char *text = (const char *const[]){command, first, second}[i];
        const struct colander_value value =
            text == NULL ? colander_null() : colander_text(text);

        bench_print(&json, i == 0 ? "[" : ",");
        bench_check(colander_json_append_value(&json, &value, &bench_error));
    }
    bench_print(&json, "]\n");
    if (fwrite(json.data, 1, json.size, peer->to) != json.size ||
        fflush(peer->to) != 0 || !read_answer(peer))
        bench_fail("tarantool", "it has ended");
    if (strspn(peer->answer, "0123456789") != strlen(peer->answer))
        bench_fail("tarantool", peer->answer);
    colander_buffer_release(&json);
    return strtoull(peer->answer, NULL, 10);
}

static void
load(void *it, const char *path)
{
    (void)run(it, "load", path, NULL);
}

static void
make_index(void *it)
{
    struct peer *peer = it;

    (void)run(peer, "index", peer->work->chosen, NULL);
}

static void
settle(void *it)
{
    (void)run(it, "settle", NULL, NULL);
}

static uint64_t
size_of(void *it)
{
    return run(it, "size", NULL, NULL);
}

static uint64_t
ask(void *it, const struct bench_work_question *question)
{
    return run(it, "ask", question->column, question->value);
}

static bool
add_column(void *it, const char *column)
{
    return run(it, "add_column", column, NULL) == 1;
}

const struct bench_peer bench_peer_tarantool = {
    .is_server = true,
    .ways = ways,
    .way_count = sizeof(ways) / sizeof(ways[0]),
    .version = version,
    .open = open_peer,
    .load = load,
    .index = make_index,
    .settle = settle,
    .size = size_of,
    .ask = ask,
    .add_column = add_column,
    .close = close_peer,
};

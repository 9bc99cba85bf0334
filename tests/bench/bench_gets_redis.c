/*
 * Redis: rows as texts by their key, in memory only.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench_gets.h"
#include "bench_guard.h"
#include "bench_http.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PROGRAM "/usr/bin/redis-server"
#define PATIENCE 30 /* seconds */

struct connection {
    int fd;
    struct colander_buffer sent;
    struct colander_buffer got;
};

static pid_t process;
static char folder[4200];

static void *
open_one(void)
{
    struct connection *connection = bench_allocate(1, sizeof(*connection));

    connection->fd = bench_connect(folder, "redis");
    if (connection->fd >= 0)
        return connection;
    free(connection);
    return NULL;
}

static void
close_one(void *it)
{
    struct connection *connection = it;

    (void)close(connection->fd);
    colander_buffer_release(&connection->sent);
    colander_buffer_release(&connection->got);
    free(connection);
}

/* Sends what is to be sent, and waits for a reply that begins so. */
static void
expect_reply(struct connection *connection, const char *begin, size_t size)
{
    bench_send(connection->fd, connection->sent.data, connection->sent.size);
    colander_buffer_clear(&connection->sent);
    colander_buffer_clear(&connection->got);
    while (connection->got.size < size)
        bench_receive(connection->fd, &connection->got);
    if (memcmp(connection->got.data, begin, strlen(begin)) != 0)
        bench_fail("redis", "it answers something else");
}

static void
load(struct connection *connection, const struct bench_documents *documents)
{
    char key[24];

    for (uint64_t i = 0; i < documents->count; i++) {
        (void)snprintf(key, sizeof(key), "%" PRIu64, documents->keys[i]);
        bench_print(&connection->sent,
                    "*3\r\n$3\r\nSET\r\n$%zu\r\n%s\r\n$%zu\r\n%s\r\n",
                    strlen(key), key, strlen(documents->texts[i]),
                    documents->texts[i]);
        expect_reply(connection, "+OK\r\n", 5);
    }
}

static void
stop(void)
{
    bench_guard_stop(process, SIGKILL);
}

static const char *
start(const char *directory, const struct bench_documents *documents)
{
    static char *const arguments[] = {
        PROGRAM, "--port",       "0",  "--unixsocket", "redis", "--save",
        "",      "--appendonly", "no", NULL,
    };
    const struct timespec pause = {0, 20000000};
    const double begun = bench_now();
    struct connection *connection = NULL;
    int log;

    if (access(PROGRAM, X_OK) != 0)
        return "it is not installed (Debian: redis-server)";
    (void)snprintf(folder, sizeof(folder), "%s/redis", directory);
    log = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (log < 0 || mkdir(folder, 0700) != 0)
        bench_fail(folder, strerror(errno));
    process = bench_guard_start(arguments, folder,
                                (const int[]){STDIN_FILENO, log, log}, SIGKILL);
    (void)close(log);
    while (connection == NULL && bench_now() < begun + PATIENCE) {
        (void)nanosleep(&pause, NULL);
        connection = open_one();
    }
    if (connection == NULL) {
        stop();
        return "it does not start";
    }
    load(connection, documents);
    close_one(connection);
    return NULL;
}

static void
get(void *it, uint64_t key, const char *text)
{
    struct connection *connection = it;
    char name[24];
    char begin[32];
    const size_t size = strlen(text);

    (void)snprintf(name, sizeof(name), "%" PRIu64, key);
    (void)snprintf(begin, sizeof(begin), "$%zu\r\n", size);
    bench_print(&connection->sent, "*2\r\n$3\r\nGET\r\n$%zu\r\n%s\r\n",
                strlen(name), name);
    expect_reply(connection, begin, strlen(begin) + size + 2);
    if (memcmp(connection->got.data + strlen(begin), text, size) != 0)
        bench_fail("redis", "it returns another row");
}

const struct bench_gets bench_gets_redis = {
    .name = "redis",
    .start = start,
    .stop = stop,
    .open = open_one,
    .close = close_one,
    .get = get,
};

/*
 * One thread waits for bytes of all connections, and for the time at which the
 * oldest of those that have come are due.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench_relay.h"
#include "bench.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#define WAYS_MAX 512 /* two for each connection */
#define STEP ((size_t)64 << 10)
#define IDLE_NS 20000000 /* until it looks whether it ends */

/* What came at once. */
struct load {
    struct load *next;
    uint64_t due_us;
    size_t size;
    uint8_t bytes[];
};

/* One direction of a connection. */
struct way {
    int from;
    int to; /* -1: the connection is closed */
    struct load *first;
    struct load **last;
};

struct bench_relay {
    uint16_t port;
    uint16_t target;
    int listener;
    atomic_uint_least64_t delay_us;
    atomic_bool is_stopped;
    pthread_t thread;
    struct way ways[WAYS_MAX]; /* i and i ^ 1 are of one connection */
    size_t way_count;
};

/* ---------------------------------------------------------------- ports --- */

static struct sockaddr_in
address_of(uint16_t port)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons(port)};

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

static void
send_at_once(int fd)
{
    const int on = 1;

    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

int
bench_listen(uint16_t *port)
{
    struct sockaddr_in address = address_of(0);
    socklen_t size = sizeof(address);
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0 || bind(fd, (const struct sockaddr *)&address, size) != 0 ||
        listen(fd, 128) != 0 ||
        getsockname(fd, (struct sockaddr *)&address, &size) != 0)
        bench_fail("no port", strerror(errno));
    *port = ntohs(address.sin_port);
    return fd;
}

int
bench_connect_port(uint16_t port)
{
    const struct sockaddr_in address = address_of(port);
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0)
        bench_fail("no socket", strerror(errno));
    send_at_once(fd);
    if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) == 0)
        return fd;
    (void)close(fd);
    return -1;
}

/* ---------------------------------------------------------------- relay --- */

static void
end_connection(struct bench_relay *relay, size_t at)
{
    for (size_t i = at & ~(size_t)1; i <= (at | 1); i++) {
        struct way *way = &relay->ways[i];

        if (way->to >= 0)
            (void)close(way->to);
        way->to = -1;
        while (way->first != NULL) {
            struct load *load = way->first;

            way->first = load->next;
            free(load);
        }
    }
}

static void
take_connection(struct bench_relay *relay)
{
    const int client = accept4(relay->listener, NULL, NULL, SOCK_CLOEXEC);
    const int server = client < 0 ? -1 : bench_connect_port(relay->target);
    size_t at = 0;

    while (at < relay->way_count && relay->ways[at].to >= 0)
        at += 2;
    if (server < 0 || at == WAYS_MAX) {
        if (client >= 0)
            (void)close(client);
        if (server >= 0)
            (void)close(server);
        return;
    }
    send_at_once(client);
    relay->ways[at] = (struct way){.from = client, .to = server};
    relay->ways[at + 1] = (struct way){.from = server, .to = client};
    relay->ways[at].last = &relay->ways[at].first;
    relay->ways[at + 1].last = &relay->ways[at + 1].first;
    if (at == relay->way_count)
        relay->way_count += 2;
}

/* Takes what has come. Returns false if the connection ends. */
static bool
take_load(const struct bench_relay *relay, struct way *way)
{
    struct load *load = malloc(sizeof(*load) + STEP);
    ssize_t got;

    if (load == NULL)
        bench_fail("a relay", "no memory");
    got = recv(way->from, load->bytes, STEP, MSG_DONTWAIT);
    if (got <= 0) {
        free(load);
        return got < 0 && (errno == EAGAIN || errno == EINTR);
    }
    load->next = NULL;
    load->size = (size_t)got;
    load->due_us = clock_us() + relay->delay_us;
    if (way->first == NULL)
        way->last = &way->first;
    *way->last = load;
    way->last = &load->next;
    return true;
}

/* Sends what is due. Returns false if the connection ends. */
static bool
pass_on(struct way *way)
{
    while (way->first != NULL && way->first->due_us <= clock_us()) {
        struct load *load = way->first;
        size_t at = 0;
        ssize_t sent = 0;

        while (at < load->size && sent >= 0) {
            sent =
                send(way->to, load->bytes + at, load->size - at, MSG_NOSIGNAL);
            at += sent > 0 ? (size_t)sent : 0;
        }
        way->first = load->next;
        free(load);
        if (sent < 0)
            return false;
    }
    return true;
}

static uint64_t
time_to_wait(const struct bench_relay *relay)
{
    const uint64_t now = clock_us();
    uint64_t wait_ns = IDLE_NS;

    for (size_t i = 0; i < relay->way_count; i++) {
        const struct load *load = relay->ways[i].first;
        uint64_t left_ns;

        if (load == NULL)
            continue;
        left_ns = load->due_us <= now ? 0 : (load->due_us - now) * 1000;
        if (left_ns < wait_ns)
            wait_ns = left_ns;
    }
    return wait_ns;
}

static void *
run(void *context)
{
    struct bench_relay *relay = context;
    struct pollfd waits[WAYS_MAX + 1];

    while (!relay->is_stopped) {
        const size_t count = relay->way_count;
        const struct timespec wait = {0, (long)time_to_wait(relay)};

        for (size_t i = 0; i < count; i++)
            waits[i] = (struct pollfd){
                relay->ways[i].to < 0 ? -1 : relay->ways[i].from, POLLIN, 0};
        waits[count] = (struct pollfd){relay->listener, POLLIN, 0};
        (void)ppoll(waits, count + 1, &wait, NULL);
        for (size_t i = 0; i < count; i++) {
            struct way *way = &relay->ways[i];
            const bool has_come = way->to >= 0 && waits[i].revents != 0;

            if (way->to >= 0 &&
                ((has_come && !take_load(relay, way)) || !pass_on(way)))
                end_connection(relay, i);
        }
        if (waits[count].revents != 0)
            take_connection(relay);
    }
    return NULL;
}

struct bench_relay *
bench_relay_start(uint16_t port)
{
    struct bench_relay *relay = bench_allocate(1, sizeof(*relay));

    relay->target = port;
    relay->listener = bench_listen(&relay->port);
    if (pthread_create(&relay->thread, NULL, run, relay) != 0)
        bench_fail("a relay", "cannot start a thread");
    return relay;
}

void
bench_relay_stop(struct bench_relay *relay)
{
    relay->is_stopped = true;
    (void)pthread_join(relay->thread, NULL);
    for (size_t i = 0; i < relay->way_count; i += 2)
        end_connection(relay, i);
    (void)close(relay->listener);
    free(relay);
}

uint16_t
bench_relay_port(const struct bench_relay *relay)
{
    return relay->port;
}

void
bench_relay_delay(struct bench_relay *relay, uint64_t delay_us)
{
    relay->delay_us = delay_us;
}

/*
 * A client of HTTP on a Unix socket, which keeps its connection.
 *
 * Threads: a client is used by one thread at a time
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BENCH_HTTP_H
#define BENCH_HTTP_H

#include "bench.h"

struct bench_http {
    int fd;
    struct colander_buffer sent;
    struct colander_buffer got; /* the last reply, and no more */
};

/* Connects to the socket `name` in the directory, whose path may be long.
 * Returns -1 if no one listens. */
int bench_connect(const char *directory, const char *name);

/* Sends all of it. */
void bench_send(int fd, const void *bytes, size_t size);

/* Appends what comes next, and fails if nothing does. */
void bench_receive(int fd, struct colander_buffer *bytes);

/* Connects to the server of the store. */
void bench_http_open(struct bench_http *http, const char *store);
void bench_http_close(struct bench_http *http);

/* Sends a request, and returns the body of its reply, which must have the
 * status 200 and its size in its head. Borrowed until the next request. */
struct colander_slice bench_http_get(struct bench_http *http,
                                     const char *target);

/* Sends the request that the caller has put into http->sent. */
struct colander_slice bench_http_ask(struct bench_http *http);

/* As bench_http_get, with any status. Returns whether it is 200. */
bool bench_http_try(struct bench_http *http, const char *target,
                    struct colander_slice *body);
struct colander_slice bench_http_post(struct bench_http *http,
                                      const char *target,
                                      struct colander_slice body);

#endif

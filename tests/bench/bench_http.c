/*
 * A client of HTTP on a Unix socket.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench_http.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define STEP ((size_t)64 << 10)

int
bench_connect(const char *directory, const char *name)
{
    const int folder = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    bool is_connected;

    if (folder < 0 || fd < 0)
        bench_fail(directory, strerror(errno));
    (void)snprintf(address.sun_path, sizeof(address.sun_path),
                   "/proc/self/fd/%d/%s", folder, name);
    is_connected =
        connect(fd, (const struct sockaddr *)&address, sizeof(address)) == 0;
    (void)close(folder);
    if (!is_connected)
        (void)close(fd);
    return is_connected ? fd : -1;
}

void
bench_send(int fd, const void *bytes, size_t size)
{
    const uint8_t *from = bytes;

    while (size > 0) {
        const ssize_t sent = send(fd, from, size, MSG_NOSIGNAL);

        if (sent < 0 && errno != EINTR)
            bench_fail("a server", strerror(errno));
        if (sent > 0) {
            from += sent;
            size -= (size_t)sent;
        }
    }
}

void
bench_receive(int fd, struct colander_buffer *bytes)
{
    ssize_t got;

    bench_check(colander_buffer_reserve(bytes, STEP, &bench_error));
    do
        got = recv(fd, bytes->data + bytes->size, STEP, 0);
    while (got < 0 && errno == EINTR);
    if (got <= 0)
        bench_fail("a server", got < 0 ? strerror(errno) : "it ends");
    bytes->size += (size_t)got;
}

void
bench_http_open(struct bench_http *http, const char *store)
{
    memset(http, 0, sizeof(*http));
    http->fd = bench_connect(store, "SOCKET");
    if (http->fd < 0)
        bench_fail(store, "no one serves it");
}

void
bench_http_close(struct bench_http *http)
{
    (void)close(http->fd);
    colander_buffer_release(&http->sent);
    colander_buffer_release(&http->got);
}

/* Returns the bytes of the reply before its body; 0: they have not come. */
static size_t
head_size(const struct bench_http *http)
{
    const uint8_t *end = memmem(http->got.data, http->got.size, "\r\n\r\n", 4);

    return end == NULL ? 0 : (size_t)(end - http->got.data) + 4;
}

static size_t
body_size(const struct bench_http *http, size_t head)
{
    static const char name[] = "\r\nContent-Length: ";
    const char *at = memmem(http->got.data, head, name, sizeof(name) - 1);

    if (at == NULL)
        bench_fail("a reply", (const char *)http->got.data);
    return strtoul(at + sizeof(name) - 1, NULL, 10);
}

/* Returns whether the status is 200. */
static bool
ask(struct bench_http *http, struct colander_slice *body)
{
    size_t head = 0;
    size_t size = 0;

    bench_send(http->fd, http->sent.data, http->sent.size);
    colander_buffer_clear(&http->got);
    while (head == 0 || http->got.size < size) {
        bench_receive(http->fd, &http->got);
        bench_append(&http->got, "", 1); /* for what reads it as a text */
        http->got.size--;
        if (head == 0) {
            head = head_size(http);
            size = head == 0 ? 0 : head + body_size(http, head);
        }
    }
    *body = colander_slice_of(http->got.data + head, size - head);
    return memcmp(http->got.data, "HTTP/1.1 200 ", 13) == 0;
}

struct colander_slice
bench_http_ask(struct bench_http *http)
{
    struct colander_slice body;

    if (!ask(http, &body))
        bench_fail("a reply", (const char *)http->got.data);
    return body;
}

bool
bench_http_try(struct bench_http *http, const char *target,
               struct colander_slice *body)
{
    colander_buffer_clear(&http->sent);
    bench_print(&http->sent, "GET %s HTTP/1.1\r\nHost: store\r\n\r\n", target);
    return ask(http, body);
}

struct colander_slice
bench_http_get(struct bench_http *http, const char *target)
{
    colander_buffer_clear(&http->sent);
    bench_print(&http->sent, "GET %s HTTP/1.1\r\nHost: store\r\n\r\n", target);
    return bench_http_ask(http);
}

struct colander_slice
bench_http_post(struct bench_http *http, const char *target,
                struct colander_slice body)
{
    colander_buffer_clear(&http->sent);
    bench_print(&http->sent,
                "POST %s HTTP/1.1\r\nHost: store\r\nContent-Length: %zu\r\n"
                "\r\n",
                target, body.size);
    bench_append(&http->sent, body.data, body.size);
    return bench_http_ask(http);
}

/*
 * A store with rows, served by this process, and clients that write bytes to
 * its sockets and read what comes back.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_SERVE_SERVED_H
#define TESTS_SERVE_SERVED_H

#include "serve/serve.h"
#include "serve/sockets.h"

#include "support/cases.h"
#include "support/temporary.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <sys/socket.h>
#include <sys/un.h>

#define SERVED_TOKEN "0123456789abcdef0123456789abcdef"
#define SERVED_ROWS 20000 /* some 4 MB as JSON: no buffer on the way has it */
#define SERVED_WAIT_S 60  /* for what must come; then the test fails */

struct served {
    char directory[TEMPORARY_SIZE];
    struct colander_store *store;
    struct colander_family *rows;
    struct server_options options;
    struct server *server;
};

static inline void
served_start(struct served *served)
{
    OK(server_start(served->store, &served->options, &served->server, why()));
}

static inline void
served_stop(struct served *served)
{
    server_stop(served->server);
    served->server = NULL;
}

/* Row 7 of generation "a" is {"_key":7,"n":7,"generation":"a",...}. */
static inline void
served_write(struct served *served, int first, int count,
             const char *generation)
{
    struct colander_batch *batch = NULL;
    struct colander_row_builder *builder = colander_row_builder_create();
    struct colander_buffer key = COLANDER_BUFFER_EMPTY;
    char filler[160];

    memset(filler, 'x', sizeof(filler) - 1);
    filler[sizeof(filler) - 1] = '\0';
    OK(colander_batch_create(served->store, &batch, why()));
    for (int i = first; i < first + count; i++) {
        const struct colander_value part = colander_integer(i);
        struct colander_slice row;

        colander_row_builder_add(builder, "n", colander_integer(i));
        colander_row_builder_add(builder, "generation",
                                 colander_text(generation));
        colander_row_builder_add(builder, "filler", colander_text(filler));
        OK(colander_row_builder_finish(builder, &row, why()));
        colander_buffer_clear(&key);
        OK(colander_key_encode(&part, 1, &key, why()));
        OK(colander_batch_put(batch, served->rows, colander_buffer_slice(&key),
                              row, why()));
    }
    OK(colander_batch_commit(batch, NULL, why()));
    colander_buffer_release(&key);
    colander_row_builder_destroy(builder);
    colander_batch_destroy(batch);
}

static inline void
served_open(struct served *served)
{
    OK(colander_store_open(served->directory, NULL, &served->store, why()));
    OK(colander_family_open(served->store, "rows", &served->rows, why()));
}

static inline void
served_close(struct served *served)
{
    served_stop(served);
    colander_family_close(served->rows);
    OK(colander_store_close(served->store, why()));
    served->store = NULL;
}

static inline int
served_setup(void **state)
{
    struct served *served = calloc(1, sizeof(*served));

    assert_non_null(served);
    temporary_make(served->directory);
    served_open(served);
    served_write(served, 0, SERVED_ROWS, "a");
    server_options_init(&served->options);
    served->options.address = "127.0.0.1:0";
    served->options.token = SERVED_TOKEN;
    *state = served;
    return 0;
}

static inline int
served_teardown(void **state)
{
    struct served *served = *state;

    if (served->store != NULL)
        served_close(served);
    temporary_remove(served->directory);
    free(served);
    return 0;
}

#define SERVED_TEST(name)                                                      \
    TEST_WITH(struct served *served, name, served_setup, served_teardown)

/* -------------------------------------------------------------- clients --- */

/* Returns -1 if no one listens. */
static inline int
client_connect(const char *directory)
{
    int directory_fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    char path[STORE_SOCKET_PATH_SIZE];
    bool is_connected;

    store_socket_path(directory_fd, path);
    memcpy(to.sun_path, path, strlen(path) + 1);
    is_connected = connect(fd, (const struct sockaddr *)&to, sizeof(to)) == 0;
    (void)close(directory_fd);
    if (!is_connected)
        (void)close(fd);
    return is_connected ? fd : -1;
}

static inline int
client_local(const struct served *served)
{
    int fd = client_connect(served->directory);

    assert_true(fd >= 0);
    return fd;
}

static inline int
client_network(const struct served *served)
{
    const char *address = server_address(served->server);
    const struct sockaddr_in to = {
        .sin_family = AF_INET,
        .sin_port = htons((uint16_t)atoi(strchr(address, ':') + 1)),
        .sin_addr = {htonl(INADDR_LOOPBACK)},
    };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    ZERO(connect(fd, (const struct sockaddr *)&to, sizeof(to)));
    return fd;
}

/* Sends all of it, or as much as the other end takes before it closes. */
static inline void
client_send(int fd, const char *bytes, size_t size)
{
    while (size > 0) {
        struct pollfd one = {fd, POLLOUT, 0};
        ssize_t sent;

        if (poll(&one, 1, SERVED_WAIT_S * 1000) != 1)
            fail_msg("the server takes no more");
        sent = send(fd, bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0 && errno == EAGAIN)
            continue;
        if (sent <= 0)
            return;
        bytes += sent;
        size -= (size_t)sent;
    }
}

static inline void
client_say(int fd, const char *text)
{
    client_send(fd, text, strlen(text));
}

/* Waits for bytes. Returns 0 at the end, also one by a reset. */
static inline size_t
client_read(int fd, char *bytes, size_t size)
{
    struct pollfd one = {fd, POLLIN, 0};
    ssize_t got;

    if (poll(&one, 1, SERVED_WAIT_S * 1000) != 1)
        fail_msg("the server neither answers nor closes");
    got = recv(fd, bytes, size, 0);
    return got < 0 ? 0 : (size_t)got;
}

/* Returns all that comes until the connection ends, which it closes. The caller
 * frees it. */
static inline char *
client_rest(int fd)
{
    size_t size = 0;
    size_t capacity = 1 << 16;
    char *text = malloc(capacity);
    size_t got;

    assert_non_null(text);
    while ((got = client_read(fd, text + size, capacity - size - 1)) > 0) {
        size += got;
        if (capacity - size < 1 << 15)
            text = realloc(text, capacity *= 2);
        assert_non_null(text);
    }
    text[size] = '\0';
    (void)close(fd);
    return text;
}

/* Sends a request that closes the connection, and returns all of the reply. */
static inline char *
client_get(const struct served *served, const char *target)
{
    int fd = client_local(served);
    char request[4096];

    (void)snprintf(request, sizeof(request),
                   "GET %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
                   target);
    client_say(fd, request);
    return client_rest(fd);
}

/* The status of a reply; 0: there is none. */
static inline int
reply_status(const char *reply)
{
    return strncmp(reply, "HTTP/1.", 7) == 0 ? atoi(reply + 9) : 0;
}

static inline int
client_status(const struct served *served, const char *target)
{
    char *reply = client_get(served, target);
    const int status = reply_status(reply);

    free(reply);
    return status;
}

/* Whether the reply has the text. */
static inline bool
client_sees(const struct served *served, const char *target, const char *text)
{
    char *reply = client_get(served, target);
    const bool has = strstr(reply, text) != NULL;

    free(reply);
    return has;
}

/* Waits until the reply has the text. */
static inline void
client_awaits(const struct served *served, const char *target, const char *text)
{
    for (int i = 0; !client_sees(served, target, text); i++) {
        if (i == SERVED_WAIT_S * 100)
            fail_msg("%s never has %s", target, text);
        usleep(10000);
    }
}

/* Removes the framing of a chunked body, in place. Returns whether it ended. */
static inline bool
unchunk(char *body)
{
    char *to = body;
    char *from = body;

    for (;;) {
        char *end;
        const size_t size = strtoul(from, &end, 16);

        if (end == from || strncmp(end, "\r\n", 2) != 0 ||
            strlen(end + 2) < size) {
            *to = '\0';
            return false;
        }
        memmove(to, end + 2, size);
        to += size;
        from = end + 2 + size + 2;
        if (size == 0) {
            *to = '\0';
            return true;
        }
    }
}

static inline char *
body_of(char *reply)
{
    char *body = strstr(reply, "\r\n\r\n");

    assert_non_null(body);
    return body + 4;
}

#endif

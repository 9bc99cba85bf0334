/*
 * Any bytes as what a client sends to a server. Whatever they are, it answers
 * with statuses that it knows or not at all, and then answers others.
 *
 * The first byte says whether they come through the socket of the store, or by
 * the address with the token, which stands for a byte 1 in them. Commands that
 * a request means are not run: they read what the request has, and print some.
 *
 * SPDX-License-Identifier: MIT
 */
#include "fuzz/fuzz.h"
#include "fuzz/store.h"
#include "serve/serve.h"
#include "serve/sockets.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#define TOKEN "0123456789abcdef"
#define WAIT_MS 10000 /* for an answer, or the end of the connection */

static struct server *server;
static uint16_t port;

/* ------------------------------------------------------------- commands --- */

static int
run(void *context, const struct server_command *command)
{
    bool is_end = command->result == NULL;
    char bytes[1000];
    size_t size = 0;

    (void)context;
    expect(command->word_count > 0);
    for (size_t i = 0; i < command->word_count; i++)
        fprintf(command->out, "{\"word\":%zu}\n", strlen(command->words[i]));
    while (!is_end && strcmp(command->words[0], "load") == 0) {
        size_t got = 0;

        if (server_file_read((void *)command, "-", size, bytes, sizeof(bytes),
                             &got, &is_end,
                             &command->result->failure) != COLANDER_OK)
            return 1;
        size += got;
    }
    if (command->result != NULL)
        colander_row_builder_add(command->result->facts, "size",
                                 colander_unsigned(size));
    return 0;
}

/* --------------------------------------------------------------- server --- */

static void
start(void)
{
    struct server_options options;

    fuzz_store_open();
    fuzz_store_fill();
    server_options_init(&options);
    options.address = "127.0.0.1:0";
    options.token = TOKEN;
    options.run = run;
    options.drop_ms = 100;
    OK(server_start(fuzz_store, &options, &server, NULL));
    port = (uint16_t)atoi(strchr(server_address(server), ':') + 1);
}

/* ------------------------------------------------------------- a client --- */

static int
connect_to(bool is_local)
{
    const struct sockaddr_in network = {
        .sin_family = AF_INET,
        .sin_port = htons(port),
        .sin_addr = {htonl(INADDR_LOOPBACK)},
    };
    struct sockaddr_un local = {.sun_family = AF_UNIX};
    int fd =
        socket(is_local ? AF_UNIX : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    expect(fd >= 0);
    (void)snprintf(local.sun_path, sizeof(local.sun_path), "%s/SOCKET",
                   colander_store_path(fuzz_store));
    if (is_local)
        expect(connect(fd, (const struct sockaddr *)&local, sizeof(local)) ==
               0);
    else
        expect(connect(fd, (const struct sockaddr *)&network,
                       sizeof(network)) == 0);
    return fd;
}

/* Sends the bytes, each 1 as the header with the token. */
static void
send_all(int fd, const uint8_t *data, size_t size)
{
    static const char header[] = "Authorization: Bearer " TOKEN "\r\n";

    for (size_t i = 0; i < size;) {
        const uint8_t *next = memchr(data + i, 1, size - i);
        const size_t count =
            next == NULL ? size - i : (size_t)(next - data) - i;

        if (count > 0 && send(fd, data + i, count, MSG_NOSIGNAL) < 0)
            return;
        if (next != NULL &&
            send(fd, header, sizeof(header) - 1, MSG_NOSIGNAL) < 0)
            return;
        i += count + (next != NULL);
    }
}

/* Waits for bytes. The fuzzer has an alarm. */
static void
await_bytes(int fd)
{
    struct pollfd one = {fd, POLLIN, 0};
    int ready;

    do
        ready = poll(&one, 1, WAIT_MS);
    while (ready < 0 && errno == EINTR);
    expect(ready == 1);
}

/* Reads what is answered, until the server closes. Returns the first status; 0:
 * there is none. */
static int
read_all(int fd)
{
    char head[16] = "";
    char bytes[65536];
    size_t size = 0;
    ssize_t got = 1;

    while (got > 0) {
        await_bytes(fd);
        got = recv(fd, bytes, sizeof(bytes), 0);
        for (ssize_t i = 0; i < got && size < sizeof(head) - 1; i++)
            head[size++] = bytes[i];
    }
    if (size < sizeof("HTTP/1.1 200") - 1)
        return 0;
    expect(strncmp(head, "HTTP/1.", 7) == 0);
    return atoi(head + 9);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char last[] = "GET /health HTTP/1.1\r\nHost: x\r\n"
                               "Connection: close\r\n\r\n";
    int status;
    int fd;

    if (server == NULL)
        start();
    if (size == 0)
        return 0;
    fd = connect_to(data[0] % 2 == 0);
    send_all(fd, data + 1, size - 1);
    (void)shutdown(fd, SHUT_WR);
    status = read_all(fd);
    expect(status == 0 || (status >= 100 && status < 600 && status != 500));
    (void)close(fd);
    fd = connect_to(true);
    expect(send(fd, last, sizeof(last) - 1, MSG_NOSIGNAL) ==
           (ssize_t)sizeof(last) - 1);
    expect(read_all(fd) == 200);
    (void)close(fd);
    return 0;
}

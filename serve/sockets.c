/* See sockets.h. SPDX-License-Identifier: MIT */
#include "serve/sockets.h"
#include "serve/serve.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define SOCKET_NEW SERVER_SOCKET ".new"
#define BACKLOG 128

/* ----------------------------------------------------- in the directory --- */

static enum colander_code
lock_directory(struct store_socket *socket, const char *path,
               struct colander_error *err)
{
    socket->directory_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (socket->directory_fd < 0)
        return COLANDER_FAIL(err, COLANDER_IO, "cannot open '%s': %s", path,
                             strerror(errno));
    if (flock(socket->directory_fd, LOCK_EX | LOCK_NB) == 0)
        return COLANDER_OK;
    if (errno == EWOULDBLOCK)
        return COLANDER_FAIL(err, COLANDER_BUSY,
                             "another process serves the store '%s'", path);
    return COLANDER_FAIL(err, COLANDER_IO, "cannot lock '%s': %s", path,
                         strerror(errno));
}

/* Linux takes the mode of the file from the socket. */
static enum colander_code
bind_socket(struct store_socket *self, struct colander_error *err)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    (void)snprintf(address.sun_path, sizeof(address.sun_path),
                   "/proc/self/fd/%d/" SOCKET_NEW, self->directory_fd);
    self->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    (void)unlinkat(self->directory_fd, SOCKET_NEW, 0);
    if (self->fd >= 0 && fchmod(self->fd, 0600) == 0 &&
        bind(self->fd, (const struct sockaddr *)&address, sizeof(address)) ==
            0 &&
        listen(self->fd, BACKLOG) == 0 &&
        renameat(self->directory_fd, SOCKET_NEW, self->directory_fd,
                 SERVER_SOCKET) == 0)
        return COLANDER_OK;
    return COLANDER_FAIL(err, COLANDER_IO, "cannot listen on '%s': %s",
                         SERVER_SOCKET, strerror(errno));
}

enum colander_code
store_socket_open(struct store_socket *socket, const char *path,
                  struct colander_error *err)
{
    const struct store_socket closed = STORE_SOCKET_CLOSED;
    enum colander_code code;

    *socket = closed;
    code = lock_directory(socket, path, err);
    if (code == COLANDER_OK)
        code = bind_socket(socket, err);
    if (code != COLANDER_OK)
        store_socket_close(socket);
    return code;
}

void
store_socket_remove(struct store_socket *socket)
{
    if (socket->directory_fd >= 0)
        (void)unlinkat(socket->directory_fd, SERVER_SOCKET, 0);
}

void
store_socket_close(struct store_socket *socket)
{
    if (socket->fd >= 0)
        (void)close(socket->fd);
    if (socket->directory_fd >= 0)
        (void)close(socket->directory_fd);
    socket->fd = socket->directory_fd = -1;
}

void
store_socket_path(int directory_fd, char path[STORE_SOCKET_PATH_SIZE])
{
    (void)snprintf(path, STORE_SOCKET_PATH_SIZE,
                   "/proc/self/fd/%d/" SERVER_SOCKET, directory_fd);
}

/* -------------------------------------------------------------- network --- */

/* Splits "host:port", and takes the brackets off an address of IPv6. */
static bool
split_address(const char *address, char host[ADDRESS_TEXT_SIZE],
              const char **port)
{
    const char *colon = strrchr(address, ':');
    uint8_t number[sizeof(struct in6_addr)];
    size_t size;

    if (colon == NULL || colon == address || colon[1] == '\0' ||
        colon[1 + strspn(colon + 1, "0123456789")] != '\0' ||
        strlen(colon + 1) > 5 || atoi(colon + 1) > UINT16_MAX)
        return false;
    *port = colon + 1;
    size = (size_t)(colon - address);
    if (address[0] == '[' && size > 2 && address[size - 1] == ']') {
        address++;
        size -= 2;
    } else if (memchr(address, ':', size) != NULL) {
        return false;
    }
    if (size >= ADDRESS_TEXT_SIZE)
        return false;
    memcpy(host, address, size);
    host[size] = '\0';
    return inet_pton(strchr(host, ':') == NULL ? AF_INET : AF_INET6, host,
                     number) == 1;
}

/* Returns what the address stands for, or NULL. Release with freeaddrinfo. */
static struct addrinfo *
resolve(const char *address)
{
    const struct addrinfo hints = {
        .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE,
        .ai_socktype = SOCK_STREAM,
    };
    char host[ADDRESS_TEXT_SIZE];
    struct addrinfo *found = NULL;
    const char *port;

    if (!split_address(address, host, &port) ||
        getaddrinfo(host, port, &hints, &found) != 0)
        return NULL;
    return found;
}

/* Connections have what the listening socket is set to: a client that has lost
 * its network is noticed after a minute, also while it is waited for. */
static bool
is_watched(int fd)
{
    const int yes = 1;
    const int idle = 30; /* seconds */
    const int interval = 10;
    const int count = 3;

    return setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof(yes)) == 0 &&
           setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof(idle)) ==
               0 &&
           setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval,
                      sizeof(interval)) == 0 &&
           setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof(count)) == 0;
}

static bool
listens(int fd, const struct addrinfo *at)
{
    const int yes = 1;

    return setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)) == 0 &&
           is_watched(fd) && bind(fd, at->ai_addr, at->ai_addrlen) == 0 &&
           listen(fd, BACKLOG) == 0;
}

static void
describe(const struct sockaddr_storage *address, socklen_t size,
         char text[ADDRESS_TEXT_SIZE])
{
    char host[48] = "?";
    char port[8] = "?";

    if (size > 0)
        (void)getnameinfo((const struct sockaddr *)address, size, host,
                          sizeof(host), port, sizeof(port),
                          NI_NUMERICHOST | NI_NUMERICSERV);
    (void)snprintf(text, ADDRESS_TEXT_SIZE,
                   strchr(host, ':') == NULL ? "%s:%s" : "[%s]:%s", host, port);
}

void
address_of(int fd, char text[ADDRESS_TEXT_SIZE])
{
    struct sockaddr_storage address;
    socklen_t size = sizeof(address);

    if (getsockname(fd, (struct sockaddr *)&address, &size) != 0)
        size = 0;
    describe(&address, size, text);
}

enum colander_code
address_take(int fd, char text[ADDRESS_TEXT_SIZE], struct colander_error *err)
{
    const int flags = fcntl(fd, F_GETFL);

    address_of(fd, text);
    if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) != 0 ||
        !is_watched(fd))
        return COLANDER_FAIL(err, COLANDER_IO, "cannot listen on %s: %s", text,
                             strerror(errno));
    return COLANDER_OK;
}

enum colander_code
address_listen(const char *address, int *fd, char text[ADDRESS_TEXT_SIZE],
               struct colander_error *err)
{
    struct addrinfo *at = resolve(address);
    bool is_listening;
    int error;

    *fd = -1;
    if (at == NULL)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "'%s' is not an address: write 127.0.0.1:7411, "
                             "or [::1]:7411",
                             address);
    *fd = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    is_listening = *fd >= 0 && listens(*fd, at);
    error = errno;
    freeaddrinfo(at);
    if (is_listening) {
        address_of(*fd, text);
        return COLANDER_OK;
    }
    if (*fd >= 0)
        (void)close(*fd);
    *fd = -1;
    return COLANDER_FAIL(err, COLANDER_IO, "cannot listen on %s: %s", address,
                         strerror(error));
}

bool
server_is_loopback(const char *address)
{
    return strncmp(address, "127.", 4) == 0 ||
           strncmp(address, "[::1]:", 6) == 0;
}

bool
peer_is_trusted(int fd)
{
    struct ucred peer;
    socklen_t size = sizeof(peer);

    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
           (peer.uid == geteuid() || peer.uid == 0);
}

void
peer_describe(int fd, char text[ADDRESS_TEXT_SIZE])
{
    struct sockaddr_storage address = {.ss_family = AF_UNSPEC};
    socklen_t size = sizeof(address);
    struct ucred peer = {0, 0, 0};
    socklen_t peer_size = sizeof(peer);

    if (getpeername(fd, (struct sockaddr *)&address, &size) != 0)
        size = 0;
    if (size > 0 && address.ss_family != AF_UNIX) {
        describe(&address, size, text);
        return;
    }
    (void)getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &peer_size);
    (void)snprintf(text, ADDRESS_TEXT_SIZE, "uid %u, pid %d",
                   (unsigned)peer.uid, (int)peer.pid);
}

/*
 * The sockets that a server listens on.
 *
 * The Unix socket is a file in the store's directory. The server of a store
 * has the directory itself locked (flock), so a socket that is found is of a
 * server that was killed. A new one is bound under another name and gets its
 * own with a rename: who finds it can connect. It is opened by way of
 * /proc/self/fd, as the path of a socket may have 107 bytes only.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SERVE_SOCKETS_H
#define SERVE_SOCKETS_H

#include "core/core.h"

/* The socket in a directory. */
struct store_socket {
    int directory_fd; /* locked; -1: closed */
    int fd;           /* listens; -1: closed, or taken by the caller */
};

#define STORE_SOCKET_CLOSED                                                    \
    {                                                                          \
        -1, -1                                                                 \
    }

/* Listens in the store at `path`. Fails with BUSY if another process does. */
COLANDER_CHECKED enum colander_code
store_socket_open(struct store_socket *socket, const char *path,
                  struct colander_error *err);

/* Removes the file: no one can connect any more. Keeps the lock. */
void store_socket_remove(struct store_socket *socket);

/* Releases the lock, and closes what is open. A closed one is allowed. */
void store_socket_close(struct store_socket *socket);

#define STORE_SOCKET_PATH_SIZE 64

/* Sets `path` to one of the socket in the directory that is open as
 * `directory_fd`, for this process. */
void store_socket_path(int directory_fd, char path[STORE_SOCKET_PATH_SIZE]);

#define ADDRESS_TEXT_SIZE 64

/* Listens on `address` ("127.0.0.1:7411", "[::1]:0"), and sets `text` to it
 * with the port that it got. On success *fd is the caller's to close. */
COLANDER_CHECKED enum colander_code address_listen(const char *address, int *fd,
                                                   char text[ADDRESS_TEXT_SIZE],
                                                   struct colander_error *err);

/* Sets `text` to the address that a socket has. */
void address_of(int fd, char text[ADDRESS_TEXT_SIZE]);

/* Prepares a socket that listens and was made by another program, and sets
 * `text` to its address. */
COLANDER_CHECKED enum colander_code
address_take(int fd, char text[ADDRESS_TEXT_SIZE], struct colander_error *err);

/* Whether the other end of the Unix socket is a process of our user or root. */
bool peer_is_trusted(int fd);

/* Says who is at the other end: "127.0.0.1:4321", or "uid 1000, pid 4321". */
void peer_describe(int fd, char text[ADDRESS_TEXT_SIZE]);

#endif

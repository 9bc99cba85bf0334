/* See systemd.h. SPDX-License-Identifier: MIT */
#include "serve/systemd.h"

#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define FIRST_FD 3 /* that is passed */

static bool
listens_by_tcp(int fd)
{
    struct sockaddr_storage address = {.ss_family = AF_UNSPEC};
    socklen_t size = sizeof(address);
    int type = 0;
    int is_listening = 0;
    socklen_t int_size = sizeof(type);

    return getsockname(fd, (struct sockaddr *)&address, &size) == 0 &&
           (address.ss_family == AF_INET || address.ss_family == AF_INET6) &&
           getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &int_size) == 0 &&
           type == SOCK_STREAM &&
           getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &is_listening,
                      &int_size) == 0 &&
           is_listening != 0;
}

enum colander_code
systemd_take_socket(int *fd, char address[ADDRESS_TEXT_SIZE],
                    struct colander_error *err)
{
    const char *process = getenv("LISTEN_PID");
    const char *count = getenv("LISTEN_FDS");
    const long number = count == NULL ? 0 : strtol(count, NULL, 10);
    const bool is_ours =
        process != NULL && strtol(process, NULL, 10) == (long)getpid();
    int flags;

    *fd = -1;
    (void)unsetenv("LISTEN_PID");
    (void)unsetenv("LISTEN_FDS");
    (void)unsetenv("LISTEN_FDNAMES");
    if (!is_ours || number == 0)
        return COLANDER_OK;
    if (number != 1)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "systemd passes %ld sockets: the unit must have "
                             "one ListenStream=ADDRESS:PORT",
                             number);
    flags = fcntl(FIRST_FD, F_GETFD);
    if (!listens_by_tcp(FIRST_FD) || flags < 0 ||
        fcntl(FIRST_FD, F_SETFD, flags | FD_CLOEXEC) != 0)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "systemd passes what is not a socket of TCP that "
                             "listens: the unit must have "
                             "ListenStream=ADDRESS:PORT");
    *fd = FIRST_FD;
    address_of(*fd, address);
    return COLANDER_OK;
}

void
systemd_notify(const char *state)
{
    const char *path = getenv("NOTIFY_SOCKET");
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    size_t size = path == NULL ? 0 : strlen(path);
    int fd;

    if (size == 0 || size > sizeof(to.sun_path) ||
        (path[0] != '/' && path[0] != '@'))
        return;
    memcpy(to.sun_path, path, size);
    if (path[0] == '@') /* a name that is not of a file */
        to.sun_path[0] = '\0';
    fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return;
    (void)!sendto(fd, state, strlen(state), MSG_NOSIGNAL,
                  (const struct sockaddr *)&to,
                  (socklen_t)(offsetof(struct sockaddr_un, sun_path) + size));
    (void)close(fd);
}

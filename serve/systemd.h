/*
 * systemd: what a service is given, and what it says, by the environment that
 * sd_listen_fds(3) and sd_notify(3) describe, without their library.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SERVE_SYSTEMD_H
#define SERVE_SYSTEMD_H

#include "serve/sockets.h"

/* Sets *fd to the socket that was passed to this process, which the caller
 * closes, and `address` to its address; -1: there is none. Children do not get
 * it. Fails with INVALID if there are several, or if it is not a socket of TCP
 * that listens. */
COLANDER_CHECKED enum colander_code
systemd_take_socket(int *fd, char address[ADDRESS_TEXT_SIZE],
                    struct colander_error *err);

/* Says "READY=1" or "STOPPING=1", if anything waits for that. */
void systemd_notify(const char *state);

#endif

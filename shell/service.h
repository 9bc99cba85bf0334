/*
 * Services: other processes use the store that a command has open, by a server
 * in this process. Commands that they ask for are run here.
 *
 * Life: start -> stop
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_SERVICE_H
#define SHELL_SERVICE_H

#include "serve/serve.h"
#include "shell/session.h"

struct service;

/* Starts a server for the store of the session, which must stay open, as must
 * the session, until it is stopped. `options` have no functions; NULL: the
 * defaults, for clients of the socket only. Fails as server_start. */
COLANDER_CHECKED enum colander_code
service_start(const struct session *session,
              const struct server_options *options, struct service **service,
              struct colander_error *err);

/* As server_address. */
const char *service_address(const struct service *service);

/* As server_reopen_log. */
COLANDER_CHECKED enum colander_code
service_reopen_log(const struct service *service, struct colander_error *err);

/* Waits for answers, as server_stop. NULL is allowed. */
void service_stop(struct service *service);

#endif

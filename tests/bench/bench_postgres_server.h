/*
 * A private server of PostgreSQL, on a socket in its own folder: nobody else's
 * server is touched, and nothing listens on a network.
 *
 * PostgreSQL does not run as root; then it runs as the user "postgres" of its
 * package, to whom the folder is given.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BENCH_POSTGRES_SERVER_H
#define BENCH_POSTGRES_SERVER_H

#include <stdbool.h>
#include <sys/types.h>

struct bench_postgres_server {
    pid_t process;
    char directory[4096]; /* where the socket is */
};

/* Why it cannot run here; NULL: it can. */
const char *bench_postgres_missing(void);

/* Makes a cluster in `directory` and starts the server; NULL, or why it does
 * not run. Whether it takes connections already, a client must try. */
const char *bench_postgres_start(struct bench_postgres_server *server,
                                 const char *directory);

/* Whether it has ended by itself; its log says why. */
bool bench_postgres_has_ended(struct bench_postgres_server *server);

void bench_postgres_stop(struct bench_postgres_server *server);

#endif

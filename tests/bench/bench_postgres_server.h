/*
 * A private server of PostgreSQL, on a socket in its own folder. It uses no
 * other server and does not listen on a network.
 *
 * PostgreSQL does not run as root. In that case it runs as the user "postgres"
 * of its package, who owns the folder.
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

/* Creates a cluster next to `directory` and starts the server. Returns NULL, or
 * the reason why it cannot run here. It may not accept connections yet. */
const char *bench_postgres_start(struct bench_postgres_server *server,
                                 const char *directory);

/* Whether it has ended. Its log says why. */
bool bench_postgres_has_ended(struct bench_postgres_server *server);

void bench_postgres_stop(struct bench_postgres_server *server);

#endif

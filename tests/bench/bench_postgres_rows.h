/*
 * Rows in PostgreSQL: a table rows(key bigint, doc jsonb) on a private server
 * (bench_postgres_server.h), which all peers share, as a new cluster takes a
 * second. The server ends with the program.
 *
 * A failure ends the program. Built if libpq is there (BENCH_POSTGRES).
 *
 * Life: open -> load -> run an index -> settle -> size -> prepare -> ask ... ->
 *       close
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BENCH_POSTGRES_ROWS_H
#define BENCH_POSTGRES_ROWS_H

#include "bench_work.h"

struct pg_conn; /* PGconn of libpq */

/* "PostgreSQL 15.18", once one was opened. */
extern char bench_postgres_version[80];

/* Creates the table, which is empty. Returns NULL if the server cannot run
 * here, and sets *reason. `directory` is as in struct bench_peer. */
struct pg_conn *bench_postgres_open(const char *directory, const char **reason);

/* Drops the table. */
void bench_postgres_close(struct pg_conn *connection);

/* Runs statements. The second also releases them. */
void bench_postgres_run(struct pg_conn *connection, const char *statements);
void bench_postgres_run_made(struct pg_conn *connection,
                             struct colander_buffer *statements);

/* Copies a file of lines into the table. */
void bench_postgres_load(struct pg_conn *connection,
                         const struct bench_work *work, const char *path);

/* Does what the server does from time to time. */
void bench_postgres_settle(struct pg_conn *connection);

/* Bytes of the table and its indexes. */
uint64_t bench_postgres_size(struct pg_conn *connection);

/* Reads the rows of a prepared statement whose parameters are the value and, of
 * a range, its end. Returns how many. */
uint64_t bench_postgres_ask(struct pg_conn *connection, const char *statement,
                            const struct bench_work_question *question);

#endif

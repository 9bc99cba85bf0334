/* See bench_postgres_rows.h. SPDX-License-Identifier: MIT */
#include "bench_postgres_rows.h"
#include "bench_lines.h"
#include "bench_postgres_server.h"

#include <inttypes.h>
#include <libpq-fe.h>
#include <stdlib.h>
#include <time.h>

#define PATIENCE 60 /* seconds, until it takes connections */

static struct bench_postgres_server server;

char bench_postgres_version[80] = "PostgreSQL";

static _Noreturn void
fail(PGconn *connection)
{
    bench_fail("postgresql", PQerrorMessage(connection));
}

/* Returns the result of a statement that did not fail. */
static PGresult *
check(PGconn *connection, PGresult *result)
{
    const ExecStatusType status = PQresultStatus(result);

    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK &&
        status != PGRES_COPY_IN)
        fail(connection);
    return result;
}

void
bench_postgres_run(PGconn *connection, const char *statements)
{
    PQclear(check(connection, PQexec(connection, statements)));
}

void
bench_postgres_run_made(PGconn *connection, struct colander_buffer *statements)
{
    bench_postgres_run(connection, (const char *)statements->data);
    colander_buffer_release(statements);
}

/* ---------------------------------------------------------- open, close --- */

/* Returns NULL if the server has ended. */
static PGconn *
connect_to(void)
{
    const struct timespec pause = {0, 50000000};
    const char *const names[] = {"host", "user", "dbname", NULL};
    const char *const values[] = {server.directory, "postgres", "postgres",
                                  NULL};
    const double start = bench_now();

    while (bench_now() < start + PATIENCE &&
           !bench_postgres_has_ended(&server)) {
        PGconn *connection = PQconnectdbParams(names, values, 0);

        if (PQstatus(connection) == CONNECTION_OK)
            return connection;
        PQfinish(connection);
        (void)nanosleep(&pause, NULL);
    }
    return NULL;
}

PGconn *
bench_postgres_open(const char *directory, const char **reason)
{
    PGconn *connection = NULL;
    const char *text;

    if (server.process == 0)
        *reason = bench_postgres_start(&server, directory);
    if (*reason == NULL) {
        connection = connect_to();
        if (connection == NULL)
            *reason = "its server does not start";
    }
    if (*reason != NULL) {
        bench_postgres_stop(&server);
        return NULL;
    }
    text = PQparameterStatus(connection, "server_version");
    (void)snprintf(bench_postgres_version, sizeof(bench_postgres_version),
                   "PostgreSQL %.*s", (int)strcspn(text, " "),
                   text); /* more follows */
    bench_postgres_run(connection,
                       "SET client_min_messages = warning;"
                       "CREATE TABLE rows(key bigint PRIMARY KEY, doc jsonb)");
    return connection;
}

void
bench_postgres_close(PGconn *connection)
{
    bench_postgres_run(connection, "DROP TABLE rows");
    PQfinish(connection);
}

/* --------------------------------------------------- rows in, rows out --- */

/* As CSV between bytes that JSON does not have, a line needs no escapes. */
void
bench_postgres_load(PGconn *connection, const struct bench_work *work,
                    const char *path)
{
    struct colander_buffer copied = COLANDER_BUFFER_EMPTY;
    struct colander_slice lines = bench_map(path);
    struct colander_slice rest = lines;
    struct colander_slice line;
    PGresult *result;

    bench_postgres_run(connection, "COPY rows FROM STDIN (FORMAT csv, "
                                   "DELIMITER E'\\x01', QUOTE E'\\x02')");
    while (bench_next_line(&rest, &line)) {
        colander_buffer_clear(&copied);
        bench_print(&copied, "%" PRId64 "\x01", bench_work_key(work, line));
        bench_append(&copied, line.data, line.size + 1); /* with its end */
        if (PQputCopyData(connection, (const char *)copied.data,
                          (int)copied.size) != 1)
            fail(connection);
    }
    if (PQputCopyEnd(connection, NULL) != 1)
        fail(connection);
    while ((result = PQgetResult(connection)) != NULL)
        PQclear(check(connection, result));
    bench_unmap(lines);
    colander_buffer_release(&copied);
}

void
bench_postgres_settle(PGconn *connection)
{
    bench_postgres_run(connection, "VACUUM (ANALYZE) rows");
    bench_postgres_run(connection, "CHECKPOINT");
}

uint64_t
bench_postgres_size(PGconn *connection)
{
    PGresult *result =
        check(connection,
              PQexec(connection, "SELECT pg_total_relation_size('rows')"));
    const uint64_t size = strtoull(PQgetvalue(result, 0, 0), NULL, 10);

    PQclear(result);
    return size;
}

uint64_t
bench_postgres_ask(PGconn *connection, const char *statement,
                   const struct bench_work_question *question)
{
    const char *const values[] = {question->value, question->to};
    PGresult *result =
        check(connection, PQexecPrepared(connection, statement,
                                         question->to == NULL ? 1 : 2, values,
                                         NULL, NULL, 0));
    const uint64_t found = (uint64_t)PQntuples(result);

    PQclear(result);
    return found;
}

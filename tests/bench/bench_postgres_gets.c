/*
 * PostgreSQL: rows as texts in a table with a primary key, got by a prepared
 * statement.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench_gets.h"
#include "bench_postgres_server.h"

#include <inttypes.h>
#include <libpq-fe.h>
#include <time.h>

#define PATIENCE 60 /* seconds */

static struct bench_postgres_server server;

static void
run(PGconn *connection, const char *statement, ExecStatusType wanted)
{
    PGresult *result = PQexec(connection, statement);

    if (PQresultStatus(result) != wanted)
        bench_fail("postgresql", PQerrorMessage(connection));
    PQclear(result);
}

/* Returns NULL if it does not answer. */
static PGconn *
connect_to(void)
{
    const char *const names[] = {"host", "user", "dbname", NULL};
    const char *const values[] = {server.directory, "postgres", "postgres",
                                  NULL};
    PGconn *connection = PQconnectdbParams(names, values, 0);

    if (PQstatus(connection) == CONNECTION_OK)
        return connection;
    PQfinish(connection);
    return NULL;
}

static void *
open_one(void)
{
    PGconn *connection = connect_to();
    PGresult *result;

    if (connection == NULL)
        bench_fail("postgresql", "no connection");
    result = PQprepare(connection, "get", "SELECT doc FROM rows WHERE key = $1",
                       1, NULL);
    if (PQresultStatus(result) != PGRES_COMMAND_OK)
        bench_fail("postgresql", PQerrorMessage(connection));
    PQclear(result);
    return connection;
}

static void
close_one(void *it)
{
    PQfinish(it);
}

/* A document has no tabs, and its backslashes are doubled. */
static void
copy_row(PGconn *connection, struct colander_buffer *line, uint64_t key,
         const char *text)
{
    colander_buffer_clear(line);
    bench_print(line, "%" PRIu64 "\t", key);
    for (; *text != '\0'; text++) {
        if (*text == '\\')
            bench_append(line, "\\", 1);
        bench_append(line, text, 1);
    }
    bench_append(line, "\n", 1);
    if (PQputCopyData(connection, (const char *)line->data, (int)line->size) !=
        1)
        bench_fail("postgresql", PQerrorMessage(connection));
}

static void
load(PGconn *connection, const struct bench_documents *documents)
{
    struct colander_buffer line = COLANDER_BUFFER_EMPTY;

    run(connection, "CREATE TABLE rows(key bigint PRIMARY KEY, doc text)",
        PGRES_COMMAND_OK);
    run(connection, "COPY rows FROM STDIN", PGRES_COPY_IN);
    for (uint64_t i = 0; i < documents->count; i++)
        copy_row(connection, &line, documents->keys[i], documents->texts[i]);
    if (PQputCopyEnd(connection, NULL) != 1)
        bench_fail("postgresql", PQerrorMessage(connection));
    PQclear(PQgetResult(connection));
    run(connection, "VACUUM ANALYZE rows", PGRES_COMMAND_OK);
    colander_buffer_release(&line);
}

static void
stop(void)
{
    bench_postgres_stop(&server);
}

static const char *
start(const char *directory, const struct bench_documents *documents)
{
    const struct timespec pause = {0, 50000000};
    const double begun = bench_now();
    const char *reason = bench_postgres_start(&server, directory);
    PGconn *connection = NULL;

    while (reason == NULL && connection == NULL &&
           bench_now() < begun + PATIENCE &&
           !bench_postgres_has_ended(&server)) {
        (void)nanosleep(&pause, NULL);
        connection = connect_to();
    }
    if (reason == NULL && connection == NULL)
        reason = "its server does not start";
    if (reason != NULL) {
        stop();
        return reason;
    }
    load(connection, documents);
    PQfinish(connection);
    return NULL;
}

static void
get(void *it, uint64_t key, const char *text)
{
    char number[24];
    const char *const values[] = {number};
    PGresult *result;

    (void)snprintf(number, sizeof(number), "%" PRIu64, key);
    result = PQexecPrepared(it, "get", 1, values, NULL, NULL, 0);
    if (PQresultStatus(result) != PGRES_TUPLES_OK || PQntuples(result) != 1 ||
        strcmp(PQgetvalue(result, 0, 0), text) != 0)
        bench_fail("postgresql", "it returns something else");
    PQclear(result);
}

const struct bench_gets bench_gets_postgres = {
    .name = "postgresql",
    .start = start,
    .stop = stop,
    .open = open_one,
    .close = close_one,
    .get = get,
};

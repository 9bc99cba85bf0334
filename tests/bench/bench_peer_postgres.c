/*
 * PostgreSQL: jsonb in one table, on a private server.
 *
 * Its ways are those that its manual has for documents: none; an index on one
 * expression; BRIN with Bloom filters of runs of pages on one expression; the
 * extension bloom, a signature of each row over all columns (up to 32, none of
 * arrays); and GIN with jsonb_path_ops over the whole document, which knows
 * whole paths: a search in any column asks for each.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench_peer.h"
#include "bench_postgres_server.h"
#include "bench_postgres_sql.h"
#include "bench_ready.h"

#include <libpq-fe.h>
#include <stdlib.h>
#include <time.h>

#define COPY_SIZE 65536
#define PATIENCE 60 /* seconds, until it takes connections */

struct peer {
    const struct bench_work *work;
    enum bench_postgres_way way;
    struct bench_postgres_server server;
    PGconn *connection;
    const char *column; /* that "by_column" asks for; NULL: none yet */
    bool has_any;       /* "by_any" is prepared */
    bool has_added;     /* an index on the column added later */
    bool is_no_scan;    /* what its planner was told last */
};

static const struct bench_peer_way ways[] = {
    {"PostgreSQL, scan", BENCH_PEER_NONE, BENCH_POSTGRES_SCAN},
    {"PostgreSQL, B-tree on one", BENCH_PEER_ONE, BENCH_POSTGRES_BTREE},
    {"PostgreSQL, BRIN bloom on one", BENCH_PEER_ONE, BENCH_POSTGRES_BRIN},
    {"PostgreSQL, bloom on all", BENCH_PEER_ALL, BENCH_POSTGRES_BLOOM},
    {"PostgreSQL, GIN", BENCH_PEER_ALL, BENCH_POSTGRES_GIN},
};

static char version_text[80] = "PostgreSQL";

static const char *
version(void)
{
    return version_text;
}

static _Noreturn void
fail(const struct peer *peer)
{
    bench_fail("postgresql", PQerrorMessage(peer->connection));
}

static void
run(const struct peer *peer, const char *statement)
{
    PGresult *result = PQexec(peer->connection, statement);
    const ExecStatusType status = PQresultStatus(result);

    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
        fail(peer);
    PQclear(result);
}

/* ---------------------------------------------------------- open, close --- */

/* False when the server gave up. */
static bool
connect_to(struct peer *peer)
{
    const struct timespec pause = {0, 50000000};
    const char *const names[] = {"host", "user", "dbname", NULL};
    const char *const values[] = {peer->server.directory, "postgres",
                                  "postgres", NULL};
    const double start = bench_now();

    while (bench_now() < start + PATIENCE &&
           !bench_postgres_has_ended(&peer->server)) {
        peer->connection = PQconnectdbParams(names, values, 0);
        if (PQstatus(peer->connection) == CONNECTION_OK)
            return true;
        PQfinish(peer->connection);
        (void)nanosleep(&pause, NULL);
    }
    return false;
}

/* The server tells more behind a space. */
static void
note_version(const struct peer *peer)
{
    const char *told = PQparameterStatus(peer->connection, "server_version");
    const size_t size = told == NULL ? 0 : strcspn(told, " ");

    (void)snprintf(version_text, sizeof(version_text), "PostgreSQL %.*s",
                   (int)size, told == NULL ? "" : told);
}

static void *
open_peer(const char *directory, const struct bench_work *work,
          const struct bench_peer_way *way, const char **reason)
{
    struct peer *peer = bench_allocate(1, sizeof(*peer));

    peer->work = work;
    peer->way = (enum bench_postgres_way)way->number;
    *reason = bench_postgres_start(&peer->server, directory);
    if (*reason == NULL && !connect_to(peer))
        *reason = "its server does not start";
    if (*reason != NULL) {
        bench_postgres_stop(&peer->server);
        free(peer);
        return NULL;
    }
    note_version(peer);
    run(peer, "SET client_min_messages = warning;"
              "CREATE TABLE rows(key bigint PRIMARY KEY, doc jsonb)");
    return peer;
}

static void
close_peer(void *it)
{
    struct peer *peer = it;

    PQfinish(peer->connection);
    bench_postgres_stop(&peer->server);
    free(peer);
}

/* ------------------------------------------------------------- loading --- */

struct copying {
    const struct peer *peer;
    size_t size;
    char bytes[COPY_SIZE];
};

static void
send(struct copying *copying)
{
    if (copying->size > 0 &&
        PQputCopyData(copying->peer->connection, copying->bytes,
                      (int)copying->size) != 1)
        fail(copying->peer);
    copying->size = 0;
}

static void
put(struct copying *copying, char byte)
{
    if (copying->size == sizeof(copying->bytes))
        send(copying);
    copying->bytes[copying->size++] = byte;
}

/* In the text format of COPY a backslash is written twice; of the other bytes
 * that must be, a line of JSON has none. */
static void
put_line(struct copying *copying, struct colander_slice line)
{
    char key[24];

    (void)snprintf(key, sizeof(key), "%lld\t",
                   (long long)bench_work_key(copying->peer->work, line));
    for (const char *at = key; *at != '\0'; at++)
        put(copying, *at);
    for (size_t i = 0; i < line.size; i++) {
        if (line.data[i] == '\\')
            put(copying, '\\');
        put(copying, (char)line.data[i]);
    }
    put(copying, '\n');
}

static void
end_copy(const struct peer *peer)
{
    PGresult *result;

    if (PQputCopyEnd(peer->connection, NULL) != 1)
        fail(peer);
    while ((result = PQgetResult(peer->connection)) != NULL) {
        if (PQresultStatus(result) != PGRES_COMMAND_OK)
            fail(peer);
        PQclear(result);
    }
}

static void
load(void *it, const char *path)
{
    const struct peer *peer = it;
    struct copying *copying = bench_allocate(1, sizeof(*copying));
    struct colander_slice lines = bench_map(path);
    struct colander_slice rest = lines;
    struct colander_slice line;
    PGresult *result = PQexec(peer->connection, "COPY rows FROM STDIN");

    if (PQresultStatus(result) != PGRES_COPY_IN)
        fail(peer);
    PQclear(result);
    copying->peer = peer;
    while (bench_next_line(&rest, &line))
        put_line(copying, line);
    send(copying);
    end_copy(peer);
    bench_unmap(lines);
    free(copying);
}

/* ------------------------------------------------------------- indexes --- */

static void
make_indexes(void *it)
{
    const struct peer *peer = it;
    struct bench_statement *statement = bench_statement_create();

    bench_postgres_add_indexes(statement, peer->way, peer->work);
    if (statement->size > 0)
        run(peer, statement->text);
    free(statement);
}

static void
settle(void *it)
{
    run(it, "VACUUM (ANALYZE) rows");
    run(it, "CHECKPOINT");
}

static uint64_t
size_of(void *it)
{
    const struct peer *peer = it;
    PGresult *result =
        PQexec(peer->connection, "SELECT pg_total_relation_size('rows')");
    uint64_t size;

    if (PQresultStatus(result) != PGRES_TUPLES_OK)
        fail(peer);
    size = strtoull(PQgetvalue(result, 0, 0), NULL, 10);
    PQclear(result);
    return size;
}

static bool
add_column(void *it, const char *column)
{
    struct peer *peer = it;
    struct bench_statement *statement;

    if (peer->way == BENCH_POSTGRES_SCAN)
        return false;
    if (peer->way == BENCH_POSTGRES_GIN) { /* it has what it needs, unmerged */
        run(peer, "SELECT gin_clean_pending_list('rows_doc_idx')");
        return true;
    }
    statement = bench_statement_create();
    bench_postgres_add_index(statement, peer->way, column);
    run(peer, statement->text);
    free(statement);
    peer->has_added = true;
    return true;
}

/* -------------------------------------------------------------- asking --- */

static void
prepare(const struct peer *peer, const char *name, const char *column)
{
    struct bench_statement *statement = bench_statement_create();

    bench_statement_add(statement, "PREPARE %s(text) AS ", name);
    bench_postgres_add_question(statement, peer->way, peer->work, column);
    run(peer, statement->text);
    free(statement);
}

/* The name of the statement, which is prepared once for each column. */
static const char *
statement_for(struct peer *peer, const char *column)
{
    if (column == NULL) {
        if (!peer->has_any)
            prepare(peer, "by_any", NULL);
        peer->has_any = true;
        return "by_any";
    }
    if (peer->column != NULL && strcmp(peer->column, column) != 0)
        run(peer, "DEALLOCATE by_column");
    if (peer->column == NULL || strcmp(peer->column, column) != 0)
        prepare(peer, "by_column", column);
    peer->column = column;
    return "by_column";
}

/* Its planner takes the costs of these two indexes for those of a scan, and is
 * told not to scan where there is one. Where there is none it must not be told
 * that: then it would scan without its other processes. */
static void
guide_planner(struct peer *peer, const char *column)
{
    const bool is_added =
        column != NULL && strcmp(column, BENCH_WORK_ADDED_COLUMN) == 0;
    const bool is_no_scan =
        (peer->way == BENCH_POSTGRES_BRIN ||
         peer->way == BENCH_POSTGRES_BLOOM) &&
        (is_added ? peer->has_added
                  : bench_postgres_has_index(peer->way, peer->work, column));

    if (is_no_scan != peer->is_no_scan)
        run(peer, is_no_scan ? "SET enable_seqscan = off"
                             : "SET enable_seqscan = on");
    peer->is_no_scan = is_no_scan;
}

static uint64_t
ask(void *it, const struct bench_work_question *question)
{
    struct peer *peer = it;
    const char *name = statement_for(peer, question->column);
    const char *const values[] = {question->value};
    PGresult *result;
    uint64_t found;

    guide_planner(peer, question->column);
    result = PQexecPrepared(peer->connection, name, 1, values, NULL, NULL, 0);
    if (PQresultStatus(result) != PGRES_TUPLES_OK)
        fail(peer);
    found = (uint64_t)PQntuples(result);
    PQclear(result);
    return found;
}

const struct bench_peer bench_peer_postgres = {
    .is_server = true,
    .ways = ways,
    .way_count = sizeof(ways) / sizeof(ways[0]),
    .missing = bench_postgres_missing,
    .version = version,
    .open = open_peer,
    .load = load,
    .index = make_indexes,
    .settle = settle,
    .size = size_of,
    .ask = ask,
    .add_column = add_column,
    .close = close_peer,
};

/*
 * PostgreSQL: jsonb in one table, rows(key bigint, doc jsonb), on a private
 * server.
 *
 * Its ways are those that its manual has for documents: none; an index on one
 * expression; BRIN with Bloom filters of runs of pages on one expression; the
 * extension bloom, a signature of each row over all columns (up to 32, none of
 * arrays); and GIN with jsonb_path_ops over the whole document, which knows
 * whole paths, so that a search in any column asks for each.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench_lines.h"
#include "bench_peer.h"
#include "bench_postgres_server.h"

#include <libpq-fe.h>
#include <stdlib.h>
#include <time.h>

#define COPY_SIZE 65536
#define PATIENCE 60    /* seconds, until it takes connections */
#define COLUMNS_MAX 32 /* of an index */
#define BLOOM_BITS 32  /* of a signature for each column, of which 4 are set */
#define BLOOM_BITS_MIN 80

/* Any depth, also in arrays. */
#define ANYWHERE                                                               \
    "jsonb_path_exists(doc, '$.** ? (@ == $v)', "                              \
    "jsonb_build_object('v', $1::text))"

enum way { SCAN, BTREE, BRIN, BLOOM, GIN };

struct peer {
    const struct bench_work *work;
    enum way way;
    PGconn *connection;
    const char *column; /* that "by_column" asks for; NULL: none yet */
    bool has_any;       /* "by_any" is prepared */
    bool has_added;     /* an index on the column added later */
    bool is_no_scan;    /* as its planner was set last */
};

static const struct bench_peer_way ways[] = {
    {"PostgreSQL, scan", BENCH_PEER_NONE, SCAN},
    {"PostgreSQL, B-tree on one", BENCH_PEER_ONE, BTREE},
    {"PostgreSQL, BRIN bloom on one", BENCH_PEER_ONE, BRIN},
    {"PostgreSQL, bloom on all", BENCH_PEER_ALL, BLOOM},
    {"PostgreSQL, GIN", BENCH_PEER_ALL, GIN},
};

/* All ways share it, as a new cluster takes a second. It ends with the program.
 */
static struct bench_postgres_server server;

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

/* ---------------------------------------------------------- statements --- */

/* Adds the text at a path without arrays. */
static void
add_text(struct colander_buffer *statement, const char *path)
{
    size_t size = strcspn(path, BENCH_PATH_MARKS);

    bench_print(statement, "(doc");
    for (; path[size] != '\0'; size = strcspn(path, BENCH_PATH_MARKS)) {
        bench_print(statement, "->'");
        bench_print_quoted(statement, path, size);
        bench_print(statement, "'");
        path += size + 1;
    }
    bench_print(statement, "->>'");
    bench_print_quoted(statement, path, size);
    bench_print(statement, "')");
}

/* Whether they fit one signature, and can be asked one by one. */
static bool
has_few_columns(const struct bench_work *work)
{
    return !work->has_arrays && work->path_count <= COLUMNS_MAX;
}

static void
add_bloom(struct colander_buffer *statement, const char *const *paths,
          size_t count)
{
    const size_t bits = count * BLOOM_BITS;

    bench_print(statement, "CREATE EXTENSION IF NOT EXISTS bloom;"
                           "CREATE INDEX ON rows USING bloom (");
    for (size_t i = 0; i < count; i++) {
        bench_print(statement, i == 0 ? "" : ", ");
        add_text(statement, paths[i]);
    }
    bench_print(statement, ") WITH (length = %zu",
                bits < BLOOM_BITS_MIN ? BLOOM_BITS_MIN : bits);
    for (size_t i = 0; i < count; i++)
        bench_print(statement, ", col%zu = 4", i + 1);
    bench_print(statement, ");");
}

/* Adds one more index, for a column. */
static void
add_index(struct colander_buffer *statement, enum way way, const char *column)
{
    const bool is_brin = way == BRIN;

    if (way == BLOOM) {
        add_bloom(statement, &column, 1);
        return;
    }
    bench_print(statement, "CREATE INDEX ON rows USING %s (",
                is_brin ? "brin" : "btree");
    add_text(statement, column);
    bench_print(statement, "%s);", is_brin ? " text_bloom_ops" : "");
}

/* Adds all indexes of the way for the columns known beforehand. If there are
 * too many for one signature, those asked about get one each. */
static void
add_indexes(struct colander_buffer *statement, enum way way,
            const struct bench_work *work)
{
    switch (way) {
    case SCAN:
        return;
    case GIN:
        bench_print(statement,
                    "CREATE INDEX ON rows USING gin (doc jsonb_path_ops);");
        return;
    case BLOOM:
        if (has_few_columns(work)) {
            add_bloom(statement, (const char *const *)work->paths,
                      work->path_count);
            return;
        }
        add_index(statement, way, work->other);
        break;
    default:
        break;
    }
    add_index(statement, way, work->chosen);
}

/* Whether one of them answers questions about the column; NULL: about any. */
static bool
has_index(enum way way, const struct bench_work *work, const char *column)
{
    const bool is_bloom = way == BLOOM;

    if (way == GIN || (is_bloom && has_few_columns(work)))
        return true;
    if (way == SCAN || column == NULL)
        return false;
    return strcmp(column, work->chosen) == 0 ||
           (is_bloom && strcmp(column, work->other) == 0);
}

/* Adds the document that has only the value, at the path. Each name opens a
 * map, each element an array; they are closed in turn.
 * NOLINTNEXTLINE(misc-no-recursion) */
static void
add_document(struct colander_buffer *statement, const char *path)
{
    const size_t size = strcspn(path, BENCH_PATH_MARKS);

    if (*path == '\0') {
        bench_print(statement, "$1::text");
        return;
    }
    if (*path == BENCH_PATH_MEMBER) {
        add_document(statement, path + 1);
        return;
    }
    if (*path == BENCH_PATH_ELEMENT) {
        bench_print(statement, "jsonb_build_array(");
        add_document(statement, path + 1);
    } else {
        bench_print(statement, "jsonb_build_object('");
        bench_print_quoted(statement, path, size);
        bench_print(statement, "', ");
        add_document(statement, path + size);
    }
    bench_print(statement, ")");
}

static void
add_contained(struct colander_buffer *statement, const char *path)
{
    bench_print(statement, "doc @> ");
    add_document(statement, path);
}

/* Adds a condition for each path, which finds by an index, and scans faster
 * than a search at any depth. Texts are checked again, as a number may have the
 * same text as a string. */
static void
add_each(struct colander_buffer *statement, enum way way,
         const struct bench_work *work)
{
    bench_print(statement, "(");
    for (size_t i = 0; i < work->path_count; i++) {
        bench_print(statement, i == 0 ? "" : " OR ");
        if (way == GIN) {
            add_contained(statement, work->paths[i]);
        } else {
            add_text(statement, work->paths[i]);
            bench_print(statement, " = $1");
        }
    }
    bench_print(statement, ")");
    if (way != GIN)
        bench_print(statement, " AND " ANYWHERE);
}

/* Adds the question for the value $1 in a column; NULL: in any, at any depth.
 */
static void
add_question(struct colander_buffer *statement, enum way way,
             const struct bench_work *work, const char *column)
{
    bench_print(statement, "SELECT doc FROM rows WHERE ");
    if (column == NULL && (way == GIN || has_few_columns(work))) {
        add_each(statement, way, work);
    } else if (column == NULL) {
        bench_print(statement, ANYWHERE);
    } else if (way == GIN) {
        add_contained(statement, column);
    } else {
        add_text(statement, column);
        bench_print(statement, " = $1");
    }
}

/* ---------------------------------------------------------- open, close --- */

/* Returns false if the server has ended. */
static bool
connect_to(struct peer *peer)
{
    const struct timespec pause = {0, 50000000};
    const char *const names[] = {"host", "user", "dbname", NULL};
    const char *const values[] = {server.directory, "postgres", "postgres",
                                  NULL};
    const double start = bench_now();

    while (bench_now() < start + PATIENCE &&
           !bench_postgres_has_ended(&server)) {
        peer->connection = PQconnectdbParams(names, values, 0);
        if (PQstatus(peer->connection) == CONNECTION_OK)
            return true;
        PQfinish(peer->connection);
        (void)nanosleep(&pause, NULL);
    }
    return false;
}

/* The server reports more after a space. */
static void
note_version(const struct peer *peer)
{
    const char *text = PQparameterStatus(peer->connection, "server_version");
    const size_t size = text == NULL ? 0 : strcspn(text, " ");

    (void)snprintf(version_text, sizeof(version_text), "PostgreSQL %.*s",
                   (int)size, text == NULL ? "" : text);
}

static void *
open_peer(const char *directory, const struct bench_work *work,
          const struct bench_peer_way *way, const char **reason)
{
    struct peer *peer = bench_allocate(1, sizeof(*peer));

    peer->work = work;
    peer->way = (enum way)way->number;
    if (server.process == 0)
        *reason = bench_postgres_start(&server, directory);
    if (*reason == NULL && !connect_to(peer))
        *reason = "its server does not start";
    if (*reason != NULL) {
        bench_postgres_stop(&server);
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

    run(peer, "DROP TABLE rows");
    PQfinish(peer->connection);
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
    struct colander_buffer statement = COLANDER_BUFFER_EMPTY;

    add_indexes(&statement, peer->way, peer->work);
    if (statement.size > 0)
        run(peer, (const char *)statement.data);
    colander_buffer_release(&statement);
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
    struct colander_buffer statement = COLANDER_BUFFER_EMPTY;

    if (peer->way == SCAN)
        return false;
    if (peer->way == GIN) { /* it has what it needs, unmerged */
        run(peer, "SELECT gin_clean_pending_list('rows_doc_idx')");
        return true;
    }
    add_index(&statement, peer->way, column);
    run(peer, (const char *)statement.data);
    colander_buffer_release(&statement);
    peer->has_added = true;
    return true;
}

/* -------------------------------------------------------------- asking --- */

static void
prepare(const struct peer *peer, const char *name, const char *column)
{
    struct colander_buffer statement = COLANDER_BUFFER_EMPTY;

    bench_print(&statement, "PREPARE %s(text) AS ", name);
    add_question(&statement, peer->way, peer->work, column);
    run(peer, (const char *)statement.data);
    colander_buffer_release(&statement);
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

/* Its planner believes that these two indexes cost as much as a scan, and is
 * set not to scan if there is one. Without one it must not be: it would then
 * scan without its other processes. */
static void
guide_planner(struct peer *peer, const char *column)
{
    const bool is_added =
        column != NULL && strcmp(column, BENCH_WORK_ADDED_COLUMN) == 0;
    const bool is_no_scan =
        (peer->way == BRIN || peer->way == BLOOM) &&
        (is_added ? peer->has_added : has_index(peer->way, peer->work, column));

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

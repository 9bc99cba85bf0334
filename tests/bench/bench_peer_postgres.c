/*
 * PostgreSQL: jsonb in one table, rows(key bigint, doc jsonb), on a private
 * server.
 *
 * Its ways are those that its manual has for documents: none; an index on one
 * expression; BRIN with Bloom filters of runs of pages on one expression; the
 * extension bloom, a signature of each row over all columns (up to 32, without
 * arrays); and GIN with jsonb_path_ops over the whole document, which indexes
 * whole paths, so that a search in any column asks for each.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench_lines.h"
#include "bench_peer.h"
#include "bench_postgres_server.h"

#include <inttypes.h>
#include <libpq-fe.h>
#include <stdlib.h>
#include <time.h>

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
    const char *indexed[COLUMNS_MAX + 1]; /* columns, but of GIN */
    size_t indexed_count;
};

static const struct bench_peer_way ways[] = {
    {"PostgreSQL, scan", BENCH_PEER_NONE, SCAN},
    {"PostgreSQL, B-tree on one", BENCH_PEER_ONE, BTREE},
    {"PostgreSQL, BRIN bloom on one", BENCH_PEER_ONE, BRIN},
    {"PostgreSQL, bloom on all", BENCH_PEER_ALL, BLOOM},
    {"PostgreSQL, GIN", BENCH_PEER_ALL, GIN},
};

/* Shared by all ways, as a new cluster takes a second. Ends with the
 * program. */
static struct bench_postgres_server server;

static char version[80] = "PostgreSQL";

/* Returns the result of a statement that did not fail. */
static PGresult *
check(const struct peer *peer, PGresult *result)
{
    const ExecStatusType status = PQresultStatus(result);

    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK &&
        status != PGRES_COPY_IN)
        bench_fail("postgresql", PQerrorMessage(peer->connection));
    return result;
}

static void
run(const struct peer *peer, const char *statement)
{
    PQclear(check(peer, PQexec(peer->connection, statement)));
}

/* The same; frees the statement. */
static void
run_made(const struct peer *peer, struct colander_buffer *statement)
{
    run(peer, (const char *)statement->data);
    colander_buffer_release(statement);
}

/* ------------------------------------------------------------- indexes --- */

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

/* Creates one more index. Only that of BLOOM has several columns. */
static void
make_index(struct peer *peer, const char *const *columns, size_t count)
{
    static const char *const kinds[] = {
        [BTREE] = "btree", [BRIN] = "brin", [BLOOM] = "bloom"};
    const size_t bits = count * BLOOM_BITS;
    struct colander_buffer statement = COLANDER_BUFFER_EMPTY;

    bench_print(&statement, "CREATE INDEX ON rows USING %s (",
                kinds[peer->way]);
    for (size_t i = 0; i < count; i++) {
        bench_print(&statement, i == 0 ? "" : ", ");
        add_text(&statement, columns[i]);
        peer->indexed[peer->indexed_count++] = columns[i];
    }
    bench_print(&statement, peer->way == BRIN ? " text_bloom_ops)" : ")");
    if (peer->way == BLOOM) {
        bench_print(&statement, " WITH (length = %zu",
                    bits < BLOOM_BITS_MIN ? BLOOM_BITS_MIN : bits);
        for (size_t i = 0; i < count; i++)
            bench_print(&statement, ", col%zu = 4", i + 1);
        bench_print(&statement, ")");
    }
    run_made(peer, &statement);
}

/* Whether they fit one signature, and one can be asked for at a time. */
static bool
has_few_columns(const struct bench_work *work)
{
    return !work->has_arrays && work->path_count <= COLUMNS_MAX;
}

/* Creates all indexes for the columns known beforehand. If there are too many
 * for one signature, those asked about get one each. */
static void
make_indexes(void *it)
{
    struct peer *peer = it;
    const struct bench_work *work = peer->work;
    const char *const asked[] = {work->chosen, work->other};

    switch (peer->way) {
    case SCAN:
        return;
    case GIN:
        run(peer, "CREATE INDEX ON rows USING gin (doc jsonb_path_ops)");
        return;
    case BLOOM:
        run(peer, "CREATE EXTENSION IF NOT EXISTS bloom");
        if (has_few_columns(work)) {
            make_index(peer, (const char *const *)work->paths,
                       work->path_count);
            return;
        }
        make_index(peer, &asked[1], 1);
        break;
    default:
        break;
    }
    make_index(peer, &asked[0], 1);
}

static bool
add_column(void *it, const char *column)
{
    struct peer *peer = it;

    if (peer->way == GIN) /* it has what it needs, unmerged */
        run(peer, "SELECT gin_clean_pending_list('rows_doc_idx')");
    else if (peer->way != SCAN)
        make_index(peer, &column, 1);
    return peer->way != SCAN;
}

/* Whether an index answers questions about the column; NULL: about any. */
static bool
has_index(const struct peer *peer, const char *column)
{
    if (column == NULL)
        return peer->way == BLOOM && has_few_columns(peer->work);
    for (size_t i = 0; i < peer->indexed_count; i++) {
        if (strcmp(peer->indexed[i], column) == 0)
            return true;
    }
    return false;
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

static void *
open_peer(const char *directory, const struct bench_work *work,
          const struct bench_peer_way *way, const char **reason)
{
    struct peer *peer = bench_allocate(1, sizeof(*peer));
    const char *text;

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
    text = PQparameterStatus(peer->connection, "server_version");
    (void)snprintf(version, sizeof(version), "PostgreSQL %.*s",
                   (int)strcspn(text, " "), text); /* more follows */
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

/* As CSV between bytes that JSON does not have, a line needs no escapes. */
static void
load(void *it, const char *path)
{
    const struct peer *peer = it;
    struct colander_buffer copied = COLANDER_BUFFER_EMPTY;
    struct colander_slice lines = bench_map(path);
    struct colander_slice rest = lines;
    struct colander_slice line;
    PGresult *result;

    run(peer, "COPY rows FROM STDIN "
              "(FORMAT csv, DELIMITER E'\\x01', QUOTE E'\\x02')");
    while (bench_next_line(&rest, &line)) {
        colander_buffer_clear(&copied);
        bench_print(&copied, "%" PRId64 "\x01",
                    bench_work_key(peer->work, line));
        bench_append(&copied, line.data, line.size + 1); /* with its end */
        if (PQputCopyData(peer->connection, (const char *)copied.data,
                          (int)copied.size) != 1)
            bench_fail("postgresql", PQerrorMessage(peer->connection));
    }
    if (PQputCopyEnd(peer->connection, NULL) != 1)
        bench_fail("postgresql", PQerrorMessage(peer->connection));
    while ((result = PQgetResult(peer->connection)) != NULL)
        PQclear(check(peer, result));
    bench_unmap(lines);
    colander_buffer_release(&copied);
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
        check(peer, PQexec(peer->connection,
                           "SELECT pg_total_relation_size('rows')"));
    const uint64_t size = strtoull(PQgetvalue(result, 0, 0), NULL, 10);

    PQclear(result);
    return size;
}

/* -------------------------------------------------------------- asking --- */

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

/* Adds a condition: the value $1 is at the path. */
static void
add_condition(struct colander_buffer *statement, enum way way, const char *path)
{
    if (way == GIN) {
        bench_print(statement, "doc @> ");
        add_document(statement, path);
    } else {
        add_text(statement, path);
        bench_print(statement, " = $1");
    }
}

/* Adds a condition for any column: one for each path, which can use an index,
 * and scans faster than a search at any depth. Texts are checked again, as a
 * number may have the same text as a string. */
static void
add_any(struct colander_buffer *statement, enum way way,
        const struct bench_work *work)
{
    const bool has_each = way == GIN || has_few_columns(work);

    for (size_t i = 0; has_each && i < work->path_count; i++) {
        bench_print(statement, i == 0 ? "(" : " OR ");
        add_condition(statement, way, work->paths[i]);
    }
    if (has_each)
        bench_print(statement, way == GIN ? ")" : ") AND ");
    if (way != GIN)
        bench_print(statement, ANYWHERE);
}

/* The planner overestimates the cost of BRIN and bloom as that of a scan, so
 * scans are disabled if there is such an index. Without one they must not be,
 * or it would scan without its parallel processes. */
static void
prepare(void *it, const char *column)
{
    const struct peer *peer = it;
    const bool is_guided = peer->way == BRIN || peer->way == BLOOM;
    struct colander_buffer statement = COLANDER_BUFFER_EMPTY;

    bench_print(&statement,
                "DEALLOCATE ALL; SET enable_seqscan = %s;"
                "PREPARE question(text) AS SELECT doc FROM rows WHERE ",
                is_guided && has_index(peer, column) ? "off" : "on");
    if (column == NULL)
        add_any(&statement, peer->way, peer->work);
    else
        add_condition(&statement, peer->way, column);
    run_made(peer, &statement);
}

static uint64_t
ask(void *it, const struct bench_work_question *question)
{
    const struct peer *peer = it;
    const char *const values[] = {question->value};
    PGresult *result = check(peer, PQexecPrepared(peer->connection, "question",
                                                  1, values, NULL, NULL, 0));
    const uint64_t found = (uint64_t)PQntuples(result);

    PQclear(result);
    return found;
}

const struct bench_peer bench_peer_postgres = {
    .is_server = true,
    .ways = ways,
    .way_count = sizeof(ways) / sizeof(ways[0]),
    .version = version,
    .open = open_peer,
    .load = load,
    .index = make_indexes,
    .settle = settle,
    .size = size_of,
    .prepare = prepare,
    .ask = ask,
    .add_column = add_column,
    .close = close_peer,
};

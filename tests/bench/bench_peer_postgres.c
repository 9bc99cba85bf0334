/*
 * PostgreSQL: jsonb in one table, rows(key bigint, doc jsonb), on a private
 * server.
 *
 * Its ways are those that its manual has for documents: none; an index on one
 * expression; BRIN on one expression, with Bloom filters of runs of pages, or
 * for numbers with their smallest and greatest values; the extension bloom, a
 * signature of each row over all columns (up to 32, without arrays); and GIN
 * with jsonb_path_ops over the whole document, which indexes whole paths, so
 * that a search in any column asks for each.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench_lines.h"
#include "bench_peer.h"
#include "bench_postgres_rows.h"

#include <stdlib.h>

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
    struct pg_conn *connection;
    const char *indexed[COLUMNS_MAX + 1]; /* columns, but of GIN */
    size_t indexed_count;
};

static const struct bench_peer_way ways[] = {
    {"PostgreSQL, scan", BENCH_PEER_NONE, SCAN, true},
    {"PostgreSQL, B-tree on one", BENCH_PEER_ONE, BTREE, true},
    {"PostgreSQL, BRIN on one", BENCH_PEER_ONE, BRIN, true},
    {"PostgreSQL, bloom on all", BENCH_PEER_ALL, BLOOM, false},
    {"PostgreSQL, GIN", BENCH_PEER_ALL, GIN, false},
};

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

/* Adds the number at a path. */
static void
add_number(struct colander_buffer *statement, const char *path)
{
    bench_print(statement, "(");
    add_text(statement, path);
    bench_print(statement, "::bigint)");
}

/* Whether ranges are asked of the column, and it has numbers. */
static bool
has_numbers(const struct bench_work *work, const char *column)
{
    return work->about == BENCH_WORK_OF_NUMBERS &&
           strcmp(column, BENCH_WORK_ADDED_COLUMN) != 0;
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
        if (has_numbers(peer->work, columns[i]))
            add_number(&statement, columns[i]);
        else
            add_text(&statement, columns[i]);
        peer->indexed[peer->indexed_count++] = columns[i];
    }
    bench_print(&statement, peer->way != BRIN ? ")"
                            : has_numbers(peer->work, columns[0])
                                ? " int8_minmax_ops)"
                                : " text_bloom_ops)");
    if (peer->way == BLOOM) {
        bench_print(&statement, " WITH (length = %zu",
                    bits < BLOOM_BITS_MIN ? BLOOM_BITS_MIN : bits);
        for (size_t i = 0; i < count; i++)
            bench_print(&statement, ", col%zu = 4", i + 1);
        bench_print(&statement, ")");
    }
    bench_postgres_run_made(peer->connection, &statement);
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
        bench_postgres_run(
            peer->connection,
            "CREATE INDEX ON rows USING gin (doc jsonb_path_ops)");
        return;
    case BLOOM:
        bench_postgres_run(peer->connection,
                           "CREATE EXTENSION IF NOT EXISTS bloom");
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
    if (work->about == BENCH_WORK_OF_NUMBERS)
        make_index(peer, &asked[1], 1);
}

static bool
add_column(void *it, const char *column)
{
    struct peer *peer = it;

    if (peer->way == GIN) /* it has what it needs, unmerged */
        bench_postgres_run(peer->connection,
                           "SELECT gin_clean_pending_list('rows_doc_idx')");
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

static void *
open_peer(const char *directory, const struct bench_work *work,
          const struct bench_peer_way *way, const char **reason)
{
    struct peer *peer = bench_allocate(1, sizeof(*peer));

    peer->work = work;
    peer->way = (enum way)way->number;
    peer->connection = bench_postgres_open(directory, reason);
    if (peer->connection != NULL)
        return peer;
    free(peer);
    return NULL;
}

static void
close_peer(void *it)
{
    struct peer *peer = it;

    bench_postgres_close(peer->connection);
    free(peer);
}

static void
load(void *it, const char *path)
{
    const struct peer *peer = it;

    bench_postgres_load(peer->connection, peer->work, path);
}

static void
settle(void *it)
{
    const struct peer *peer = it;

    bench_postgres_settle(peer->connection);
}

static uint64_t
size_of(void *it)
{
    const struct peer *peer = it;

    return bench_postgres_size(peer->connection);
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
prepare(void *it, const struct bench_work_question *example)
{
    const char *column = example->column;
    const struct peer *peer = it;
    const bool is_guided = peer->way == BRIN || peer->way == BLOOM;
    struct colander_buffer statement = COLANDER_BUFFER_EMPTY;

    bench_print(&statement,
                "DEALLOCATE ALL; SET enable_seqscan = %s;"
                "PREPARE question(text%s) AS SELECT doc FROM rows WHERE ",
                is_guided && has_index(peer, column) ? "off" : "on",
                example->to != NULL ? ", text" : "");
    if (example->how == BENCH_WORK_FROM_TO) {
        add_number(&statement, column);
        bench_print(&statement, " BETWEEN $1::bigint AND $2::bigint");
    } else if (column == NULL)
        add_any(&statement, peer->way, peer->work);
    else
        add_condition(&statement, peer->way, column);
    bench_postgres_run_made(peer->connection, &statement);
}

static uint64_t
ask(void *it, const struct bench_work_question *question)
{
    const struct peer *peer = it;

    return bench_postgres_ask(peer->connection, "question", question);
}

const struct bench_peer bench_peer_postgres = {
    .is_server = true,
    .ways = ways,
    .way_count = sizeof(ways) / sizeof(ways[0]),
    .version = bench_postgres_version,
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

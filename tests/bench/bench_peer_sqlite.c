/*
 * SQLite: lines as JSON text in one table, scanned, or found by indexes on
 * expressions, which are made once all rows are there: on one column, or on
 * each. A search in any column is an OR over all columns, which such indexes
 * answer one by one; but what lies in arrays no index has, and it scans.
 *
 * Its settings are those of bench_sqlite.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench_peer.h"
#include "bench_ready.h"
#include "bench_scalars.h"
#include "bench_statement.h"

#include <sqlite3.h>
#include <stdlib.h>

#define TRANSACTION 10000

struct peer {
    const struct bench_work *work;
    enum bench_peer_indexes indexes;
    sqlite3 *db;
    const char *column; /* that `by_column` asks for; NULL: none yet */
    sqlite3_stmt *by_column;
    sqlite3_stmt *by_any; /* NULL: not yet */
};

static const struct bench_peer_way ways[] = {
    {"SQLite, scan", BENCH_PEER_NONE, 0},
    {"SQLite, index on one", BENCH_PEER_ONE, 0},
    {"SQLite, index on all", BENCH_PEER_ALL, 0},
};

static const char *
version(void)
{
    static char text[40];

    (void)snprintf(text, sizeof(text), "SQLite %s", sqlite3_libversion());
    return text;
}

static _Noreturn void
fail(const struct peer *peer)
{
    bench_fail("sqlite", sqlite3_errmsg(peer->db));
}

static void
run(const struct peer *peer, const char *statement)
{
    if (sqlite3_exec(peer->db, statement, NULL, NULL, NULL) != SQLITE_OK)
        fail(peer);
}

static sqlite3_stmt *
prepare(const struct peer *peer, const char *text)
{
    sqlite3_stmt *statement;

    if (sqlite3_prepare_v2(peer->db, text, -1, &statement, NULL) != SQLITE_OK)
        fail(peer);
    return statement;
}

/* ---------------------------------------------------------- open, close --- */

static void *
open_peer(const char *directory, const struct bench_work *work,
          const struct bench_peer_way *way, const char **reason)
{
    struct peer *peer = bench_allocate(1, sizeof(*peer));
    char name[4200];

    (void)reason;
    peer->work = work;
    peer->indexes = way->indexes;
    /* where it sorts */
    if (setenv("SQLITE_TMPDIR", directory, 1) != 0)
        bench_fail("sqlite", "no memory");
    (void)snprintf(name, sizeof(name), "%s/rows.db", directory);
    if (sqlite3_open(name, &peer->db) != SQLITE_OK)
        fail(peer);
    run(peer, "PRAGMA journal_mode=WAL;"
              "PRAGMA synchronous=OFF;"
              "PRAGMA cache_size=-262144;"
              "PRAGMA threads=2;"
              "CREATE TABLE rows(key INTEGER PRIMARY KEY, json TEXT)");
    return peer;
}

static void
close_peer(void *it)
{
    struct peer *peer = it;

    (void)sqlite3_finalize(peer->by_column);
    (void)sqlite3_finalize(peer->by_any);
    if (sqlite3_close(peer->db) != SQLITE_OK)
        fail(peer);
    free(peer);
}

/* ------------------------------------------------------------- loading --- */

static void
insert(const struct peer *peer, sqlite3_stmt *statement,
       struct colander_slice line)
{
    if (sqlite3_bind_int64(statement, 1, bench_work_key(peer->work, line)) !=
            SQLITE_OK ||
        sqlite3_bind_text(statement, 2, (const char *)line.data, (int)line.size,
                          SQLITE_STATIC) != SQLITE_OK ||
        sqlite3_step(statement) != SQLITE_DONE ||
        sqlite3_reset(statement) != SQLITE_OK)
        fail(peer);
}

static void
load(void *it, const char *path)
{
    struct peer *peer = it;
    sqlite3_stmt *statement = prepare(peer, "INSERT INTO rows VALUES(?, ?)");
    struct colander_slice lines = bench_map(path);
    struct colander_slice rest = lines;
    struct colander_slice line;
    unsigned count = 0;

    while (bench_next_line(&rest, &line)) {
        if (count == 0)
            run(peer, "BEGIN");
        insert(peer, statement, line);
        if (++count == TRANSACTION || rest.size == 0) {
            run(peer, "COMMIT");
            count = 0;
        }
    }
    (void)sqlite3_finalize(statement);
    bench_unmap(lines);
}

/* What finds the value at a path; as an index has it, so must a question. */
static void
add_path(struct bench_statement *statement, const char *path)
{
    bench_statement_add(statement, "json_extract(json, '$.\"");
    for (; *path != '\0'; path++) {
        if (*path == BENCH_PATH_MEMBER)
            bench_statement_add(statement, "\".\"");
        else
            bench_statement_add_quoted(statement, path, 1);
    }
    bench_statement_add(statement, "\"')");
}

static void
make_index(const struct peer *peer, const char *path)
{
    struct bench_statement *statement = bench_statement_create();

    bench_statement_add(statement, "CREATE INDEX \"by %s\" ON rows(", path);
    add_path(statement, path);
    bench_statement_add(statement, ")");
    run(peer, statement->text);
    free(statement);
}

static bool
has_array(const char *path)
{
    return strchr(path, BENCH_PATH_ELEMENT) != NULL;
}

static void
make_indexes(void *it)
{
    const struct peer *peer = it;

    if (peer->indexes == BENCH_PEER_ONE)
        make_index(peer, peer->work->chosen);
    for (size_t i = 0;
         peer->indexes == BENCH_PEER_ALL && i < peer->work->path_count; i++) {
        if (!has_array(peer->work->paths[i]))
            make_index(peer, peer->work->paths[i]);
    }
}

/* The log becomes part of the file, as it does again and again by itself. */
static void
settle(void *it)
{
    run(it, "PRAGMA wal_checkpoint(TRUNCATE)");
}

static bool
add_column(void *it, const char *column)
{
    const struct peer *peer = it;

    if (peer->indexes == BENCH_PEER_NONE)
        return false;
    make_index(peer, column);
    return true;
}

/* -------------------------------------------------------------- asking --- */

static void
add_any(struct bench_statement *statement, const struct bench_work *work)
{
    if (work->has_arrays) {
        bench_statement_add(statement,
                            "EXISTS (SELECT 1 FROM json_tree(rows.json) "
                            "WHERE atom = ?1)");
        return;
    }
    for (size_t i = 0; i < work->path_count; i++) {
        bench_statement_add(statement, i == 0 ? "" : " OR ");
        add_path(statement, work->paths[i]);
        bench_statement_add(statement, " = ?1");
    }
}

/* Prepared once for each column. */
static sqlite3_stmt *
statement_for(struct peer *peer, const char *column)
{
    sqlite3_stmt **prepared = column == NULL ? &peer->by_any : &peer->by_column;
    struct bench_statement *statement;

    if (*prepared != NULL && (column == NULL || column == peer->column))
        return *prepared;
    statement = bench_statement_create();
    bench_statement_add(statement, "SELECT json FROM rows WHERE ");
    if (column == NULL) {
        add_any(statement, peer->work);
    } else {
        add_path(statement, column);
        bench_statement_add(statement, " = ?1");
        peer->column = column;
    }
    (void)sqlite3_finalize(*prepared);
    *prepared = prepare(peer, statement->text);
    free(statement);
    return *prepared;
}

static uint64_t
ask(void *it, const struct bench_work_question *question)
{
    struct peer *peer = it;
    sqlite3_stmt *statement = statement_for(peer, question->column);
    uint64_t found = 0;
    int code;

    if (sqlite3_bind_text(statement, 1, question->value, -1, SQLITE_STATIC) !=
        SQLITE_OK)
        fail(peer);
    while ((code = sqlite3_step(statement)) == SQLITE_ROW)
        found += sqlite3_column_text(statement, 0) != NULL;
    if (code != SQLITE_DONE || sqlite3_reset(statement) != SQLITE_OK)
        fail(peer);
    return found;
}

const struct bench_peer bench_peer_sqlite = {
    .ways = ways,
    .way_count = sizeof(ways) / sizeof(ways[0]),
    .version = version,
    .open = open_peer,
    .load = load,
    .index = make_indexes,
    .settle = settle,
    .ask = ask,
    .add_column = add_column,
    .close = close_peer,
};

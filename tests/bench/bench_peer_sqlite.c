/*
 * SQLite: lines as JSON text in one table, scanned, or found by indexes on
 * expressions, on one column or on each. A search in any column is an OR over
 * all columns, which such indexes answer one by one. It scans for values in
 * arrays, which no index can have.
 *
 * Settings: the integer key ascends, so each row is appended; a prepared
 * statement; transactions of 10,000 rows; a log, synced as little as a load's
 * (what was committed survives a killed process); a cache of 256 MiB; and two
 * threads to sort with (each may use as much memory as the cache).
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench_lines.h"
#include "bench_peer.h"

#include <sqlite3.h>
#include <stdlib.h>

#define TRANSACTION 10000

struct peer {
    const struct bench_work *work;
    enum bench_peer_indexes indexes;
    sqlite3 *db;
    sqlite3_stmt *question; /* NULL: none yet */
};

static const struct bench_peer_way ways[] = {
    {"SQLite, scan", BENCH_PEER_NONE, 0},
    {"SQLite, index on one", BENCH_PEER_ONE, 0},
    {"SQLite, index on all", BENCH_PEER_ALL, 0},
};

static _Noreturn void
fail(sqlite3 *db)
{
    bench_fail("sqlite", sqlite3_errmsg(db));
}

static void
run(sqlite3 *db, const char *statement)
{
    if (sqlite3_exec(db, statement, NULL, NULL, NULL) != SQLITE_OK)
        fail(db);
}

static sqlite3_stmt *
compile(sqlite3 *db, const char *text)
{
    sqlite3_stmt *statement;

    if (sqlite3_prepare_v2(db, text, -1, &statement, NULL) != SQLITE_OK)
        fail(db);
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
    if (setenv("SQLITE_TMPDIR", directory, 1) != 0) /* where it sorts */
        bench_fail("sqlite", "no memory");
    (void)snprintf(name, sizeof(name), "%s/rows.db", directory);
    if (sqlite3_open(name, &peer->db) != SQLITE_OK)
        fail(peer->db);
    run(peer->db, "PRAGMA journal_mode=WAL;"
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

    (void)sqlite3_finalize(peer->question);
    if (sqlite3_close(peer->db) != SQLITE_OK)
        fail(peer->db);
    free(peer);
}

/* ------------------------------------------------------------- loading --- */

static void
load(void *it, const char *path)
{
    const struct peer *peer = it;
    const struct colander_slice lines = bench_map(path);
    sqlite3_stmt *statement =
        compile(peer->db, "INSERT INTO rows VALUES(?, ?)");
    struct colander_slice rest = lines;
    struct colander_slice line;
    unsigned count = 0;

    while (bench_next_line(&rest, &line)) {
        if (count == 0)
            run(peer->db, "BEGIN");
        if (sqlite3_bind_int64(statement, 1,
                               bench_work_key(peer->work, line)) != SQLITE_OK ||
            sqlite3_bind_text(statement, 2, (const char *)line.data,
                              (int)line.size, SQLITE_STATIC) != SQLITE_OK ||
            sqlite3_step(statement) != SQLITE_DONE ||
            sqlite3_reset(statement) != SQLITE_OK)
            fail(peer->db);
        if (++count == TRANSACTION || rest.size == 0) {
            run(peer->db, "COMMIT");
            count = 0;
        }
    }
    (void)sqlite3_finalize(statement);
    bench_unmap(lines);
}

/* Adds the value at a path. An index and a question must have the same text. */
static void
add_path(struct colander_buffer *statement, const char *path)
{
    bench_print(statement, "json_extract(json, '$.\"");
    for (; *path != '\0'; path++) {
        if (*path == BENCH_PATH_MEMBER)
            bench_print(statement, "\".\"");
        else
            bench_print_quoted(statement, path, 1);
    }
    bench_print(statement, "\"')");
}

static void
make_index(const struct peer *peer, const char *path)
{
    struct colander_buffer statement = COLANDER_BUFFER_EMPTY;

    bench_print(&statement, "CREATE INDEX \"by %s\" ON rows(", path);
    add_path(&statement, path);
    bench_print(&statement, ")");
    run(peer->db, (const char *)statement.data);
    colander_buffer_release(&statement);
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

/* The log is merged into the file, as it is from time to time. */
static void
settle(void *it)
{
    const struct peer *peer = it;

    run(peer->db, "PRAGMA wal_checkpoint(TRUNCATE)");
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
add_any(struct colander_buffer *statement, const struct bench_work *work)
{
    if (work->has_arrays) {
        bench_print(statement, "EXISTS (SELECT 1 FROM json_tree(rows.json) "
                               "WHERE atom = ?1)");
        return;
    }
    for (size_t i = 0; i < work->path_count; i++) {
        bench_print(statement, i == 0 ? "" : " OR ");
        add_path(statement, work->paths[i]);
        bench_print(statement, " = ?1");
    }
}

static void
prepare(void *it, const char *column)
{
    struct peer *peer = it;
    struct colander_buffer text = COLANDER_BUFFER_EMPTY;

    bench_print(&text, "SELECT json FROM rows WHERE ");
    if (column == NULL) {
        add_any(&text, peer->work);
    } else {
        add_path(&text, column);
        bench_print(&text, " = ?1");
    }
    (void)sqlite3_finalize(peer->question);
    peer->question = compile(peer->db, (const char *)text.data);
    colander_buffer_release(&text);
}

static uint64_t
ask(void *it, const struct bench_work_question *question)
{
    const struct peer *peer = it;
    sqlite3_stmt *statement = peer->question;
    uint64_t found = 0;
    int code;

    if (sqlite3_bind_text(statement, 1, question->value, -1, SQLITE_STATIC) !=
        SQLITE_OK)
        fail(peer->db);
    while ((code = sqlite3_step(statement)) == SQLITE_ROW)
        found += sqlite3_column_text(statement, 0) != NULL;
    if (code != SQLITE_DONE || sqlite3_reset(statement) != SQLITE_OK)
        fail(peer->db);
    return found;
}

const struct bench_peer bench_peer_sqlite = {
    .ways = ways,
    .way_count = sizeof(ways) / sizeof(ways[0]),
    .version = "SQLite " SQLITE_VERSION,
    .open = open_peer,
    .load = load,
    .index = make_indexes,
    .settle = settle,
    .prepare = prepare,
    .ask = ask,
    .add_column = add_column,
    .close = close_peer,
};

/*
 * SQLite for texts: lines as JSON text in one table, and the words (unicode61)
 * or the trigrams of one column in FTS5, without a second copy of the texts.
 * Without an index for a question it scans with LIKE, which finds as much here.
 * A column that came later gets an index of its own.
 *
 * The settings are those of bench_sqlite_rows.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench_lines.h"
#include "bench_peer.h"

#include <sqlite3.h>
#include <stdlib.h>

enum { WORDS, TRIGRAMS };

#define ROWS_OF_A_COMMIT 10000

struct peer {
    const struct bench_work *work;
    sqlite3 *db;
    sqlite3_stmt *row;
    sqlite3_stmt *text;
    sqlite3_stmt *question;
    bool has_added; /* an index of the added column */
    bool uses_index;
    int way;
    uint64_t touched;
};

static const struct bench_peer_way ways[] = {
    {"SQLite, FTS5 unicode61", BENCH_PEER_ONE, WORDS, false},
    {"SQLite, FTS5 trigram", BENCH_PEER_ONE, TRIGRAMS, false},
};

static _Noreturn void
fail(const struct peer *peer)
{
    bench_fail("sqlite", sqlite3_errmsg(peer->db));
}

static void
run(const struct peer *peer, const char *statements)
{
    if (sqlite3_exec(peer->db, statements, NULL, NULL, NULL) != SQLITE_OK)
        fail(peer);
}

static sqlite3_stmt *
prepare_text(const struct peer *peer, const char *text)
{
    sqlite3_stmt *statement;

    if (sqlite3_prepare_v2(peer->db, text, -1, &statement, NULL) != SQLITE_OK)
        fail(peer);
    return statement;
}

/* Creates the index of a column. */
static void
create_index(const struct peer *peer, const char *column)
{
    struct colander_buffer statement = COLANDER_BUFFER_EMPTY;

    bench_print(&statement,
                "CREATE VIRTUAL TABLE words_%s USING fts5(t, content='', "
                "tokenize='%s')",
                column, peer->way == WORDS ? "unicode61" : "trigram");
    run(peer, (const char *)statement.data);
    colander_buffer_release(&statement);
}

static void *
open_peer(const char *directory, const struct bench_work *work,
          const struct bench_peer_way *way, const char **reason)
{
    struct peer *peer = bench_allocate(1, sizeof(*peer));
    char name[4200];

    (void)reason;
    peer->work = work;
    peer->way = way->number;
    (void)snprintf(name, sizeof(name), "%s/rows.db", directory);
    if (sqlite3_open(name, &peer->db) != SQLITE_OK)
        fail(peer);
    run(peer, "PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF;"
              "PRAGMA cache_size=-262144;"
              "CREATE TABLE rows(key INTEGER PRIMARY KEY, json TEXT)");
    create_index(peer, BENCH_WORK_TEXT_COLUMN);
    peer->row = prepare_text(peer, "INSERT INTO rows VALUES(?1, ?2)");
    peer->text = prepare_text(
        peer, "INSERT INTO words_" BENCH_WORK_TEXT_COLUMN "(rowid, t) "
              "VALUES(?1, json_extract(?2, '$." BENCH_WORK_TEXT_COLUMN "'))");
    return peer;
}

static void
close_peer(void *it)
{
    struct peer *peer = it;

    (void)sqlite3_finalize(peer->row);
    (void)sqlite3_finalize(peer->text);
    (void)sqlite3_finalize(peer->question);
    if (sqlite3_close(peer->db) != SQLITE_OK)
        fail(peer);
    free(peer);
}

/* ------------------------------------------------------------- loading --- */

static void
insert(const struct peer *peer, sqlite3_stmt *statement, int64_t key,
       struct colander_slice line)
{
    if (sqlite3_bind_int64(statement, 1, key) != SQLITE_OK ||
        sqlite3_bind_text(statement, 2, (const char *)line.data, (int)line.size,
                          SQLITE_STATIC) != SQLITE_OK ||
        sqlite3_step(statement) != SQLITE_DONE ||
        sqlite3_reset(statement) != SQLITE_OK)
        fail(peer);
}

static void
load(void *it, const char *path)
{
    const struct peer *peer = it;
    const struct colander_slice lines = bench_map(path);
    struct colander_slice rest = lines;
    struct colander_slice line;
    uint64_t count = 0;

    run(peer, "BEGIN");
    while (bench_next_line(&rest, &line)) {
        const int64_t key = bench_work_key(peer->work, line);

        insert(peer, peer->row, key, line);
        insert(peer, peer->text, key, line);
        if (++count % ROWS_OF_A_COMMIT == 0)
            run(peer, "COMMIT; BEGIN");
    }
    run(peer, "COMMIT");
    bench_unmap(lines);
}

static void
settle(void *it)
{
    run(it, "INSERT INTO words_" BENCH_WORK_TEXT_COLUMN
            "(words_" BENCH_WORK_TEXT_COLUMN ") VALUES('optimize');"
            "PRAGMA wal_checkpoint(TRUNCATE)");
}

static bool
add_column(void *it, const char *column)
{
    struct peer *peer = it;
    struct colander_buffer statement = COLANDER_BUFFER_EMPTY;

    create_index(peer, column);
    bench_print(&statement,
                "INSERT INTO words_%s(rowid, t) SELECT key, v FROM (SELECT "
                "key, json_extract(json, '$.%s') AS v FROM rows) WHERE v IS "
                "NOT NULL",
                column, column);
    run(peer, (const char *)statement.data);
    colander_buffer_release(&statement);
    peer->has_added = true;
    return true;
}

/* -------------------------------------------------------------- asking --- */

static void
prepare(void *it, const struct bench_work_question *example)
{
    struct peer *peer = it;
    const bool is_added = strcmp(example->column, BENCH_WORK_ADDED_COLUMN) == 0;
    struct colander_buffer statement = COLANDER_BUFFER_EMPTY;

    (void)sqlite3_finalize(peer->question);
    peer->uses_index =
        (!is_added || peer->has_added) &&
        (peer->way == TRIGRAMS || example->how != BENCH_WORK_HAS_PIECE);
    bench_print(&statement,
                peer->uses_index
                    ? "SELECT json FROM words_%s w JOIN rows ON key = w.rowid "
                      "WHERE t MATCH ?"
                    : "SELECT json FROM rows WHERE json_extract(json, '$.%s') "
                      "LIKE ?",
                example->column);
    peer->question = prepare_text(peer, (const char *)statement.data);
    colander_buffer_release(&statement);
}

static uint64_t
ask(void *it, const struct bench_work_question *question)
{
    struct peer *peer = it;
    const char *around = peer->uses_index ? "\"" : "%";
    uint64_t found = 0;
    char sought[100];

    (void)snprintf(sought, sizeof(sought), "%s%s%s", around, question->value,
                   around);
    if (sqlite3_bind_text(peer->question, 1, sought, -1, SQLITE_STATIC) !=
        SQLITE_OK)
        fail(peer);
    while (sqlite3_step(peer->question) == SQLITE_ROW) {
        const unsigned char *json = sqlite3_column_text(peer->question, 0);
        const size_t size = (size_t)sqlite3_column_bytes(peer->question, 0);

        for (size_t i = 0; i < size; i += 64)
            peer->touched += json[i];
        found++;
    }
    if (sqlite3_reset(peer->question) != SQLITE_OK)
        fail(peer);
    return found;
}

const struct bench_peer bench_peer_sqlite_texts = {
    .ways = ways,
    .way_count = sizeof(ways) / sizeof(ways[0]),
    .version = "SQLite " SQLITE_VERSION,
    .open = open_peer,
    .load = load,
    .settle = settle,
    .prepare = prepare,
    .ask = ask,
    .add_column = add_column,
    .close = close_peer,
};

/* See bench_sqlite_texts.h. SPDX-License-Identifier: MIT */
#include "bench_sqlite_texts.h"

#include <sqlite3.h>
#include <stdlib.h>

struct bench_sqlite_texts {
    sqlite3 *db;
    sqlite3_stmt *row;
    sqlite3_stmt *words;
    sqlite3_stmt *question;
    uint64_t touched;
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
prepare(sqlite3 *db, const char *text)
{
    sqlite3_stmt *statement;

    if (sqlite3_prepare_v2(db, text, -1, &statement, NULL) != SQLITE_OK)
        fail(db);
    return statement;
}

struct bench_sqlite_texts *
bench_sqlite_texts_open(const char *directory)
{
    struct bench_sqlite_texts *it = bench_allocate(1, sizeof(*it));
    char name[4200];

    (void)snprintf(name, sizeof(name), "%s/texts.db", directory);
    if (sqlite3_open(name, &it->db) != SQLITE_OK)
        fail(it->db);
    run(it->db, "PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF;"
                "PRAGMA cache_size=-262144;"
                "CREATE TABLE r(key INTEGER PRIMARY KEY, json TEXT);"
                "CREATE VIRTUAL TABLE w USING fts5(text, content='');"
                "BEGIN");
    it->row = prepare(it->db, "INSERT INTO r VALUES(?, ?)");
    it->words = prepare(it->db, "INSERT INTO w(rowid, text) VALUES(?, ?)");
    it->question = prepare(it->db, "SELECT r.json FROM w JOIN r"
                                   " ON r.key = w.rowid WHERE w MATCH ?");
    return it;
}

void
bench_sqlite_texts_close(struct bench_sqlite_texts *it)
{
    (void)sqlite3_finalize(it->row);
    (void)sqlite3_finalize(it->words);
    (void)sqlite3_finalize(it->question);
    if (sqlite3_close(it->db) != SQLITE_OK)
        fail(it->db);
    free(it);
}

static void
insert(struct bench_sqlite_texts *it, sqlite3_stmt *statement, int64_t key,
       struct colander_slice text)
{
    if (sqlite3_bind_int64(statement, 1, key) != SQLITE_OK ||
        sqlite3_bind_text(statement, 2, (const char *)text.data, (int)text.size,
                          SQLITE_STATIC) != SQLITE_OK ||
        sqlite3_step(statement) != SQLITE_DONE ||
        sqlite3_reset(statement) != SQLITE_OK)
        fail(it->db);
}

void
bench_sqlite_texts_add(struct bench_sqlite_texts *it, int64_t key,
                       struct colander_slice json, const char *text)
{
    insert(it, it->row, key, json);
    insert(it, it->words, key, colander_slice_text(text));
}

void
bench_sqlite_texts_settle(struct bench_sqlite_texts *it)
{
    run(it->db, "COMMIT; INSERT INTO w(w) VALUES('optimize');"
                "PRAGMA wal_checkpoint(TRUNCATE)");
}

uint64_t
bench_sqlite_texts_ask(struct bench_sqlite_texts *it, const char *query)
{
    uint64_t found = 0;

    if (sqlite3_bind_text(it->question, 1, query, -1, SQLITE_STATIC) !=
        SQLITE_OK)
        fail(it->db);
    while (sqlite3_step(it->question) == SQLITE_ROW) {
        const unsigned char *json = sqlite3_column_text(it->question, 0);
        const size_t size = (size_t)sqlite3_column_bytes(it->question, 0);

        for (size_t i = 0; i < size; i += 64)
            it->touched += json[i];
        found++;
    }
    if (sqlite3_reset(it->question) != SQLITE_OK)
        fail(it->db);
    return found;
}

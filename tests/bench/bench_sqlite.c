/*
 * SQLite: what people keep JSON in.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench_sqlite.h"
#include "bench_ready.h"
#include "bench_tweets.h"

#include <sqlite3.h>
#include <stdlib.h>

#define TRANSACTION 10000

static const char *const columns[] = {"id",   "user",  "text", "likes",
                                      "lang", "place", "time"};

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

static sqlite3 *
open_database(const char *path)
{
    char name[4200];
    sqlite3 *db;

    /* where it sorts */
    if (setenv("SQLITE_TMPDIR", path, 1) != 0)
        bench_fail("sqlite", "no memory");
    (void)snprintf(name, sizeof(name), "%s/tweets.db", path);
    if (sqlite3_open(name, &db) != SQLITE_OK)
        fail(db);
    run(db, "PRAGMA journal_mode=WAL;"
            "PRAGMA synchronous=OFF;"
            "PRAGMA cache_size=-262144;"
            "PRAGMA threads=2;"
            "CREATE TABLE tweets(key INTEGER PRIMARY KEY, json TEXT)");
    return db;
}

static void
make_indexes(sqlite3 *db)
{
    for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++) {
        char statement[200];

        (void)snprintf(statement, sizeof(statement),
                       "CREATE INDEX by_%s ON tweets("
                       "json_extract(json, '$.%s'))",
                       columns[i], columns[i]);
        run(db, statement);
    }
}

/* The key is taken from its place, which costs next to nothing. */
static void
insert(sqlite3 *db, sqlite3_stmt *statement, struct colander_slice line)
{
    const char *text = (const char *)line.data;
    sqlite3_int64 key = strtoll(text + BENCH_TWEET_ID_AT, NULL, 10);

    if (sqlite3_bind_int64(statement, 1, key) != SQLITE_OK ||
        sqlite3_bind_text(statement, 2, text, (int)line.size, SQLITE_STATIC) !=
            SQLITE_OK ||
        sqlite3_step(statement) != SQLITE_DONE ||
        sqlite3_reset(statement) != SQLITE_OK)
        fail(db);
}

static void
insert_all(sqlite3 *db, struct colander_slice lines)
{
    struct colander_slice line;
    sqlite3_stmt *statement;
    unsigned count = 0;

    if (sqlite3_prepare_v2(db, "INSERT INTO tweets VALUES(?, ?)", -1,
                           &statement, NULL) != SQLITE_OK)
        fail(db);
    while (bench_next_line(&lines, &line)) {
        if (count == 0)
            run(db, "BEGIN");
        insert(db, statement, line);
        if (++count == TRANSACTION || lines.size == 0) {
            run(db, "COMMIT");
            count = 0;
        }
    }
    (void)sqlite3_finalize(statement);
}

double
bench_sqlite_load(struct colander_slice lines, const char *path,
                  enum bench_sqlite_indexes indexes)
{
    sqlite3 *db = open_database(path);
    double start = bench_now();

    if (indexes == BENCH_SQLITE_FIRST)
        make_indexes(db);
    insert_all(db, lines);
    if (indexes == BENCH_SQLITE_LAST)
        make_indexes(db);
    start = bench_now() - start;
    if (sqlite3_close(db) != SQLITE_OK)
        fail(db);
    return start;
}

const char *
bench_sqlite_version(void)
{
    return sqlite3_libversion();
}

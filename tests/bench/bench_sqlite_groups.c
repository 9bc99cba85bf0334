/* See bench_sqlite_groups.h. SPDX-License-Identifier: MIT */
#include "bench_sqlite_groups.h"

#include <sqlite3.h>
#include <stdlib.h>

struct bench_sqlite_groups {
    sqlite3 *db;
    sqlite3_stmt *insert;
    sqlite3_stmt *questions[2][2]; /* by hour, of a user */
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

struct bench_sqlite_groups *
bench_sqlite_groups_open(const char *directory)
{
    struct bench_sqlite_groups *it = bench_allocate(1, sizeof(*it));
    char name[4200];

    (void)snprintf(name, sizeof(name), "%s/groups.db", directory);
    if (sqlite3_open(name, &it->db) != SQLITE_OK)
        fail(it->db);
    run(it->db, "PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF;"
                "PRAGMA cache_size=-262144; PRAGMA threads=2;"
                "CREATE TABLE r(key INTEGER PRIMARY KEY, at INTEGER,"
                " sensor TEXT, user TEXT, t REAL); BEGIN");
    if (sqlite3_prepare_v2(it->db, "INSERT INTO r VALUES(?, ?, ?, ?, ?)", -1,
                           &it->insert, NULL) != SQLITE_OK)
        fail(it->db);
    return it;
}

void
bench_sqlite_groups_close(struct bench_sqlite_groups *it)
{
    (void)sqlite3_finalize(it->insert);
    for (int i = 0; i < 4; i++)
        (void)sqlite3_finalize(it->questions[i / 2][i % 2]);
    if (sqlite3_close(it->db) != SQLITE_OK)
        fail(it->db);
    free(it);
}

void
bench_sqlite_groups_add(struct bench_sqlite_groups *it, int64_t key, int64_t at,
                        const char *sensor, const char *user, double t)
{
    if (sqlite3_bind_int64(it->insert, 1, key) != SQLITE_OK ||
        sqlite3_bind_int64(it->insert, 2, at) != SQLITE_OK ||
        sqlite3_bind_text(it->insert, 3, sensor, -1, SQLITE_STATIC) !=
            SQLITE_OK ||
        sqlite3_bind_text(it->insert, 4, user, -1, SQLITE_STATIC) !=
            SQLITE_OK ||
        sqlite3_bind_double(it->insert, 5, t) != SQLITE_OK ||
        sqlite3_step(it->insert) != SQLITE_DONE ||
        sqlite3_reset(it->insert) != SQLITE_OK)
        fail(it->db);
}

void
bench_sqlite_groups_settle(struct bench_sqlite_groups *it)
{
    run(it->db, "COMMIT; CREATE INDEX users ON r(user);"
                "PRAGMA wal_checkpoint(TRUNCATE); ANALYZE");
    for (int i = 0; i < 4; i++) {
        char text[200];

        (void)snprintf(text, sizeof(text),
                       "SELECT %s AS k, count(*), avg(t) FROM r %s "
                       "GROUP BY k ORDER BY k",
                       i / 2 == 1 ? "at / 3600" : "sensor",
                       i % 2 == 1 ? "WHERE user = ?" : "");
        if (sqlite3_prepare_v2(it->db, text, -1, &it->questions[i / 2][i % 2],
                               NULL) != SQLITE_OK)
            fail(it->db);
    }
}

uint64_t
bench_sqlite_groups_ask(struct bench_sqlite_groups *it, bool by_hour,
                        const char *user, uint64_t *rows)
{
    sqlite3_stmt *question = it->questions[by_hour][user != NULL];
    uint64_t count = 0;
    int code;

    if (user != NULL &&
        sqlite3_bind_text(question, 1, user, -1, SQLITE_STATIC) != SQLITE_OK)
        fail(it->db);
    while ((code = sqlite3_step(question)) == SQLITE_ROW) {
        *rows += (uint64_t)sqlite3_column_int64(question, 1);
        count++;
    }
    if (code != SQLITE_DONE || sqlite3_reset(question) != SQLITE_OK)
        fail(it->db);
    return count;
}

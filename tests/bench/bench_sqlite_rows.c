/*
 * Rows in SQLite.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench_sqlite_rows.h"

#include "bench_lines.h"
#include "bench_peer.h"

#include <sqlite3.h>
#include <stdlib.h>

#define TRANSACTION 10000

struct bench_sqlite {
    sqlite3 *db;
    sqlite3_stmt *insert;
    struct colander_buffer json;
    unsigned open_count; /* rows that are not committed */
};

struct bench_sqlite_question {
    sqlite3 *db;
    sqlite3_stmt *statement;
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

struct bench_sqlite *
bench_sqlite_open(const char *directory)
{
    struct bench_sqlite *it = bench_allocate(1, sizeof(*it));
    char name[4200];

    if (setenv("SQLITE_TMPDIR", directory, 1) != 0) /* where it sorts */
        bench_fail("sqlite", "no memory");
    (void)snprintf(name, sizeof(name), "%s/rows.db", directory);
    if (sqlite3_open(name, &it->db) != SQLITE_OK)
        fail(it->db);
    run(it->db, "PRAGMA journal_mode=WAL;"
                "PRAGMA synchronous=OFF;"
                "PRAGMA cache_size=-262144;"
                "PRAGMA threads=2;"
                "CREATE TABLE rows(key INTEGER PRIMARY KEY, json TEXT)");
    it->insert = compile(it->db, "INSERT INTO rows VALUES(?, ?)");
    return it;
}

void
bench_sqlite_close(struct bench_sqlite *it)
{
    (void)sqlite3_finalize(it->insert);
    if (sqlite3_close(it->db) != SQLITE_OK)
        fail(it->db);
    colander_buffer_release(&it->json);
    free(it);
}

/* ------------------------------------------------------------- loading --- */

void
bench_sqlite_add(struct bench_sqlite *it, int64_t key,
                 struct colander_slice json)
{
    if (it->open_count == 0)
        run(it->db, "BEGIN");
    if (sqlite3_bind_int64(it->insert, 1, key) != SQLITE_OK ||
        sqlite3_bind_text(it->insert, 2, (const char *)json.data,
                          (int)json.size, SQLITE_STATIC) != SQLITE_OK ||
        sqlite3_step(it->insert) != SQLITE_DONE ||
        sqlite3_reset(it->insert) != SQLITE_OK)
        fail(it->db);
    if (++it->open_count == TRANSACTION)
        bench_sqlite_commit(it);
}

void
bench_sqlite_commit(struct bench_sqlite *it)
{
    if (it->open_count > 0)
        run(it->db, "COMMIT");
    it->open_count = 0;
}

void
bench_sqlite_put(void *context, struct colander_slice key,
                 struct colander_slice row)
{
    struct bench_sqlite *it = context;
    struct colander_value part;
    size_t count = 1;

    colander_buffer_clear(&it->json);
    bench_check(
        colander_key_decode(key, &part, &count, &it->json, &bench_error));
    colander_buffer_clear(&it->json);
    bench_check(colander_json_append_row(&it->json, key, row, &bench_error));
    bench_sqlite_add(it, part.integer, colander_buffer_slice(&it->json));
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

void
bench_sqlite_index(struct bench_sqlite *it, const char *path)
{
    struct colander_buffer statement = COLANDER_BUFFER_EMPTY;

    bench_print(&statement, "CREATE INDEX \"by %s\" ON rows(", path);
    add_path(&statement, path);
    bench_print(&statement, ")");
    run(it->db, (const char *)statement.data);
    colander_buffer_release(&statement);
}

void
bench_sqlite_settle(struct bench_sqlite *it)
{
    run(it->db, "PRAGMA wal_checkpoint(TRUNCATE)");
}

/* -------------------------------------------------------------- asking --- */

/* `text` is released. */
static struct bench_sqlite_question *
prepare(struct bench_sqlite *it, struct colander_buffer *text)
{
    struct bench_sqlite_question *question =
        bench_allocate(1, sizeof(*question));

    question->db = it->db;
    question->statement = compile(it->db, (const char *)text->data);
    colander_buffer_release(text);
    return question;
}

struct bench_sqlite_question *
bench_sqlite_question_prepare(struct bench_sqlite *it, const char *const *paths,
                              size_t count)
{
    struct colander_buffer text = COLANDER_BUFFER_EMPTY;

    bench_print(&text, "SELECT json FROM rows WHERE ");
    if (count == 0)
        bench_print(&text, "EXISTS (SELECT 1 FROM json_tree(rows.json) "
                           "WHERE atom = ?1)");
    for (size_t i = 0; i < count; i++) {
        bench_print(&text, i == 0 ? "" : " OR ");
        add_path(&text, paths[i]);
        bench_print(&text, " = ?1");
    }
    return prepare(it, &text);
}

struct bench_sqlite_question *
bench_sqlite_range_prepare(struct bench_sqlite *it, const char *path,
                           bool includes_end)
{
    struct colander_buffer text = COLANDER_BUFFER_EMPTY;

    bench_print(&text, "SELECT json FROM rows WHERE ");
    add_path(&text, path);
    bench_print(&text, " >= ?1 AND ");
    add_path(&text, path);
    bench_print(&text, includes_end ? " <= ?2" : " < ?2");
    return prepare(it, &text);
}

struct bench_sqlite_question *
bench_sqlite_top_prepare(struct bench_sqlite *it, const char *path,
                         unsigned limit)
{
    struct colander_buffer text = COLANDER_BUFFER_EMPTY;

    bench_print(&text, "SELECT json FROM rows ORDER BY ");
    add_path(&text, path);
    bench_print(&text, " DESC LIMIT %u", limit);
    return prepare(it, &text);
}

void
bench_sqlite_question_destroy(struct bench_sqlite_question *question)
{
    if (question == NULL)
        return;
    (void)sqlite3_finalize(question->statement);
    free(question);
}

static int
bind(sqlite3_stmt *statement, int place, const struct colander_value *value)
{
    if (value->type == COLANDER_INTEGER)
        return sqlite3_bind_int64(statement, place, value->integer);
    if (value->type == COLANDER_DOUBLE)
        return sqlite3_bind_double(statement, place, value->number);
    return sqlite3_bind_text(statement, place, (const char *)value->bytes.data,
                             (int)value->bytes.size, SQLITE_STATIC);
}

uint64_t
bench_sqlite_read(struct bench_sqlite_question *question,
                  const struct colander_value *values, size_t count,
                  bench_take_json *visit, void *context)
{
    sqlite3_stmt *statement = question->statement;
    uint64_t found = 0;
    int code = SQLITE_OK;

    for (size_t i = 0; i < count && code == SQLITE_OK; i++)
        code = bind(statement, (int)i + 1, &values[i]);
    if (code != SQLITE_OK)
        fail(question->db);
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        const unsigned char *json = sqlite3_column_text(statement, 0);

        found += json != NULL;
        if (json != NULL && visit != NULL)
            visit(context, colander_slice_of(json, (size_t)sqlite3_column_bytes(
                                                       statement, 0)));
    }
    if (code != SQLITE_DONE || sqlite3_reset(statement) != SQLITE_OK)
        fail(question->db);
    return found;
}

uint64_t
bench_sqlite_ask(struct bench_sqlite_question *question,
                 const struct colander_value *value)
{
    return bench_sqlite_read(question, value, 1, NULL, NULL);
}

uint64_t
bench_sqlite_find(void *context, const struct bench_question *question)
{
    return bench_sqlite_ask(context, &question->value);
}

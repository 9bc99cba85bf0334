/* See bench_duckdb_groups.h. SPDX-License-Identifier: MIT */
#include "bench_duckdb_groups.h"

#include <assert.h>
#include <dlfcn.h>
#include <stdlib.h>

/* A result of DuckDB's C interface, whose members are its own. */
struct duck_result {
    uint64_t counts[3];
    void *columns;
    char *message;
    void *data;
};

/* The functions that are used of it; 0 is success. */
struct duck {
    const char *(*library_version)(void);
    int (*open)(const char *path, void **database);
    int (*connect)(void *database, void **connection);
    void (*disconnect)(void **connection);
    void (*close)(void **database);
    int (*query)(void *connection, const char *text,
                 struct duck_result *result);
    const char *(*result_error)(struct duck_result *result);
    void (*destroy_result)(struct duck_result *result);
    uint64_t (*row_count)(struct duck_result *result);
    int64_t (*value_int64)(struct duck_result *result, uint64_t column,
                           uint64_t row);
    int (*prepare)(void *connection, const char *text, void **statement);
    void (*destroy_prepare)(void **statement);
    int (*bind_varchar)(void *statement, uint64_t index, const char *text);
    int (*execute_prepared)(void *statement, struct duck_result *result);
    int (*appender_create)(void *connection, const char *schema,
                           const char *table, void **appender);
    int (*appender_end_row)(void *appender);
    int (*appender_destroy)(void **appender);
    int (*append_int64)(void *appender, int64_t value);
    int (*append_varchar)(void *appender, const char *text);
    int (*append_double)(void *appender, double value);
};

/* In the order of the struct. */
static const char *const names[] = {
    "duckdb_library_version",
    "duckdb_open",
    "duckdb_connect",
    "duckdb_disconnect",
    "duckdb_close",
    "duckdb_query",
    "duckdb_result_error",
    "duckdb_destroy_result",
    "duckdb_row_count",
    "duckdb_value_int64",
    "duckdb_prepare",
    "duckdb_destroy_prepare",
    "duckdb_bind_varchar",
    "duckdb_execute_prepared",
    "duckdb_appender_create",
    "duckdb_appender_end_row",
    "duckdb_appender_destroy",
    "duckdb_append_int64",
    "duckdb_append_varchar",
    "duckdb_append_double",
};

#define NAME_COUNT (sizeof(names) / sizeof(names[0]))

struct bench_duckdb_groups {
    void *library;
    struct duck duck;
    void *database;
    void *connection;
    void *appender;
    void *questions[2][2]; /* by hour, of a user */
    unsigned thread_count;
};

static void *
open_library(void)
{
    const char *given = getenv("COLANDER_DUCKDB");
    const char *home = getenv("HOME");
    char path[4096];

    if (given != NULL && given[0] != '\0') {
        void *library = dlopen(given, RTLD_NOW | RTLD_LOCAL);

        if (library == NULL)
            bench_fail("COLANDER_DUCKDB", dlerror());
        return library;
    }
    (void)snprintf(path, sizeof(path), "%s/.cache/colander/libduckdb.so",
                   home == NULL ? "" : home);
    return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

static void
find_functions(struct bench_duckdb_groups *it)
{
    static_assert(sizeof(it->duck) == NAME_COUNT * sizeof(void *),
                  "each function has a name");
    for (size_t i = 0; i < NAME_COUNT; i++) {
        void *symbol = dlsym(it->library, names[i]);

        if (symbol == NULL)
            bench_fail("duckdb", dlerror());
        memcpy((char *)&it->duck + i * sizeof(symbol), &symbol, sizeof(symbol));
    }
}

static void
check(int failed)
{
    if (failed != 0)
        bench_fail("duckdb", "a call failed");
}

static void
run(struct bench_duckdb_groups *it, const char *text)
{
    struct duck_result result;

    if (it->duck.query(it->connection, text, &result) != 0)
        bench_fail("duckdb", it->duck.result_error(&result));
    it->duck.destroy_result(&result);
}

struct bench_duckdb_groups *
bench_duckdb_groups_open(const char *directory)
{
    void *library = open_library();
    struct bench_duckdb_groups *it;
    char name[4200];

    if (library == NULL)
        return NULL;
    it = bench_allocate(1, sizeof(*it));
    it->library = library;
    find_functions(it);
    (void)snprintf(name, sizeof(name), "%s/groups.duckdb", directory);
    check(it->duck.open(name, &it->database));
    check(it->duck.connect(it->database, &it->connection));
    run(it, "CREATE TABLE r(key BIGINT, \"at\" BIGINT, sensor VARCHAR,"
            " \"user\" VARCHAR, t DOUBLE)");
    check(it->duck.appender_create(it->connection, NULL, "r", &it->appender));
    return it;
}

void
bench_duckdb_groups_close(struct bench_duckdb_groups *it)
{
    if (it == NULL)
        return;
    for (int i = 0; i < 4; i++)
        it->duck.destroy_prepare(&it->questions[i / 2][i % 2]);
    it->duck.disconnect(&it->connection);
    it->duck.close(&it->database);
    free(it); /* the library stays, as it has threads */
}

void
bench_duckdb_groups_add(struct bench_duckdb_groups *it, int64_t key, int64_t at,
                        const char *sensor, const char *user, double t)
{
    check(it->duck.append_int64(it->appender, key));
    check(it->duck.append_int64(it->appender, at));
    check(it->duck.append_varchar(it->appender, sensor));
    check(it->duck.append_varchar(it->appender, user));
    check(it->duck.append_double(it->appender, t));
    check(it->duck.appender_end_row(it->appender));
}

void
bench_duckdb_groups_settle(struct bench_duckdb_groups *it)
{
    check(it->duck.appender_destroy(&it->appender)); /* writes the rest */
    run(it, "CREATE INDEX users ON r(\"user\")");
    run(it, "CHECKPOINT");
    for (int i = 0; i < 4; i++) {
        char text[200];

        (void)snprintf(text, sizeof(text),
                       "SELECT %s AS k, count(*), avg(t) FROM r %s "
                       "GROUP BY k ORDER BY k",
                       i / 2 == 1 ? "\"at\" // 3600" : "sensor",
                       i % 2 == 1 ? "WHERE \"user\" = ?" : "");
        check(it->duck.prepare(it->connection, text,
                               &it->questions[i / 2][i % 2]));
    }
}

uint64_t
bench_duckdb_groups_ask(struct bench_duckdb_groups *it, bool by_hour,
                        const char *user, unsigned thread_count, uint64_t *rows)
{
    void *question = it->questions[by_hour][user != NULL];
    struct duck_result result;
    uint64_t count;

    if (it->thread_count != thread_count) {
        char text[40];

        (void)snprintf(text, sizeof(text), "SET threads = %u", thread_count);
        run(it, text);
        it->thread_count = thread_count;
    }
    if (user != NULL)
        check(it->duck.bind_varchar(question, 1, user));
    if (it->duck.execute_prepared(question, &result) != 0)
        bench_fail("duckdb", it->duck.result_error(&result));
    count = it->duck.row_count(&result);
    for (uint64_t i = 0; i < count; i++)
        *rows += (uint64_t)it->duck.value_int64(&result, 1, i);
    it->duck.destroy_result(&result);
    return count;
}

const char *
bench_duckdb_groups_version(const struct bench_duckdb_groups *it)
{
    return it->duck.library_version();
}

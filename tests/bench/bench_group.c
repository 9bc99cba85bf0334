/*
 * group: readings counted and averaged by sensor and by hour, all of them and
 * those of one user, in a compacted and warm store, against a scan that returns
 * the same rows, and against SQLite and DuckDB with typed columns and an index
 * on the user.
 *
 * All ways but those with threads have one. Each counts all rows, which is
 * checked.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench_duckdb_groups.h"
#include "bench_figures.h"
#include "bench_store.h"
#include "bench_turns.h"

#include "columns/groups.h"

#ifdef BENCH_SQLITE
#include "bench_sqlite_groups.h"
#endif

#include <stdlib.h>
#include <unistd.h>

#define SENSORS 100
#define ROWS_OF_USER 200
#define USERS_ASKED 50    /* in a turn */
#define SECONDS_BETWEEN 2 /* rows */
#define CACHE_SIZE ((size_t)256 << 20)

enum way {
    SCAN,
    BY_SENSOR,
    BY_HOUR,
    BY_SENSOR_THREADS,
    OF_USER, /* by hour */
    STORE_WAYS,
    SQLITE_BY_SENSOR = STORE_WAYS,
    SQLITE_BY_HOUR,
    SQLITE_OF_USER,
    DUCKDB_BY_SENSOR,
    DUCKDB_BY_HOUR,
    DUCKDB_BY_SENSOR_THREADS,
    DUCKDB_OF_USER,
    ALL_WAYS,
};

struct experiment {
    uint64_t rows;
    struct bench_store store;
    struct bench_turns turns;
#ifdef BENCH_SQLITE
    struct bench_sqlite_groups *sqlite;
#endif
    struct bench_duckdb_groups *duckdb; /* NULL: it is not there */
};

static void
user_of(uint64_t number, uint64_t rows, char *user)
{
    const uint64_t users = rows / ROWS_OF_USER;

    (void)snprintf(user, 24, "user%llu",
                   (unsigned long long)(bench_mix(number) % users));
}

static void
add_row(struct experiment *it, struct colander_row_builder *builder, uint64_t i)
{
    const int64_t at = 1767225600 + (int64_t)i * SECONDS_BETWEEN;
    const struct colander_value part = colander_integer((int64_t)i);
    const double t = (double)(bench_mix(i + 7) % 4000) / 100;
    struct colander_key key;
    struct colander_slice row;
    char sensor[24];
    char user[24];

    (void)snprintf(sensor, sizeof(sensor), "sensor-%llu",
                   (unsigned long long)(bench_mix(i + 3) % SENSORS));
    user_of(i, it->rows, user);
    colander_row_builder_add(builder, "at", colander_timestamp(at, 0));
    colander_row_builder_add(builder, "sensor", colander_text(sensor));
    colander_row_builder_add(builder, "user", colander_text(user));
    colander_row_builder_add(builder, "t", colander_double(t));
    bench_check(colander_row_builder_finish(builder, &row, &bench_error));
    bench_store_put(&it->store, colander_key_of(&key, &part, 1), row);
#ifdef BENCH_SQLITE
    bench_sqlite_groups_add(it->sqlite, (int64_t)i, at, sensor, user, t);
#endif
    if (it->duckdb != NULL)
        bench_duckdb_groups_add(it->duckdb, (int64_t)i, at, sensor, user, t);
}

static void
load(struct experiment *it)
{
    struct colander_row_builder *builder = colander_row_builder_create();

    if (builder == NULL)
        bench_fail("group", "no memory");
    for (uint64_t i = 0; i < it->rows; i++)
        add_row(it, builder, i);
    colander_row_builder_destroy(builder);
    bench_store_settle(&it->store);
#ifdef BENCH_SQLITE
    bench_sqlite_groups_settle(it->sqlite);
#endif
    if (it->duckdb != NULL)
        bench_duckdb_groups_settle(it->duckdb);
}

/* ----------------------------------------------------------------- ways --- */

/* Reads all rows. Returns their number. */
static uint64_t
scan(struct experiment *it)
{
    struct colander_query query;
    struct colander_cursor *cursor;
    struct colander_result result;
    uint64_t count = 0;
    bool is_row = true;

    colander_query_init(&query);
    query.thread_count = 1;
    bench_check(
        colander_family_find(it->store.family, &query, &cursor, &bench_error));
    while (is_row) {
        bench_check(
            colander_cursor_next(cursor, &is_row, &result, &bench_error));
        count += is_row;
    }
    colander_cursor_close(cursor);
    return count;
}

/* Groups rows. Returns the sum of the counts of all groups. */
static uint64_t
group(struct experiment *it, bool by_hour, const char *user,
      uint32_t thread_count)
{
    const struct colander_group_key keys[] = {{"sensor", "sensor", NULL, NULL},
                                              {"at", "at", "1h", NULL}};
    const struct colander_measure measures[] = {{"n", COLANDER_COUNT, NULL, 0},
                                                {"t", COLANDER_AVG, "t", 0}};
    struct colander_grouping grouping;
    struct colander_groups *groups;
    struct colander_query query;
    struct colander_slice row;
    struct colander_value value;
    uint64_t count = 0;
    bool is_group;
    bool found;

    colander_grouping_init(&grouping);
    grouping.keys = &keys[by_hour];
    grouping.key_count = 1;
    grouping.measures = measures;
    grouping.measure_count = 2;
    colander_query_init(&query);
    query.thread_count = thread_count;
    if (user != NULL)
        query.where = bench_sound(colander_where(
            "user", COLANDER_EQ, colander_text(user), &bench_error));
    bench_check(colander_groups_create(&grouping, &groups, &bench_error));
    bench_check(colander_family_group(it->store.family, &query, groups, NULL,
                                      &bench_error));
    for (;;) {
        bench_check(
            colander_groups_next(groups, &is_group, &row, &bench_error));
        if (!is_group)
            break;
        bench_check(colander_row_get(row, "n", &value, &found, &bench_error));
        count += (uint64_t)value.integer;
    }
    colander_groups_destroy(groups);
    colander_predicate_destroy(query.where);
    return count;
}

/* Whether the way can be taken here. */
static bool
is_there(const struct experiment *it, enum way way)
{
    if (way >= DUCKDB_BY_SENSOR)
        return it->duckdb != NULL;
#ifdef BENCH_SQLITE
    return true;
#else
    return way < STORE_WAYS;
#endif
}

static unsigned
processors(void)
{
    const long count = sysconf(_SC_NPROCESSORS_ONLN);

    return count < 1 ? 1 : (unsigned)count;
}

static bool
is_of_user(enum way way)
{
    return way == OF_USER || way == SQLITE_OF_USER || way == DUCKDB_OF_USER;
}

static uint64_t
ask(struct experiment *it, enum way way, const char *user)
{
    const char *asked = is_of_user(way) ? user : NULL;
    uint64_t count = 0;

    switch (way) {
    case SCAN:
        return scan(it);
    case BY_SENSOR:
    case BY_HOUR:
        return group(it, way == BY_HOUR, NULL, 1);
    case BY_SENSOR_THREADS:
        return group(it, false, NULL, 0);
    case OF_USER:
        return group(it, true, user, 1);
    case DUCKDB_BY_SENSOR:
    case DUCKDB_BY_HOUR:
    case DUCKDB_BY_SENSOR_THREADS:
    case DUCKDB_OF_USER:
        (void)bench_duckdb_groups_ask(
            it->duckdb, way == DUCKDB_BY_HOUR || asked != NULL, asked,
            way == DUCKDB_BY_SENSOR_THREADS ? processors() : 1, &count);
        return count;
    default:
#ifdef BENCH_SQLITE
        (void)bench_sqlite_groups_ask(it->sqlite, way != SQLITE_BY_SENSOR,
                                      asked, &count);
#endif
        return count;
    }
}

static void
take_turn(void *context, unsigned way, double times[BENCH_TIMES])
{
    struct experiment *it = context;
    const bool is_selective = is_of_user((enum way)way);
    const unsigned repeats = is_selective ? USERS_ASKED : 1;
    uint64_t count = 0;
    double start;

    if (!is_there(it, (enum way)way))
        return;
    (void)ask(it, (enum way)way, "user0"); /* warms */
    start = bench_now();
    for (unsigned i = 0; i < repeats; i++) {
        char user[24];

        user_of(i, it->rows, user);
        count += ask(it, (enum way)way, user);
    }
    times[0] = (bench_now() - start) * 1e6 / repeats;
    if (is_selective ? count == 0 : count != it->rows)
        bench_fail("group", "a way has counted other rows");
    times[1] = (double)count;
}

/* -------------------------------------------------------------- figures --- */

static void
print(struct experiment *it, const struct bench_options *options)
{
    static const char *const names[] = {
        "scan_us",
        "by_sensor_us",
        "by_hour_us",
        "by_sensor_threads_us",
        "of_user_us",
        "sqlite_by_sensor_us",
        "sqlite_by_hour_us",
        "sqlite_of_user_us",
        "duckdb_by_sensor_us",
        "duckdb_by_hour_us",
        "duckdb_by_sensor_threads_us",
        "duckdb_of_user_us",
    };
    static const struct {
        const char *name;
        enum way way;
        enum way other;
    } ratios[] = {
        {"group_over_scan", BY_SENSOR, SCAN},
        {"group_by_hour_over_scan", BY_HOUR, SCAN},
        {"group_with_threads_over_scan", BY_SENSOR_THREADS, SCAN},
        {"selective_over_sqlite", OF_USER, SQLITE_OF_USER},
        {"by_sensor_over_sqlite", BY_SENSOR, SQLITE_BY_SENSOR},
        {"by_hour_over_sqlite", BY_HOUR, SQLITE_BY_HOUR},
        {"selective_over_duckdb", OF_USER, DUCKDB_OF_USER},
        {"by_sensor_over_duckdb", BY_SENSOR, DUCKDB_BY_SENSOR},
        {"by_hour_over_duckdb", BY_HOUR, DUCKDB_BY_HOUR},
        {"by_sensor_threads_over_duckdb", BY_SENSOR_THREADS,
         DUCKDB_BY_SENSOR_THREADS},
    };
    const struct bench_turns *turns = &it->turns;
    struct bench_figures *figures =
        bench_figures_begin(options, "group", it->rows);

    if (it->duckdb != NULL)
        bench_figure_text(figures, "duckdb",
                          bench_duckdb_groups_version(it->duckdb));
    for (size_t i = 0; i < sizeof(ratios) / sizeof(ratios[0]); i++) {
        if (is_there(it, ratios[i].other))
            bench_figure(
                figures, 3,
                bench_turns_ratio(turns, ratios[i].way, ratios[i].other, 0),
                "%s", ratios[i].name);
    }
    for (unsigned way = 0; way < ALL_WAYS; way++) {
        if (is_there(it, (enum way)way))
            bench_figure(figures, 1, bench_turns_median(turns, way, 0), "%s",
                         names[way]);
    }
    bench_figures_end(figures);
}

/* All ways must have counted the same rows of users. */
static void
check_users(const struct experiment *it)
{
    static const enum way others[] = {SQLITE_OF_USER, DUCKDB_OF_USER};

    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        if (is_there(it, others[i]) &&
            bench_turns_median(&it->turns, OF_USER, 1) !=
                bench_turns_median(&it->turns, others[i], 1))
            bench_fail("group", "a way has counted other rows of users");
    }
}

void
bench_group(const struct bench_options *options)
{
    struct experiment it = {.rows = bench_round_rows(options, 2000000)};
    struct colander_options settings;
    char *path = bench_make_directory(options);
    char *other = bench_make_directory(options);

    colander_options_init(&settings);
    settings.cache_size = CACHE_SIZE;
#ifdef BENCH_SQLITE
    it.sqlite = bench_sqlite_groups_open(other);
#endif
    it.duckdb = bench_duckdb_groups_open(other);
    bench_store_open(&it.store, path, &settings, NULL);
    load(&it);
    bench_turns_take(&it.turns, options->rounds, ALL_WAYS, take_turn, &it);
    check_users(&it);
    print(&it, options);
#ifdef BENCH_SQLITE
    bench_sqlite_groups_close(it.sqlite);
#endif
    bench_duckdb_groups_close(it.duckdb);
    bench_turns_release(&it.turns);
    bench_store_close(&it.store);
    bench_remove_directory(path);
    bench_remove_directory(other);
}

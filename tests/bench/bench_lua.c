/*
 * lua: what a script pays for being one: rows of a scan and of finds, one
 * column of each read, beside the same in C.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench_store.h"

#include "scripting/scripting.h"
#include "scripting/stores.h"

#include <inttypes.h>
#include <lauxlib.h>
#include <lualib.h>
#include <stdlib.h>

/* Given a value: of the rows of its group; given nil: of all. */
static const char script[] =
    "local family = (...):family('rows')\n"
    "return function(value)\n"
    "    local count, sum = 0, 0\n"
    "    for key, row in family:find(value and {group5 = value}) do\n"
    "        count, sum = count + 1, sum + row.likes\n"
    "    end\n"
    "    return count, sum\n"
    "end\n";

struct experiment {
    uint64_t rows;
    unsigned rounds;
    struct bench_store store;
    lua_State *L;              /* what the script gave is on its stack */
    double *lua_scans;         /* seconds, of each round */
    double *c_scans;           /* the same */
    struct bench_way finds[2]; /* in Lua, in C */
};

/* How many rows there are, and the sum of their `likes`. */
struct tally {
    uint64_t count;
    int64_t sum;
};

/* -------------------------------------------------------------- tallies --- */

/* Of the rows that answer `question`; NULL: of all. */
static struct tally
tally_in_lua(struct experiment *it, const struct bench_question *question)
{
    struct tally tally;
    lua_State *L = it->L;

    lua_pushvalue(L, 1);
    if (question == NULL)
        lua_pushnil(L);
    else
        lua_pushlstring(L, (const char *)question->value.bytes.data,
                        question->value.bytes.size);
    if (lua_pcall(L, 1, 2, 0) != LUA_OK)
        bench_fail("lua", luaL_tolstring(L, -1, NULL));
    tally.count = (uint64_t)lua_tointeger(L, 2);
    tally.sum = lua_tointeger(L, 3);
    lua_settop(L, 1);
    return tally;
}

static struct tally
tally_rows(struct bench_store *store, const struct colander_query *query)
{
    struct tally tally = {0, 0};
    struct colander_cursor *cursor;
    struct colander_result result;
    struct colander_value value;
    struct colander_error err;
    bool is_row;
    bool found;

    bench_check(colander_family_find(store->family, query, &cursor, &err),
                &err);
    for (;;) {
        bench_check(colander_cursor_next(cursor, &is_row, &result, &err), &err);
        if (!is_row)
            break;
        bench_check(colander_row_get(result.row, "likes", &value, &found, &err),
                    &err);
        tally.count++;
        tally.sum += found ? value.integer : 0;
    }
    colander_cursor_close(cursor);
    return tally;
}

static struct tally
tally_in_c(struct experiment *it, const struct bench_question *question)
{
    struct colander_predicate *where = NULL;
    struct colander_query query;
    struct colander_error err;
    struct tally tally;

    colander_query_init(&query);
    if (question != NULL) {
        where = colander_where("group5", COLANDER_EQ, question->value, &err);
        if (where == NULL)
            bench_fail("predicate", err.message);
    }
    query.where = where;
    tally = tally_rows(&it->store, &query);
    colander_predicate_destroy(where);
    return tally;
}

static uint64_t
find_in_lua(void *context, const struct bench_question *question)
{
    return tally_in_lua(context, question).count;
}

static uint64_t
find_in_c(void *context, const struct bench_question *question)
{
    return tally_in_c(context, question).count;
}

/* ----------------------------------------------------------- measuring --- */

static void
load(struct experiment *it, const char *path)
{
    bench_store_open(&it->store, path, NULL, NULL);
    bench_store_load(&it->store, it->rows, 0, it->rows);
    bench_store_settle(&it->store);
    it->L = luaL_newstate();
    if (it->L == NULL)
        bench_fail("lua", "no memory");
    luaL_openlibs(it->L);
    luaL_requiref(it->L, "colander", luaopen_colander, 0);
    lua_settop(it->L, 0);
    if (luaL_loadstring(it->L, script) != LUA_OK)
        bench_fail("lua", lua_tostring(it->L, -1));
    scripting_push_store(it->L, it->store.store);
    if (lua_pcall(it->L, 1, 1, 0) != LUA_OK)
        bench_fail("lua", luaL_tolstring(it->L, -1, NULL));
}

/* The sum of the rows as they are made. */
static struct tally
expected_of(uint64_t rows)
{
    struct tally tally = {rows, 0};
    struct colander_slice key;
    struct colander_slice row;
    struct colander_value value;
    struct colander_error err;
    struct bench_maker maker;
    bool found;

    bench_maker_init(&maker, rows);
    for (uint64_t i = 0; i < rows; i++) {
        bench_make(&maker, i, &key, &row);
        bench_check(colander_row_get(row, "likes", &value, &found, &err), &err);
        tally.sum += value.integer;
    }
    bench_maker_release(&maker);
    return tally;
}

static void
expect(struct tally found, struct tally expected)
{
    if (found.count != expected.count || found.sum != expected.sum)
        bench_fail("lua", "found other rows than were put");
}

/* The first round only warms. */
static void
measure_scans(struct experiment *it)
{
    const struct tally expected = expected_of(it->rows);

    it->lua_scans = bench_allocate(it->rounds, sizeof(double));
    it->c_scans = bench_allocate(it->rounds, sizeof(double));
    for (unsigned round = 0; round <= it->rounds; round++) {
        double start = bench_now();
        double middle;

        expect(tally_in_lua(it, NULL), expected);
        middle = bench_now();
        expect(tally_in_c(it, NULL), expected);
        if (round == 0)
            continue;
        it->lua_scans[round - 1] = middle - start;
        it->c_scans[round - 1] = bench_now() - middle;
    }
}

static void
measure_finds(struct experiment *it)
{
    const struct bench_way ways[2] = {
        {"find in Lua", BENCH_FIVE, find_in_lua, it, it->rows, 400, 5, NULL},
        {"find in C", BENCH_FIVE, find_in_c, it, it->rows, 400, 5, NULL},
    };

    for (uint64_t i = 0; i < ways[0].questions; i++) {
        struct bench_question question;

        bench_question_make(&question, BENCH_FIVE, it->rows, i);
        expect(tally_in_lua(it, &question), tally_in_c(it, &question));
    }
    memcpy(it->finds, ways, sizeof(ways));
    bench_measure(it->finds, 2, it->rounds);
}

/* -------------------------------------------------------------- telling --- */

static void
print(const struct experiment *it, bool is_json)
{
    const double rows = (double)it->rows;
    const double lua_scan = bench_middle(it->lua_scans, it->rounds);
    const double c_scan = bench_middle(it->c_scans, it->rounds);
    const double lua_find = bench_middle(it->finds[0].times, it->rounds);
    const double c_find = bench_middle(it->finds[1].times, it->rounds);
    const double find_ratio =
        bench_ratio(it->finds[0].times, it->finds[1].times, it->rounds);
    const double scan_ratio =
        bench_ratio(it->lua_scans, it->c_scans, it->rounds);

    printf("lua: %" PRIu64 " rows of 6 columns, one read, median of %u rounds\n"
           "                          Lua             C   Lua / C\n"
           "  all rows     %10.0f /s  %10.0f /s  %8.2f\n"
           "  find 5 rows  %10.1f us  %10.1f us  %8.2f\n",
           it->rows, it->rounds, rows / lua_scan, rows / c_scan, scan_ratio,
           lua_find, c_find, find_ratio);
    if (is_json)
        printf("{\"experiment\":\"lua\",\"rows\":%" PRIu64 ",\"rounds\":%u,"
               "\"rows_per_second\":%.0f,\"c_rows_per_second\":%.0f,"
               "\"scan_over_c\":%.3f,\"find_us\":%.2f,\"c_find_us\":%.2f,"
               "\"lua_over_c\":%.3f}\n",
               it->rows, it->rounds, rows / lua_scan, rows / c_scan, scan_ratio,
               lua_find, c_find, find_ratio);
}

int
bench_lua(const struct bench_options *options)
{
    struct experiment it = {
        .rows = bench_round_rows(options->rows == 0 ? 1000000 : options->rows),
        .rounds = options->rounds,
    };
    const char *path = bench_make_directory(options);

    load(&it, path);
    measure_scans(&it);
    measure_finds(&it);
    print(&it, options->is_json);
    bench_ways_release(it.finds, 2);
    free(it.lua_scans);
    free(it.c_scans);
    lua_close(it.L);
    bench_store_close(&it.store);
    bench_remove_directory(path);
    return 0;
}

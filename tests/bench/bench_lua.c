/*
 * lua: scans and finds by a script that reads one column of each row, compared
 * with the same in C.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench_figures.h"
#include "bench_store.h"

#include "scripting/scripting.h"
#include "scripting/stores.h"

#include <lauxlib.h>
#include <lualib.h>

/* Of the rows that have the value; of all rows if it is nil. */
static const char script[] =
    "local family = (...):family('rows')\n"
    "return function(value)\n"
    "    local count, sum = 0, 0\n"
    "    for key, row in family:find(value and {group5 = value}) do\n"
    "        count, sum = count + 1, sum + row.likes\n"
    "    end\n"
    "    return count, sum\n"
    "end\n";

/* The number of rows, and the sum of their `likes`. */
struct tally {
    uint64_t count;
    int64_t sum;
};

struct experiment {
    uint64_t rows;
    unsigned rounds;
    struct bench_store store;
    lua_State *L; /* the script's function is on its stack */
    struct tally all;
    struct bench_turns scans; /* in Lua, in C: seconds */
    struct bench_turns finds; /* the same: microseconds */
};

/* -------------------------------------------------------------- tallies --- */

/* Counts the rows that answer `question`; NULL: all rows. */
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

static void
tally_row(void *context, struct colander_slice key, struct colander_slice row)
{
    struct tally *tally = context;
    struct colander_value value;
    bool found;

    (void)key;
    bench_check(colander_row_get(row, "likes", &value, &found, &bench_error));
    tally->count++;
    tally->sum += found ? value.integer : 0;
}

static struct tally
tally_in_c(struct experiment *it, const struct bench_question *question)
{
    struct colander_predicate *where = NULL;
    struct tally tally = {0, 0};

    if (question != NULL)
        where = bench_sound(colander_where("group5", COLANDER_EQ,
                                           question->value, &bench_error));
    (void)bench_store_find(&it->store, where, tally_row, &tally, NULL);
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
    bench_store_load(&it->store, it->rows);
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

static void
expect(struct tally found, struct tally expected)
{
    if (found.count != expected.count || found.sum != expected.sum)
        bench_fail("lua", "found other rows than were put");
}

static void
scan(void *context, unsigned way, double times[BENCH_TIMES])
{
    struct experiment *it = context;
    const double start = bench_now();

    expect(way == 0 ? tally_in_lua(it, NULL) : tally_in_c(it, NULL), it->all);
    times[0] = bench_now() - start;
}

/* A first scan determines the expected result, and warms the store. */
static void
measure_scans(struct experiment *it)
{
    it->all = tally_in_c(it, NULL);
    if (it->all.count != it->rows)
        bench_fail("lua", "not all rows are there");
    expect(tally_in_lua(it, NULL), it->all);
    bench_turns_take(&it->scans, it->rounds, 2, scan, it);
}

static void
measure_finds(struct experiment *it)
{
    struct bench_way ways[2] = {
        {"find in Lua", find_in_lua, BENCH_FIVE, 5, 400, it, it->rows},
        {"find in C", find_in_c, BENCH_FIVE, 5, 400, it, it->rows},
    };

    for (uint64_t i = 0; i < ways[0].questions; i++) {
        struct bench_question question;

        bench_question_make(&question, BENCH_FIVE, it->rows, i);
        expect(tally_in_lua(it, &question), tally_in_c(it, &question));
    }
    bench_measure(&it->finds, it->rounds, ways, 2);
}

/* ------------------------------------------------------------- figures --- */

static void
print(const struct experiment *it, const struct bench_options *options)
{
    struct bench_figures *figures =
        bench_figures_begin(options, "lua", it->rows);
    const double rows = (double)it->rows;

    bench_figure(figures, 0, rows / bench_turns_median(&it->scans, 0, 0),
                 "rows_per_second");
    bench_figure(figures, 0, rows / bench_turns_median(&it->scans, 1, 0),
                 "c_rows_per_second");
    bench_figure(figures, 3, bench_turns_ratio(&it->scans, 0, 1, 0),
                 "scan_over_c");
    bench_figure(figures, 2, bench_turns_median(&it->finds, 0, 0), "find_us");
    bench_figure(figures, 2, bench_turns_median(&it->finds, 1, 0), "c_find_us");
    bench_figure(figures, 3, bench_turns_ratio(&it->finds, 0, 1, 0),
                 "lua_over_c");
    bench_figures_end(figures);
}

void
bench_lua(const struct bench_options *options)
{
    struct experiment it = {
        .rows = bench_round_rows(options, 1000000),
        .rounds = options->rounds,
    };
    char *path = bench_make_directory(options);

    load(&it, path);
    measure_scans(&it);
    measure_finds(&it);
    print(&it, options);
    bench_turns_release(&it.finds);
    bench_turns_release(&it.scans);
    lua_close(it.L);
    bench_store_close(&it.store);
    bench_remove_directory(path);
}

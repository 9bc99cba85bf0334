/*
 * What a query gives: row by row, as an array, as JSON, counted, explained.
 *
 * SPDX-License-Identifier: MIT
 */
#include "scripting/query.h"

#include "scripting/explain.h"
#include "scripting/failure.h"
#include "scripting/rows.h"
#include "scripting/scratch.h"
#include "scripting/values.h"

#include <lauxlib.h>

struct colander_slice
query_selected(lua_State *L, const struct query *query,
               const struct colander_result *result)
{
    struct scratch *scratch = scratch_get(L);
    struct colander_error err;

    if (query->paths == NULL || query->asked.paths != NULL)
        return result->row;
    failure_check(L,
                  colander_row_select(result->row, query->paths,
                                      query->path_count, &scratch->row, &err),
                  &err);
    return colander_buffer_slice(&scratch->row);
}

struct colander_columns
query_matched(lua_State *L, struct query *query,
              const struct colander_result *result)
{
    struct colander_columns none = {NULL, 0, false};
    struct colander_error err;
    bool is_match;

    if (!query_is_ordered(query))
        return result->columns;
    if (query->where == NULL)
        return none;
    if (query->matches == NULL)
        query->matches = colander_matches_create();
    if (query->matches == NULL)
        failure_memory(L, "for the columns that matched");
    failure_check(L,
                  colander_predicate_evaluate(query->where, result->row,
                                              &is_match, query->matches, &err),
                  &err);
    return colander_matches_columns(query->matches);
}

int
result_push(lua_State *L, struct query *query,
            const struct colander_result *result)
{
    const uint64_t step_count = query->step_count;
    struct colander_columns columns;

    /* the row first: from then on nothing is borrowed but the columns */
    row_push(L, result->key, query_selected(L, query, result));
    value_push_key(L, row_key(L, -1), &scratch_get(L)->parts);
    lua_insert(L, -2);
    if (!query->tells_columns)
        return 2;
    query_check_step(L, query, step_count);
    columns = query_matched(L, query, result);
    lua_createtable(L, (int)columns.count, 0);
    for (size_t i = 0; i < columns.count; i++) {
        query_check_step(L, query, step_count);
        lua_pushstring(L, columns.paths[i]);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    if (columns.is_cut) {
        lua_pushboolean(L, true);
        lua_setfield(L, -2, "is_cut");
    }
    return 3;
}

/* query:first(): key and row, or nil */
static int
query_first(lua_State *L)
{
    struct query *query = query_begin(L, 1, QUERY_AS_TOLD);
    struct colander_result result;
    int count;

    if (!query_step(L, query, 1, &result))
        return 0;
    count = result_push(L, query, &result);
    query_stop(query);
    return count;
}

/* query:all(): the rows as an array */
static int
query_all(lua_State *L)
{
    struct query *query;
    struct colander_result result;
    lua_Integer count = 0;

    lua_settop(L, 1);
    lua_newtable(L);
    query = query_begin(L, 1, QUERY_AS_TOLD);
    while (query_step(L, query, 1, &result)) {
        const uint64_t step_count = query->step_count;

        row_push(L, result.key, query_selected(L, query, &result));
        lua_rawseti(L, 2, ++count);
        query_check_step(L, query, step_count);
    }
    return 1;
}

/* query:each(f): calls f(key, row, ...) for each row; gives how many. */
static int
query_each(lua_State *L)
{
    struct query *query;
    struct colander_result result;
    lua_Integer count = 0;

    luaL_checktype(L, 2, LUA_TFUNCTION);
    query = query_begin(L, 1, QUERY_AS_TOLD);
    while (query_step(L, query, 1, &result)) {
        const uint64_t step_count = query->step_count;

        lua_pushvalue(L, 2);
        query_call_function(L, query, step_count,
                            result_push(L, query, &result), 0);
        count++;
    }
    lua_pushinteger(L, count);
    return 1;
}

/* query:count(): by steps of a cursor, as colander_family_count does it, but
 * one that can be cancelled */
static int
query_count(lua_State *L)
{
    struct query *query = query_begin(L, 1, QUERY_COUNTED);
    struct colander_result result;
    lua_Integer count = 0;

    while (query_step(L, query, 1, &result))
        count++;
    lua_pushinteger(L, count);
    return 1;
}

/* query:tojson(): a line for each row */
static int
query_tojson(lua_State *L)
{
    struct query *query = query_begin(L, 1, QUERY_AS_TOLD);
    struct scratch *scratch = scratch_get(L);
    struct colander_result result;
    struct colander_error err;
    luaL_Buffer lines;

    luaL_buffinit(L, &lines);
    while (query_step(L, query, 1, &result)) {
        const uint64_t step_count = query->step_count;

        scratch->text.size = 0;
        failure_check(
            L,
            colander_json_append_row(&scratch->text, result.key,
                                     query_selected(L, query, &result), &err),
            &err);
        lua_pushlstring(L, (const char *)scratch->text.data,
                        scratch->text.size); /* copied: see scratch.h */
        luaL_addvalue(&lines);
        luaL_addchar(&lines, '\n');
        query_check_step(L, query, step_count);
    }
    luaL_pushresult(&lines);
    return 1;
}

/* query:plan(): how it would be run */
static int
query_plan(lua_State *L)
{
    struct query *query = query_begin(L, 1, QUERY_EXPLAINED);

    explain_push(L, query, false);
    query_stop(query);
    return 1;
}

/* query:explain(): runs it, and tells how that went */
static int
query_explain(lua_State *L)
{
    struct query *query = query_begin(L, 1, QUERY_EXPLAINED);
    struct colander_result result;

    while (query_read(L, query, &result))
        continue;
    explain_push(L, query, true);
    query_stop(query);
    return 1;
}

int
query_count_of(lua_State *L)
{
    (void)query_find(L);
    lua_replace(L, 1);
    lua_settop(L, 1);
    return query_count(L);
}

int
query_explain_of(lua_State *L)
{
    (void)query_find(L);
    lua_replace(L, 1);
    lua_settop(L, 1);
    return query_explain(L);
}

void
results_open(lua_State *L)
{
    static const struct luaL_Reg methods[] = {
        {"first", query_first},     {"all", query_all},
        {"each", query_each},       {"count", query_count},
        {"tojson", query_tojson},   {"plan", query_plan},
        {"explain", query_explain}, {NULL, NULL},
    };

    luaL_setfuncs(L, methods, 0);
}

/*
 * What a program with Lua inside asks of the module: see scripting.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "scripting/query.h"

#include "scripting/failure.h"
#include "scripting/rows.h"
#include "scripting/scratch.h"

#include <lauxlib.h>

void
scripting_set_watch(lua_State *L, scripting_watch watch, scripting_stops stops)
{
    struct scratch *scratch = scratch_get(L);

    scratch->watch = watch;
    scratch->stops = stops;
}

bool
scripting_is_open(lua_State *L, int index)
{
    return handle_is_open(L, index);
}

enum scripting_kind
scripting_kind_of(lua_State *L, int index)
{
    if (luaL_testudata(L, index, QUERY_TYPE) != NULL)
        return SCRIPTING_QUERY;
    if (row_is(L, index))
        return SCRIPTING_ROW;
    if (aggregates_is_walk(L, index))
        return SCRIPTING_WALK;
    return SCRIPTING_PLAIN;
}

void
scripting_push_row(lua_State *L, struct colander_slice key,
                   struct colander_slice row)
{
    row_push(L, key, row);
}

void
scripting_get_row(lua_State *L, int index, struct colander_slice *key,
                  struct colander_slice *row)
{
    *row = row_check(L, index);
    *key = row_key(L, index);
}

void
scripting_raise(lua_State *L, const struct colander_error *err)
{
    failure_raise(L, err);
}

void
scripting_query_begin(lua_State *L, int index, struct scripting_query *query)
{
    const struct query *begun = query_begin(L, index, QUERY_SHOWN);

    query->asked = &begun->asked;
    query->family = begun->family->family;
    query->paths = begun->paths;
    query->path_count = begun->paths == NULL ? 0 : begun->path_count;
    query->tells_columns = begun->tells_columns;
}

bool
scripting_query_next(lua_State *L, int index, struct colander_result *result)
{
    struct query *query = query_check(L, index);

    if (!query_step(L, query, index, result))
        return false;
    if (query->tells_columns)
        result->columns = query_matched(L, query, result);
    result->row = query_selected(L, query, result);
    return true;
}

const struct colander_cursor *
scripting_query_cursor(lua_State *L, int index)
{
    return query_check(L, index)->cursor;
}

void
scripting_query_end(lua_State *L, int index)
{
    query_stop(query_check(L, index));
}

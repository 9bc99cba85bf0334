/*
 * Queries: see queries.h.
 *
 * User values: 1 the family, 2 the condition, 3 the table of paths, 4 the
 * function that rows must pass.
 *
 * SPDX-License-Identifier: MIT
 */
#include "scripting/queries.h"

#include "scripting/conditions.h"
#include "scripting/explain.h"
#include "scripting/failure.h"
#include "scripting/fields.h"
#include "scripting/rows.h"
#include "scripting/scratch.h"
#include "scripting/values.h"

#include <lauxlib.h>
#include <stdlib.h>

#define TYPE "colander.query"

enum { FAMILY = 1, CONDITION, PATHS, FILTER, USER_VALUES = FILTER };

struct query {
    struct handle handle;
    struct script_family *family;
    struct colander_query asked; /* `where` and `paths` only while it runs */
    struct colander_buffer bounds[3]; /* of keys: prefix, from, to */
    struct shared_snapshot *snapshot;
    const char **paths; /* the strings are in the user value */
    uint64_t limit;
    uint64_t skip;
    bool has_filter;

    struct colander_predicate *where; /* while it runs */
    struct colander_cursor *cursor;   /* NULL: it does not run */
    uint64_t left;
    uint64_t to_skip;
};

/* ---------------------------------------------------------------- life --- */

/* Ends a run; the query may be run again. */
static void
stop(struct query *query)
{
    colander_cursor_close(query->cursor);
    colander_predicate_destroy(query->where);
    query->cursor = NULL;
    query->where = NULL;
}

static enum colander_code
close_query(struct handle *handle, struct colander_error *err)
{
    struct query *query = (struct query *)handle;

    (void)err;
    stop(query);
    snapshot_unref(query->snapshot);
    for (size_t i = 0; i < 3; i++)
        colander_buffer_release(&query->bounds[i]);
    free(query->paths);
    query->snapshot = NULL;
    query->paths = NULL;
    return COLANDER_OK;
}

static struct query *
check(lua_State *L)
{
    return handle_check(L, 1, TYPE, "query");
}

/* The query at 1, which does not run: for methods that change it. */
static struct query *
check_changeable(lua_State *L)
{
    struct query *query = check(L);

    if (query->cursor != NULL)
        failure_misuse(L, "a query cannot be changed while it runs");
    return query;
}

/* Pushes a query of the family at 1. */
static struct query *
make(lua_State *L)
{
    struct script_family *family = family_check(L, 1);
    struct query *query = lua_newuserdatauv(L, sizeof(*query), USER_VALUES);

    memset(query, 0, sizeof(*query));
    luaL_setmetatable(L, TYPE);
    lua_pushvalue(L, 1);
    lua_setiuservalue(L, -2, FAMILY);
    handle_init(&query->handle, &family->handle, close_query);
    query->family = family;
    colander_query_init(&query->asked);
    query->limit = UINT64_MAX;
    return query;
}

/* Makes the condition on top that of the query below it. */
static void
set_condition(lua_State *L)
{
    lua_setiuservalue(L, -2, CONDITION);
}

int
query_find(lua_State *L)
{
    lua_settop(L, 2);
    (void)make(L);
    lua_pushvalue(L, 2);
    if (!lua_isnil(L, 2))
        colander_predicate_destroy(condition_compile(L, 2)); /* to tell now */
    set_condition(L);
    return 1;
}

int
query_find_value(lua_State *L)
{
    struct query *query;

    lua_settop(L, 2);
    (void)value_check(L, 2, "find_value");
    query = make(L);
    query->asked.tells_columns = true;
    condition_push_value(L, 2);
    set_condition(L);
    return 1;
}

/* Copies the encoded key in the field `name` of the table at `index`. */
static void
set_bound(lua_State *L, struct query *query, int index, const char *name,
          size_t number)
{
    lua_getfield(L, index, name);
    if (!lua_isnil(L, -1))
        value_key(L, lua_gettop(L), &query->bounds[number]);
    lua_pop(L, 1);
}

/* family:scan{prefix = , from = , to = , reverse = } */
int
query_scan(lua_State *L)
{
    static const char *const known[] = {"prefix", "from", "to", "reverse",
                                        NULL};
    struct query *query;

    lua_settop(L, 2);
    query = make(L);
    if (lua_isnil(L, 2))
        return 1;
    fields_check(L, 2, "scan", known);
    set_bound(L, query, 2, "prefix", 0);
    set_bound(L, query, 2, "from", 1);
    set_bound(L, query, 2, "to", 2);
    query->asked.is_reverse = field_boolean(L, 2, "reverse", false);
    return 1;
}

/* ------------------------------------------------------------- running --- */

/* Starts the query, which is at `index`. */
static void
start(lua_State *L, struct query *query, int index)
{
    struct colander_query *asked = &query->asked;
    struct colander_error err;
    enum colander_code code;

    lua_getiuservalue(L, index, CONDITION);
    query->where = condition_compile(L, lua_gettop(L));
    lua_pop(L, 1);
    asked->where = query->where;
    asked->keys.prefix = colander_buffer_slice(&query->bounds[0]);
    asked->keys.from = colander_buffer_slice(&query->bounds[1]);
    asked->keys.to = colander_buffer_slice(&query->bounds[2]);
    asked->snapshot =
        query->snapshot == NULL ? NULL : query->snapshot->snapshot;
    asked->paths = query->has_filter ? NULL : query->paths;
    asked->limit = UINT64_MAX;
    if (!query->has_filter && query->limit < UINT64_MAX - query->skip)
        asked->limit = query->limit + query->skip;
    query->left = query->limit;
    query->to_skip = query->skip;
    code = colander_family_find(query->family->family, asked, &query->cursor,
                                &err);
    if (code != COLANDER_OK) {
        query->cursor = NULL;
        stop(query);
        failure_raise(L, &err);
    }
}

/* Whether the row passes the filter of the query at `index`; leaves the row. */
static bool
passes(lua_State *L, int index, const struct colander_result *result)
{
    bool is_passed;

    row_push(L, result->key, result->row);
    lua_getiuservalue(L, index, FILTER);
    lua_pushvalue(L, -2);
    lua_call(L, 1, 1);
    is_passed = lua_toboolean(L, -1);
    lua_pop(L, 2);
    return is_passed;
}

/* The next row of the query at `index`, which runs; false: it has ended. A
 * filter may have closed it. */
static bool
step(lua_State *L, struct query *query, int index,
     struct colander_result *result)
{
    struct colander_error err;
    enum colander_code code;
    bool is_row = false;

    while (query->cursor != NULL && query->left > 0) {
        code = colander_cursor_next(query->cursor, &is_row, result, &err);
        if (code != COLANDER_OK) {
            stop(query);
            failure_raise(L, &err);
        }
        if (!is_row)
            break;
        if (query->has_filter && !passes(L, index, result))
            continue;
        if (query->to_skip > 0) {
            query->to_skip--;
            continue;
        }
        query->left--;
        return true;
    }
    stop(query);
    return false;
}

/* Pushes key, row and, when they are told, the columns that matched. */
static int
push_result(lua_State *L, const struct query *query,
            const struct colander_result *result)
{
    value_push_key(L, result->key, &scratch_get(L)->parts);
    row_push(L, result->key, result->row);
    if (!query->asked.tells_columns)
        return 2;
    lua_createtable(L, (int)result->columns.count, 0);
    for (size_t i = 0; i < result->columns.count; i++) {
        lua_pushstring(L, result->columns.paths[i]);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    return 3;
}

/* for key, row in query do ... */
static int
query_call(lua_State *L)
{
    struct query *query = check(L);
    struct colander_result result;

    if (query->cursor == NULL)
        start(L, query, 1);
    if (step(L, query, 1, &result))
        return push_result(L, query, &result);
    lua_pushnil(L);
    return 1;
}

/* The query at 1, begun anew. */
static struct query *
begin(lua_State *L)
{
    struct query *query = check(L);

    stop(query);
    start(L, query, 1);
    return query;
}

/* query:first(): key and row, or nil */
static int
query_first(lua_State *L)
{
    struct query *query = begin(L);
    struct colander_result result;
    int count;

    if (!step(L, query, 1, &result))
        return 0;
    count = push_result(L, query, &result);
    stop(query);
    return count;
}

/* query:all(): the rows as an array */
static int
query_all(lua_State *L)
{
    struct query *query = begin(L);
    struct colander_result result;
    lua_Integer count = 0;

    lua_newtable(L);
    while (step(L, query, 1, &result)) {
        row_push(L, result.key, result.row);
        lua_rawseti(L, -2, ++count);
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
    query = begin(L);
    while (step(L, query, 1, &result)) {
        int arguments;

        lua_pushvalue(L, 2);
        arguments = push_result(L, query, &result);
        lua_call(L, arguments, 0);
        count++;
    }
    lua_pushinteger(L, count);
    return 1;
}

/* query:count() */
static int
query_count(lua_State *L)
{
    struct query *query = begin(L);
    struct colander_result result;
    lua_Integer count = 0;

    while (step(L, query, 1, &result))
        count++;
    lua_pushinteger(L, count);
    return 1;
}

/* query:tojson(): a line for each row */
static int
query_tojson(lua_State *L)
{
    struct query *query = begin(L);
    struct scratch *scratch = scratch_get(L);
    struct colander_result result;
    struct colander_error err;
    luaL_Buffer lines;

    luaL_buffinit(L, &lines);
    while (step(L, query, 1, &result)) {
        scratch->text.size = 0;
        failure_check(L,
                      colander_json_append_row(&scratch->text, result.key,
                                               result.row, &err),
                      &err);
        luaL_addlstring(&lines, (const char *)scratch->text.data,
                        scratch->text.size);
        luaL_addchar(&lines, '\n');
    }
    luaL_pushresult(&lines);
    return 1;
}

/* query:plan(): how it would be run */
static int
query_plan(lua_State *L)
{
    struct query *query = begin(L);

    explain_push(L, query->cursor, false);
    stop(query);
    return 1;
}

/* query:explain(): runs it, and tells how that went */
static int
query_explain(lua_State *L)
{
    struct query *query = check_changeable(L);
    struct colander_result result;
    const bool tells_columns = query->asked.tells_columns;

    query->asked.is_timed = true;
    query->asked.tells_columns = true;
    start(L, query, 1);
    query->asked.is_timed = false;
    query->asked.tells_columns = tells_columns;
    for (query->left = UINT64_MAX; query->cursor != NULL;) {
        struct colander_error err;
        bool is_row;
        enum colander_code code =
            colander_cursor_next(query->cursor, &is_row, &result, &err);

        if (code != COLANDER_OK) {
            stop(query);
            failure_raise(L, &err);
        }
        if (!is_row)
            break;
    }
    explain_push(L, query->cursor, true);
    stop(query);
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

/* ------------------------------------------------------------ chaining --- */

/* query:select(path, ...) */
static int
query_select(lua_State *L)
{
    struct query *query = check_changeable(L);
    const int count = lua_gettop(L) - 1;
    const char **paths;

    for (int i = 0; i < count; i++)
        (void)luaL_checkstring(L, i + 2);
    luaL_argcheck(L, count > 0, 2, "select takes the columns that are wanted");
    lua_createtable(L, count, 0);
    for (int i = 0; i < count; i++) {
        lua_pushvalue(L, i + 2);
        lua_rawseti(L, -2, i + 1);
    }
    lua_setiuservalue(L, 1, PATHS);
    paths = realloc(query->paths, (size_t)count * sizeof(char *));
    if (paths == NULL)
        return luaL_error(L, "no memory for the columns that are wanted");
    query->paths = paths;
    for (int i = 0; i < count; i++)
        paths[i] = lua_tostring(L, i + 2);
    query->asked.path_count = (size_t)count;
    lua_settop(L, 1);
    return 1;
}

static uint64_t
check_count(lua_State *L)
{
    lua_Integer count = luaL_checkinteger(L, 2);

    luaL_argcheck(L, count >= 0, 2, "a number of rows is not below 0");
    return (uint64_t)count;
}

/* query:limit(count) */
static int
query_limit(lua_State *L)
{
    struct query *query = check_changeable(L);

    query->limit = check_count(L);
    lua_settop(L, 1);
    return 1;
}

/* query:skip(count) */
static int
query_skip(lua_State *L)
{
    struct query *query = check_changeable(L);

    query->skip = check_count(L);
    lua_settop(L, 1);
    return 1;
}

/* query:reverse([whether]) */
static int
query_reverse(lua_State *L)
{
    struct query *query = check_changeable(L);

    query->asked.is_reverse = lua_isnone(L, 2) || lua_toboolean(L, 2);
    lua_settop(L, 1);
    return 1;
}

/* query:at(snapshot) */
static int
query_at(lua_State *L)
{
    struct query *query = check_changeable(L);
    struct shared_snapshot *snapshot = snapshot_ref(L, 2);

    snapshot_unref(query->snapshot);
    query->snapshot = snapshot;
    lua_settop(L, 1);
    return 1;
}

/* query:columns(): each row with the columns that matched */
static int
query_columns(lua_State *L)
{
    struct query *query = check_changeable(L);

    query->asked.tells_columns = true;
    lua_settop(L, 1);
    return 1;
}

/* query:where(function(row) ... end) */
static int
query_where(lua_State *L)
{
    struct query *query = check_changeable(L);

    luaL_checktype(L, 2, LUA_TFUNCTION);
    lua_settop(L, 2);
    lua_setiuservalue(L, 1, FILTER);
    query->has_filter = true;
    return 1;
}

void
queries_open(lua_State *L)
{
    static const struct luaL_Reg methods[] = {
        {"select", query_select},
        {"limit", query_limit},
        {"skip", query_skip},
        {"reverse", query_reverse},
        {"at", query_at},
        {"columns", query_columns},
        {"where", query_where},
        {"first", query_first},
        {"all", query_all},
        {"each", query_each},
        {"count", query_count},
        {"tojson", query_tojson},
        {"plan", query_plan},
        {"explain", query_explain},
        {NULL, NULL},
    };
    static const struct luaL_Reg metamethods[] = {
        {"__call", query_call},
        {NULL, NULL},
    };

    handle_type(L, TYPE, methods, metamethods);
    lua_pop(L, 1);
}

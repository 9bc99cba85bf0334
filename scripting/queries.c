/*
 * Queries: see queries.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "scripting/query.h"

#include "scripting/conditions.h"
#include "scripting/failure.h"
#include "scripting/fields.h"
#include "scripting/rows.h"
#include "scripting/scratch.h"
#include "scripting/values.h"

#include <lauxlib.h>
#include <stdlib.h>

/* ---------------------------------------------------------------- life --- */

void
query_stop(struct query *query)
{
    colander_cursor_close(query->cursor);
    colander_predicate_destroy(query->where);
    ordered_release(&query->ordered);
    query->cursor = NULL;
    query->where = NULL;
    query->is_running = false;
    query->is_gathering = false;
    query->step_count++;
}

void
query_check_step(lua_State *L, const struct query *query, uint64_t step_count)
{
    if (query->step_count != step_count)
        failure_misuse(L, "a function that a query runs went on with the same "
                          "query, or ended it");
}

static enum colander_code
close_query(struct handle *handle, struct colander_error *err)
{
    struct query *query = (struct query *)handle;

    (void)err;
    query_stop(query);
    snapshot_unref(query->snapshot);
    for (size_t i = 0; i < 3; i++)
        colander_buffer_release(&query->bounds[i]);
    free(query->paths);
    colander_matches_destroy(query->matches);
    query->snapshot = NULL;
    query->paths = NULL;
    query->matches = NULL;
    return COLANDER_OK;
}

struct query *
query_check(lua_State *L, int index)
{
    return handle_check(L, index, QUERY_TYPE, "query");
}

/* The query at 1, which does not run: for methods that change it. */
static struct query *
check_changeable(lua_State *L)
{
    struct query *query = query_check(L, 1);

    if (query->is_running)
        failure_misuse(L, "a query cannot be changed while it runs");
    return query;
}

/* Pushes a query of the family at 1. */
static struct query *
make(lua_State *L)
{
    struct script_family *family = family_check(L, 1);
    struct query *query =
        lua_newuserdatauv(L, sizeof(*query), QUERY_USER_VALUES);

    memset(query, 0, sizeof(*query));
    luaL_setmetatable(L, QUERY_TYPE);
    lua_pushvalue(L, 1);
    lua_setiuservalue(L, -2, QUERY_FAMILY);
    handle_init(L, &query->handle, &family->handle, close_query);
    query->family = family;
    colander_query_init(&query->asked);
    query->limit = UINT64_MAX;
    return query;
}

/* Makes the condition on top that of the query below it. */
static void
set_condition(lua_State *L)
{
    lua_setiuservalue(L, -2, QUERY_CONDITION);
}

/* The bounds of the query on top: {prefix = , from = , to = , reverse = } at
 * `index`, or nil. */
static void
set_range(lua_State *L, struct query *query, int index, const char *what)
{
    static const char *const known[] = {"prefix", "from", "to", "reverse",
                                        NULL};

    if (lua_isnil(L, index))
        return;
    fields_check(L, index, what, known);
    family_key_field(L, index, "prefix", &query->bounds[0]);
    family_key_field(L, index, "from", &query->bounds[1]);
    family_key_field(L, index, "to", &query->bounds[2]);
    query->asked.is_reverse = field_boolean(L, index, "reverse", false);
}

int
query_find(lua_State *L)
{
    lua_settop(L, 3);
    set_range(L, make(L), 3, "find");
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
    (void)value_expect(L, 2, "find_value");
    query = make(L);
    query->tells_columns = true;
    condition_push_value(L, 2);
    set_condition(L);
    return 1;
}

int
query_scan(lua_State *L)
{
    lua_settop(L, 2);
    set_range(L, make(L), 2, "scan");
    return 1;
}

/* ------------------------------------------------------------- running --- */

/* What is asked of C, for the query at `index`. */
static void
describe(lua_State *L, struct query *query, int index)
{
    struct colander_query *asked = &query->asked;
    const bool is_changed = query->has_filter || (query->order != NULL &&
                                                  query->way != QUERY_COUNTED);
    struct colander_predicate *where;

    lua_getiuservalue(L, index, QUERY_CONDITION);
    where = condition_compile(L, lua_gettop(L));
    lua_pop(L, 1);
    if (!query->handle.is_open) { /* by a function that ran meanwhile */
        colander_predicate_destroy(where);
        (void)query_check(L, index);
    }
    query->where = where;
    asked->where = query->where;
    asked->keys.prefix = colander_buffer_slice(&query->bounds[0]);
    asked->keys.from = colander_buffer_slice(&query->bounds[1]);
    asked->keys.to = colander_buffer_slice(&query->bounds[2]);
    asked->snapshot =
        query->snapshot == NULL ? NULL : query->snapshot->snapshot;
    asked->is_timed =
        query->way == QUERY_EXPLAINED || query->way == QUERY_SHOWN;
    asked->tells_columns = asked->is_timed || (query->way == QUERY_AS_TOLD &&
                                               query->tells_columns);
    asked->paths = query->way == QUERY_WHOLE_ROWS ||
                           query->way == QUERY_COUNTED || is_changed
                       ? NULL
                       : query->paths;
    asked->path_count = asked->paths == NULL ? 0 : query->path_count;
    asked->limit = UINT64_MAX;
    if (!is_changed && query->limit < UINT64_MAX - query->skip)
        asked->limit = query->limit + query->skip;
    query->left = query->limit;
    query->to_skip = query->skip;
}

void
query_call_function(lua_State *L, struct query *query, uint64_t step_count,
                    int argument_count, int result_count)
{
    if (lua_pcall(L, argument_count, result_count, 0) != LUA_OK) {
        if (query->step_count == step_count)
            query_stop(query); /* nobody goes on with it */
        (void)lua_error(L);
    }
    query_check_step(L, query, step_count);
}

/* Whether the row passes the filter of the query at `index`. */
static bool
passes(lua_State *L, struct query *query, int index,
       const struct colander_result *result)
{
    const uint64_t step_count = query->step_count;
    bool is_passed;

    lua_getiuservalue(L, index, QUERY_FILTER);
    row_push(L, result->key, result->row);
    query_call_function(L, query, step_count, 1, 1);
    is_passed = lua_toboolean(L, -1);
    lua_pop(L, 1);
    return is_passed;
}

bool
query_read(lua_State *L, struct query *query, struct colander_result *result)
{
    struct colander_error err;
    enum colander_code code;
    bool is_row;

    query->step_count++;
    if (query->watch != NULL)
        query->watch(query->cursor);
    code = colander_cursor_next(query->cursor, &is_row, result, &err);
    if (query->watch != NULL)
        query->watch(NULL);
    if (code != COLANDER_OK) {
        query_stop(query);
        failure_raise(L, &err);
    }
    return is_row;
}

/* The next row that C gives and that passes; false: there is none. */
static bool
read_row(lua_State *L, struct query *query, int index,
         struct colander_result *result)
{
    while (query->cursor != NULL) {
        if (!query_read(L, query, result))
            return false;
        if (!query->has_filter || passes(L, query, index, result))
            return true;
    }
    return false;
}

/* Reads all rows, and puts them in order. */
static void
order_rows(lua_State *L, struct query *query, int index)
{
    const uint64_t wanted = query->limit < UINT64_MAX - query->skip
                                ? query->limit + query->skip
                                : UINT64_MAX;
    struct colander_result result;
    struct colander_value value;
    struct colander_error err;
    enum colander_code code;
    bool found;

    ordered_init(&query->ordered, query->is_descending, wanted,
                 scratch_get(L)->memory_limit, query->stops);
    query->is_gathering = true;
    while (read_row(L, query, index, &result)) {
        code = colander_row_get(result.row, query->order, &value, &found, &err);
        if (code == COLANDER_OK)
            code = ordered_add(&query->ordered, &result, found ? &value : NULL,
                               &err);
        if (code != COLANDER_OK) {
            query_stop(query);
            failure_raise(L, &err);
        }
    }
    query->is_gathering = false;
    ordered_finish(&query->ordered);
    if (query->way != QUERY_SHOWN) {
        colander_cursor_close(query->cursor);
        query->cursor = NULL;
    }
}

/* Starts the query at `index`, which does not run. */
static void
start(lua_State *L, struct query *query, int index, enum query_way way)
{
    struct colander_error err;

    query->way = way;
    query->watch = scratch_get(L)->watch;
    query->stops = scratch_get(L)->stops;
    describe(L, query, index);
    if (colander_family_find(query->family->family, &query->asked,
                             &query->cursor, &err) != COLANDER_OK) {
        query->cursor = NULL;
        query_stop(query);
        failure_raise(L, &err);
    }
    query->is_running = true;
    if (query_is_ordered(query))
        order_rows(L, query, index);
}

struct query *
query_begin(lua_State *L, int index, enum query_way way)
{
    struct query *query = query_check(L, index);

    query_stop(query);
    start(L, query, index, way);
    return query;
}

/* Ends the query as its cursor would, had it one. */
static void
stop_at_once(lua_State *L, struct query *query)
{
    struct colander_error err;

    (void)!COLANDER_FAIL(&err, COLANDER_CANCELLED, "cancelled");
    query_stop(query);
    failure_raise(L, &err);
}

bool
query_step(lua_State *L, struct query *query, int index,
           struct colander_result *result)
{
    while (query->left > 0 &&
           (query_is_ordered(query) ? ordered_next(&query->ordered, result)
                                    : read_row(L, query, index, result))) {
        if (query->stops != NULL && query->stops())
            stop_at_once(L, query);
        if (query->to_skip > 0) {
            query->to_skip--;
            continue;
        }
        query->left--;
        return true;
    }
    if (query->way != QUERY_SHOWN)
        query_stop(query);
    return false;
}

/* for key, row in query do ... */
static int
query_call(lua_State *L)
{
    struct query *query = query_check(L, 1);
    struct colander_result result;

    /* of a loop: nothing yet, or the key of the row before */
    if (lua_gettop(L) >= 3 && !lua_isnil(L, 3) && !query->is_running)
        failure_misuse(L, "the query of this loop was run by something else");
    if (query->is_gathering || (lua_gettop(L) >= 3 && lua_isnil(L, 3)))
        query_stop(query); /* what an error or a break has left */
    if (!query->is_running)
        start(L, query, 1, QUERY_AS_TOLD);
    if (query_step(L, query, 1, &result))
        return result_push(L, query, &result);
    lua_pushnil(L);
    return 1;
}

/* ------------------------------------------------------------ chaining --- */

/* query:select(path, ...) */
static int
query_select(lua_State *L)
{
    const int count = lua_gettop(L) - 1;
    struct query *query;
    const char **paths;

    (void)check_changeable(L);
    for (int i = 0; i < count; i++)
        (void)text_check(L, i + 2, "a path");
    luaL_argcheck(L, count > 0, 2, "select takes the columns that are wanted");
    lua_createtable(L, count, 0);
    for (int i = 0; i < count; i++) {
        lua_pushvalue(L, i + 2);
        lua_rawseti(L, -2, i + 1);
    }
    query = check_changeable(L); /* last: see scratch.h */
    paths = realloc(query->paths, (size_t)count * sizeof(char *));
    if (paths == NULL)
        failure_memory(L, "for the columns that are wanted");
    lua_setiuservalue(L, 1, QUERY_PATHS);
    query->paths = paths;
    for (int i = 0; i < count; i++)
        paths[i] = lua_tostring(L, i + 2);
    query->path_count = (size_t)count;
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

/* query:threads(count): that read a large result; 0: as many as cores */
static int
query_threads(lua_State *L)
{
    struct query *query = check_changeable(L);
    lua_Integer count = luaL_checkinteger(L, 2);

    luaL_argcheck(L, count >= 0 && count <= 1024, 2,
                  "a number of threads is 0 to 1024");
    query->asked.thread_count = (uint32_t)count;
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
    struct shared_snapshot *snapshot =
        snapshot_ref(L, 2, query->family->handle.parent);

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

    query->tells_columns = true;
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
    lua_setiuservalue(L, 1, QUERY_FILTER);
    query->has_filter = true;
    return 1;
}

/* query:order(path [, "desc"]): by a column, or by the key, "_key" */
static int
query_order(lua_State *L)
{
    static const char *const ways[] = {"asc", "desc", NULL};
    struct query *query = check_changeable(L);
    const char *path = text_check(L, 2, "a path");
    bool is_descending = luaL_checkoption(L, 3, "asc", ways) == 1;

    lua_settop(L, 2);
    lua_setiuservalue(L, 1, QUERY_ORDER);
    query->order = path;
    query->is_descending = is_descending;
    if (strcmp(path, COLANDER_KEY_COLUMN) == 0) { /* as rows come */
        query->order = NULL;
        query->asked.is_reverse = is_descending;
    }
    return 1;
}

void
queries_open(lua_State *L)
{
    static const struct luaL_Reg methods[] = {
        {"select", query_select},   {"limit", query_limit},
        {"skip", query_skip},       {"threads", query_threads},
        {"reverse", query_reverse}, {"at", query_at},
        {"columns", query_columns}, {"where", query_where},
        {"order", query_order},     {NULL, NULL},
    };
    static const struct luaL_Reg metamethods[] = {
        {"__call", query_call},
        {NULL, NULL},
    };

    handle_type(L, QUERY_TYPE, methods, metamethods);
    lua_getfield(L, -1, "__index");
    results_open(L);
    aggregates_open(L);
    lua_pop(L, 2);
}

/* See queries.h. SPDX-License-Identifier: MIT */
#include "scripting/queries.h"

#include "scripting/failure.h"
#include "scripting/fields.h"
#include "scripting/module.h"
#include "scripting/rows.h"
#include "scripting/scratch.h"
#include "scripting/types.h"
#include "scripting/values.h"

/* Returns the selected columns of a row. Valid until the next step, or until
 * the scratch is used. */
static struct colander_slice
result_selected(lua_State *L, const struct query *query,
                const struct colander_result *result)
{
    static const uint8_t no_columns[] = {0x80};
    struct scratch *scratch = scratch_get(L);

    if (query->keys_only)
        return colander_slice_of(no_columns, sizeof(no_columns));
    if (query->paths == NULL || query->asked.paths != NULL)
        return result->row;
    failure_try(L, colander_row_select(result->row, query->paths,
                                       query->path_count, &scratch->row, &err));
    return colander_buffer_slice(&scratch->row);
}

/* Returns the columns of a row that matched. Valid until the next step. */
static struct colander_columns
result_columns(lua_State *L, struct query *query,
               const struct colander_result *result)
{
    struct colander_columns none = {NULL, 0, false};
    bool is_match;

    if (!query_is_ordered(query))
        return result->columns;
    if (query->where == NULL)
        return none;
    if (query->match_paths == NULL)
        query->match_paths = colander_matches_create();
    if (query->match_paths == NULL)
        failure_memory(L, "for the columns that matched");
    failure_try(L, colander_predicate_evaluate(query->where, result->row,
                                               &is_match, query->match_paths,
                                               &err));
    return colander_matches_columns(query->match_paths);
}

/* Pushes key, row and, if asked for, the columns that matched. Returns their
 * number. */
static int
push_result(lua_State *L, struct query *query,
            const struct colander_result *result)
{
    const uint64_t step_count = query->step_count;
    struct colander_columns columns;

    /* the row first: then only the columns are borrowed */
    scripting_push_row(L, result->key, result_selected(L, query, result));
    value_push_key(L, row_key(L, -1), &scratch_get(L)->parts);
    lua_insert(L, -2);
    if (!query->with_columns)
        return 2;
    query_check_step(L, query, step_count);
    columns = result_columns(L, query, result);
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

/* for key, row in query do ... */
static int
query_call(lua_State *L)
{
    struct query *query = query_check(L, 1);
    const bool is_loop = lua_gettop(L) >= 3; /* with the key of the last row */
    struct colander_result result;

    if (is_loop && !lua_isnil(L, 3) && !query->is_running)
        failure_misuse(L, "the query of this loop was run by something else");
    if (query->is_gathering ||
        (is_loop && lua_isnil(L, 3) && !query->is_sought))
        query_stop(query); /* a run that an error or a break left */
    if (!query->is_running)
        (void)query_begin(L, 1, QUERY_ROWS);
    query->is_sought = false;
    if (query_step(L, query, 1, &result))
        return push_result(L, query, &result);
    lua_pushnil(L);
    return 1;
}

/* query:seek([key]): the next row is the first at or after the key */
static int
query_seek(lua_State *L)
{
    struct query *query = query_check(L, 1);
    struct colander_buffer *key = &scratch_get(L)->key;
    uint64_t step_count;

    arguments_check_count(L, 2);
    if (query->order != NULL)
        failure_misuse(L, "a query in the order of a column cannot seek");
    if (!query->is_running)
        (void)query_begin(L, 1, QUERY_ROWS);
    step_count = query->step_count;
    key->size = 0;
    if (!lua_isnoneornil(L, 2))
        value_key(L, 2, key);
    query_check_step(L, query, step_count);
    query->step_count++;
    query->is_sought = true;
    failure_try(L, colander_cursor_seek(query->cursor,
                                        colander_buffer_slice(key), &err));
    lua_settop(L, 1);
    return 1;
}

/* query:first(): key and row, or nothing */
static int
query_first(lua_State *L)
{
    struct query *query;
    struct colander_result result;
    int count;

    arguments_check_count(L, 1);
    query = query_begin(L, 1, QUERY_ROWS);
    if (!query_step(L, query, 1, &result))
        return 0;
    query_report_ended(L, query);
    count = push_result(L, query, &result);
    query_stop(query);
    return count;
}

/* query:all(): an array of rows */
static int
query_all(lua_State *L)
{
    struct query *query;
    struct colander_result result;
    lua_Integer count = 0;

    arguments_check_count(L, 1);
    lua_settop(L, 1);
    lua_newtable(L);
    query = query_begin(L, 1, QUERY_ROWS);
    while (query_step(L, query, 1, &result)) {
        const uint64_t step_count = query->step_count;

        scripting_push_row(L, result.key, result_selected(L, query, &result));
        lua_rawseti(L, 2, ++count);
        query_check_step(L, query, step_count);
    }
    return 1;
}

/* query:each(f): calls f(key, row, ...) for each row; returns their number */
static int
query_each(lua_State *L)
{
    struct query *query;
    struct colander_result result;
    lua_Integer count = 0;

    arguments_check_count(L, 2);
    luaL_checktype(L, 2, LUA_TFUNCTION);
    query = query_begin(L, 1, QUERY_ROWS);
    while (query_step(L, query, 1, &result)) {
        const uint64_t step_count = query->step_count;

        lua_pushvalue(L, 2);
        query_call_function(L, query, &result, step_count,
                            push_result(L, query, &result), 0);
        count++;
    }
    lua_pushinteger(L, count);
    return 1;
}

/* query:count(): step by step, so that it can be cancelled */
static int
query_count(lua_State *L)
{
    struct query *query;
    struct colander_result result;
    lua_Integer count = 0;

    arguments_check_count(L, 1);
    query = query_begin(L, 1, QUERY_COUNTED);
    while (query_step(L, query, 1, &result))
        count++;
    lua_pushinteger(L, count);
    return 1;
}

/* query:tojson(): a line for each row */
static int
query_tojson(lua_State *L)
{
    struct query *query;
    struct scratch *scratch = scratch_get(L);
    struct colander_result result;
    luaL_Buffer lines;

    arguments_check_count(L, 1);
    query = query_begin(L, 1, QUERY_ROWS);
    luaL_buffinit(L, &lines);
    while (query_step(L, query, 1, &result)) {
        const uint64_t step_count = query->step_count;

        scratch->text.size = 0;
        failure_try(L, colander_json_append_row(
                           &scratch->text, result.key,
                           result_selected(L, query, &result), &err));
        lua_pushlstring(L, (const char *)scratch->text.data,
                        scratch->text.size);
        luaL_addvalue(&lines);
        luaL_addchar(&lines, '\n');
        query_check_step(L, query, step_count);
    }
    luaL_pushresult(&lines);
    return 1;
}

#define COUNT(name) FIELD(UINT64, #name, colander_explain, name)

static const struct field count_fields[] = {
    COUNT(rows_expected), COUNT(file_count),    COUNT(files_pruned),
    COUNT(files_located), COUNT(files_read),    COUNT(files_unsure),
    COUNT(segments_read), COUNT(recent_found),  COUNT(candidate_count),
    COUNT(rows_read),     COUNT(rows_verified), COUNT(rows_direct),
    COUNT(rows_returned), COUNT(rows_gone),     COUNT(rows_false),
    COUNT(bytes_read),    COUNT(plan_time),     COUNT(read_time),
    COUNT(verify_time),   COUNT(words_found),   FIELD_END,
};

static const struct field plan_fields[] = {COUNT(rows_expected), FIELD_END};

/* Pushes how a query runs: its plan, or, given its counts, what it did. */
static void
push_explanation(lua_State *L, const struct query *query,
                 const struct field *fields)
{
    struct colander_explain explain;

    colander_cursor_explain(query->cursor, &explain);
    fields_push(L, fields, &explain);
    lua_pushstring(L, colander_plan_name(explain.plan));
    lua_setfield(L, -2, "plan");
    lua_pushstring(L, explain.reason);
    lua_setfield(L, -2, "reason");
}

/* query:plan(): how it would run */
static int
query_plan(lua_State *L)
{
    struct query *query;

    arguments_check_count(L, 1);
    query = query_begin(L, 1, QUERY_EXPLAINED);
    push_explanation(L, query, plan_fields);
    query_stop(query);
    return 1;
}

/* query:explain(): runs it and reports how */
static int
query_explain(lua_State *L)
{
    struct query *query;
    struct colander_result result;
    const char *path;
    uint64_t step_count;
    uint64_t row_count;

    arguments_check_count(L, 1);
    query = query_begin(L, 1, QUERY_EXPLAINED);
    while (query_read(L, query, &result))
        continue;
    step_count = query->step_count;
    push_explanation(L, query, count_fields);
    lua_newtable(L);
    for (size_t i = 0;; i++) {
        query_check_step(L, query, step_count);
        if (!colander_cursor_matched(query->cursor, i, &path, &row_count))
            break;
        lua_pushinteger(L, (lua_Integer)row_count);
        lua_setfield(L, -2, path);
    }
    lua_setfield(L, -2, "matched");
    query_stop(query);
    return 1;
}

/* family:count(condition [, range]), family:explain(condition [, range]): the
 * methods of the query. Upvalue 1 says which. */
static int
run_find(lua_State *L)
{
    (void)query_find(L);
    lua_replace(L, 1);
    lua_settop(L, 1);
    return lua_tointeger(L, lua_upvalueindex(1)) == 0 ? query_count(L)
                                                      : query_explain(L);
}

void
scripting_query_begin(lua_State *L, int index, struct scripting_query *query)
{
    const struct query *begun = query_begin(L, index, QUERY_SHOWN);

    query->asked = &begun->asked;
    query->family = begun->family->family;
    query->paths = begun->paths;
    query->path_count = begun->paths == NULL ? 0 : begun->path_count;
    query->with_columns = begun->with_columns;
}

bool
scripting_query_next(lua_State *L, int index, struct colander_result *result)
{
    struct query *query = query_check(L, index);

    if (!query_step(L, query, index, result))
        return false;
    if (query->with_columns)
        result->columns = result_columns(L, query, result);
    result->row = result_selected(L, query, result);
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

void
results_register(lua_State *L)
{
    static const struct luaL_Reg methods[] = {
        {"first", query_first},
        {"all", query_all},
        {"each", query_each},
        {"count", query_count},
        {"tojson", query_tojson},
        {"plan", query_plan},
        {"explain", query_explain},
        {"seek", query_seek},
        {NULL, NULL},
    };
    static const struct luaL_Reg metamethods[] = {
        {"__call", query_call},
        {NULL, NULL},
    };

    type_extend(L, QUERY_TYPE, methods, metamethods);
    type_push_methods(L, FAMILY_TYPE);
    type_set_function(L, "count", run_find, 0);
    type_set_function(L, "explain", run_find, 1);
    lua_pop(L, 1);
}

/*
 * What rows of a query come to: grouped by a column, counted, summed; which
 * values there are. Rows stream through; only groups are held.
 *
 * Without a group all rows are one. A row without the column, or with a map or
 * an array there, is left out.
 *
 * SPDX-License-Identifier: MIT
 */
#include "scripting/query.h"

#include "scripting/failure.h"
#include "scripting/fields.h"
#include "scripting/groups.h"
#include "scripting/scratch.h"
#include "scripting/values.h"

#include <lauxlib.h>

#define GROUPS "colander.groups"
#define GROUPED "colander.grouped"

enum measure {
    MEASURE_COUNT,
    MEASURE_SUM,
    MEASURE_MIN,
    MEASURE_MAX,
    MEASURE_AVG
};

/* ------------------------------------------------------------- gathering ---
 */

static int
groups_collect(lua_State *L)
{
    groups_release(luaL_checkudata(L, 1, GROUPS));
    return 0;
}

/* Pushes groups that hold nothing yet. */
static struct groups *
push_groups(lua_State *L)
{
    struct groups *groups = lua_newuserdatauv(L, sizeof(*groups), 0);

    groups_init(groups, scratch_get(L)->memory_limit);
    if (luaL_newmetatable(L, GROUPS) != 0) {
        lua_pushcfunction(L, groups_collect);
        lua_setfield(L, -2, "__gc");
    }
    lua_setmetatable(L, -2);
    return groups;
}

/* The scalar at `path`, null among them. */
static enum colander_code
get_scalar(struct colander_slice row, const char *path,
           struct colander_value *value, bool *found,
           struct colander_error *err)
{
    enum colander_code code = colander_row_get(row, path, value, found, err);

    *found = code == COLANDER_OK && *found && value->type < COLANDER_ARRAY;
    return code;
}

/* Adds a row to its group; `by` or `of` may be NULL: one group, no measure. */
static enum colander_code
add_row(struct groups *groups, struct colander_slice row, const char *by,
        const char *of, struct colander_error *err)
{
    struct colander_value value = colander_null();
    struct colander_value measure;
    enum colander_code code;
    bool found = true;

    if (by != NULL) {
        code = get_scalar(row, by, &value, &found, err);
        if (code != COLANDER_OK || !found)
            return code;
    }
    if (of == NULL)
        return groups_add(groups, &value, NULL, err);
    code = get_scalar(row, of, &measure, &found, err);
    if (code != COLANDER_OK || !found || measure.type == COLANDER_NULL)
        return code;
    return groups_add(groups, &value, &measure, err);
}

/* Runs the query at 1; pushes the groups of its rows. */
static struct groups *
gather(lua_State *L, const char *by, const char *of)
{
    struct query *query = query_check(L, 1);
    struct groups *groups = push_groups(L);
    struct colander_result result;
    struct colander_error err;

    (void)query_begin(L, QUERY_WHOLE_ROWS);
    while (query_step(L, query, 1, &result)) {
        if (add_row(groups, result.row, by, of, &err) != COLANDER_OK) {
            query_stop(query);
            failure_raise(L, &err);
        }
    }
    groups_finish(groups);
    return groups;
}

/* --------------------------------------------------------------- telling ---
 */

static void
push_measure(lua_State *L, const struct group *group, enum measure measure)
{
    switch (measure) {
    case MEASURE_COUNT:
        lua_pushinteger(L, (lua_Integer)group->row_count);
        break;
    case MEASURE_SUM:
        if (group->is_double)
            lua_pushnumber(L, group->double_sum);
        else
            lua_pushinteger(L, group->integer_sum);
        break;
    case MEASURE_MIN:
        value_push(L, &group->least);
        break;
    case MEASURE_MAX:
        value_push(L, &group->most);
        break;
    case MEASURE_AVG:
        if (group->number_count == 0)
            lua_pushnil(L);
        else
            lua_pushnumber(L, group->double_sum / (double)group->number_count);
        break;
    }
}

/* What the function that goes through groups does: upvalues are the groups, the
 * number of the next one, and the measure; -1: none. */
static int
next_group(lua_State *L)
{
    const struct groups *groups = lua_touserdata(L, lua_upvalueindex(1));
    const size_t next = (size_t)lua_tointeger(L, lua_upvalueindex(2));
    const lua_Integer measure = lua_tointeger(L, lua_upvalueindex(3));

    if (next >= groups->count) {
        lua_pushnil(L);
        return 1;
    }
    lua_pushinteger(L, (lua_Integer)next + 1);
    lua_replace(L, lua_upvalueindex(2));
    value_push(L, &groups->items[next].value);
    if (measure < 0)
        return 1;
    push_measure(L, &groups->items[next], (enum measure)measure);
    return 2;
}

/* Makes of the groups on top a function that goes through them. */
static void
push_walk(lua_State *L, int measure)
{
    lua_pushinteger(L, 0);
    lua_pushinteger(L, measure);
    lua_pushcclosure(L, next_group, 3);
}

/* query:distinct(path): each value of the column once, in order */
static int
query_distinct(lua_State *L)
{
    (void)query_check(L, 1);
    (void)gather(L, text_check(L, 2, "a path"), NULL);
    push_walk(L, -1);
    return 1;
}

/* query:sum(path) and the like, of all rows */
static int
query_measure(lua_State *L)
{
    const enum measure measure =
        (enum measure)lua_tointeger(L, lua_upvalueindex(1));
    const struct groups *groups;

    (void)query_check(L, 1);
    groups = gather(L, NULL, text_check(L, 2, "a path"));
    if (groups->count > 0)
        push_measure(L, &groups->items[0], measure);
    else if (measure == MEASURE_SUM)
        lua_pushinteger(L, 0);
    else
        lua_pushnil(L);
    return 1;
}

/* query:group(path): rows by the values of a column. A table of the query and
 * the path, whose methods run it. */
static int
query_group(lua_State *L)
{
    (void)query_check(L, 1);
    (void)text_check(L, 2, "a path");
    lua_createtable(L, 2, 0);
    lua_pushvalue(L, 1);
    lua_rawseti(L, -2, 1);
    lua_pushvalue(L, 2);
    lua_rawseti(L, -2, 2);
    luaL_setmetatable(L, GROUPED);
    return 1;
}

/* grouped:count(), grouped:sum(path) and the like: a function that gives each
 * value and what it comes to, in the order of the values */
static int
grouped_measure(lua_State *L)
{
    const enum measure measure =
        (enum measure)lua_tointeger(L, lua_upvalueindex(1));
    const char *of =
        measure == MEASURE_COUNT ? NULL : text_check(L, 2, "a path");
    const char *by;

    luaL_checktype(L, 1, LUA_TTABLE);
    lua_rawgeti(L, 1, 2);
    by = text_check(L, -1, "a path"); /* it stays on the stack */
    lua_rawgeti(L, 1, 1);
    lua_replace(L, 1);
    (void)gather(L, by, of);
    push_walk(L, (int)measure);
    return 1;
}

void
aggregates_open(lua_State *L)
{
    static const char *const names[] = {"count", "sum", "min", "max", "avg"};
    static const struct luaL_Reg methods[] = {
        {"distinct", query_distinct},
        {"group", query_group},
        {NULL, NULL},
    };

    luaL_setfuncs(L, methods, 0);
    for (int measure = MEASURE_SUM; measure <= MEASURE_AVG; measure++) {
        lua_pushinteger(L, measure);
        lua_pushcclosure(L, query_measure, 1);
        lua_setfield(L, -2, names[measure]);
    }
    if (luaL_newmetatable(L, GROUPED) != 0) {
        lua_newtable(L);
        for (int measure = MEASURE_COUNT; measure <= MEASURE_AVG; measure++) {
            lua_pushinteger(L, measure);
            lua_pushcclosure(L, grouped_measure, 1);
            lua_setfield(L, -2, names[measure]);
        }
        lua_setfield(L, -2, "__index");
    }
    lua_pop(L, 1);
}

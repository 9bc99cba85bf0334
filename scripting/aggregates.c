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

static const char *const measure_names[] = {"count", "sum", "min", "max",
                                            "avg"};

/* Groups, and how far a function has gone through them. */
struct walk {
    struct groups groups; /* first: the userdata is known as that */
    size_t next;
    int measure; /* that it tells; -1: none */
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
    struct walk *walk = lua_newuserdatauv(L, sizeof(*walk), 0);

    walk->next = 0;
    walk->measure = -1;
    groups_init(&walk->groups, scratch_get(L)->memory_limit);
    if (luaL_newmetatable(L, GROUPS) != 0) {
        lua_pushcfunction(L, groups_collect);
        lua_setfield(L, -2, "__gc");
    }
    lua_setmetatable(L, -2);
    return &walk->groups;
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

    (void)query_begin(L, 1, QUERY_WHOLE_ROWS);
    while (query_step(L, query, 1, &result)) {
        if (add_row(groups, result.row, by, of, &err) != COLANDER_OK) {
            query_stop(query);
            failure_raise(L, &err);
        }
    }
    groups_finish(groups, query->stops);
    return groups;
}

/* --------------------------------------------------------------- telling ---
 */

/* What a group comes to; null: none of its rows has a number. */
static struct colander_value
measure_of(const struct group *group, enum measure measure)
{
    switch (measure) {
    case MEASURE_COUNT:
        break;
    case MEASURE_SUM:
        return group->is_double ? colander_double(group->double_sum)
                                : colander_integer(group->integer_sum);
    case MEASURE_MIN:
        return group->least;
    case MEASURE_MAX:
        return group->most;
    case MEASURE_AVG:
        if (group->number_count == 0)
            return colander_null();
        return colander_double(group->double_sum / (double)group->number_count);
    }
    return colander_integer((int64_t)group->row_count);
}

static void
push_measure(lua_State *L, const struct group *group, enum measure measure)
{
    const struct colander_value value = measure_of(group, measure);

    if (value.type == COLANDER_NULL)
        lua_pushnil(L);
    else
        value_push(L, &value);
}

/* Upvalues of the function that walks. */
enum {
    WALK = 1,
    WALK_BY,   /* the path of the column */
    WALK_NAME, /* of the measure; nil: none */
    WALK_UPVALUES = WALK_NAME,
};

/* The next group; NULL: there is none. */
static const struct group *
take_group(struct walk *walk)
{
    return walk->next < walk->groups.count ? &walk->groups.items[walk->next++]
                                           : NULL;
}

/* What the function that goes through groups does. */
static int
next_group(lua_State *L)
{
    struct walk *walk = lua_touserdata(L, lua_upvalueindex(WALK));
    const struct group *group = take_group(walk);

    if (group == NULL) {
        lua_pushnil(L);
        return 1;
    }
    value_push(L, &group->value);
    if (walk->measure < 0)
        return 1;
    push_measure(L, group, (enum measure)walk->measure);
    return 2;
}

/* Makes of the groups on top a function that goes through them; `of` may be
 * NULL, `measure` -1. */
static void
push_walk(lua_State *L, int measure, const char *by, const char *of)
{
    struct walk *walk = lua_touserdata(L, -1);

    walk->measure = measure;
    lua_pushstring(L, by);
    if (measure < 0)
        lua_pushnil(L);
    else if (of == NULL)
        lua_pushstring(L, measure_names[measure]);
    else
        lua_pushfstring(L, "%s %s", measure_names[measure], of);
    lua_pushcclosure(L, next_group, WALK_UPVALUES);
}

bool
aggregates_is_walk(lua_State *L, int index)
{
    return lua_tocfunction(L, index) == next_group;
}

void
scripting_walk_names(lua_State *L, int index, const char **by,
                     const char **measure)
{
    (void)lua_getupvalue(L, index, WALK_BY);
    (void)lua_getupvalue(L, index, WALK_NAME);
    *by = lua_tostring(L, -2);
    *measure = lua_tostring(L, -1);
    lua_pop(L, 2); /* the function keeps them */
}

bool
scripting_walk_next(lua_State *L, int index, struct colander_value *value,
                    struct colander_value *measure)
{
    const struct group *group;
    struct walk *walk;

    (void)lua_getupvalue(L, index, WALK);
    walk = lua_touserdata(L, -1);
    lua_pop(L, 1); /* the function keeps it */
    group = take_group(walk);
    if (group == NULL)
        return false;
    *value = group->value;
    *measure = walk->measure < 0
                   ? colander_null()
                   : measure_of(group, (enum measure)walk->measure);
    return true;
}

/* query:distinct(path): each value of the column once, in order */
static int
query_distinct(lua_State *L)
{
    (void)query_check(L, 1);
    (void)gather(L, text_check(L, 2, "a path"), NULL);
    push_walk(L, -1, lua_tostring(L, 2), NULL);
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

/* What is shown of a group whose methods nobody has called. */
static int
grouped_text(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_rawgeti(L, 1, 2);
    lua_pushfstring(L, "rows by '%s' (:count(), :sum(column), ...)",
                    text_check(L, -1, "a path"));
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
    push_walk(L, (int)measure, by, of);
    return 1;
}

void
aggregates_open(lua_State *L)
{
    static const struct luaL_Reg methods[] = {
        {"distinct", query_distinct},
        {"group", query_group},
        {NULL, NULL},
    };

    luaL_setfuncs(L, methods, 0);
    for (int measure = MEASURE_SUM; measure <= MEASURE_AVG; measure++) {
        lua_pushinteger(L, measure);
        lua_pushcclosure(L, query_measure, 1);
        lua_setfield(L, -2, measure_names[measure]);
    }
    if (luaL_newmetatable(L, GROUPED) != 0) {
        lua_newtable(L);
        for (int measure = MEASURE_COUNT; measure <= MEASURE_AVG; measure++) {
            lua_pushinteger(L, measure);
            lua_pushcclosure(L, grouped_measure, 1);
            lua_setfield(L, -2, measure_names[measure]);
        }
        lua_setfield(L, -2, "__index");
        lua_pushcfunction(L, grouped_text);
        lua_setfield(L, -2, "__tostring");
    }
    lua_pop(L, 1);
}

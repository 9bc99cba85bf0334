/*
 * Mappings: rows of a query, made values by one function and combined by
 * another one.
 *
 * Both are texts. They see what they are given and a part of Lua's libraries,
 * and nothing of the script, so that they do the same wherever they run. See
 * mappings.h about which part that is.
 *
 * SPDX-License-Identifier: MIT
 */
#include "scripting/mappings.h"

#include "scripting/failure.h"
#include "scripting/fields.h"
#include "scripting/module.h"
#include "scripting/queries.h"
#include "scripting/rows.h"
#include "scripting/types.h"
#include "scripting/values.h"

#include <lauxlib.h>

#define TEXT_MAX (1 << 16) /* bytes: compiling takes the square of its time */

/* ---------------------------------------------------------- environment --- */

static const char *const basic[] = {
    "assert", "error",  "ipairs",   "next",     "pairs", "rawequal",
    "rawlen", "select", "tonumber", "tostring", "type",  NULL,
};

/* Without what depends on a clock or chance, and without patterns: a server
 * that runs scripts has none. */
static const struct {
    const char *name;
    const char *const members[20];
} libraries[] = {
    {"math",
     {"abs", "ceil", "exp", "floor", "fmod", "huge", "log", "max", "maxinteger",
      "min", "mininteger", "modf", "pi", "sqrt", "tointeger", "type", "ult"}},
    {"string",
     {"byte", "char", "format", "len", "lower", "rep", "reverse", "sub",
      "upper"}},
    {"table", {"concat", "insert", "pack", "remove", "sort", "unpack"}},
    {"utf8", {"char", "codepoint", "len", "offset"}},
};

#define LIBRARY_COUNT (sizeof(libraries) / sizeof(libraries[0]))

/* Sets members of the table on top to those of the table below it. */
static void
copy_members(lua_State *L, const char *const *members)
{
    for (; *members != NULL; members++) {
        lua_getfield(L, -2, *members);
        lua_setfield(L, -2, *members);
    }
}

/* __newindex: what a function keeps would depend on the rows before. */
static int
refuse_global(lua_State *L)
{
    return luaL_error(L, "'%s' is not local", luaL_tolstring(L, 2, NULL));
}

/* Replaces the table on top by one that has its members, and cannot be changed.
 */
static void
seal(lua_State *L)
{
    lua_newtable(L);
    lua_createtable(L, 0, 3);
    lua_rotate(L, -3, -1);
    lua_setfield(L, -2, "__index");
    lua_pushcfunction(L, refuse_global);
    lua_setfield(L, -2, "__newindex");
    lua_pushboolean(L, false);
    lua_setfield(L, -2, "__metatable");
    lua_setmetatable(L, -2);
}

/* Pushes what the functions see. */
static void
push_environment(lua_State *L)
{
    const int top = lua_gettop(L);

    luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
    lua_getfield(L, -1, LUA_GNAME);
    lua_newtable(L);
    copy_members(L, basic);
    for (size_t i = 0; i < LIBRARY_COUNT; i++) {
        if (lua_getfield(L, top + 1, libraries[i].name) == LUA_TTABLE) {
            lua_newtable(L);
            copy_members(L, libraries[i].members);
            seal(L);
            lua_setfield(L, top + 3, libraries[i].name);
        }
        lua_pop(L, 1);
    }
    seal(L);
    lua_replace(L, top + 1);
    lua_settop(L, top + 1);
}

void
mapping_push(lua_State *L, int index, const char *what)
{
    const char *text;
    size_t size;

    if (lua_isfunction(L, index))
        failure_misuse(L,
                       "%s takes the text of a function, as it may run "
                       "elsewhere: [[function(...) ... end]]",
                       what);
    text = text_check(L, index, "the text of a function");
    size = lua_rawlen(L, index);
    if (size > TEXT_MAX)
        failure_misuse(L, "the text of a function has at most %d bytes",
                       TEXT_MAX);
    lua_pushfstring(L, "=%s", what);
    lua_pushliteral(L, "return ");
    lua_pushlstring(L, text, size);
    lua_concat(L, 2);
    if (luaL_loadbufferx(L, lua_tostring(L, -1), lua_rawlen(L, -1),
                         lua_tostring(L, -2), "t") != LUA_OK)
        failure_misuse(L, "%s", lua_tostring(L, -1));
    push_environment(L);
    (void)lua_setupvalue(L, -2, 1);
    lua_call(L, 0, 1);
    if (!lua_isfunction(L, -1))
        failure_misuse(L, "%s takes the text of a function, not of a %s", what,
                       luaL_typename(L, -1));
    lua_replace(L, -3);
    lua_pop(L, 1);
}

/* ----------------------------------------------------------------- runs --- */

/* Combines the value on top with that at `sum`, and pops it. */
static void
combine(lua_State *L, struct query *query, int sum, int function,
        const struct colander_result *result)
{
    if (!lua_isnil(L, -1) && !lua_isnil(L, sum)) {
        lua_pushvalue(L, function);
        lua_insert(L, -2);
        lua_pushvalue(L, sum);
        lua_insert(L, -2);
        query_call_function(L, query, result, query->step_count, 2, 1);
        lua_replace(L, sum);
    } else if (!lua_isnil(L, -1)) {
        lua_replace(L, sum);
    } else {
        lua_pop(L, 1);
    }
}

/* Fails unless the value on top may be a column. */
static void
check_value(lua_State *L)
{
    if (lua_isnil(L, -1))
        return;
    lua_createtable(L, 0, 1);
    lua_pushvalue(L, -2);
    lua_setfield(L, -2, "value");
    (void)row_check(L, lua_gettop(L));
    lua_pop(L, 1);
}

/* query:map(text):reduce(text) */
static int
query_reduce(lua_State *L)
{
    enum { MAP = 3, REDUCE, SUM };
    struct query *query;
    struct colander_result result;

    (void)query_check(L, 1);
    arguments_check_count(L, 2);
    lua_settop(L, 2);
    if (lua_getiuservalue(L, 1, QUERY_MAP) == LUA_TNIL)
        failure_misuse(L, "a reduce comes after a map");
    mapping_push(L, MAP, "map");
    lua_replace(L, MAP);
    mapping_push(L, 2, "reduce");
    lua_pushnil(L);
    query = query_begin(L, 1, QUERY_MAPPED);
    while (query_step(L, query, 1, &result)) {
        lua_pushvalue(L, MAP);
        scripting_push_row(L, result.key, result.row);
        query_call_function(L, query, &result, query->step_count, 1, 1);
        combine(L, query, SUM, REDUCE, &result);
    }
    check_value(L);
    return 1;
}

void
mappings_register(lua_State *L)
{
    static const struct luaL_Reg methods[] = {
        {"reduce", query_reduce},
        {NULL, NULL},
    };

    type_extend(L, QUERY_TYPE, methods, NULL);
}

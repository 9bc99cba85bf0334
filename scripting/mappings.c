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

/* Adds the value on top to that at `sum`, and pops it. If that takes a call, it
 * returns true, and the call is on top: its result is the sum. */
static bool
begin_combine(lua_State *L, int sum, int function)
{
    if (lua_isnil(L, -1)) {
        lua_pop(L, 1);
        return false;
    }
    if (lua_isnil(L, sum)) {
        lua_replace(L, sum);
        return false;
    }
    lua_pushvalue(L, function);
    lua_insert(L, -2);
    lua_pushvalue(L, sum);
    lua_insert(L, -2);
    return true;
}

/* Returns a row whose column is the value on top, unless that is nil. Fails if
 * it cannot be one. Valid until the scratch is used. */
static struct colander_slice
encode_value(lua_State *L)
{
    struct colander_slice row;

    lua_createtable(L, 0, 1);
    lua_pushvalue(L, -2);
    lua_setfield(L, -2, "value");
    row = row_check(L, lua_gettop(L));
    lua_pop(L, 1);
    return row;
}

/* Makes the table on top, and those in it, what functions make: arrays without
 * a mark, unless they are empty. */
static void
make_plain(lua_State *L)
{
    luaL_checkstack(L, 4, "a value is nested too deeply");
    if (lua_rawlen(L, -1) > 0) {
        lua_pushnil(L);
        lua_setmetatable(L, -2);
    }
    lua_pushnil(L);
    while (lua_next(L, -2) != 0) {
        if (lua_istable(L, -1))
            make_plain(L);
        lua_pop(L, 1);
    }
}

/* Pushes what was made of rows elsewhere. */
static void
push_part(lua_State *L, struct colander_slice row)
{
    scripting_push_row(L, colander_slice_of(NULL, 0), row);
    lua_getfield(L, -1, "value");
    lua_remove(L, -2);
    if (lua_istable(L, -1))
        make_plain(L);
}

/* Has the functions called where the rows are, if it does not matter which rows
 * come first, or what else is done to them here. */
static void
offer(struct query *query, const char *map, const char *reduce)
{
    const bool may_move = !query->has_filter && query->snapshot == NULL &&
                          query->limit == UINT64_MAX && query->skip == 0;

    query->asked.map = may_move ? map : NULL;
    query->asked.reduce = may_move ? reduce : NULL;
}

/* query:map(text):reduce(text) */
static int
query_reduce(lua_State *L)
{
    enum { REDUCE_TEXT = 2, MAP_TEXT, MAP, REDUCE, SUM };
    struct query *query = query_check(L, 1);
    struct colander_result result;

    arguments_check_count(L, 2);
    lua_settop(L, 2);
    if (lua_getiuservalue(L, 1, QUERY_MAP) == LUA_TNIL)
        failure_misuse(L, "a reduce comes after a map");
    mapping_push(L, MAP_TEXT, "map");
    mapping_push(L, REDUCE_TEXT, "reduce");
    lua_pushnil(L);
    offer(query, lua_tostring(L, MAP_TEXT), lua_tostring(L, REDUCE_TEXT));
    query = query_begin(L, 1, QUERY_MAPPED);
    while (query_step(L, query, 1, &result)) {
        if (result.key.size > 0) {
            lua_pushvalue(L, MAP);
            scripting_push_row(L, result.key, result.row);
            query_call_function(L, query, &result, query->step_count, 1, 1);
        } else {
            push_part(L, result.row);
        }
        if (begin_combine(L, SUM, REDUCE)) {
            query_call_function(L, query, &result, query->step_count, 2, 1);
            lua_replace(L, SUM);
        }
    }
    (void)encode_value(L);
    return 1;
}

void
scripting_reduce(lua_State *L, const char *map, const char *reduce,
                 struct colander_cursor *cursor, uint64_t *row_count,
                 struct colander_buffer *row)
{
    enum { MAP = 1, REDUCE, SUM };
    struct colander_result result;
    bool is_row = true;

    lua_settop(L, 0);
    lua_pushstring(L, map);
    mapping_push(L, MAP, "map");
    lua_replace(L, MAP);
    lua_pushstring(L, reduce);
    mapping_push(L, REDUCE, "reduce");
    lua_replace(L, REDUCE);
    lua_pushnil(L);
    *row_count = 0;
    for (;;) {
        failure_try(L, colander_cursor_next(cursor, &is_row, &result, &err));
        if (!is_row)
            break;
        ++*row_count; /* its time begins */
        lua_pushvalue(L, MAP);
        scripting_push_row(L, result.key, result.row);
        lua_call(L, 1, 1);
        if (begin_combine(L, SUM, REDUCE)) {
            lua_call(L, 2, 1);
            lua_replace(L, SUM);
        }
    }
    if (*row_count > 0) {
        const struct colander_slice value = encode_value(L);

        failure_try(L,
                    colander_buffer_append(row, value.data, value.size, &err));
    }
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

/*
 * Lua states for expressions over rows that lack columns: see scripting.h.
 *
 * Types without a metatable (nil, booleans, numbers) get one; those with one
 * (strings, typed values) get the same functions. Lua calls them only for
 * operations that would fail, so no other operation becomes slower.
 *
 * SPDX-License-Identifier: MIT
 */
#include "scripting/scripting.h"

#include "scripting/typed_value.h"
#include "scripting/types.h"
#include "scripting/values.h"

#include <lauxlib.h>

/* Compares operands as predicates do. Returns whether they have an order. */
static bool
have_order(lua_State *L, int *order)
{
    struct colander_value a;
    struct colander_value b;

    return value_get(L, 1, &a) && value_get(L, 2, &b) &&
           a.type != COLANDER_NULL && typed_value_order(&a, &b, order);
}

/* a < b, and a <= b if upvalue 1 is 1 */
static int
is_less(lua_State *L)
{
    int order = 0;
    const bool is_ordered = have_order(L, &order);

    lua_pushboolean(L, is_ordered &&
                           order < lua_tointeger(L, lua_upvalueindex(1)));
    return 1;
}

static int
return_nil(lua_State *L)
{
    lua_pushnil(L);
    return 1;
}

/* A call of nil: nil if it is a method of a value that has none, since that
 * value may be missing. */
static int
call_nil(lua_State *L)
{
    lua_Debug called;

    if (lua_getstack(L, 0, &called) != 0)
        (void)lua_getinfo(L, "n", &called);
    if (strcmp(called.namewhat, "method") == 0 &&
        lua_type(L, 2) != LUA_TSTRING && lua_type(L, 2) != LUA_TTABLE)
        return return_nil(L);
    if (called.name == NULL)
        return luaL_error(L, "attempt to call a nil value");
    return luaL_error(L, "attempt to call a nil value (%s '%s')",
                      called.namewhat, called.name);
}

/* An operation on a typed value: nil if an operand is absent, else the
 * operation of the type (upvalue 1), if it has one. */
static int
operate(lua_State *L)
{
    lua_settop(L, 2);
    if (value_is_null(L, 1) || value_is_null(L, 2))
        return return_nil(L);
    if (lua_isnil(L, lua_upvalueindex(1)))
        return luaL_error(
            L, "attempt to calculate with a %s",
            colander_type_name(
                typed_value_get(L, typed_value_get(L, 1) ? 1 : 2)->type));
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_call(L, 2, 1);
    return 1;
}

static const char *const operations[] = {
    "__add", "__sub",  "__mul",    "__div", "__mod",  "__pow",
    "__unm", "__idiv", "__band",   "__bor", "__bxor", "__shl",
    "__shr", "__bnot", "__concat", "__len",
};

#define OPERATION_COUNT (sizeof(operations) / sizeof(operations[0]))

/* Sets the comparisons of the metatable on top. */
static void
set_order(lua_State *L)
{
    type_set_function(L, "__lt", is_less, 0);
    type_set_function(L, "__le", is_less, 1);
}

/* Sets the metatable of the type of the value on top, and pops the value. */
static void
extend_type(lua_State *L)
{
    bool is_nil = lua_isnil(L, -1);

    lua_createtable(L, 0, 4);
    set_order(L);
    lua_pushcfunction(L, return_nil);
    lua_setfield(L, -2, "__index");
    if (is_nil) {
        lua_pushcfunction(L, call_nil);
        lua_setfield(L, -2, "__call");
    }
    for (size_t i = 0; is_nil && i < OPERATION_COUNT; i++) {
        lua_pushcfunction(L, return_nil);
        lua_setfield(L, -2, operations[i]);
    }
    lua_setmetatable(L, -2);
    lua_pop(L, 1);
}

static void
extend_typed_values(lua_State *L)
{
    struct colander_value null = colander_null();

    typed_value_push(L, &null);
    lua_getmetatable(L, -1);
    set_order(L);
    for (size_t i = 0; i < OPERATION_COUNT; i++) {
        lua_getfield(L, -1, operations[i]);
        lua_pushcclosure(L, operate, 1);
        lua_setfield(L, -2, operations[i]);
    }
    lua_pop(L, 2);
}

void
scripting_be_lenient(lua_State *L)
{
    lua_pushnil(L);
    extend_type(L);
    lua_pushboolean(L, true);
    extend_type(L);
    lua_pushinteger(L, 0);
    extend_type(L);
    lua_pushliteral(L, "");
    if (lua_getmetatable(L, -1) != 0) {
        set_order(L);
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
    extend_typed_values(L);
}

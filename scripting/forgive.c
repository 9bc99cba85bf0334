/*
 * States of Lua for expressions over rows that lack columns: see scripting.h.
 *
 * Types without a metatable of their own (nil, booleans, numbers) get one, and
 * those that have one (strings, specials) the same functions. Lua asks them
 * only for what it cannot do itself, so that nothing else becomes slower.
 *
 * SPDX-License-Identifier: MIT
 */
#include "scripting/scripting.h"

#include "scripting/special.h"
#include "scripting/values.h"

#include <lauxlib.h>

/* --------------------------------------------------------------- order --- */

static bool
is_number(const struct colander_value *value)
{
    return value->type == COLANDER_INTEGER ||
           value->type == COLANDER_UNSIGNED || value->type == COLANDER_DOUBLE;
}

/* As predicates have it; *order is set where there is one. */
static bool
have_order(lua_State *L, int *order)
{
    struct colander_value a;
    struct colander_value b;

    if (!value_get(L, 1, &a) || !value_get(L, 2, &b) || a.type == COLANDER_NULL)
        return false;
    if (a.type != b.type && !(is_number(&a) && is_number(&b)))
        return false;
    *order = colander_value_compare(&a, &b);
    return true;
}

static int
is_less(lua_State *L)
{
    int order;

    lua_pushboolean(L, have_order(L, &order) && order < 0);
    return 1;
}

static int
is_less_or_equal(lua_State *L)
{
    int order;

    lua_pushboolean(L, have_order(L, &order) && order <= 0);
    return 1;
}

/* -------------------------------------------------------------- absence --- */

static bool
is_absent(lua_State *L, int index)
{
    const struct colander_value *value = special_get(L, index);

    return lua_isnil(L, index) ||
           (value != NULL && value->type == COLANDER_NULL);
}

static int
give_nil(lua_State *L)
{
    lua_pushnil(L);
    return 1;
}

/* An operation of two values, one of which is a special: nil if either is
 * absent, else what the special did before (upvalue 1), if anything. */
static int
operate(lua_State *L)
{
    lua_settop(L, 2);
    if (is_absent(L, 1) || is_absent(L, 2))
        return give_nil(L);
    if (lua_isnil(L, lua_upvalueindex(1)))
        return luaL_error(L, "attempt to calculate with a %s",
                          colander_type_name(
                              special_get(L, special_get(L, 1) ? 1 : 2)->type));
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

/* ------------------------------------------------------------ metatables ---
 */

/* Sets the functions that order values in the metatable on top. */
static void
set_order(lua_State *L)
{
    lua_pushcfunction(L, is_less);
    lua_setfield(L, -2, "__lt");
    lua_pushcfunction(L, is_less_or_equal);
    lua_setfield(L, -2, "__le");
}

/* Gives the type of the value on top, which is popped, a metatable. */
static void
forgive_type(lua_State *L)
{
    bool is_nil = lua_isnil(L, -1);

    lua_createtable(L, 0, 4);
    set_order(L);
    lua_pushcfunction(L, give_nil);
    lua_setfield(L, -2, "__index");
    for (size_t i = 0; is_nil && i < OPERATION_COUNT; i++) {
        lua_pushcfunction(L, give_nil);
        lua_setfield(L, -2, operations[i]);
    }
    lua_setmetatable(L, -2);
    lua_pop(L, 1);
}

static void
forgive_specials(lua_State *L)
{
    struct colander_value null = colander_null();

    special_push(L, &null);
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
scripting_forgive(lua_State *L)
{
    lua_pushnil(L);
    forgive_type(L);
    lua_pushboolean(L, true);
    forgive_type(L);
    lua_pushinteger(L, 0);
    forgive_type(L);
    lua_pushliteral(L, "");
    if (lua_getmetatable(L, -1) != 0) {
        set_order(L);
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
    forgive_specials(L);
}

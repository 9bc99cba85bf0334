/* SPDX-License-Identifier: MIT */
#include "scripting/failure.h"

#include "scripting/module.h"
#include "scripting/scripting.h"
#include "scripting/types.h"

#include <lauxlib.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define TYPE "colander.error"

static int
failure_text(lua_State *L)
{
    lua_getfield(L, 1, "message");
    return 1;
}

static int
failure_concat(lua_State *L)
{
    luaL_tolstring(L, 1, NULL);
    luaL_tolstring(L, 2, NULL);
    lua_concat(L, 2);
    return 1;
}

void
failure_register(lua_State *L)
{
    static const struct luaL_Reg metamethods[] = {
        {"__tostring", failure_text},
        {"__concat", failure_concat},
        {NULL, NULL},
    };

    type_define(L, TYPE, metamethods);
}

enum colander_code
scripting_error_code(lua_State *L, int index)
{
    enum colander_code code = COLANDER_OK;

    if (!type_is_table(L, index, TYPE))
        return COLANDER_OK;
    if (lua_getfield(L, index, "code") == LUA_TSTRING) {
        for (int i = COLANDER_OK; i <= COLANDER_NO_MEMORY; i++) {
            if (strcmp(lua_tostring(L, -1),
                       colander_code_name((enum colander_code)i)) == 0)
                code = (enum colander_code)i;
        }
    }
    lua_pop(L, 1);
    return code;
}

void
failure_raise(lua_State *L, const struct colander_error *err)
{
    const char *family;
    const char *noun;

    luaL_checkstack(L, 7, NULL);
    family = handle_family_name(L, 1);
    if (family == NULL)
        family = handle_family_name(L, 2);
    /* copied: a collection may close the family */
    noun = lua_pushfstring(L, "family '%s'", family == NULL ? "" : family);
    lua_createtable(L, 0, 2);
    luaL_where(L, 1);
    if (family == NULL || strstr(err->message, noun) != NULL)
        lua_pushstring(L, err->message);
    else
        lua_pushfstring(L, "%s: %s", noun, err->message);
    lua_concat(L, 2);
    lua_setfield(L, -2, "message");
    lua_pushstring(L, colander_code_name(err->code));
    lua_setfield(L, -2, "code");
    luaL_setmetatable(L, TYPE);
    (void)lua_error(L);
    abort(); /* lua_error does not return */
}

void
scripting_raise(lua_State *L, const struct colander_error *err)
{
    failure_raise(L, err);
}

void
failure_misuse(lua_State *L, const char *format, ...)
{
    struct colander_error err = {COLANDER_INVALID, __FILE__, __LINE__, ""};
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(err.message, sizeof(err.message), format, arguments);
    va_end(arguments);
    failure_raise(L, &err);
}

void
failure_memory(lua_State *L, const char *what)
{
    struct colander_error err;

    (void)COLANDER_FAIL(&err, COLANDER_NO_MEMORY, "no memory %s", what);
    failure_raise(L, &err);
}

void
arguments_check_count(lua_State *L, int most)
{
    int count = lua_gettop(L);
    lua_Debug called;
    bool is_method;

    while (count > most && lua_isnil(L, count))
        count--;
    if (count <= most || lua_getstack(L, 0, &called) == 0)
        return;
    (void)lua_getinfo(L, "n", &called);
    is_method = strcmp(called.namewhat, "method") == 0;
    failure_misuse(
        L, "%s takes %d argument%s, not %d",
        called.name == NULL || strcmp(called.name, "?") == 0 ? "the function"
                                                             : called.name,
        most - is_method, most - is_method == 1 ? "" : "s", count - is_method);
}

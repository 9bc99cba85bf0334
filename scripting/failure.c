/*
 * Failures: see failure.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "scripting/failure.h"
#include "scripting/query.h"

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
failure_open(lua_State *L)
{
    static const struct luaL_Reg metamethods[] = {
        {"__tostring", failure_text},
        {"__concat", failure_concat},
        {NULL, NULL},
    };

    if (luaL_newmetatable(L, TYPE) != 0) {
        luaL_setfuncs(L, metamethods, 0);
        lua_pushstring(L, TYPE);
        lua_setfield(L, -2, "__name");
    }
    lua_pop(L, 1);
}

enum colander_code
scripting_error_code(lua_State *L, int index)
{
    enum colander_code code = COLANDER_OK;
    bool is_failure;

    if (!lua_istable(L, index) || lua_getmetatable(L, index) == 0)
        return COLANDER_OK;
    luaL_getmetatable(L, TYPE);
    is_failure = lua_rawequal(L, -1, -2) != 0;
    lua_pop(L, 2);
    if (!is_failure)
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

/* The name of the family, or of that of the query, at `index`. */
static const char *
family_name_of(lua_State *L, int index)
{
    const struct query *query = luaL_testudata(L, index, QUERY_TYPE);

    if (query != NULL && query->handle.is_open)
        return colander_family_name(query->family->family);
    return family_name_at(L, index);
}

/* With where the script stands, as luaL_error tells it, and the family that the
 * function was asked of, which only that knows. */
void
failure_raise(lua_State *L, const struct colander_error *err)
{
    const char *family;

    luaL_checkstack(L, 5, NULL);
    family = family_name_of(L, 1);
    if (family == NULL)
        family = family_name_of(L, 2);
    lua_createtable(L, 0, 2);
    luaL_where(L, 1);
    if (family == NULL || strstr(err->message, family) != NULL)
        lua_pushstring(L, err->message);
    else
        lua_pushfstring(L, "family '%s': %s", family, err->message);
    lua_concat(L, 2);
    lua_setfield(L, -2, "message");
    lua_pushstring(L, colander_code_name(err->code));
    lua_setfield(L, -2, "code");
    luaL_setmetatable(L, TYPE);
    (void)lua_error(L);
    abort(); /* lua_error does not return */
}

void
failure_misuse(lua_State *L, const char *format, ...)
{
    struct colander_error err;
    va_list arguments;

    err.code = COLANDER_INVALID;
    err.file = __FILE__;
    err.line = __LINE__;
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

/*
 * Runs a script with the module `colander`, as stock Lua would.
 *
 * SPDX-License-Identifier: MIT
 */
#include "scripting/scripting.h"

#include <lauxlib.h>
#include <lualib.h>
#include <stdio.h>

static int
add_traceback(lua_State *L)
{
    luaL_traceback(L, L, luaL_tolstring(L, 1, NULL), 1);
    return 1;
}

int
main(int argc, char **argv)
{
    lua_State *L = luaL_newstate();
    int status;

    if (L == NULL || argc < 2)
        return 2;
    luaL_openlibs(L);
    luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
    lua_pushcfunction(L, luaopen_colander);
    lua_setfield(L, -2, "colander");
    lua_settop(L, 0);
    lua_pushcfunction(L, add_traceback);
    status = luaL_loadfilex(L, argv[1], "t");
    if (status == LUA_OK)
        status = lua_pcall(L, 0, 0, 1);
    if (status != LUA_OK)
        (void)fprintf(stderr, "%s\n", lua_tostring(L, -1));
    lua_close(L);
    return status == LUA_OK ? 0 : 1;
}

/*
 * Scratch: see scratch.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "scripting/scratch.h"

#include "scripting/failure.h"

#include <lauxlib.h>

#define TYPE "colander.scratch"
#define MEMORY_LIMIT ((size_t)64 << 20)

static const char scratch_key; /* its address: the scratch in the registry */

static int
scratch_collect(lua_State *L)
{
    struct scratch *scratch = luaL_checkudata(L, 1, TYPE);

    scratch->is_gone = true;
    colander_buffer_release(&scratch->key);
    colander_buffer_release(&scratch->first_key);
    colander_buffer_release(&scratch->last_key);
    colander_buffer_release(&scratch->parts);
    colander_buffer_release(&scratch->row);
    colander_buffer_release(&scratch->text);
    colander_buffer_release(&scratch->joined);
    colander_buffer_release(&scratch->columns);
    colander_row_builder_destroy(scratch->builder);
    colander_json_reader_destroy(scratch->reader);
    scratch->builder = NULL;
    scratch->reader = NULL;
    return 0;
}

struct scratch *
scratch_get(lua_State *L)
{
    struct scratch *scratch;

    lua_rawgetp(L, LUA_REGISTRYINDEX, &scratch_key);
    scratch = lua_touserdata(L, -1);
    lua_pop(L, 1);
    if (scratch != NULL && scratch->is_gone)
        luaL_error(L, "Lua is being closed");
    if (scratch != NULL)
        return scratch;
    scratch = lua_newuserdatauv(L, sizeof(*scratch), 0);
    memset(scratch, 0, sizeof(*scratch));
    scratch->memory_limit = MEMORY_LIMIT;
    if (luaL_newmetatable(L, TYPE) != 0) {
        lua_pushcfunction(L, scratch_collect);
        lua_setfield(L, -2, "__gc");
    }
    lua_setmetatable(L, -2);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &scratch_key);
    return scratch;
}

struct colander_row_builder *
scratch_builder(lua_State *L)
{
    struct scratch *scratch = scratch_get(L);

    if (scratch->is_building) {
        colander_row_builder_destroy(scratch->builder);
        scratch->builder = NULL;
        scratch->is_building = false;
    }
    if (scratch->builder == NULL) {
        scratch->builder = colander_row_builder_create();
        if (scratch->builder == NULL)
            failure_memory(L, "to build a row");
    }
    return scratch->builder;
}

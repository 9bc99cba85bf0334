/*
 * The module: see scripting.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "scripting/scripting.h"

#include "scripting/backups.h"
#include "scripting/conditions.h"
#include "scripting/failure.h"
#include "scripting/families.h"
#include "scripting/queries.h"
#include "scripting/rows.h"
#include "scripting/scratch.h"
#include "scripting/stores.h"
#include "scripting/values.h"

#include <lauxlib.h>

/* colander.newkey(): a new key, later than those before */
static int
new_key(lua_State *L)
{
    struct scratch *scratch = scratch_get(L);
    struct colander_error err;

    failure_check(L, colander_key_generate(&scratch->key, &err), &err);
    value_push_key(L, colander_buffer_slice(&scratch->key), &scratch->parts);
    return 1;
}

/* colander.name(text): as it must stand in a path */
static int
name_of(lua_State *L)
{
    struct scratch *scratch = scratch_get(L);
    struct colander_error err;
    struct colander_slice name;

    name.data = (const uint8_t *)luaL_checklstring(L, 1, &name.size);
    scratch->text.size = 0;
    failure_check(L, colander_path_append_name(&scratch->text, name, &err),
                  &err);
    lua_pushlstring(L, (const char *)scratch->text.data, scratch->text.size);
    return 1;
}

/* colander.memory_limit([bytes]): what one query may hold; gives what it was */
static int
memory_limit(lua_State *L)
{
    struct scratch *scratch = scratch_get(L);
    size_t before = scratch->memory_limit;
    lua_Integer bytes = luaL_optinteger(L, 1, (lua_Integer)before);

    luaL_argcheck(L, bytes > 0, 1, "a number of bytes is expected");
    scratch->memory_limit = (size_t)bytes;
    lua_pushinteger(L, (lua_Integer)before);
    return 1;
}

void
scripting_confine(lua_State *L)
{
    static const char *const names[] = {"open", "restore", "memory_limit"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        lua_pushnil(L);
        lua_setfield(L, -2, names[i]);
    }
    stores_confine(L);
}

int
luaopen_colander(lua_State *L)
{
    static const struct luaL_Reg functions[] = {
        {"newkey", new_key},
        {"name", name_of},
        {"memory_limit", memory_limit},
        {NULL, NULL},
    };

    failure_open(L);
    luaL_newlib(L, functions);
    values_open(L);
    rows_open(L);
    row_functions_open(L);
    stores_open(L);
    backups_open(L);
    families_open(L);
    queries_open(L);
    conditions_open(L);
    lua_pushstring(L, colander_version());
    lua_setfield(L, -2, "version");
    return 1;
}

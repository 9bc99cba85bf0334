/* SPDX-License-Identifier: MIT */
#include "scripting/module.h"

#include "scripting/failure.h"
#include "scripting/scratch.h"
#include "scripting/stores.h"
#include "scripting/values.h"

#include <lauxlib.h>

/* colander.newkey(): a new key, greater than all before */
static int
new_key(lua_State *L)
{
    struct scratch *scratch = scratch_get(L);

    arguments_check_count(L, 0);
    failure_try(L, colander_key_generate(&scratch->key, &err));
    value_push_key(L, colander_buffer_slice(&scratch->key), &scratch->parts);
    return 1;
}

/* colander.name(text): the name of a column as it is written in a path */
static int
name_in_path(lua_State *L)
{
    struct scratch *scratch = scratch_get(L);
    struct colander_slice name;

    arguments_check_count(L, 1);
    name.data = (const uint8_t *)luaL_checklstring(L, 1, &name.size);
    scratch->text.size = 0;
    failure_try(L, colander_path_append_name(&scratch->text, name, &err));
    lua_pushlstring(L, (const char *)scratch->text.data, scratch->text.size);
    return 1;
}

/* colander.memory_limit([bytes]): sets what one query may hold; returns what
 * was set before */
static int
memory_limit(lua_State *L)
{
    struct scratch *scratch = scratch_get(L);
    size_t before = scratch->memory_limit;
    lua_Integer bytes = luaL_optinteger(L, 1, (lua_Integer)before);

    arguments_check_count(L, 1);
    luaL_argcheck(L, bytes > 0, 1, "a positive number of bytes expected");
    scratch->memory_limit = (size_t)bytes;
    lua_pushinteger(L, (lua_Integer)before);
    return 1;
}

void
scripting_confine(lua_State *L)
{
    static const char *const names[] = {"open", "budget", "restore",
                                        "memory_limit"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        lua_pushnil(L);
        lua_setfield(L, -2, names[i]);
    }
    type_push_methods(L, STORE_TYPE);
    lua_pushnil(L);
    lua_setfield(L, -2, "backup");
    lua_pop(L, 1);
}

/* Leaves only these methods of a type, besides metamethods. */
static void
keep_methods(lua_State *L, const char *type, const char *const *kept)
{
    type_push_methods(L, type);
    lua_pushnil(L);
    while (lua_next(L, -2) != 0) {
        bool is_kept = false;

        lua_pop(L, 1);
        for (size_t i = 0; kept[i] != NULL; i++)
            is_kept = is_kept || strcmp(lua_tostring(L, -1), kept[i]) == 0;
        if (!is_kept) { /* a member may be cleared during a traversal */
            lua_pushvalue(L, -1);
            lua_pushnil(L);
            lua_rawset(L, -4);
        }
    }
    lua_pop(L, 1);
}

void
scripting_confine_to_reads(lua_State *L, size_t memory_size)
{
    static const char *const of_store[] = {"close", "families", "family",
                                           "snapshot", NULL};
    static const char *const of_family[] = {
        "any_column", "close", "exists", "find",  "get",        "get_many",
        "name",       "scan",  "search", "sizes", "find_value", NULL,
    };
    static const char *const of_query[] = {"delete", "update", "threads"};

    scratch_get(L)->memory_limit = memory_size;
    scratch_get(L)->open_max = SCRIPTING_OPEN_MAX;
    scripting_confine(L);
    keep_methods(L, STORE_TYPE, of_store);
    keep_methods(L, FAMILY_TYPE, of_family);
    type_push_methods(L, QUERY_TYPE);
    for (size_t i = 0; i < sizeof(of_query) / sizeof(of_query[0]); i++) {
        lua_pushnil(L);
        lua_setfield(L, -2, of_query[i]);
    }
    lua_pop(L, 1);
}

int
luaopen_colander(lua_State *L)
{
    static const struct luaL_Reg functions[] = {
        {"newkey", new_key},
        {"name", name_in_path},
        {"memory_limit", memory_limit},
        {NULL, NULL},
    };

    luaL_newlib(L, functions);
    failure_register(L);
    typed_values_register(L);
    values_register(L);
    conditions_register(L);
    rows_register(L);
    stores_register(L);
    families_register(L);
    upkeep_register(L);
    retention_register(L);
    batches_register(L);
    queries_register(L);
    results_register(L);
    groupings_register(L);
    aggregates_register(L);
    mappings_register(L);
    changes_register(L);
    lua_pushstring(L, colander_version());
    lua_setfield(L, -2, "version");
    return 1;
}

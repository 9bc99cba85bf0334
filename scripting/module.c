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

/* Raises that the function, whose name is its first upvalue, is not there. */
static int
refuse_write(lua_State *L)
{
    struct colander_error err;

    (void)COLANDER_FAIL(&err, COLANDER_READ_ONLY,
                        "'%s' is refused: this Lua only reads",
                        lua_tostring(L, lua_upvalueindex(1)));
    failure_raise(L, &err);
}

/* Calls the second upvalue, a method that writes what it gets and returns what
 * is stored, without an argument. */
static int
only_read(lua_State *L)
{
    if (!lua_isnoneornil(L, 2))
        return refuse_write(L);
    lua_settop(L, 1);
    lua_pushvalue(L, lua_upvalueindex(2));
    lua_insert(L, 1);
    lua_call(L, 1, LUA_MULTRET);
    return lua_gettop(L);
}

/* Replaces the methods of a type by ones that refuse: those in `names`, or, if
 * these are kept, all others. Who lists the methods does not see them. */
static void
refuse_methods(lua_State *L, const char *type, const char *const *names,
               bool are_kept)
{
    type_push_methods(L, type);
    lua_newtable(L); /* the metatable of methods */
    lua_newtable(L);
    lua_pushnil(L);
    while (lua_next(L, -4) != 0) {
        bool is_named = false;

        lua_pop(L, 1);
        for (size_t i = 0; names[i] != NULL; i++)
            is_named = is_named || strcmp(lua_tostring(L, -1), names[i]) == 0;
        if (is_named == are_kept)
            continue;
        lua_pushvalue(L, -1);
        lua_pushvalue(L, -1);
        lua_pushcclosure(L, refuse_write, 1);
        lua_rawset(L, -4);
        lua_pushvalue(L, -1); /* may be cleared in a traversal */
        lua_pushnil(L);
        lua_rawset(L, -6);
    }
    lua_setfield(L, -2, "__index");
    lua_setmetatable(L, -2);
    lua_pop(L, 1);
}

/* Leaves of the method what it does without an argument. */
static void
leave_reading(lua_State *L, const char *name)
{
    lua_pushstring(L, name);
    if (lua_getfield(L, -2, name) == LUA_TNIL) { /* a build without filters */
        lua_pop(L, 2);
        return;
    }
    lua_pushcclosure(L, only_read, 2);
    lua_setfield(L, -2, name);
}

void
scripting_confine_to_reads(lua_State *L, size_t memory_size)
{
    static const char *const of_store[] = {"close",    "families", "family",
                                           "options",  "path",     "recovery",
                                           "snapshot", NULL};
    static const char *const of_family[] = {
        "any_column", "at",          "close",       "columns",   "count",
        "exists",     "explain",     "filters",     "find",      "find_value",
        "get",        "get_many",    "keys",        "limit",     "map",
        "name",       "order",       "order_stats", "retention", "reverse",
        "scan",       "search",      "select",      "sizes",     "skip",
        "stats",      "time_column", "where",       NULL,
    };
    static const char *const of_query[] = {"delete", "threads", "update", NULL};

    scratch_get(L)->memory_limit = memory_size;
    scratch_get(L)->open_max = SCRIPTING_OPEN_MAX;
    scripting_confine(L);
    refuse_methods(L, STORE_TYPE, of_store, true);
    refuse_methods(L, FAMILY_TYPE, of_family, true);
    refuse_methods(L, QUERY_TYPE, of_query, false);
    type_push_methods(L, FAMILY_TYPE);
    leave_reading(L, "filters");
    leave_reading(L, "time_column");
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

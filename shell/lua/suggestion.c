/* See suggestion.h. SPDX-License-Identifier: MIT */
#include "shell/lua/suggestion.h"
#include "shell/nearest.h"

#include <lauxlib.h>

#define NAME_SIZE 64

/* Copies the name between quotes after `kind`: "global", "method". Returns
 * false if the text names none. */
static bool
find_name(const char *text, const char *kind, char name[NAME_SIZE])
{
    char pattern[32];
    const char *at;
    size_t size;

    (void)snprintf(pattern, sizeof(pattern), "(%s '", kind);
    at = strstr(text, pattern);
    if (at == NULL || strstr(text, "a nil value") == NULL)
        return false;
    at += strlen(pattern);
    size = strcspn(at, "'");
    if (size == 0 || size >= NAME_SIZE)
        return false;
    memcpy(name, at, size);
    name[size] = '\0';
    return true;
}

/* Offers the names in the table on top, and pops it. They stay valid: the table
 * is one that lives as long as the state. */
static void
offer_names(lua_State *L, struct nearest *nearest)
{
    if (lua_istable(L, -1)) {
        lua_pushnil(L);
        while (lua_next(L, -2) != 0) {
            if (lua_type(L, -2) == LUA_TSTRING)
                nearest_offer(nearest, lua_tostring(L, -2));
            lua_pop(L, 1);
        }
    }
    lua_pop(L, 1);
}

/* Offers the methods of all types. */
static void
offer_methods(lua_State *L, struct nearest *nearest)
{
    static const char *const types[] = {"store", "family",   "query",
                                        "batch", "snapshot", "grouped"};

    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        char name[32];

        (void)snprintf(name, sizeof(name), "colander.%s", types[i]);
        if (luaL_getmetatable(L, name) == LUA_TTABLE) {
            if (lua_getfield(L, -1, "methods") == LUA_TNIL) {
                lua_pop(L, 1);
                lua_getfield(L, -1, "__index");
            }
            offer_names(L, nearest);
        }
        lua_pop(L, 1);
    }
}

/* Adds the name that is nearest. */
static void
add_nearest(lua_State *L, const struct nearest *nearest)
{
    if (nearest->name == NULL)
        return;
    lua_pushfstring(L, ": did you mean '%s'?", nearest->name);
    lua_concat(L, 2);
}

void
suggestion_add(lua_State *L, struct colander_store *store)
{
    char name[NAME_SIZE];
    struct nearest nearest = {.wanted = name};
    struct colander_names names = {NULL, 0};

    if (find_name(lua_tostring(L, -1), "method", name)) {
        offer_methods(L, &nearest);
        add_nearest(L, &nearest);
    } else if (find_name(lua_tostring(L, -1), "global", name)) {
        lua_pushglobaltable(L);
        offer_names(L, &nearest);
        if (colander_store_families(store, &names, NULL) != COLANDER_OK)
            names.count = 0;
        for (size_t i = 0; i < names.count; i++)
            nearest_offer(&nearest, names.names[i]);
        add_nearest(L, &nearest); /* raises no error but for memory */
        colander_names_release(&names);
    }
}

void
suggestion_add_safe(lua_State *L)
{
    static const char *const missing[] = {
        "io",      "require", "dofile", "loadfile", "debug",        "package",
        "execute", "getenv",  "remove", "rename",   "tmpname",      "exit",
        "open",    "restore", "backup", "dump",     "memory_limit",
    };
    static const char *const kinds[] = {"global", "field", "method"};
    char name[NAME_SIZE];

    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (!find_name(lua_tostring(L, -1), kinds[i], name))
            continue;
        for (size_t j = 0; j < sizeof(missing) / sizeof(missing[0]); j++) {
            if (strcmp(missing[j], name) == 0) {
                lua_pushliteral(L, ": --safe has none");
                lua_concat(L, 2);
                return;
            }
        }
    }
}

/* See suggestion.h. SPDX-License-Identifier: MIT */
#include "shell/lua/suggestion.h"
#include "shell/nearest.h"

#include <lauxlib.h>

#define NAME_SIZE 64

/* Copies the name between quotes after `kind`: "global", "method". Returns
 * false if the text names none, or not because of a value such as "nil". */
static bool
find_name(const char *text, const char *kind, const char *value,
          char name[NAME_SIZE])
{
    char pattern[32];
    const char *at;
    size_t size;

    (void)snprintf(pattern, sizeof(pattern), "a %s value (%s '", value, kind);
    at = strstr(text, pattern);
    if (at == NULL)
        return false;
    at += strlen(pattern);
    size = strcspn(at, "'");
    if (size == 0 || size >= NAME_SIZE)
        return false;
    memcpy(name, at, size);
    name[size] = '\0';
    return true;
}

/* Whether the first line of the text ends so. */
static bool
has_end(const char *text, const char *end)
{
    const char *at = strstr(text, end);

    return at != NULL && strchr("\n", at[strlen(end)]) != NULL;
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

/* Offers the methods of all types. Returns the type that has the name itself,
 * or NULL. */
static const char *
offer_methods(lua_State *L, struct nearest *nearest)
{
    static const char *const types[] = {"store", "family",   "query",
                                        "batch", "snapshot", "grouped"};

    const char *found = NULL;

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
        if (found == NULL && nearest->name != NULL &&
            strcmp(nearest->name, nearest->wanted) == 0)
            found = types[i];
    }
    return found;
}

/* Adds where a method is that another value does not have. */
static void
add_method(lua_State *L, const char *type, const char *name)
{
    if (strcmp(type, "query") == 0)
        lua_pushfstring(L, ": queries have it, such as find{...}:%s()", name);
    else
        lua_pushfstring(L, ": a %s has it", type);
    lua_concat(L, 2);
}

/* Adds how to reach the family `name`, if there is one, that a global hides. */
static void
add_hidden(lua_State *L, const struct colander_names *names, const char *name)
{
    for (size_t i = 0; i < names->count; i++) {
        if (strcmp(names->names[i], name) != 0)
            continue;
        lua_pushfstring(L, ": the family is db.%s", name);
        lua_concat(L, 2);
        return;
    }
}

/* Adds the families that tables hide, whose methods were meant. */
static void
add_hidden_by_tables(lua_State *L, const struct colander_names *names)
{
    for (size_t i = 0; i < names->count; i++) {
        bool is_table;

        lua_pushglobaltable(L);
        lua_pushstring(L, names->names[i]);
        lua_rawget(L, -2);
        is_table = lua_istable(L, -1);
        lua_pop(L, 2);
        if (is_table)
            add_hidden(L, names, names->names[i]);
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

    if (colander_store_families(store, &names, NULL) != COLANDER_OK)
        names.count = 0;
    if (find_name(lua_tostring(L, -1), "method", "nil", name)) {
        const char *type = offer_methods(L, &nearest);

        if (type != NULL)
            add_method(L, type, name);
        if (type != NULL && strcmp(type, "family") == 0)
            add_hidden_by_tables(L, &names);
        if (type == NULL)
            add_nearest(L, &nearest);
    } else if (find_name(lua_tostring(L, -1), "global", "nil", name)) {
        lua_pushglobaltable(L);
        offer_names(L, &nearest);
        for (size_t i = 0; i < names.count; i++)
            nearest_offer(&nearest, names.names[i]);
        add_nearest(L, &nearest); /* raises no error but for memory */
    } else if (find_name(lua_tostring(L, -1), "global", "function", name)) {
        add_hidden(L, &names, name);
    } else if (has_end(lua_tostring(L, -1),
                       "attempt to index a function value")) {
        lua_pushliteral(L, ": groups are for a loop, such as for value, count "
                           "in tweets:find():group(\"user\"):count() do");
        lua_concat(L, 2);
    }
    colander_names_release(&names);
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
        if (!find_name(lua_tostring(L, -1), kinds[i], "nil", name))
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

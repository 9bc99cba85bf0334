/* See sandbox.h. SPDX-License-Identifier: MIT */
#include "shell/sandbox.h"

#include <lauxlib.h>
#include <lualib.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* The functions allowed of each library; a list ends with NULL. */
static const struct library {
    const char *name;
    lua_CFunction open;
    const char *const *functions;
} libraries[] = {
    {LUA_GNAME, luaopen_base,
     (const char *const[]){
         "_VERSION", "assert",   "error",  "getmetatable", "ipairs",
         "next",     "pairs",    "pcall",  "print",        "rawequal",
         "rawget",   "rawlen",   "rawset", "select",       "setmetatable",
         "tonumber", "tostring", "type",   "xpcall",       "_G",
         NULL}},
    {LUA_STRLIBNAME, luaopen_string,
     (const char *const[]){"byte", "char", "find", "format", "gmatch", "gsub",
                           "len", "lower", "match", "pack", "packsize", "rep",
                           "reverse", "sub", "unpack", "upper", NULL}},
    {LUA_TABLIBNAME, luaopen_table,
     (const char *const[]){"concat", "insert", "move", "pack", "remove", "sort",
                           "unpack", NULL}},
    {LUA_MATHLIBNAME, luaopen_math,
     (const char *const[]){
         "abs",       "acos",       "asin",       "atan",       "ceil", "cos",
         "deg",       "exp",        "floor",      "fmod",       "huge", "log",
         "max",       "maxinteger", "min",        "mininteger", "modf", "pi",
         "rad",       "random",     "randomseed", "sin",        "sqrt", "tan",
         "tointeger", "type",       "ult",        NULL}},
    {LUA_UTF8LIBNAME, luaopen_utf8,
     (const char *const[]){"char", "charpattern", "codepoint", "codes", "len",
                           "offset", NULL}},
    {LUA_COLIBNAME, luaopen_coroutine,
     (const char *const[]){"close", "create", "isyieldable", "resume",
                           "running", "status", "wrap", "yield", NULL}},
    {LUA_OSLIBNAME, luaopen_os,
     (const char *const[]){"clock", "date", "difftime", "time", NULL}},
};

#define LIBRARY_COUNT (sizeof(libraries) / sizeof(libraries[0]))

/* --------------------------------------------------------------- memory --- */

/* Lua's allocator. For a new object `old_size` is a type, not a size. */
static void *
allocate(void *data, void *pointer, size_t old_size, size_t size)
{
    struct sandbox_memory *memory = data;
    void *moved;

    if (pointer == NULL)
        old_size = 0;
    if (size == 0) {
        memory->used -= old_size;
        free(pointer);
        return NULL;
    }
    if (size > old_size && size - old_size > memory->max - memory->used)
        return NULL;
    moved = realloc(pointer, size);
    if (moved != NULL)
        memory->used = memory->used - old_size + size;
    return moved;
}

lua_State *
sandbox_new_state(struct sandbox_memory *memory)
{
    memory->used = 0;
    return lua_newstate(allocate, memory);
}

/* ------------------------------------------------------------ libraries --- */

/* load(text or function [, name [, mode [, environment]]]): Lua's, but the mode
 * is always "t". Upvalue 1 is Lua's. */
static int
load_text(lua_State *L)
{
    const int count = lua_gettop(L) >= 4 ? 4 : 3;

    lua_settop(L, count);
    lua_pushliteral(L, "t");
    lua_replace(L, 3);
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_call(L, count, LUA_MULTRET);
    return lua_gettop(L);
}

/* collectgarbage("collect" or "count"): scripts must not tune the collector.
 * Upvalue 1 is Lua's. */
static int
collect(lua_State *L)
{
    static const char *const options[] = {"collect", "count", NULL};
    const int option = luaL_checkoption(L, 1, "collect", options);

    lua_pushvalue(L, lua_upvalueindex(1));
    lua_pushstring(L, options[option]);
    lua_call(L, 1, 1);
    return 1;
}

/* Wraps the function `name` of the table on top. */
static void
replace(lua_State *L, const char *name, lua_CFunction function)
{
    lua_getfield(L, -1, name);
    lua_pushcclosure(L, function, 1);
    lua_setfield(L, -2, name);
}

/* Whether the list has the name, or it is one of the two replaced functions. */
static bool
is_allowed(const struct library *library, const char *name)
{
    for (const char *const *at = library->functions; *at != NULL; at++) {
        if (strcmp(*at, name) == 0)
            return true;
    }
    return library->open == luaopen_base &&
           (strcmp(name, "load") == 0 || strcmp(name, "collectgarbage") == 0);
}

/* Removes what is not allowed from the table on top. */
static void
trim(lua_State *L, const struct library *library)
{
    lua_pushnil(L);
    while (lua_next(L, -2) != 0) {
        lua_pop(L, 1);
        if (lua_type(L, -1) == LUA_TSTRING &&
            is_allowed(library, lua_tostring(L, -1)))
            continue;
        lua_pushvalue(L, -1);
        lua_pushnil(L);
        lua_rawset(L, -4); /* lua_next allows clearing a field */
    }
}

void
sandbox_open(lua_State *L)
{
    for (size_t i = 0; i < LIBRARY_COUNT; i++) {
        luaL_requiref(L, libraries[i].name, libraries[i].open, i > 0);
        trim(L, &libraries[i]);
        if (i == 0) {
            replace(L, "load", load_text);
            replace(L, "collectgarbage", collect);
        }
        lua_pop(L, 1);
    }
}

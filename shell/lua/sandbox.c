/* See sandbox.h. SPDX-License-Identifier: MIT */
#include "shell/sandbox.h"
#include "shell/interrupt.h"
#include "shell/scripts.h"

#include <lauxlib.h>
#include <lualib.h>
#include <stdlib.h>

#define INSTRUCTIONS                                                           \
    100 /* between two looks: each may copy as much as Lua may hold */
#define NODE_SIZE ((size_t)24) /* of Lua 5.4, for a member of a table */
#define MEMBERS_FEW 2048

/* Whether these are the members of a table that are no list: a new block of
 * 2^n nodes, which no object is. A buffer may happen to have that size. */
static bool
are_members(const void *pointer, size_t type, size_t size)
{
    const size_t count = size / NODE_SIZE;

    return pointer == NULL && type == 0 && size % NODE_SIZE == 0 &&
           (count & (count - 1)) == 0;
}

/* Members whose hashes are equal take a time that grows with the square of
 * their number when they move to more nodes, in which nothing stops Lua. So
 * there are not too many, and once the time is over they do not move. */
static bool
may_have_members(const struct sandbox_memory *memory, size_t size)
{
    const size_t count = size / NODE_SIZE;

    return memory->member_max == 0 || count <= MEMBERS_FEW ||
           (count <= memory->member_max && !interrupt_happened());
}

/* Lua's allocator. For a new object `old_size` is a type, not a size. */
static void *
allocate(void *data, void *pointer, size_t old_size, size_t size)
{
    struct sandbox_memory *memory = data;
    void *moved;

    if (are_members(pointer, old_size, size) && !may_have_members(memory, size))
        return NULL;
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

/* Once it is over every instruction is an error, so nothing catches it. */
static void
look_for_end(lua_State *L, lua_Debug *activation)
{
    (void)activation;
    if (!interrupt_happened()) {
        if (lua_gethookcount(L) == 1) /* what was interrupted has ended */
            sandbox_look_for_end(L);
        return;
    }
    lua_sethook(L, look_for_end, LUA_MASKCOUNT, 1);
    luaL_error(L, "interrupted");
}

void
sandbox_look_for_end(lua_State *L)
{
    lua_sethook(L, look_for_end, LUA_MASKCOUNT, INSTRUCTIONS);
}

void
sandbox_open(lua_State *L)
{
    static const luaL_Reg libraries[] = {
        {LUA_GNAME, luaopen_base},       {LUA_STRLIBNAME, luaopen_string},
        {LUA_TABLIBNAME, luaopen_table}, {LUA_MATHLIBNAME, luaopen_math},
        {LUA_UTF8LIBNAME, luaopen_utf8}, {LUA_COLIBNAME, luaopen_coroutine},
        {LUA_OSLIBNAME, luaopen_os},
    };

    for (size_t i = 0; i < sizeof(libraries) / sizeof(libraries[0]); i++) {
        luaL_requiref(L, libraries[i].name, libraries[i].func, 1);
        lua_pop(L, 1);
    }
    scripts_load(L, "sandbox");
    lua_call(L, 0, 0);
}

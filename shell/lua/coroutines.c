/* See coroutines.h. SPDX-License-Identifier: MIT */
#include "shell/lua/coroutines.h"
#include "shell/interrupt.h"

#include <lauxlib.h>
#include <lualib.h>
#include <stdatomic.h>

static _Atomic(lua_State *) running; /* NULL: no Lua runs */

static void
stop(lua_State *L, lua_Debug *debug)
{
    (void)debug;
    luaL_error(L, "interrupted");
}

static void
stop_soon(lua_State *L)
{
    lua_sethook(L, stop, LUA_MASKCOUNT, 1);
}

/* Called in the signal handler, where lua_sethook is allowed. */
static void
stop_running(void)
{
    lua_State *L = atomic_load(&running);

    if (L != NULL)
        stop_soon(L);
}

static bool
must_stop(void)
{
    return interrupt_happened() || interrupt_left_unread();
}

/* Sets which coroutine runs. Returns the one that ran before. */
static lua_State *
enter(lua_State *L)
{
    lua_State *before;

    if (L != NULL && lua_gethook(L) == stop && !must_stop())
        lua_sethook(L, NULL, 0, 0); /* of an earlier call */
    before = atomic_exchange(&running, L);
    if (L != NULL && must_stop())
        stop_soon(L);
    return before;
}

void
coroutines_begin(lua_State *L)
{
    interrupt_set_stop(stop_running);
    (void)enter(L);
}

void
coroutines_end(lua_State *L)
{
    atomic_store(&running, NULL);
    lua_sethook(L, NULL, 0, 0);
}

/* Resumes or closes `resumed` with the function at 1 and the arguments after
 * it. Leaves the results in their place. */
static void
resume_by(lua_State *L, lua_State *resumed)
{
    lua_State *before = resumed == NULL ? NULL : enter(resumed);
    const int status = lua_pcall(L, lua_gettop(L) - 1, LUA_MULTRET, 0);

    if (resumed != NULL)
        (void)enter(before);
    if (status != LUA_OK)
        (void)lua_error(L);
}

/* coroutine.resume(co, ...): upvalue 1 is Lua's */
static int
resume(lua_State *L)
{
    lua_State *resumed = lua_tothread(L, 1);

    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    resume_by(L, resumed);
    return lua_gettop(L);
}

/* The function that coroutine.wrap(f) returns: upvalue 1 is Lua's resume, 2 the
 * coroutine. */
static int
resume_wrapped(lua_State *L)
{
    lua_State *resumed = lua_tothread(L, lua_upvalueindex(2));

    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_pushvalue(L, lua_upvalueindex(2));
    lua_insert(L, 2);
    resume_by(L, resumed);
    if (lua_toboolean(L, 1))
        return lua_gettop(L) - 1;
    if (lua_status(resumed) > LUA_YIELD) { /* closes its variables */
        lua_State *before = enter(resumed);

        (void)lua_resetthread(resumed);
        (void)enter(before);
        lua_xmove(resumed, L, 1);
        lua_replace(L, 2);
    }
    if (lua_type(L, 2) == LUA_TSTRING) { /* Lua adds the position too */
        luaL_where(L, 1);
        lua_insert(L, 2);
        lua_concat(L, 2);
    }
    return lua_error(L);
}

/* coroutine.wrap(f): upvalue 1 is Lua's resume, 2 its create */
static int
wrap(lua_State *L)
{
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_pushvalue(L, lua_upvalueindex(2));
    lua_pushvalue(L, 1);
    lua_call(L, 1, 1);
    lua_pushcclosure(L, resume_wrapped, 2);
    return 1;
}

void
coroutines_track(lua_State *L)
{
    lua_getglobal(L, LUA_COLIBNAME);
    lua_getfield(L, -1, "resume");
    lua_pushvalue(L, -1);
    lua_getfield(L, -3, "create");
    lua_pushcclosure(L, wrap, 2);
    lua_setfield(L, -3, "wrap");
    lua_pushcclosure(L, resume, 1);
    lua_setfield(L, -2, "resume");
    lua_getfield(L, -1, "close");
    lua_pushcclosure(L, resume, 1);
    lua_setfield(L, -2, "close");
    lua_pop(L, 1);
}

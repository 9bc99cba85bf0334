/*
 * Coroutines: which one runs, so that Ctrl-C can stop it.
 *
 * Each coroutine has its own hook. The signal handler sets one on the coroutine
 * that runs, and so does each coroutine that it returns to. The hooks stay
 * until the call ends, so a script that catches the error is stopped at its
 * next step.
 *
 * Threads: one Lua state at a time, in the main thread
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_LUA_COROUTINES_H
#define SHELL_LUA_COROUTINES_H

#include <lua.h>

/* Replaces coroutine.resume, wrap and close, to track them. Requires open
 * libraries. */
void coroutines_track(lua_State *L);

/* From here to coroutines_end Ctrl-C stops what `L` runs. */
void coroutines_begin(lua_State *L);
void coroutines_end(lua_State *L);

#endif

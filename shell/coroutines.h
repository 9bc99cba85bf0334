/*
 * Coroutines: which of them runs, so that Ctrl-C ends that one.
 *
 * Lua's hooks belong to a coroutine each, and a signal meets whichever runs.
 * So resuming is tracked; a hook is set on the coroutine that runs when the
 * signal comes, and on each that it then returns to. It stays until the call
 * ends: a script that catches the error is ended at its next step.
 *
 * Threads: one Lua state at a time, in the main thread
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_COROUTINES_H
#define SHELL_COROUTINES_H

#include <lua.h>

/* Has coroutine.resume, wrap and close tracked in the state, whose libraries
 * are open. */
void coroutines_track(lua_State *L);

/* From here to end Ctrl-C ends what `L` runs. */
void coroutines_begin(lua_State *L);
void coroutines_end(lua_State *L);

#endif

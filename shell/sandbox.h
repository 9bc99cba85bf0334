/*
 * Sandbox: what scripts of strangers get of Lua.
 *
 * An allow-list: what is not named in sandbox.c is not there. Chunks are text.
 * The memory of Lua is counted and limited.
 *
 * Life:   new_state -> open -> (the module) -> close_module
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_SANDBOX_H
#define SHELL_SANDBOX_H

#include <lua.h>

/* What a state has taken. */
struct sandbox_memory {
    size_t used;
    size_t max;
};

/* A state with nothing in it; `memory` is borrowed until it is closed. NULL
 * when memory is short. */
lua_State *sandbox_new_state(struct sandbox_memory *memory);

/* Opens the libraries that are allowed. */
void sandbox_open(lua_State *L);

#endif

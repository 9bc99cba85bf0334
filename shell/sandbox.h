/*
 * Sandbox: the part of Lua that scripts which are not trusted get.
 *
 * It is an allow-list: what sandbox.lua does not name is missing. Chunks are
 * text, not bytecode. The memory of Lua is limited.
 *
 * Life:   new_state -> open
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_SANDBOX_H
#define SHELL_SANDBOX_H

#include <lua.h>

/* Members of a table, without those of a list, that a client may have. */
#define SANDBOX_MEMBERS ((size_t)1 << 16)

/* Bytes that a state uses, and may use. */
struct sandbox_memory {
    size_t used;
    size_t max;
    size_t member_max; /* members of a table, without those of a list, if what
                        * runs must end in time; 0: any number */
};

/* Returns an empty state, or NULL if memory is short. `memory` is borrowed
 * until the state is closed. */
lua_State *sandbox_new_state(struct sandbox_memory *memory);

/* Opens the allowed libraries. */
void sandbox_open(lua_State *L);

/* Ends what runs, also through pcall, once the command of this thread is
 * interrupted (interrupt.h). */
void sandbox_look_for_end(lua_State *L);

#endif

/*
 * Chunks: what is typed, made into a function of Lua.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_CHUNK_H
#define SHELL_CHUNK_H

#include "colander.h"

#include <lua.h>

enum chunk_state {
    CHUNK_READY,      /* its function is on the stack */
    CHUNK_UNFINISHED, /* more has to come; nothing is on the stack */
    CHUNK_WRONG,      /* its error is on the stack */
};

/* Loads `text`, an expression (or several), whose values it then gives, or
 * statements. Only text is taken, never bytecode. */
enum chunk_state chunk_load(lua_State *L, struct colander_slice text,
                            const char *name);

#endif

/*
 * Chunks: typed text as a function of Lua, and whether more of it must follow.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_PROMPT_CHUNK_H
#define SHELL_PROMPT_CHUNK_H

#include "colander.h"

#include <lua.h>

enum chunk_state {
    CHUNK_READY,      /* its function is on the stack */
    CHUNK_UNFINISHED, /* more must follow; nothing is on the stack */
    CHUNK_WRONG,      /* its error is on the stack */
};

/* Loads `text`: expressions, whose values the function returns, or statements.
 * Bytecode is refused. */
enum chunk_state chunk_load(lua_State *L, struct colander_slice text,
                            const char *name);

/* The brackets that the lines of a chunk leave open. While some are open, a
 * long chunk need not be loaded after each line to know that more follows. */
struct brackets {
    long depth; /* of ( [ { */
    int level;  /* of the open long string or comment; -1: none */
};

#define BRACKETS_NONE                                                          \
    {                                                                          \
        0, -1                                                                  \
    }

void brackets_add(struct brackets *brackets, struct colander_slice line);

bool brackets_are_open(const struct brackets *brackets);

#endif

/*
 * Schema state: the Lua that a schema is written in. It has the language and
 * nothing else: no function, no library, no variable that it did not make
 * itself; and memory and time for a table, not for a computation.
 *
 * Life:    run, which calls `use` with the table on top of the stack
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_SCHEMA_STATE_H
#define SHELL_SCHEMA_STATE_H

#include "colander.h"

#include <lua.h>

/* Bytes that Lua may hold, instructions, and seconds. */
#define SCHEMA_MEMORY_MAX ((size_t)8 << 20)
#define SCHEMA_INSTRUCTIONS_MAX 1000000
#define SCHEMA_SECONDS_MAX 1.0

/* What is made of a schema; Lua may throw from it. */
typedef void schema_use(lua_State *L, void *context);

/*
 * Runs `text` and gives what it returns, a table, to `use`. INVALID when it is
 * no Lua, goes over a limit or returns something else; *line is where, or 0.
 */
COLANDER_CHECKED enum colander_code
schema_state_run(struct colander_slice text, schema_use *use, void *context,
                 size_t *line, struct colander_error *err);

#endif

/*
 * Scripts: those in Lua that are part of the program.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_SCRIPTS_H
#define SHELL_SCRIPTS_H

#include <lua.h>

struct script {
    const char *name;
    const unsigned char *text;
    size_t size;
};

/* All of them, then one whose name is NULL. Generated from the files. */
extern const struct script scripts[];

/* Pushes the script `name` as a chunk. */
void scripts_load(lua_State *L, const char *name);

/* Keeps the function that completion.lua, inspect.lua or words.lua returns.
 * Requires a store on top of the stack, and a state that no script has changed:
 * the function does not depend on globals later. */
void scripts_keep(lua_State *L, const char *name);

/* Pushes a function that was kept. */
void scripts_push(lua_State *L, const char *name);

#endif

/*
 * Suggestions: names that an error of Lua may have meant.
 *
 * "attempt to index a nil value (global 'twets')" names a global or a family
 * that does not exist, "(method 'fnd')" a method.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_LUA_SUGGESTION_H
#define SHELL_LUA_SUGGESTION_H

#include "colander.h"

#include <lua.h>

/* Adds ": did you mean 'x'?" to the text on top of the stack, if it is such an
 * error and there is such a name. */
void suggestion_add(lua_State *L, struct colander_store *store);

/* Adds that --safe is the reason, if the text on top is an error about a name
 * that only other scripts have. */
void suggestion_add_safe(lua_State *L);

#endif

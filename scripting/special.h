/*
 * Specials: values of columns that Lua has no type for, as userdata: null,
 * integers above 2^63 - 1, binaries, timestamps, other extensions.
 *
 * They do not change, compare by ==, < and <= as columns do, and print.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_SCRIPTING_SPECIAL_H
#define COLANDER_SCRIPTING_SPECIAL_H

#include "columns/columns.h"

#include <lua.h>

/* Makes the type known to `L`, and adds what makes specials to the module's
 * table on top. */
void special_open(lua_State *L);

/* Pushes a copy of `value`; the one null for null. */
void special_push(lua_State *L, const struct colander_value *value);

/* The value of the special at `index`, borrowed from it; NULL: it is none. */
const struct colander_value *special_get(lua_State *L, int index);

#endif

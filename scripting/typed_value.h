/*
 * Typed values: values of columns that Lua has no type for, as userdata: null,
 * integers above 2^63 - 1, binaries, timestamps, other extensions.
 *
 * They are immutable, compare by ==, < and <= as columns do, and print.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_SCRIPTING_TYPED_VALUE_H
#define COLANDER_SCRIPTING_TYPED_VALUE_H

#include "columns/columns.h"

#include <lua.h>

/* Pushes a copy of `value`, or the one null for null. */
void typed_value_push(lua_State *L, const struct colander_value *value);

/* Returns the value of the typed value at `index`, valid as long as that, or
 * NULL if there is none. */
const struct colander_value *typed_value_get(lua_State *L, int index);

#endif

/*
 * Typed values: values of columns that Lua has no type for, as userdata: null,
 * integers above 2^63 - 1, binaries, timestamps, other extensions.
 *
 * They are immutable, compare by ==, < and <= as columns do, and print.
 * Timestamps have arithmetic in seconds, and t:date(format).
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

/* Sets *order to that of two scalars. A timestamp and a string that is a time
 * (columns/words.h) have an order: they are equal if the string means that
 * instant, or a day or month that it is in. Returns false if the types have no
 * order. */
bool typed_value_order(const struct colander_value *a,
                       const struct colander_value *b, int *order);

#endif

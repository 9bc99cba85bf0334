/*
 * Inspection: values of Lua as a text to read, tables as Lua would be written.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_INSPECT_H
#define SHELL_INSPECT_H

#include "colander.h"

#include <lua.h>

/* Appends the value at `index`, printable, about `size_max` bytes of it at
 * most; what is left out shows as an ellipsis. Calls __tostring and __name, and
 * so may raise an error. */
void inspect_append(lua_State *L, int index, struct colander_buffer *text,
                    size_t size_max);

#endif

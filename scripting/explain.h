/*
 * Explanations: the plan of a find, and what it did, as a table of Lua.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_SCRIPTING_EXPLAIN_H
#define COLANDER_SCRIPTING_EXPLAIN_H

#include "columns/columns.h"

#include <lua.h>

/* Pushes the plan of a find, and with `was_run` what it has done. */
void explain_push(lua_State *L, const struct colander_cursor *cursor,
                  bool was_run);

#endif

/*
 * Explanations: the plan of a find, and what it did, as a table of Lua.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_SCRIPTING_EXPLAIN_H
#define COLANDER_SCRIPTING_EXPLAIN_H

#include "scripting/query.h"

/* Pushes the plan of a query that runs, and with `was_run` what it has done. */
void explain_push(lua_State *L, const struct query *query, bool was_run);

#endif

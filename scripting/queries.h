/*
 * Queries: what find and scan give. A query is described by chained methods,
 * runs when its rows are asked for, and gives them one by one.
 *
 * A query that has not begun may be changed; one that was run to its end may be
 * run again, and then sees the rows of that time.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_SCRIPTING_QUERIES_H
#define COLANDER_SCRIPTING_QUERIES_H

#include "scripting/families.h"

/* Makes the type known to `L`. */
void queries_open(lua_State *L);

/* family:find(condition [, range]), family:find_value(value),
 * family:scan(range), family:count(condition [, range]),
 * family:explain(condition [, range]), as C functions. */
int query_find(lua_State *L);
int query_find_value(lua_State *L);
int query_scan(lua_State *L);
int query_count_of(lua_State *L);
int query_explain_of(lua_State *L);

#endif

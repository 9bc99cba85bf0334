/*
 * Conditions: the tables by which a script describes rows, compiled into
 * predicates.
 *
 *   {user = "Smith"}                     equal
 *   {lang = {"en", "pl"}}                one of
 *   {likes = gt(100)}                    an operator
 *   {user = {name = "x"}}                nested: the path user.name
 *   {["entities.hashtags[].text"] = "x"} a path
 *   where{a = 1} | where{b = 2}, a & b, ~a
 *   any_column(5)                        in any column
 *
 * A string that is a time also matches timestamps: see columns/words.h.
 *
 * A condition is a table; one created by a function has a metatable. It is read
 * when a query runs, so several queries may use it.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_SCRIPTING_CONDITIONS_H
#define COLANDER_SCRIPTING_CONDITIONS_H

#include "columns/columns.h"

#include <lua.h>

/* Returns the predicate of the condition at `index`, owned by the caller, or
 * NULL for nil, which all rows match. Pushes nothing. */
struct colander_predicate *condition_compile(lua_State *L, int index);

/* Pushes the condition that any column has the value at `index`. */
void condition_push_any_column(lua_State *L, int index);

#endif

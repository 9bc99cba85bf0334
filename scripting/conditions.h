/*
 * Conditions: what a script says of rows, made a predicate.
 *
 *   {user = "Smith"}                     equal
 *   {lang = {"en", "pl"}}                one of
 *   {likes = gt(100)}                    an operator
 *   {user = {name = "x"}}                inside: the path user.name
 *   {["entities.hashtags[].text"] = "x"} a path as text
 *   where{a = 1} | where{b = 2}, a & b, ~a
 *   value(5)                             in any column
 *
 * A condition is a table; those made by functions have a metatable. They are
 * read when a query runs, so one may stand in many.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_SCRIPTING_CONDITIONS_H
#define COLANDER_SCRIPTING_CONDITIONS_H

#include "columns/columns.h"

#include <lua.h>

/* Makes the type known to `L`, and adds the operators to the module's table on
 * top. */
void conditions_open(lua_State *L);

/* The predicate of the condition at `index`, the caller's to destroy; NULL for
 * nil: every row. Nothing is pushed. */
struct colander_predicate *condition_compile(lua_State *L, int index);

/* Pushes the condition that any column has the value at `index`. */
void condition_push_value(lua_State *L, int index);

#endif

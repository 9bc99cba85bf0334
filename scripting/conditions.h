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
 *   {text = words "heavy rain"}          words, phrase, contains, regex
 *   search "rain"                        a word in any column
 *   icase{user = "smith"}                texts whatever their case
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

/* Raises an error if words of a condition, as of the command line, are wrong.
 */
typedef void condition_word_check(lua_State *L, const char *const *words,
                                  size_t count);

/* Returns the predicate of the condition at `index`, owned by the caller, or
 * NULL for nil, which all rows match. Pushes nothing. `check` may be NULL. */
struct colander_predicate *condition_compile(lua_State *L, int index,
                                             condition_word_check *check);

/* Pushes the condition that any column has the value at `index`, or meets the
 * condition on texts there. */
void condition_push_any_column(lua_State *L, int index);

/* Pushes the condition that any column has the words at `index`. */
void condition_push_search(lua_State *L, int index);

#endif

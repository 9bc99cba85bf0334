/*
 * Failures: errors of the store as errors of Lua.
 *
 * An error is a value with two fields: `message`, which is also what it prints
 * as, and `code`, a word such as "busy". It joins with strings as a message.
 *
 * Nothing may be owned by C alone when these are called: they do not return.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_SCRIPTING_FAILURE_H
#define COLANDER_SCRIPTING_FAILURE_H

#include "columns/columns.h"

#include <lua.h>

/* Makes the type of errors known to `L`. */
void failure_open(lua_State *L);

/* Raises `err`. */
__attribute__((noreturn)) void failure_raise(lua_State *L,
                                             const struct colander_error *err);

/* Raises `err` unless `code` is COLANDER_OK. */
static inline void
failure_check(lua_State *L, enum colander_code code,
              const struct colander_error *err)
{
    if (code != COLANDER_OK)
        failure_raise(L, err);
}

/* Raises that there is no memory: `what` is "for ...", "to ...". */
__attribute__((noreturn)) void failure_memory(lua_State *L, const char *what);

/* Raises what the script did wrong, an error with the code "invalid". */
__attribute__((noreturn, format(printf, 2, 3))) void
failure_misuse(lua_State *L, const char *format, ...);

#endif

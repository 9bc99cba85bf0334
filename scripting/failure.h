/*
 * Failures: errors of the store as errors of Lua.
 *
 * An error value has two fields: `message`, which tostring returns as well, and
 * `code`, a word such as "busy". Concatenating it with a string uses the
 * message.
 *
 * The functions that raise do not return. Requires that nothing is owned by C
 * alone when they are called.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_SCRIPTING_FAILURE_H
#define COLANDER_SCRIPTING_FAILURE_H

#include "columns/columns.h"

#include <lua.h>

/* Raises `err`. The message begins with the position in the script, and names
 * the family that the function was called on. */
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

/* Evaluates `call`, and raises its error unless it returns COLANDER_OK. The
 * call reports to `&err`, which is declared here. */
#define failure_try(L, call)                                                   \
    do {                                                                       \
        struct colander_error err;                                             \
                                                                               \
        failure_check((L), (call), &err);                                      \
    } while (0)

/* Raises "no memory " followed by `what`: "for ...", "to ...". */
__attribute__((noreturn)) void failure_memory(lua_State *L, const char *what);

/* Raises an error with the code "invalid": a mistake of the script. */
__attribute__((noreturn, format(printf, 2, 3))) void
failure_misuse(lua_State *L, const char *format, ...);

/* Raises an error if the function that runs was called with more arguments than
 * `most`; nils at the end do not count. */
void arguments_check_count(lua_State *L, int most);

#endif

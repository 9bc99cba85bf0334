/*
 * Fields: options that a script gives as a table, checked by name and type.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_SCRIPTING_FIELDS_H
#define COLANDER_SCRIPTING_FIELDS_H

#include "columns/columns.h"

#include <lua.h>

/* An error unless the value at `index` is a table whose keys are all `known`
 * (ends with NULL); `what` takes them. */
void fields_check(lua_State *L, int index, const char *what,
                  const char *const *known);

/* Pushes a field, as it stands in the table itself; false when there is none,
 * and nothing is pushed. */
bool field_push(lua_State *L, int index, const char *name);

bool field_boolean(lua_State *L, int index, const char *name, bool absent);
uint64_t field_number(lua_State *L, int index, const char *name,
                      uint64_t absent, uint64_t most);
double field_double(lua_State *L, int index, const char *name, double absent);

static inline size_t
field_size(lua_State *L, int index, const char *name, uint64_t absent)
{
    return (size_t)field_number(L, index, name, absent, SIZE_MAX);
}

/* Which of `choices` (ends with NULL). */
int field_choice(lua_State *L, int index, const char *name,
                 const char *const *choices, int absent);

/* A list of texts, in userdata that is pushed and keeps them, whatever becomes
 * of the field. NULL, and nothing is pushed, when there is none. */
const char *const *field_texts(lua_State *L, int index, const char *name,
                               size_t *count);

/* How long the list at `index` is; LIMIT when that is more than `most`: a table
 * says any length that its script likes. */
size_t list_check(lua_State *L, int index, const char *what, size_t most);

/* The string at `index`, for C, which reads it to its first zero byte: an error
 * that names `what` when there is one before its end. */
const char *text_check(lua_State *L, int index, const char *what);

/* `{sync = true}` or nothing. */
enum colander_durability field_durability(lua_State *L, int index);

/* A C function: (light userdata of names, table) fills the table. For a
 * protected call, as names must be released. */
int names_push(lua_State *L);

#endif

/*
 * Fields: structs of C as tables of Lua, both ways, by static tables of their
 * members. Options are checked by name and type.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_SCRIPTING_FIELDS_H
#define COLANDER_SCRIPTING_FIELDS_H

#include "columns/columns.h"
#include "core/fields.h"

#include <lua.h>

/* Reads the table of options at `index`, or nil, into the struct `to`. Members
 * without an option keep their value. Raises an error, which names `what`, if
 * the table has any other name in it, or a value of a wrong type. */
void fields_read(lua_State *L, int index, const char *what,
                 const struct field *fields, void *to);

/* Pushes a table of the members of the struct `from`. */
void fields_push(lua_State *L, const struct field *fields, const void *from);

/* Pushes a field of the table at `index`, without metamethods. Returns false,
 * and pushes nothing, if it is missing. */
bool field_push(lua_State *L, int index, const char *name);

/* Returns the paths in the list in the field `name`, and pushes userdata that
 * keeps them, whatever becomes of the list. Returns NULL, and pushes nothing,
 * if the field is missing. */
const char **field_paths(lua_State *L, int index, const char *name,
                         size_t *count);

/* The same of the arguments from `index` on, at least one. */
const char **arguments_paths(lua_State *L, int index, const char *what,
                             size_t *count);

/* Returns the options of a write, `{sync = ...}` at `index`, or the defaults
 * for nil. */
struct colander_write_options field_write_options(lua_State *L, int index);

/* Returns the length of the list at `index`. Fails with LIMIT if that is more
 * than `max`: the border of a table can be any number. Anything in the table
 * that is not in the list is an error: it would be passed over. */
size_t list_check(lua_State *L, int index, const char *what, size_t max);

/* Returns the string at `index`. A zero byte in it is an error, which names
 * `what`: C would read it only up to there. */
const char *text_check(lua_State *L, int index, const char *what);

#endif

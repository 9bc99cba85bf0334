/*
 * Values: those of columns as values of Lua, and back.
 *
 *   column       Lua
 *   null         colander.null
 *   boolean      boolean
 *   integer      integer; above 2^63 - 1 a typed value
 *   double       float
 *   string       string
 *   binary, timestamp, extension: a typed value (colander.binary(...), ...)
 *   array        a table 1..n, marked as an array
 *   map          a table with string keys
 *
 * A value that is read and written again is the same, byte for byte, except for
 * the order of the columns of maps.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_SCRIPTING_VALUES_H
#define COLANDER_SCRIPTING_VALUES_H

#include "scripting/failure.h"

/* Pushes a value; an array or a map with all its members. */
void value_push(lua_State *L, const struct colander_value *value);

/* Returns the next member of a map or an array; false at the end. */
static inline bool
value_next_member(lua_State *L, struct colander_members *members,
                  struct colander_slice *name, struct colander_value *value)
{
    bool is_member;

    failure_try(L,
                colander_members_next(members, &is_member, name, value, &err));
    return is_member;
}

/* Gets the scalar at `index`. A string is valid as long as it is on the stack.
 * Returns false if there is no scalar (but a table, nil, a function, ...). */
bool value_get(lua_State *L, int index, struct colander_value *value);

/* The same, but raises an error, which names `what`, if there is no scalar. */
struct colander_value value_expect(lua_State *L, int index, const char *what);

/* Returns whether there is null or nil at `index`. */
bool value_is_null(lua_State *L, int index);

/* Pops a function that returns a table as text, and makes it the text of
 * arrays. */
void value_set_array_text(lua_State *L);

/* Returns whether the table at `index` is an array: marked, or 1..n. */
bool value_is_array(lua_State *L, int index);

/* Adds the columns of the table at `index` to the builder, in the order of
 * their names. A value that cannot be stored is an error with its path. */
void value_add_columns(lua_State *L, int index,
                       struct colander_row_builder *builder);

/* Adds the columns of `row` with the changes in the table at `index`. Columns
 * of the row keep their order; new ones come last. A column whose change is the
 * light userdata `removed` is omitted. */
void value_change_columns(lua_State *L, int index, struct colander_slice row,
                          const void *removed,
                          struct colander_row_builder *builder);

/* Encodes the key at `index`, a scalar or an array of scalars, into `key`. */
void value_key(lua_State *L, int index, struct colander_buffer *key);

/* Pushes a key: its only part, or an array of parts. Writes to `scratch`. */
void value_push_key(lua_State *L, struct colander_slice key,
                    struct colander_buffer *scratch);

#endif

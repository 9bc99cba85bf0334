/*
 * Values: those of columns as those of Lua, and back.
 *
 *   column       Lua
 *   null         colander.null
 *   boolean      boolean
 *   integer      integer; above 2^63 - 1 a special
 *   double       float
 *   string       string
 *   binary, timestamp, extension: a special (colander.binary(...), ...)
 *   array        a table 1..n, marked as an array
 *   map          a table with string keys
 *
 * What is read and written again is the same, byte for byte, but for the order
 * of the columns of maps. A *special* is a userdata that keeps the value.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_SCRIPTING_VALUES_H
#define COLANDER_SCRIPTING_VALUES_H

#include "columns/columns.h"

#include <lua.h>

/* Makes the types known to `L`, and adds to the module's table on top: null,
 * binary, timestamp, extension, unsigned, array, type. */
void values_open(lua_State *L);

/* Pushes a value; arrays and maps with all that is in them. */
void value_push(lua_State *L, const struct colander_value *value);

/* The scalar at `index`; strings are borrowed from Lua as long as they are on
 * the stack. False: it is no scalar (a table, nil, a function, ...). */
bool value_get(lua_State *L, int index, struct colander_value *value);

/* The same; an error that names `what` when it is no scalar. */
struct colander_value value_expect(lua_State *L, int index, const char *what);

/* Whether the table at `index` is an array: marked as one, or 1..n. */
bool value_is_array(lua_State *L, int index);

/* Where in a row a value is, for messages. */
struct value_path {
    char text[256];
    size_t size;
};

/* Adds the columns of the table at `index`, with all that is in them, to what
 * is being built, in the order of their names. What has no place in a row is an
 * error that names its path. */
void value_add_columns(lua_State *L, int index,
                       struct colander_row_builder *builder,
                       struct value_path *path);

/* The same of `row` with the changes that the table at `index` has: what is in
 * it stays where it was, what is new comes last, and what is the light userdata
 * `removed` goes. */
void value_change_columns(lua_State *L, int index, struct colander_slice row,
                          const void *removed,
                          struct colander_row_builder *builder);

/* Puts the encoded key at `index` (a scalar, or an array of its parts) into
 * `key`. */
void value_key(lua_State *L, int index, struct colander_buffer *key);

/* Pushes a key: its part, or an array of its parts. `scratch` is for both
 * functions to write to. */
void value_push_key(lua_State *L, struct colander_slice key,
                    struct colander_buffer *scratch);

#endif

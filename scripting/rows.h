/*
 * Rows: what a get or a find gives, decoded column by column as it is asked.
 *
 * A row behaves as a table of its columns: `row.text`, `row.text = "new"`,
 * `pairs(row)`; `row._key` is its key. It is a copy: what is changed in it
 * reaches the store when it is put. A column that is an array or a map is one
 * table, however often it is asked for, and may be changed as well.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_SCRIPTING_ROWS_H
#define COLANDER_SCRIPTING_ROWS_H

#include "columns/columns.h"

#include <lua.h>

/* Makes the type known to `L`. */
void rows_open(lua_State *L);

/* Adds functions of rows to the module's table on top. */
void row_functions_open(lua_State *L);

bool row_is(lua_State *L, int index);

/* Pushes a row: both are copied. */
void row_push(lua_State *L, struct colander_slice key,
              struct colander_slice row);

/* The bytes of what is at `index`, a table of columns or a row: borrowed from
 * it, or from the scratch until that is next used. Says "argument" with what is
 * wrong with it. */
struct colander_slice row_check(lua_State *L, int index);

/* Whether that is a row, and not a table. */
bool row_is(lua_State *L, int index);

/* The encoded key of the row at `index`; an empty slice when that is no row. */
struct colander_slice row_key(lua_State *L, int index);

#endif

/*
 * Rows: results of gets and finds, decoded column by column on access.
 *
 * A row behaves as a table of its columns: `row.text`, `row.text = "new"`,
 * `pairs(row)`; `row._key` is its key. It is a copy: changes are stored when
 * the row is put. A column that is an array or a map is the same table on each
 * access, and may be changed as well.
 *
 * Pushed by scripting_push_row.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_SCRIPTING_ROWS_H
#define COLANDER_SCRIPTING_ROWS_H

#include "columns/columns.h"

#include <lua.h>

/* Returns the bytes of the row, or of the table of columns, at `index`. Valid
 * as long as the row, or until the scratch is used. All else is an error. */
struct colander_slice row_check(lua_State *L, int index);

/* Returns whether there is a row at `index`, not a table. */
bool row_is(lua_State *L, int index);

/* Returns the encoded key of the row at `index`; empty if there is no row. */
struct colander_slice row_key(lua_State *L, int index);

#endif

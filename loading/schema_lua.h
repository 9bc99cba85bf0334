/*
 * Schema Lua: schema files are Lua. They run in a state of their own, which has
 * the language and nothing else: no function, no library, no variable that the
 * file did not set itself; and enough memory and time for a table, but not for
 * a computation.
 *
 * schema_check.lua then checks the table that the file returned.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef LOADING_SCHEMA_LUA_H
#define LOADING_SCHEMA_LUA_H

#include "loading/schema.h"

/*
 * Runs the text of a schema file and fills `schema`. Fails with INVALID if the
 * text is not Lua, exceeds a limit, or returns something else than a schema;
 * *line is then the line at fault, or 0 if it is unknown.
 */
COLANDER_CHECKED enum colander_code
schema_lua_read(struct colander_slice text, struct colander_schema *schema,
                size_t *line, struct colander_error *err);

#endif

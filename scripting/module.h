/*
 * What each file adds to the module: types, methods, functions.
 *
 * Each function requires that those before it were called, and that the
 * module's table is on top of the stack.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_SCRIPTING_MODULE_H
#define COLANDER_SCRIPTING_MODULE_H

#include <lua.h>

void failure_register(lua_State *L);
void typed_values_register(lua_State *L);
void values_register(lua_State *L);
void conditions_register(lua_State *L);
void rows_register(lua_State *L);
void stores_register(lua_State *L);
void families_register(lua_State *L);
void upkeep_register(lua_State *L);
void retention_register(lua_State *L);
void batches_register(lua_State *L);
void queries_register(lua_State *L);
void results_register(lua_State *L);
void groupings_register(lua_State *L);
void aggregates_register(lua_State *L);
void mappings_register(lua_State *L);
void changes_register(lua_State *L);

#endif

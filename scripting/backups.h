/*
 * Backups of stores, for Lua.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_SCRIPTING_BACKUPS_H
#define COLANDER_SCRIPTING_BACKUPS_H

#include <lua.h>

/* store:backup(directory [, options]) */
int store_backup(lua_State *L);

/* Adds restore to the module's table on top. */
void backups_open(lua_State *L);

#endif

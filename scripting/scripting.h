/*
 * Scripting: the store as Lua sees it, for Lua 5.4.
 *
 * One function opens the module `colander`; a program that has Lua inside calls
 * it, and stock Lua finds it in colander.so. What a script can do, the C
 * interface can do: nothing is decided here about how rows are stored or found.
 *
 * Threads: a state of Lua is used by one thread at a time
 * Knows:   the published headers; of shells and limits nothing
 *
 * docs/lua.md is the manual for those who write scripts.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_SCRIPTING_H
#define COLANDER_SCRIPTING_H

#include <lua.h>

/* Pushes the module's table; gives 1. As require calls it. */
__attribute__((visibility("default"))) int luaopen_colander(lua_State *L);

#endif

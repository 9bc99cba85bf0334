/*
 * Mappings: functions as texts, for rows of a query.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_SCRIPTING_MAPPINGS_H
#define COLANDER_SCRIPTING_MAPPINGS_H

#include <lua.h>

/* Pushes the function whose text is at `index`. It sees no names of the script
 * and can set none; of the libraries it sees math, string, table and utf8,
 * without patterns and chance. `what` is what errors call it, with the line. */
void mapping_push(lua_State *L, int index, const char *what);

#endif

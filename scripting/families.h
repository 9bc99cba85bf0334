/*
 * Families, as handles of Lua: rows put, got, changed, deleted; upkeep.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_SCRIPTING_FAMILIES_H
#define COLANDER_SCRIPTING_FAMILIES_H

#include "scripting/stores.h"

struct script_family {
    struct handle handle;
    struct colander_family *family;
};

/* Makes the type known to `L`. */
void families_open(lua_State *L);

/* Pushes a handle for the family `name` of the store at `index`. */
void family_push(lua_State *L, int index, struct script_store *store,
                 const char *name);

struct script_family *family_check(lua_State *L, int index);

/* Fills a range of keys from the fields `prefix`, `from` and `to` of the table
 * at `index`; the bytes are in the scratch. */
void family_range(lua_State *L, int index, struct colander_key_range *range);

#endif

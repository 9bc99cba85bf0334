/*
 * Families, as handles of Lua: rows put, got, changed, deleted; upkeep.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_SCRIPTING_FAMILIES_H
#define COLANDER_SCRIPTING_FAMILIES_H

#include "scripting/stores.h"

/* A family stays open as long as its handle, or a batch that writes to it:
 * counted. */
struct shared_family {
    struct colander_family *family;
    unsigned reference_count;
};

void shared_family_unref(struct shared_family *shared);

struct script_family {
    struct handle handle;
    struct colander_family *family; /* the shared one's */
    struct shared_family *shared;
};

/* Makes the type known to `L`. */
void families_open(lua_State *L);

/* Pushes a handle for the family `name` of the store at `index`. */
void family_push(lua_State *L, int index, struct script_store *store,
                 const char *name);

struct script_family *family_check(lua_State *L, int index);

/* The name of the family at `index`, if that is one and open; else NULL. */
const char *family_name_at(lua_State *L, int index);

/* family:get(key [, {at = snapshot, select = {path, ...}}]): a row, or nil.
 * family:get_many(keys [, the same]): a table of rows under the numbers of
 * their keys, and `n`. As C functions. */
int family_get(lua_State *L);
int family_get_many(lua_State *L);

/* Puts the encoded key in the field `name` of the table at `index` into `key`;
 * without the field it is empty. */
void family_key_field(lua_State *L, int index, const char *name,
                      struct colander_buffer *key);

/* Adds the methods for sizes, filters and the like to the table on top. */
void upkeep_open(lua_State *L);

#endif

/*
 * Stores, snapshots and batches, as handles of Lua.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_SCRIPTING_STORES_H
#define COLANDER_SCRIPTING_STORES_H

#include "scripting/handle.h"

struct script_store {
    struct handle handle;
    struct colander_store *store;
    bool is_borrowed; /* a program's own: not closed with the handle */
};

/* A snapshot lives as long as its handle or a find in it: counted. */
struct shared_snapshot {
    struct colander_snapshot *snapshot;
    unsigned reference_count;
};

/* Makes the types known to `L`, and adds open to the module's table on top. */
void stores_open(lua_State *L);

/* Takes from stores the methods that reach other places of the file system. */
void stores_confine(lua_State *L);

struct script_store *store_check(lua_State *L, int index);

/* The snapshot at `index`, of the store that `store` is, counted for the
 * caller. */
struct shared_snapshot *snapshot_ref(lua_State *L, int index,
                                     const struct handle *store);

/* The same, borrowed from the handle. */
const struct colander_snapshot *snapshot_check(lua_State *L, int index,
                                               const struct handle *store);

/* Its snapshot may have been the last thing of a closed handle. NULL is
 * allowed. */
void snapshot_unref(struct shared_snapshot *shared);

#endif

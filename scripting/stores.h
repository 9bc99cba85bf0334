/*
 * Stores and snapshots, as handles of Lua; backups of stores.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_SCRIPTING_STORES_H
#define COLANDER_SCRIPTING_STORES_H

#include "scripting/types.h"

/* The user value of a store that has the families of store.name. */
#define STORE_FAMILIES 2

struct script_store {
    struct handle handle;
    struct colander_store *store;
    bool is_borrowed; /* owned by the program: not closed with the handle */
};

/* Counted: the handle of a snapshot and queries in it share the snapshot. */
struct shared_snapshot {
    struct colander_snapshot *snapshot;
    unsigned reference_count;
};

struct script_store *store_check(lua_State *L, int index);

/* Returns the snapshot at `index`, which must be of `store`. */
struct shared_snapshot *snapshot_check(lua_State *L, int index,
                                       const struct handle *store);

/* Drops a reference. NULL is allowed. */
void snapshot_unref(struct shared_snapshot *shared);

#endif

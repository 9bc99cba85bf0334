/*
 * Families, as handles of Lua: rows are put, read, changed and deleted by key.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_SCRIPTING_FAMILIES_H
#define COLANDER_SCRIPTING_FAMILIES_H

#include "scripting/stores.h"

/* Counted: the handle of a family and batches that write to it share it. */
struct shared_family {
    struct colander_family *family;
    unsigned reference_count;
};

/* Drops a reference. NULL is allowed. */
void shared_family_unref(struct shared_family *shared);

struct script_family {
    struct handle handle;
    struct colander_family *family; /* that of `shared` */
    struct shared_family *shared;
};

struct script_family *family_check(lua_State *L, int index);

/* The bounds of a range of keys. Starts zeroed. */
struct key_bounds {
    struct colander_buffer keys[4]; /* encoded; empty: no bound */
};

/* The fields of a table of options that bounds_read reads. */
#define BOUNDS_FIELDS                                                          \
    FIELD_NAME("prefix"), FIELD_NAME("from"), FIELD_NAME("to"),                \
        FIELD_NAME("exact")

/* Reads the bounds from the table at `index`. */
void bounds_read(lua_State *L, int index, struct key_bounds *bounds);

/* Returns the range, valid as long as the bounds. */
struct colander_key_range bounds_range(const struct key_bounds *bounds);

/* Releases a struct key_bounds. */
void bounds_release(void *bounds);

#endif

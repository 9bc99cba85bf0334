/*
 * Types: the metatables of the module's userdata, and the handles among it: the
 * open objects that a script holds.
 *
 * A script closes handles in any order: by hand, by <close> or by the
 * collector. So they form a tree (store > family > query, store > snapshot,
 * ...). Closing one first closes all handles below it; using one of those is an
 * error from then on. A userdata keeps its parent's userdata alive.
 *
 * Memory: the handle is the first member of its userdata
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_SCRIPTING_TYPES_H
#define COLANDER_SCRIPTING_TYPES_H

#include "columns/columns.h"

#include <lauxlib.h>

struct handle;

/* Frees what a handle owns. Called once. */
typedef enum colander_code handle_close_function(struct handle *handle,
                                                 struct colander_error *err);

struct handle {
    struct handle *parent; /* NULL: none, or not open */
    struct handle *first_child;
    struct handle *next; /* of the same parent */
    struct handle *previous;
    handle_close_function *close;
    const char *family_name; /* of a family, valid while open; else NULL */
    bool is_open;
};

/* Returns the name of the family at `index`, or of the family that the handle
 * there belongs to. NULL: none, or it is closed. */
const char *handle_family_name(lua_State *L, int index);

/* The types of handles. Messages omit the prefix. */
#define TYPE_PREFIX "colander."
#define STORE_TYPE TYPE_PREFIX "store"
#define SNAPSHOT_TYPE TYPE_PREFIX "snapshot"
#define BATCH_TYPE TYPE_PREFIX "batch"
#define FAMILY_TYPE TYPE_PREFIX "family"
#define QUERY_TYPE TYPE_PREFIX "query"
#define BUDGET_TYPE TYPE_PREFIX "budget"

/* Adds methods and metamethods (NULL: none) to the type of handles `name`, and
 * creates the type if it does not exist. Each type has the method close. */
void type_extend(lua_State *L, const char *name, const luaL_Reg *methods,
                 const luaL_Reg *metamethods);

/* Pushes the table of the methods of a type of handles. */
void type_push_methods(lua_State *L, const char *name);

/* Pushes an open handle of type `name` in zeroed userdata of `size` bytes. The
 * first of its user values is its parent, at `parent_index` (0: none). Fails if
 * a finalizer closed the parent while Lua allocated the userdata. */
void *type_push_handle(lua_State *L, const char *name, size_t size,
                       int user_values, int parent_index,
                       handle_close_function *close);

/* Returns the open handle of type `name` at `index`; anything else is an
 * error. */
void *type_check(lua_State *L, int index, const char *name);

/* Creates the type `name` of values with these metamethods, whose metatable
 * scripts do not get. */
void type_define(lua_State *L, const char *name, const luaL_Reg *metamethods);

/* Returns whether the value at `index` is a table with this metatable. */
bool type_is_table(lua_State *L, int index, const char *name);

/* Sets a field of the table on top to `function` with upvalue 1 `number`. */
void type_set_function(lua_State *L, const char *name, lua_CFunction function,
                       int number);

/* Pushes userdata that owns an object of C, and returns the object, zeroed.
 * `release` is called once, when the userdata is collected. */
void *type_push_owner(lua_State *L, size_t size, void (*release)(void *object));

/* Returns the object of the userdata at `index`, or NULL for nil. */
void *type_owned(lua_State *L, int index);

#endif

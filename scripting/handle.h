/*
 * Handles: what a script holds of a store, in userdata.
 *
 * Scripts close handles in any order, by hand, by <close> or by the collector.
 * So they form a tree (store, family, find; store, snapshot; ...), and closing
 * one first closes those that were made from it: they then say so when they are
 * used. A userdata keeps the one that it was made from alive.
 *
 * Life:   lua_newuserdatauv -> handle_init -> (the object is opened) ->
 *         handle_close, any number of times
 * Memory: the handle is the first member of its userdata
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_SCRIPTING_HANDLE_H
#define COLANDER_SCRIPTING_HANDLE_H

#include "columns/columns.h"

#include <lauxlib.h>

struct handle {
    struct handle *parent; /* NULL: none, or not open */
    struct handle *first_child;
    struct handle *next; /* of the same parent */
    struct handle *previous;
    /* Frees what the handle has; never called twice. */
    enum colander_code (*close)(struct handle *handle,
                                struct colander_error *err);
    bool is_open;
};

/* A handle that is open, under `parent` (NULL: none); an error when that is not
 * open: making the userdata may have run a function of the script. */
void handle_init(lua_State *L, struct handle *handle, struct handle *parent,
                 enum colander_code (*close)(struct handle *handle,
                                             struct colander_error *err));

/* Closes it and all below. Gives the first failure; it is closed all the same.
 * One that is not open is fine. */
COLANDER_CHECKED enum colander_code handle_close(struct handle *handle,
                                                 struct colander_error *err);

/* Whether what is at `index` is a handle that is open. */
bool handle_is_open(lua_State *L, int index);

/* Makes a metatable of the type `name`, unless it is there: `methods`, and
 * __gc, __close and close, which close the handle. Pushes it. */
void handle_type(lua_State *L, const char *name, const luaL_Reg *methods,
                 const luaL_Reg *metamethods);

/* The handle of type `name` at `index`, open; else an error that says what it
 * is not: `noun` is "store", "family", ... */
void *handle_check(lua_State *L, int index, const char *name, const char *noun);

#endif

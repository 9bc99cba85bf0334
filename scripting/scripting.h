/*
 * Scripting: the store as Lua sees it, for Lua 5.4.
 *
 * One function opens the module `colander`; a program that has Lua inside calls
 * it, and stock Lua finds it in colander.so. What a script can do, the C
 * interface can do: nothing is decided here about how rows are stored or found.
 *
 * The other functions are for such a program: they hand it what a script has
 * made, so that it can show rows itself. They raise errors of Lua.
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

#include "columns/columns.h"

#include <lua.h>

/* Pushes the module's table; gives 1. As require calls it. */
__attribute__((visibility("default"))) int luaopen_colander(lua_State *L);

/* Takes from the module, whose table is on top, what has to do with other
 * places of the file system, and with limits. */
void scripting_confine(lua_State *L);

/* Pushes a handle for a store of the program, which outlives the state. */
void scripting_push_store(lua_State *L, struct colander_store *store);

/* Is told the cursor that a script waits for, and NULL when it waits no more:
 * so that the program can cancel it, also from a signal handler. */
typedef void (*scripting_watch)(struct colander_cursor *cursor);

/* Whether what the module does without a cursor is to stop: rows that are put
 * in order, and those that were. */
typedef bool (*scripting_stops)(void);

/* NULL: nobody watches, nothing stops. Once the module is open. */
void scripting_set_watch(lua_State *L, scripting_watch watch,
                         scripting_stops stops);

/* The code of the error value at `index`; COLANDER_OK: it is not the store's.
 */
enum colander_code scripting_error_code(lua_State *L, int index);

/* Raises `err` as the module does. */
__attribute__((noreturn)) void
scripting_raise(lua_State *L, const struct colander_error *err);

/* Whether what is at `index` is a handle that is open. */
bool scripting_is_open(lua_State *L, int index);

/* What the value at an index is, beside what Lua says. */
enum scripting_kind {
    SCRIPTING_PLAIN, /* a value of Lua's, or another handle */
    SCRIPTING_QUERY,
    SCRIPTING_ROW,
    SCRIPTING_WALK, /* a function that gives the groups or values of a query */
};

enum scripting_kind scripting_kind_of(lua_State *L, int index);

/* Pushes a row as finds give them to scripts; both are copied. */
void scripting_push_row(lua_State *L, struct colander_slice key,
                        struct colander_slice row);

/* The key (empty: it has none) and the columns of the row, or of the table of
 * columns, at `index`: borrowed from it, or until the module is used again. */
void scripting_get_row(lua_State *L, int index, struct colander_slice *key,
                       struct colander_slice *row);

/* What a query gives, borrowed until it ends. */
struct scripting_query {
    const struct colander_query *asked; /* of C */
    struct colander_family *family;
    const char *const *paths; /* selected, in this order; 0: all */
    size_t path_count;
    bool tells_columns; /* that matched are part of the answer */
};

/* Runs the query at `index` anew: its rows come by next until that says false
 * or fails; then its cursor tells what it took, until end. */
void scripting_query_begin(lua_State *L, int index,
                           struct scripting_query *query);
bool scripting_query_next(lua_State *L, int index,
                          struct colander_result *result);
const struct colander_cursor *scripting_query_cursor(lua_State *L, int index);
void scripting_query_end(lua_State *L, int index);

/* Of the walk at `index`: the path whose values it gives, and what it tells of
 * each (NULL: nothing), borrowed from it. */
void scripting_walk_names(lua_State *L, int index, const char **by,
                          const char **measure);

/* The next value and what it comes to (null: nothing), borrowed from the walk;
 * false: there is none. */
bool scripting_walk_next(lua_State *L, int index, struct colander_value *value,
                         struct colander_value *measure);

/*
 * Makes `L`, in which the module was opened, a state for expressions over rows
 * that need not have every column, or not of one type: scalars that have no
 * order are neither below nor above each other, what is nil or null gives nil
 * where one calculates with it, and nil where a scalar is indexed. Nothing else
 * is to run in such a state.
 */
void scripting_forgive(lua_State *L);

#endif

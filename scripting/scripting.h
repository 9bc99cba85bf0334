/*
 * Scripting: the store as Lua sees it, for Lua 5.4.
 *
 * luaopen_colander opens the module `colander`; a program with Lua inside calls
 * it, and stock Lua finds it in colander.so. The other functions are for such a
 * program: they give it what a script has created, so that it can show rows
 * itself. They raise errors of Lua.
 *
 * Reading, writing and finding rows is done by the library, so it is the same
 * in C. What is done to the rows of a find is done here, and only here: order,
 * skip, where with a function, group, distinct, sum, min, max and avg.
 *
 * Threads: a Lua state is used by one thread at a time
 *
 * docs/lua.md is the manual for scripts.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_SCRIPTING_H
#define COLANDER_SCRIPTING_H

#include "columns/columns.h"

#include <lua.h>

/* Pushes the module's table and returns 1, as require expects. */
__attribute__((visibility("default"))) int luaopen_colander(lua_State *L);

/* Removes from the module, whose table is on top of the stack, the functions
 * that open other paths of the file system or raise limits. */
void scripting_confine(lua_State *L);

/* Has the module, whose table is on top of the stack, refuse what changes a
 * store (READ_ONLY), and limits what all open queries and groups hold together
 * to `memory_size` bytes, and their number to SCRIPTING_OPEN_MAX. One get_many
 * takes SCRIPTING_KEYS_MAX keys, and scripts set no number of threads. */
#define SCRIPTING_OPEN_MAX 64
#define SCRIPTING_KEYS_MAX 1000
void scripting_confine_to_reads(lua_State *L, size_t memory_size);

/* Pushes a handle for a store of the program. The store must outlive `L`. */
void scripting_push_store(lua_State *L, struct colander_store *store);

/* Is called with the cursor that a script is about to wait for, and with NULL
 * afterwards, so that the program can cancel it, even in a signal handler. */
typedef void scripting_watch(struct colander_cursor *cursor);

/* Returns whether work without a cursor is to stop: sorting rows, and returning
 * those that were sorted. */
typedef bool scripting_is_cancelled(void);

/* Sets both; NULL is allowed. Requires that the module is open. */
void scripting_set_watch(lua_State *L, scripting_watch *watch,
                         scripting_is_cancelled *is_cancelled);

/* Is called when a query found no row that meets `where` (NULL: any), or when
 * no row that it found has one of the columns at `paths`, by which it orders,
 * groups or measures. All are valid during the call, which may not use Lua. */
typedef void scripting_missed(void *context, struct colander_family *family,
                              const struct colander_predicate *where,
                              const char *const *paths, size_t path_count);

/* Sets the function and its context. NULL is allowed. */
void scripting_set_missed(lua_State *L, scripting_missed *missed,
                          void *context);

/* Is called when a query that the program does not run itself has read its last
 * row: those of first, count, group, ... `asked` is what the library was asked,
 * and is valid during the call, which may not use Lua. */
typedef void scripting_ended(void *context, struct colander_family *family,
                             const struct colander_query *asked,
                             const struct colander_cursor *cursor);

/* Sets the function and its context. NULL is allowed. Such queries are timed.
 */
void scripting_set_ended(lua_State *L, scripting_ended *ended, void *context);

/* Returns the code of the error value at `index`, or COLANDER_OK if that is not
 * an error of the store. */
enum colander_code scripting_error_code(lua_State *L, int index);

/* Raises `err` as the module does. */
__attribute__((noreturn)) void
scripting_raise(lua_State *L, const struct colander_error *err);

/* Returns the family of the open handle at `index`. NULL: that is not one. */
struct colander_family *scripting_family_at(lua_State *L, int index);

/* Copies all rows of `from` and its options of filters to `to`, as
 * colander_family_copy does and fails. */
COLANDER_CHECKED enum colander_code
scripting_copy_family(struct colander_family *from, struct colander_family *to,
                      bool (*goes_on)(void *context, uint64_t row_count),
                      void *context, uint64_t *row_count,
                      struct colander_error *err);

/* What a value is beyond its Lua type. */
enum scripting_kind {
    SCRIPTING_PLAIN, /* a value of Lua, or another handle */
    SCRIPTING_QUERY,
    SCRIPTING_ROW,
    SCRIPTING_WALK,   /* a function that iterates over groups or values */
    SCRIPTING_GROUPS, /* groups with several keys and measures */
};

enum scripting_kind scripting_kind_of(lua_State *L, int index);

/* Pushes a row like those of a find. Both slices are copied. */
void scripting_push_row(lua_State *L, struct colander_slice key,
                        struct colander_slice row);

/* Returns the key (empty: none) and the columns of the row, or of the table of
 * columns, at `index`. Both are valid until the module is used again. */
void scripting_get_row(lua_State *L, int index, struct colander_slice *key,
                       struct colander_slice *row);

/* A running query. Valid until it ends. */
struct scripting_query {
    const struct colander_query *asked; /* what the library was asked */
    struct colander_family *family;
    const char *const *paths; /* selected, in this order; 0: all */
    size_t path_count;
    bool with_columns; /* each row comes with the columns that matched */
};

/* Runs the query at `index` from the start. scripting_query_next returns its
 * rows until it returns false or raises; then scripting_query_cursor has the
 * explanation. scripting_query_end ends the run. */
void scripting_query_begin(lua_State *L, int index,
                           struct scripting_query *query);
bool scripting_query_next(lua_State *L, int index,
                          struct colander_result *result);
const struct colander_cursor *scripting_query_cursor(lua_State *L, int index);
void scripting_query_end(lua_State *L, int index);

/* Runs the groups at `index`, an absolute one, and pushes the run. Returns the
 * paths of their columns, in order, valid as long as the run. */
const char *const *scripting_groups_begin(lua_State *L, int index,
                                          size_t *path_count);

/* Returns the next group of the run at `index` as a row, valid until the next
 * call; false at the end. */
bool scripting_groups_next(lua_State *L, int index, struct colander_slice *row);

/* Returns the path whose values the walk at `index` returns, and the name of
 * its measure (NULL: none). Valid as long as the walk. */
void scripting_walk_names(lua_State *L, int index, const char **by,
                          const char **measure);

/* Returns the next value and its measure (null: none), valid until the next
 * call; false at the end. */
bool scripting_walk_next(lua_State *L, int index, struct colander_value *value,
                         struct colander_value *measure);

/* Maps and reduces the rows of the cursor by the texts of two functions, as
 * query:map(text):reduce(text) does. Appends a row to `row` that has the result
 * as "value", if it is not nil; nothing, without rows. *row_count is
 * that of the rows which are done. The stack is used up. */
void scripting_reduce(lua_State *L, const char *map, const char *reduce,
                      struct colander_cursor *cursor, uint64_t *row_count,
                      struct colander_buffer *row);

/*
 * Makes `L`, in which the module is open, a state for expressions over rows
 * that may lack columns: comparing scalars that have no order is false,
 * calculating with nil or null is nil, indexing a scalar is nil, and so is a
 * method of a value that has no methods. Run nothing else in such a state.
 */
void scripting_be_lenient(lua_State *L);

#endif

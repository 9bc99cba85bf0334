/*
 * Scratch: memory of a Lua state that the functions of the module write to. It
 * is freed with the state, so nothing is lost when Lua throws.
 *
 * Allocating in Lua may run finalizers of the script, and these may use the
 * module and overwrite the scratch. So use the content of a buffer up before
 * creating anything in Lua; the exception is a string, which Lua copies before
 * it collects garbage.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_SCRIPTING_SCRATCH_H
#define COLANDER_SCRIPTING_SCRATCH_H

#include "scripting/scripting.h"

struct scratch {
    struct colander_buffer key;     /* to be read or written */
    struct colander_buffer parts;   /* of a key that is being decoded */
    struct colander_buffer row;     /* that was read */
    struct colander_buffer text;    /* paths, JSON */
    struct colander_buffer joined;  /* keys and rows that are being pushed */
    struct colander_buffer columns; /* of tables that are being added */
    struct colander_row_builder *builder;
    struct colander_json_reader *reader; /* NULL until it is needed */
    bool is_building;    /* the builder holds what an error left there */
    bool is_released;    /* Lua is being closed, but finalizers still run */
    size_t memory_limit; /* bytes that one query may hold: rows, groups */
    unsigned open_max;   /* queries and groups, which then share the limit; 0:
                          * any number, each with its own */
    unsigned open_count;
    size_t held;                          /* bytes of all that are open */
    scripting_watch *watch;               /* may be NULL */
    scripting_is_cancelled *is_cancelled; /* may be NULL */
    scripting_missed *missed;             /* may be NULL */
    void *missed_context;
    scripting_ended *ended; /* may be NULL */
    void *ended_context;
};

/* Returns the scratch of the state. */
struct scratch *scratch_get(lua_State *L);

/* Returns the builder, empty. */
struct colander_row_builder *scratch_builder(lua_State *L);

/*
 * What an open query, or groups, hold outside of Lua. Zeroed: it is not open.
 *
 * Life: begin -> set, any number of times -> end
 */
struct held {
    struct scratch *scratch; /* borrowed until it ends; NULL: it is not open */
    size_t size;             /* bytes */
};

/* Opens it. Raises an error if too many are open, also after garbage was
 * collected. */
void held_begin(lua_State *L, struct held *held);

/* Returns how many bytes it may hold, with what it holds. */
size_t held_max(lua_State *L, const struct held *held);

/* Sets what it holds. Fails with LIMIT if all hold too much, also after garbage
 * was collected. */
COLANDER_CHECKED enum colander_code held_set(lua_State *L, struct held *held,
                                             size_t size,
                                             struct colander_error *err);

/* Closes it, if it is open. */
void held_end(struct held *held);

#endif

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
    bool is_building;       /* the builder holds what an error left there */
    bool is_released;       /* Lua is being closed, but finalizers still run */
    size_t memory_limit;    /* bytes that one query may hold: rows, groups */
    scripting_watch *watch; /* may be NULL */
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

#endif

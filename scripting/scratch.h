/*
 * Scratch: memory of a Lua state that functions of the module write to, so that
 * nothing is lost when Lua throws in the midst of it.
 *
 * Whenever Lua may collect, functions of the script may run, and use the
 * module: so what is in a buffer is used up before anything is pushed that is
 * made for it, but a string, which is copied first.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_SCRIPTING_SCRATCH_H
#define COLANDER_SCRIPTING_SCRATCH_H

#include "scripting/scripting.h"

struct scratch {
    struct colander_buffer key;       /* that is asked for, or written */
    struct colander_buffer first_key; /* of a range */
    struct colander_buffer last_key;
    struct colander_buffer parts;   /* of a key that is being decoded */
    struct colander_buffer row;     /* that was read */
    struct colander_buffer text;    /* paths, JSON */
    struct colander_buffer joined;  /* keys and rows that are being pushed */
    struct colander_buffer columns; /* of tables that are being added */
    struct colander_row_builder *builder;
    struct colander_json_reader *reader; /* NULL: none was needed yet */
    bool is_building;                    /* it holds what an error left in it */
    bool is_gone; /* Lua is being closed, and functions of the script still run
                   */
    size_t memory_limit;   /* of what one query may hold: rows, groups */
    scripting_stops stops; /* the same */
    scripting_watch watch; /* of the program; may be NULL */
};

/* The state's. */
struct scratch *scratch_get(lua_State *L);

/* The builder, with nothing in it. */
struct colander_row_builder *scratch_builder(lua_State *L);

#endif

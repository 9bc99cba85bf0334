/* See reduction.h. SPDX-License-Identifier: MIT */
#include "shell/reduction.h"
#include "core/clock.h"
#include "shell/interrupt.h"
#include "shell/sandbox.h"
#include "shell/scripts.h"

#include "scripting/scripting.h"

#include <lauxlib.h>
#include <lualib.h>

#define MEMORY_SIZE ((size_t)64 << 20) /* of Lua, as --safe has it */
#define ROW_US UINT64_C(3000000)       /* for the functions with one row */
#define ALL_US UINT64_C(300000000)     /* as a script may have */

struct reduction {
    struct colander_cursor *cursor;
    const char *map;
    const char *reduce;
    bool (*is_over)(void);
    struct colander_buffer *row;
    struct sandbox_memory memory;
    uint64_t row_count;
    uint64_t begun_us;

    /* when this number of rows was first seen */
    uint64_t seen_count;
    uint64_t seen_us;
};

static void
watch_nothing(void *context, struct colander_cursor *cursor)
{
    (void)context;
    (void)cursor;
}

static bool
has_ended(void *context)
{
    struct reduction *reduction = context;
    const uint64_t now = clock_us();

    if (reduction->seen_count != reduction->row_count) {
        reduction->seen_count = reduction->row_count;
        reduction->seen_us = now;
    }
    return reduction->is_over() || now - reduction->seen_us > ROW_US ||
           now - reduction->begun_us > ALL_US;
}

/* In protected mode. A method of a text that does something else where a script
 * is trusted is missing here, so that there is one result. */
static int
run(lua_State *L)
{
    struct reduction *reduction = lua_touserdata(L, 1);

    sandbox_open(L);
    luaL_requiref(L, "colander", luaopen_colander, 0);
    scripts_load(L, "request_script");
    lua_call(L, 0, 0);
    lua_getglobal(L, LUA_STRLIBNAME);
    lua_pushnil(L);
    lua_setfield(L, -2, "find");
    sandbox_look_for_end(L);
    scripting_reduce(L, reduction->map, reduction->reduce, reduction->cursor,
                     &reduction->row_count, reduction->row);
    return 0;
}

bool
reduction_run(struct colander_cursor *cursor, const char *map,
              const char *reduce, bool (*is_over)(void),
              struct colander_buffer *row)
{
    struct reduction reduction = {
        .cursor = cursor,
        .map = map,
        .reduce = reduce,
        .is_over = is_over,
        .row = row,
        .memory = {.max = MEMORY_SIZE, .member_max = SANDBOX_MEMBERS},
        .begun_us = clock_us(),
        .seen_count = UINT64_MAX,
    };
    const struct interrupt_source source = {&reduction, watch_nothing,
                                            has_ended};
    lua_State *L = sandbox_new_state(&reduction.memory);
    bool is_reduced;

    if (L == NULL)
        return false;
    interrupt_set_source(&source);
    lua_pushcfunction(L, run);
    lua_pushlightuserdata(L, &reduction);
    is_reduced = lua_pcall(L, 1, 0, 0) == LUA_OK;
    lua_close(L);
    interrupt_set_source(NULL);
    return is_reduced;
}

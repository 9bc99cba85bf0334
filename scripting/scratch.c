/* SPDX-License-Identifier: MIT */
#include "scripting/scratch.h"

#include "scripting/failure.h"
#include "scripting/types.h"

#define MEMORY_LIMIT ((size_t)64 << 20)

static const char scratch_key; /* its address is the key in the registry */

static void
release_scratch(void *object)
{
    struct scratch *scratch = object;

    colander_buffer_release(&scratch->key);
    colander_buffer_release(&scratch->parts);
    colander_buffer_release(&scratch->row);
    colander_buffer_release(&scratch->text);
    colander_buffer_release(&scratch->joined);
    colander_buffer_release(&scratch->columns);
    colander_row_builder_destroy(scratch->builder);
    colander_json_reader_destroy(scratch->reader);
    scratch->is_released = true;
}

struct scratch *
scratch_get(lua_State *L)
{
    struct scratch *scratch;

    lua_rawgetp(L, LUA_REGISTRYINDEX, &scratch_key);
    scratch = type_owned(L, -1);
    lua_pop(L, 1);
    if (scratch != NULL && scratch->is_released)
        luaL_error(L, "Lua is being closed");
    if (scratch != NULL)
        return scratch;
    scratch = type_push_owner(L, sizeof(*scratch), release_scratch);
    scratch->memory_limit = MEMORY_LIMIT;
    lua_rawsetp(L, LUA_REGISTRYINDEX, &scratch_key);
    return scratch;
}

struct colander_row_builder *
scratch_builder(lua_State *L)
{
    struct scratch *scratch = scratch_get(L);

    if (scratch->is_building) {
        colander_row_builder_destroy(scratch->builder);
        scratch->builder = NULL;
        scratch->is_building = false;
    }
    if (scratch->builder == NULL) {
        scratch->builder = colander_row_builder_create();
        if (scratch->builder == NULL)
            failure_memory(L, "to build a row");
    }
    return scratch->builder;
}

void
held_begin(lua_State *L, struct held *held)
{
    struct scratch *scratch = scratch_get(L);
    const unsigned max = scratch->open_max;
    struct colander_error err;

    held->scratch = scratch;
    held->size = 0;
    scratch->open_count++;
    if (max > 0 && scratch->open_count > max)
        (void)lua_gc(L, LUA_GCCOLLECT); /* closes what is garbage */
    if (max == 0 || scratch->open_count <= max)
        return;
    held_end(held);
    (void)!COLANDER_FAIL(&err, COLANDER_LIMIT,
                         "%u queries and groups are open: end some, or close "
                         "them",
                         max);
    failure_raise(L, &err);
}

size_t
held_max(lua_State *L, const struct held *held)
{
    const struct scratch *scratch = held->scratch;
    const size_t max = scratch->memory_limit;
    size_t others = scratch->held - held->size;

    if (scratch->open_max == 0)
        return max;
    if (others > max / 2) {
        (void)lua_gc(L, LUA_GCCOLLECT);
        others = scratch->held - held->size;
    }
    return others < max ? max - others : 0;
}

enum colander_code
held_set(lua_State *L, struct held *held, size_t size,
         struct colander_error *err)
{
    struct scratch *scratch = held->scratch;

    scratch->held = scratch->held - held->size + size;
    held->size = size;
    if (scratch->open_max > 0 && scratch->held > scratch->memory_limit)
        (void)lua_gc(L, LUA_GCCOLLECT);
    if (scratch->open_max == 0 || scratch->held <= scratch->memory_limit)
        return COLANDER_OK;
    return COLANDER_FAIL(err, COLANDER_LIMIT,
                         "the open queries and groups hold more than %zu bytes",
                         scratch->memory_limit);
}

void
held_end(struct held *held)
{
    if (held->scratch == NULL)
        return;
    held->scratch->open_count--;
    held->scratch->held -= held->size;
    held->scratch = NULL;
    held->size = 0;
}

void
scripting_set_watch(lua_State *L, scripting_watch *watch,
                    scripting_is_cancelled *is_cancelled)
{
    struct scratch *scratch = scratch_get(L);

    scratch->watch = watch;
    scratch->is_cancelled = is_cancelled;
}

void
scripting_set_missed(lua_State *L, scripting_missed *missed, void *context)
{
    struct scratch *scratch = scratch_get(L);

    scratch->missed = missed;
    scratch->missed_context = context;
}

void
scripting_set_ended(lua_State *L, scripting_ended *ended, void *context)
{
    struct scratch *scratch = scratch_get(L);

    scratch->ended = ended;
    scratch->ended_context = context;
}

/*
 * Families: see families.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "scripting/families.h"

#include "scripting/failure.h"
#include "scripting/fields.h"
#include "scripting/queries.h"
#include "scripting/rows.h"
#include "scripting/scratch.h"
#include "scripting/values.h"

#include <lauxlib.h>
#include <stdlib.h>

#define TYPE "colander.family"

struct script_family *
family_check(lua_State *L, int index)
{
    return handle_check(L, index, TYPE, "family");
}

const char *
family_name_at(lua_State *L, int index)
{
    const struct script_family *family = luaL_testudata(L, index, TYPE);

    if (family == NULL || family->family == NULL)
        return NULL;
    return colander_family_name(family->family);
}

void
shared_family_unref(struct shared_family *shared)
{
    if (shared == NULL || --shared->reference_count > 0)
        return;
    colander_family_close(shared->family);
    free(shared);
}

static enum colander_code
close_family(struct handle *handle, struct colander_error *err)
{
    struct script_family *family = (struct script_family *)handle;

    (void)err;
    shared_family_unref(family->shared);
    family->shared = NULL;
    family->family = NULL;
    return COLANDER_OK;
}

void
family_push(lua_State *L, int index, struct script_store *store,
            const char *name)
{
    struct script_family *family;
    struct colander_error err;

    index = lua_absindex(L, index);
    family = lua_newuserdatauv(L, sizeof(*family), 1);
    memset(family, 0, sizeof(*family));
    luaL_setmetatable(L, TYPE);
    lua_pushvalue(L, index);
    lua_setiuservalue(L, -2, 1);
    handle_init(L, &family->handle, &store->handle, close_family);
    family->shared = calloc(1, sizeof(*family->shared));
    if (family->shared == NULL)
        failure_memory(L, "for a family");
    family->shared->reference_count = 1;
    failure_check(
        L,
        colander_family_open(store->store, name, &family->shared->family, &err),
        &err);
    family->family = family->shared->family;
}

/* -------------------------------------------------------------- writes --- */

/* Puts the key for the row at `index` alone into the scratch: its own, or a new
 * one. */
static void
own_key(lua_State *L, struct scratch *scratch, int index)
{
    const struct colander_slice own = row_key(L, index);
    struct colander_error err;
    enum colander_code code;

    scratch->key.size = 0;
    code = own.size > 0
               ? colander_buffer_append(&scratch->key, own.data, own.size, &err)
               : colander_key_generate(&scratch->key, &err);
    failure_check(L, code, &err);
}

typedef enum colander_code (*row_write)(struct colander_family *,
                                        struct colander_slice,
                                        struct colander_slice,
                                        enum colander_durability,
                                        struct colander_error *);

/* Writes the row at `index` under the key at 2, or, when that is the row, under
 * its own; gives the key. The key and the family come last: what is before them
 * may run functions of the script (see scratch.h). */
static int
write_row(lua_State *L, int index, row_write write)
{
    struct scratch *scratch = scratch_get(L);
    enum colander_durability durability = field_durability(L, 4);
    struct colander_slice row = row_check(L, index);
    struct script_family *family;
    struct colander_error err;

    if (index == 2)
        own_key(L, scratch, index);
    else
        value_key(L, 2, &scratch->key);
    family = family_check(L, 1);
    failure_check(L,
                  write(family->family, colander_buffer_slice(&scratch->key),
                        row, durability, &err),
                  &err);
    value_push_key(L, colander_buffer_slice(&scratch->key), &scratch->parts);
    return 1;
}

/* family:put(key, row [, options]), family:put(row): the key */
static int
family_put(lua_State *L)
{
    const bool is_alone = lua_isnoneornil(L, 3);

    (void)family_check(L, 1);
    if (is_alone && !lua_isnoneornil(L, 4))
        failure_misuse(L, "options are for a key and a row: put(key, row, "
                          "options)");
    return write_row(L, is_alone ? 2 : 3, colander_family_put);
}

/* family:patch(key, columns [, options]): the key */
static int
family_patch(lua_State *L)
{
    (void)family_check(L, 1);
    return write_row(L, 3, colander_family_patch);
}

/* family:delete(key [, options]) */
static int
family_delete(lua_State *L)
{
    struct scratch *scratch = scratch_get(L);
    enum colander_durability durability = field_durability(L, 3);
    struct script_family *family;
    struct colander_error err;

    value_key(L, 2, &scratch->key);
    family = family_check(L, 1); /* last, as in write_row */
    failure_check(L,
                  colander_family_delete(family->family,
                                         colander_buffer_slice(&scratch->key),
                                         durability, &err),
                  &err);
    return 0;
}

void
family_key_field(lua_State *L, int index, const char *name,
                 struct colander_buffer *key)
{
    key->size = 0;
    if (!field_push(L, index, name))
        return;
    value_key(L, lua_gettop(L), key);
    lua_pop(L, 1);
}

/* family:delete_range{prefix = , from = , to = [, sync = ]}: how many rows
 * there were; {} is all of them. */
static int
family_delete_range(lua_State *L)
{
    static const char *const known[] = {"prefix", "from", "to", "sync", NULL};
    static const char *const bounds[] = {"prefix", "from", "to"};
    struct scratch *scratch = scratch_get(L);
    struct colander_buffer *keys[] = {&scratch->key, &scratch->first_key,
                                      &scratch->last_key};
    struct script_family *family;
    struct colander_key_range range;
    struct colander_error err;
    enum colander_durability durability = COLANDER_AS_STORE;
    uint64_t count;

    fields_check(L, 2, "delete_range", known);
    if (field_push(L, 2, "sync"))
        durability = field_boolean(L, 2, "sync", false) ? COLANDER_SYNC
                                                        : COLANDER_NO_SYNC;
    /* all fields before the first key, as in write_row */
    for (size_t i = 0; i < 3; i++) {
        if (!field_push(L, 2, bounds[i]))
            lua_pushnil(L);
    }
    for (int i = 0; i < 3; i++) {
        keys[i]->size = 0;
        if (!lua_isnil(L, i - 3))
            value_key(L, lua_gettop(L) + i - 2, keys[i]);
    }
    family = family_check(L, 1);
    range.prefix = colander_buffer_slice(&scratch->key);
    range.from = colander_buffer_slice(&scratch->first_key);
    range.to = colander_buffer_slice(&scratch->last_key);
    failure_check(L,
                  colander_family_delete_range(family->family, &range,
                                               durability, &count, &err),
                  &err);
    lua_pushinteger(L, (lua_Integer)count);
    return 1;
}

static int
family_text(lua_State *L)
{
    const struct script_family *family = luaL_checkudata(L, 1, TYPE);

    if (family->handle.is_open)
        lua_pushfstring(L, "family '%s'", colander_family_name(family->family));
    else
        lua_pushliteral(L, "family (closed)");
    return 1;
}

void
families_open(lua_State *L)
{
    static const struct luaL_Reg methods[] = {
        {"put", family_put},           {"patch", family_patch},
        {"delete", family_delete},     {"delete_range", family_delete_range},
        {"get", family_get},           {"get_many", family_get_many},
        {"find", query_find},          {"find_value", query_find_value},
        {"scan", query_scan},          {"count", query_count_of},
        {"explain", query_explain_of}, {NULL, NULL},
    };
    static const struct luaL_Reg metamethods[] = {
        {"__tostring", family_text},
        {NULL, NULL},
    };

    handle_type(L, TYPE, methods, metamethods);
    lua_getfield(L, -1, "__index");
    upkeep_open(L);
    lua_pop(L, 2);
}

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

#define TYPE "colander.family"

struct script_family *
family_check(lua_State *L, int index)
{
    return handle_check(L, index, TYPE, "family");
}

static enum colander_code
close_family(struct handle *handle, struct colander_error *err)
{
    struct script_family *family = (struct script_family *)handle;

    (void)err;
    colander_family_close(family->family);
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
    handle_init(&family->handle, &store->handle, close_family);
    failure_check(
        L, colander_family_open(store->store, name, &family->family, &err),
        &err);
}

/* -------------------------------------------------------------- writes --- */

/* Leaves the encoded key of what is at 2 and the row at 3 in the scratch:
 * put(key, row), or put(row) for a row with a key of its own, or a new key.
 * Gives where the options are. */
static int
take_key(lua_State *L, struct scratch *scratch)
{
    struct colander_slice own;
    struct colander_error err;

    if (lua_type(L, 3) != LUA_TNONE && !lua_isnil(L, 3) &&
        (lua_istable(L, 3) || lua_isuserdata(L, 3))) {
        value_key(L, 2, &scratch->key);
        return 4;
    }
    own = row_key(L, 2);
    if (own.size > 0) {
        scratch->key.size = 0;
        failure_check(
            L, colander_buffer_append(&scratch->key, own.data, own.size, &err),
            &err);
    } else if (lua_istable(L, 2)) {
        failure_check(L, colander_key_generate(&scratch->key, &err), &err);
    } else {
        failure_misuse(L, "a key and a row are expected, or a row alone");
    }
    lua_pushnil(L);
    lua_insert(L, 2);
    return 4;
}

typedef enum colander_code (*row_write)(struct colander_family *,
                                        struct colander_slice,
                                        struct colander_slice,
                                        enum colander_durability,
                                        struct colander_error *);

/* Writes a row; gives its key. */
static int
write_row(lua_State *L, row_write write)
{
    struct script_family *family = family_check(L, 1);
    struct scratch *scratch = scratch_get(L);
    int options = take_key(L, scratch);
    enum colander_durability durability = field_durability(L, options);
    struct colander_slice row = row_check(L, 3);
    struct colander_error err;

    failure_check(L,
                  write(family->family, colander_buffer_slice(&scratch->key),
                        row, durability, &err),
                  &err);
    value_push_key(L, colander_buffer_slice(&scratch->key), &scratch->parts);
    return 1;
}

/* family:put([key,] row [, options]): the key */
static int
family_put(lua_State *L)
{
    return write_row(L, colander_family_put);
}

/* family:patch(key, columns [, options]): the key */
static int
family_patch(lua_State *L)
{
    return write_row(L, colander_family_patch);
}

/* family:delete(key [, options]) */
static int
family_delete(lua_State *L)
{
    struct script_family *family = family_check(L, 1);
    struct scratch *scratch = scratch_get(L);
    enum colander_durability durability = field_durability(L, 3);
    struct colander_error err;

    value_key(L, 2, &scratch->key);
    failure_check(L,
                  colander_family_delete(family->family,
                                         colander_buffer_slice(&scratch->key),
                                         durability, &err),
                  &err);
    return 0;
}

/* family:get(key [, {at = snapshot, select = {path, ...}}]): a row, or nil */
static int
family_get(lua_State *L)
{
    static const char *const known[] = {"at", "select", NULL};
    struct script_family *family = family_check(L, 1);
    struct scratch *scratch = scratch_get(L);
    struct colander_read read = {NULL, NULL, 0};
    struct colander_error err;
    bool found;

    lua_settop(L, 3);
    value_key(L, 2, &scratch->key);
    if (!lua_isnil(L, 3)) {
        fields_check(L, 3, "get", known);
        read.paths = field_texts(L, 3, "select", &read.path_count);
        if (lua_getfield(L, 3, "at") != LUA_TNIL)
            read.snapshot = snapshot_check(L, lua_gettop(L));
    }
    failure_check(L,
                  colander_family_get(family->family,
                                      colander_buffer_slice(&scratch->key),
                                      &read, &scratch->row, &found, &err),
                  &err);
    if (found)
        row_push(L, colander_buffer_slice(&scratch->key),
                 colander_buffer_slice(&scratch->row));
    else
        lua_pushnil(L);
    return 1;
}

void
family_key_field(lua_State *L, int index, const char *name,
                 struct colander_buffer *key)
{
    key->size = 0;
    if (lua_getfield(L, index, name) != LUA_TNIL)
        value_key(L, lua_gettop(L), key);
    lua_pop(L, 1);
}

/* family:delete_range{prefix = , from = , to = [, sync = ]}: how many rows
 * there were; {} is all of them. */
static int
family_delete_range(lua_State *L)
{
    static const char *const known[] = {"prefix", "from", "to", "sync", NULL};
    struct script_family *family = family_check(L, 1);
    struct scratch *scratch = scratch_get(L);
    struct colander_key_range range;
    struct colander_error err;
    enum colander_durability durability = COLANDER_AS_STORE;
    uint64_t count;

    fields_check(L, 2, "delete_range", known);
    if (lua_getfield(L, 2, "sync") != LUA_TNIL)
        durability = field_boolean(L, 2, "sync", false) ? COLANDER_SYNC
                                                        : COLANDER_NO_SYNC;
    family_key_field(L, 2, "prefix", &scratch->key);
    family_key_field(L, 2, "from", &scratch->first_key);
    family_key_field(L, 2, "to", &scratch->last_key);
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
        {"put", family_put},
        {"patch", family_patch},
        {"delete", family_delete},
        {"delete_range", family_delete_range},
        {"get", family_get},
        {"find", query_find},
        {"find_value", query_find_value},
        {"scan", query_scan},
        {"count", query_count_of},
        {"explain", query_explain_of},
        {NULL, NULL},
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

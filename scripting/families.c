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
    struct script_family *family = family_check(L, 1);
    struct scratch *scratch = scratch_get(L);
    struct colander_error err;
    bool found;

    value_key(L, 2, &scratch->key);
    failure_check(L,
                  colander_family_get(family->family,
                                      colander_buffer_slice(&scratch->key),
                                      NULL, &scratch->row, &found, &err),
                  &err);
    if (found)
        row_push(L, colander_buffer_slice(&scratch->key),
                 colander_buffer_slice(&scratch->row));
    else
        lua_pushnil(L);
    return 1;
}

/* -------------------------------------------------------------- upkeep --- */

static int
family_name(lua_State *L)
{
    lua_pushstring(L, colander_family_name(family_check(L, 1)->family));
    return 1;
}

static int
family_exists(lua_State *L)
{
    lua_pushboolean(L, colander_family_exists(family_check(L, 1)->family));
    return 1;
}

/* Those that take nothing and give the family. */
static int
keep_up(lua_State *L, enum colander_code (*function)(struct colander_family *,
                                                     struct colander_error *))
{
    struct script_family *family = family_check(L, 1);
    struct colander_error err;

    failure_check(L, function(family->family, &err), &err);
    lua_settop(L, 1);
    return 1;
}

static int
family_create(lua_State *L)
{
    return keep_up(L, colander_family_create);
}

static int
family_drop(lua_State *L)
{
    return keep_up(L, colander_family_drop);
}

static int
family_flush(lua_State *L)
{
    return keep_up(L, colander_family_flush);
}

static int
family_compact(lua_State *L)
{
    return keep_up(L, colander_family_compact);
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
        {"delete", family_delete},     {"get", family_get},
        {"find", query_find},          {"find_value", query_find_value},
        {"scan", query_scan},          {"count", query_count_of},
        {"explain", query_explain_of}, {"name", family_name},
        {"exists", family_exists},     {"create", family_create},
        {"drop", family_drop},         {"flush", family_flush},
        {"compact", family_compact},   {NULL, NULL},
    };
    static const struct luaL_Reg metamethods[] = {
        {"__tostring", family_text},
        {NULL, NULL},
    };

    handle_type(L, TYPE, methods, metamethods);
    lua_pop(L, 1);
}

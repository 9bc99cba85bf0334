/*
 * Rows: see rows.h.
 *
 * User value 1 of a row is a table of the columns that were set, or that are
 * tables and were asked for; one that was removed is the light userdata
 * `removed` there.
 *
 * SPDX-License-Identifier: MIT
 */
#include "scripting/rows.h"

#include "scripting/failure.h"
#include "scripting/scratch.h"
#include "scripting/values.h"

#include <lauxlib.h>

#define TYPE "colander.row"

struct row {
    size_t key_size;
    size_t row_size;
    uint8_t bytes[]; /* the key, then the row */
};

static const char removed; /* its address stands for a column that is gone */

static struct colander_slice
bytes_of(const struct row *row)
{
    return colander_slice_of(row->bytes + row->key_size, row->row_size);
}

void
row_push(lua_State *L, struct colander_slice key, struct colander_slice bytes)
{
    struct colander_buffer *joined = &scratch_get(L)->joined;
    const size_t first = joined->size;
    const size_t size = key.size + bytes.size;
    struct colander_error err;
    struct row *row;
    enum colander_code code;

    /* What is borrowed is copied before Lua may collect: that runs functions of
     * the script, which may use the store, and push rows behind this one. */
    code = colander_buffer_append(joined, key.data, key.size, &err);
    if (code == COLANDER_OK)
        code = colander_buffer_append(joined, bytes.data, bytes.size, &err);
    if (code != COLANDER_OK) {
        joined->size = first;
        failure_raise(L, &err);
    }
    row = lua_newuserdatauv(L, sizeof(*row) + size, 1);
    row->key_size = key.size;
    row->row_size = bytes.size;
    memcpy(row->bytes, joined->data + first, size);
    joined->size = first;
    luaL_setmetatable(L, TYPE);
}

bool
row_is(lua_State *L, int index)
{
    return luaL_testudata(L, index, TYPE) != NULL;
}

struct colander_slice
row_key(lua_State *L, int index)
{
    const struct row *row = luaL_testudata(L, index, TYPE);

    if (row == NULL)
        return colander_slice_of(NULL, 0);
    return colander_slice_of(row->bytes, row->key_size);
}

/* ------------------------------------------------------------- reading --- */

static bool
is_key_column(lua_State *L, int index)
{
    struct colander_slice name;

    name.data = (const uint8_t *)lua_tolstring(L, index, &name.size);
    return colander_slice_equal(name, colander_slice_text(COLANDER_KEY_COLUMN));
}

/* The column `name` as it was read. */
static bool
find_column(lua_State *L, const struct row *row, struct colander_slice name,
            struct colander_value *value)
{
    struct colander_members members;
    struct colander_slice member;
    struct colander_error err;
    bool is_member;

    failure_check(L, colander_members_init(&members, bytes_of(row), &err),
                  &err);
    for (;;) {
        failure_check(
            L,
            colander_members_next(&members, &is_member, &member, value, &err),
            &err);
        if (!is_member)
            return false;
        if (member.size == name.size &&
            memcmp(member.data, name.data, name.size) == 0)
            return true;
    }
}

/* Pushes the table of changes of the row at 1, made if need be. */
static void
push_changes(lua_State *L)
{
    if (lua_getiuservalue(L, 1, 1) == LUA_TTABLE)
        return;
    lua_pop(L, 1);
    lua_newtable(L);
    lua_pushvalue(L, -1);
    lua_setiuservalue(L, 1, 1);
}

/* Pushes what was changed of the column at `index`; false: nothing, and nothing
 * is pushed. A column that was removed is nil. */
static bool
push_changed(lua_State *L, int index)
{
    if (lua_getiuservalue(L, 1, 1) != LUA_TTABLE) {
        lua_pop(L, 1);
        return false;
    }
    lua_pushvalue(L, index);
    if (lua_rawget(L, -2) == LUA_TNIL) {
        lua_pop(L, 2);
        return false;
    }
    lua_remove(L, -2);
    if (lua_touserdata(L, -1) == &removed) {
        lua_pop(L, 1);
        lua_pushnil(L);
    }
    return true;
}

static int
row_index(lua_State *L)
{
    const struct row *row = luaL_checkudata(L, 1, TYPE);
    struct colander_slice name;
    struct colander_value value;

    if (lua_type(L, 2) != LUA_TSTRING) {
        lua_pushnil(L);
        return 1;
    }
    name.data = (const uint8_t *)lua_tolstring(L, 2, &name.size);
    if (push_changed(L, 2))
        return 1;
    if (find_column(L, row, name, &value)) {
        value_push(L, &value);
        if (lua_istable(L, -1)) {
            push_changes(L);
            lua_pushvalue(L, 2);
            lua_pushvalue(L, -3);
            lua_rawset(L, -3);
            lua_pop(L, 1);
        }
    } else if (row->key_size > 0 && is_key_column(L, 2)) {
        value_push_key(L, colander_slice_of(row->bytes, row->key_size),
                       &scratch_get(L)->parts);
    } else {
        lua_pushnil(L);
    }
    return 1;
}

static int
row_newindex(lua_State *L)
{
    (void)luaL_checkudata(L, 1, TYPE);
    luaL_argcheck(L, lua_type(L, 2) == LUA_TSTRING, 2,
                  "the name of a column is a string");
    if (is_key_column(L, 2))
        failure_misuse(L, "the key of a row cannot be set: put it under "
                          "another key");
    push_changes(L);
    lua_pushvalue(L, 2);
    if (lua_isnil(L, 3))
        lua_pushlightuserdata(L, (void *)&removed);
    else
        lua_pushvalue(L, 3);
    lua_rawset(L, -3);
    return 0;
}

/* Pushes a table of all columns of the row at 1, as they are now. */
static void
push_table(lua_State *L)
{
    const struct row *row = lua_touserdata(L, 1);
    struct colander_members members;
    struct colander_value value;
    struct colander_slice name;
    struct colander_error err;
    bool is_member;

    failure_check(L, colander_members_init(&members, bytes_of(row), &err),
                  &err);
    lua_createtable(L, 0, (int)(members.left & 0xffff));
    for (;;) {
        failure_check(
            L, colander_members_next(&members, &is_member, &name, &value, &err),
            &err);
        if (!is_member)
            break;
        lua_pushlstring(L, (const char *)name.data, name.size);
        lua_pushvalue(L, 1);
        lua_pushvalue(L, -2);
        lua_gettable(L, -2); /* as row.name gives it */
        lua_remove(L, -2);
        lua_rawset(L, -3);
    }
    if (lua_getiuservalue(L, 1, 1) == LUA_TTABLE) {
        lua_pushnil(L);
        while (lua_next(L, -2) != 0) {
            if (lua_touserdata(L, -1) == &removed) {
                lua_pop(L, 1);
                continue;
            }
            lua_pushvalue(L, -2);
            lua_insert(L, -2);
            lua_rawset(L, -5);
        }
    }
    lua_pop(L, 1);
}

/* As `next`, which a script may have set to something else. */
static int
next_column(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 2);
    if (lua_next(L, 1) != 0)
        return 2;
    lua_pushnil(L);
    return 1;
}

static int
row_pairs(lua_State *L)
{
    (void)luaL_checkudata(L, 1, TYPE);
    lua_pushcfunction(L, next_column);
    push_table(L);
    lua_pushnil(L);
    return 3;
}

/* ------------------------------------------------------------- writing --- */

/* The table of columns at `index`, or, given a row, that with the changes that
 * the table has, encoded: borrowed from the builder. */
static struct colander_slice
encode(lua_State *L, int index, const struct row *row)
{
    struct value_path path = {"", 0};
    struct colander_row_builder *builder;
    struct colander_slice bytes;
    struct colander_error err;
    struct scratch *scratch = scratch_get(L);

    builder = scratch_builder(L);
    scratch->is_building = true;
    if (row == NULL)
        value_add_columns(L, index, builder, &path);
    else
        value_change_columns(L, index, bytes_of(row), &removed, builder);
    scratch->is_building = false;
    failure_check(L, colander_row_builder_finish(builder, &bytes, &err), &err);
    return bytes;
}

static int
table_of(lua_State *L)
{
    luaL_checkudata(L, 1, TYPE);
    lua_settop(L, 1);
    push_table(L);
    return 1;
}

struct colander_slice
row_check(lua_State *L, int index)
{
    const struct row *row = luaL_testudata(L, index, TYPE);
    struct colander_slice bytes;

    if (row == NULL) {
        if (!lua_istable(L, index))
            failure_misuse(L, "a row is a table of columns, and this is a %s",
                           luaL_typename(L, index));
        return encode(L, index, NULL);
    }
    if (lua_getiuservalue(L, index, 1) != LUA_TTABLE) {
        lua_pop(L, 1);
        return bytes_of(row);
    }
    bytes = encode(L, lua_gettop(L), row);
    lua_pop(L, 1);
    return bytes;
}

static int
row_text(lua_State *L)
{
    const struct row *row = luaL_checkudata(L, 1, TYPE);
    struct colander_slice bytes = row_check(L, 1);
    struct scratch *scratch = scratch_get(L);
    struct colander_value value = colander_null();
    struct colander_error err;
    enum colander_code code;

    scratch->text.size = 0;
    if (row->key_size == 0) {
        value.type = COLANDER_MAP;
        value.bytes = bytes;
        code = colander_json_append_value(&scratch->text, &value, &err);
    } else {
        code = colander_json_append_row(
            &scratch->text, colander_slice_of(row->bytes, row->key_size), bytes,
            &err);
    }
    failure_check(L, code, &err);
    lua_pushlstring(L, (const char *)scratch->text.data, scratch->text.size);
    return 1;
}

void
rows_open(lua_State *L)
{
    static const struct luaL_Reg metamethods[] = {
        {"__index", row_index}, {"__newindex", row_newindex},
        {"__pairs", row_pairs}, {"__tostring", row_text},
        {NULL, NULL},
    };
    static const struct luaL_Reg functions[] = {
        {"table", table_of},
        {NULL, NULL},
    };

    if (luaL_newmetatable(L, TYPE) != 0) {
        luaL_setfuncs(L, metamethods, 0);
        lua_pushstring(L, TYPE);
        lua_setfield(L, -2, "__metatable");
    }
    lua_pop(L, 1);
    luaL_setfuncs(L, functions, 0);
}

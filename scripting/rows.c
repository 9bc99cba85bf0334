/*
 * Rows: see rows.h.
 *
 * User value 1 of a row is a table of the columns that were set, and of those
 * that are tables and were read. A removed column is the light userdata
 * `removed` in it.
 *
 * SPDX-License-Identifier: MIT
 */
#include "scripting/rows.h"

#include "scripting/conditions.h"
#include "scripting/failure.h"
#include "scripting/fields.h"
#include "scripting/module.h"
#include "scripting/scratch.h"
#include "scripting/types.h"
#include "scripting/values.h"

#define TYPE "colander.row"

struct row {
    size_t key_size;
    size_t row_size;
    uint8_t bytes[]; /* the key, then the row */
};

static const char removed; /* its address marks a removed column */

static struct colander_slice
bytes_of(const struct row *row)
{
    return colander_slice_of(row->bytes + row->key_size, row->row_size);
}

void
scripting_push_row(lua_State *L, struct colander_slice key,
                   struct colander_slice bytes)
{
    struct colander_buffer *joined = &scratch_get(L)->joined;
    const size_t first = joined->size;
    const size_t size = key.size + bytes.size;
    struct colander_error err;
    struct row *row;
    enum colander_code code;

    /* copied before Lua may run finalizers, which may push rows as well */
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

static bool
is_key_column(lua_State *L, int index)
{
    struct colander_slice name;

    name.data = (const uint8_t *)lua_tolstring(L, index, &name.size);
    return colander_slice_equal(name, colander_slice_text(COLANDER_KEY_COLUMN));
}

/* Finds the column `name` as it was read. */
static bool
find_column(lua_State *L, const struct row *row, struct colander_slice name,
            struct colander_value *value)
{
    struct colander_members members;
    struct colander_slice member;

    failure_try(L, colander_members_init(&members, bytes_of(row), &err));
    while (value_next_member(L, &members, &member, value)) {
        if (colander_slice_equal(member, name))
            return true;
    }
    return false;
}

/* Pushes the table of changes of the row at 1, and creates it if needed. */
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

/* Pushes the new value of the column named at `index`, nil if it was removed.
 * Returns false, and pushes nothing, if it is unchanged. */
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
                  "the name of a column must be a string");
    if (is_key_column(L, 2))
        failure_misuse(L, "cannot set the key of a row: put the row under "
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

/* Pushes a table of all columns of the row at 1, with changes. */
static void
push_table(lua_State *L)
{
    const struct row *row = lua_touserdata(L, 1);
    struct colander_members members;
    struct colander_value value;
    struct colander_slice name;

    failure_try(L, colander_members_init(&members, bytes_of(row), &err));
    lua_createtable(L, 0, (int)(members.left & 0xffff));
    while (value_next_member(L, &members, &name, &value)) {
        lua_pushlstring(L, (const char *)name.data, name.size);
        lua_pushvalue(L, 1);
        lua_pushvalue(L, -2);
        lua_gettable(L, -2); /* the value of row.name */
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

/* As `next`, which a script may have redefined. */
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

/* Encodes the table of columns at `index`, or `row` (NULL: none) with the
 * changes in that table. Valid until the builder is used. */
static struct colander_slice
encode(lua_State *L, int index, const struct row *row)
{
    struct colander_row_builder *builder;
    struct colander_slice bytes;
    struct scratch *scratch = scratch_get(L);

    builder = scratch_builder(L);
    scratch->is_building = true;
    if (row == NULL)
        value_add_columns(L, index, builder);
    else
        value_change_columns(L, index, bytes_of(row), &removed, builder);
    scratch->is_building = false;
    failure_try(L, colander_row_builder_finish(builder, &bytes, &err));
    return bytes;
}

/* colander.table(row) */
static int
table_of(lua_State *L)
{
    arguments_check_count(L, 1);
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
            failure_misuse(L, "a row must be a map of columns, not a %s",
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

void
scripting_get_row(lua_State *L, int index, struct colander_slice *key,
                  struct colander_slice *row)
{
    *row = row_check(L, index);
    *key = row_key(L, index);
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

/* ----------------------------------------------------------- functions --- */

/* The library does the work, so they agree with finds. */

/* Replaces the row or table at 1 by a row, which keeps the bytes that it
 * returns: from then on finalizers may use the scratch. */
static struct colander_slice
keep_row(lua_State *L)
{
    struct colander_slice bytes = row_check(L, 1);

    scripting_push_row(L, row_key(L, 1), bytes);
    lua_replace(L, 1);
    return row_check(L, 1);
}

/* Pushes a row from the scratch, with the key of the one at 1. */
static int
push_result(lua_State *L)
{
    scripting_push_row(L, row_key(L, 1),
                       colander_buffer_slice(&scratch_get(L)->row));
    return 1;
}

/* colander.get(row, path): the first value there, or nil */
static int
get_value(lua_State *L)
{
    const char *path = text_check(L, 2, "a path");
    struct colander_slice row = keep_row(L);
    struct colander_value value;
    bool found;

    arguments_check_count(L, 2);
    failure_try(L, colander_row_get(row, path, &value, &found, &err));
    if (found)
        value_push(L, &value);
    else
        lua_pushnil(L);
    return 1;
}

/* row(path): the first value there; nil if that is null, too */
static int
call_row(lua_State *L)
{
    (void)luaL_checkudata(L, 1, TYPE);
    (void)get_value(L);
    if (value_is_null(L, -1))
        lua_pushnil(L);
    return 1;
}

/* colander.select(row, path, ...): a row of these columns */
static int
select_columns(lua_State *L)
{
    struct scratch *scratch = scratch_get(L);
    struct colander_slice row;
    size_t count;
    const char **paths = arguments_paths(L, 2, "select", &count);

    row = keep_row(L);
    failure_try(L, colander_row_select(row, paths, count, &scratch->row, &err));
    return push_result(L);
}

/* colander.patch(row, columns): the row that family:patch would store */
static int
patch_row(lua_State *L)
{
    struct scratch *scratch = scratch_get(L);
    struct colander_slice row = keep_row(L);
    struct colander_slice patch = row_check(L, 2);

    arguments_check_count(L, 2);
    failure_try(L, colander_row_patch(row, patch, &scratch->row, &err));
    return push_result(L);
}

/* colander.matches(row, condition) */
static int
matches_row(lua_State *L)
{
    struct colander_slice row;
    struct colander_predicate *where;
    struct colander_error err;
    enum colander_code code;
    bool is_match;

    arguments_check_count(L, 2);
    luaL_checktype(L, 2, LUA_TTABLE);
    row = keep_row(L);
    where = condition_compile(L, 2, NULL);
    code = colander_predicate_evaluate(where, row, &is_match, NULL, &err);
    colander_predicate_destroy(where);
    failure_check(L, code, &err);
    lua_pushboolean(L, is_match);
    return 1;
}

/* colander.fromjson(text): a row, with its key if the text has "_key" */
static int
from_json(lua_State *L)
{
    struct scratch *scratch = scratch_get(L);
    struct colander_slice text;
    struct colander_slice key;
    struct colander_slice row;
    bool has_key;

    arguments_check_count(L, 1);
    text.data = (const uint8_t *)luaL_checklstring(L, 1, &text.size);
    if (scratch->reader == NULL)
        scratch->reader = colander_json_reader_create();
    if (scratch->reader == NULL)
        failure_memory(L, "to read JSON");
    failure_try(L, colander_json_reader_row(scratch->reader, text, &key,
                                            &has_key, &row, &err));
    scripting_push_row(L, has_key ? key : colander_slice_of(NULL, 0), row);
    return 1;
}

/* colander.tojson(value): of a value that a row may have, or of a row */
static int
to_json(lua_State *L)
{
    struct scratch *scratch = scratch_get(L);
    struct colander_slice row;
    struct colander_value value;
    bool found;

    arguments_check_count(L, 1);
    luaL_checkany(L, 1);
    lua_settop(L, 1);
    if (row_is(L, 1))
        return row_text(L);
    lua_createtable(L, 0, 1); /* the value, as the only column of a row */
    lua_pushvalue(L, 1);
    lua_setfield(L, -2, "value");
    row = row_check(L, 2);
    failure_try(L, colander_row_get(row, "value", &value, &found, &err));
    if (!found)
        value = colander_null();
    scratch->text.size = 0;
    failure_try(L, colander_json_append_value(&scratch->text, &value, &err));
    lua_pushlstring(L, (const char *)scratch->text.data, scratch->text.size);
    return 1;
}

void
rows_register(lua_State *L)
{
    static const struct luaL_Reg metamethods[] = {
        {"__index", row_index}, {"__newindex", row_newindex},
        {"__pairs", row_pairs}, {"__tostring", row_text},
        {"__call", call_row},   {NULL, NULL},
    };
    static const struct luaL_Reg functions[] = {
        {"table", table_of},        {"get", get_value},
        {"select", select_columns}, {"patch", patch_row},
        {"matches", matches_row},   {"fromjson", from_json},
        {"tojson", to_json},        {NULL, NULL},
    };

    type_define(L, TYPE, metamethods);
    luaL_setfuncs(L, functions, 0);
    lua_pushcfunction(L, to_json);
    value_set_array_text(L);
}

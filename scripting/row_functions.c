/*
 * Functions of rows that a script has in hand: what stands at a path, which
 * columns, changed, matched, as JSON. As C does it, so they agree with finds.
 *
 * SPDX-License-Identifier: MIT
 */
#include "scripting/rows.h"

#include "scripting/conditions.h"
#include "scripting/failure.h"
#include "scripting/fields.h"
#include "scripting/scratch.h"
#include "scripting/values.h"

#include <lauxlib.h>

/* The bytes of the row or table at 1, which becomes a row that keeps them: what
 * is pushed from then on may run functions of the script (see scratch.h). */
static struct colander_slice
keep_row(lua_State *L)
{
    struct colander_slice bytes = row_check(L, 1);

    row_push(L, row_key(L, 1), bytes);
    lua_replace(L, 1);
    return row_check(L, 1);
}

/* colander.get(row, path): the value there, or nil */
static int
get_value(lua_State *L)
{
    const char *path = text_check(L, 2, "a path");
    struct colander_slice row = keep_row(L);
    struct colander_value value;
    struct colander_error err;
    bool found;

    failure_check(L, colander_row_get(row, path, &value, &found, &err), &err);
    if (found)
        value_push(L, &value);
    else
        lua_pushnil(L);
    return 1;
}

/* Pushes a row of what stands in the scratch, with the key of the one at 1. */
static int
push_made(lua_State *L)
{
    row_push(L, row_key(L, 1), colander_buffer_slice(&scratch_get(L)->row));
    return 1;
}

/* colander.select(row, path, ...): a row of these columns */
static int
select_columns(lua_State *L)
{
    const int count = lua_gettop(L) - 1;
    struct scratch *scratch = scratch_get(L);
    struct colander_slice row;
    struct colander_error err;
    const char **paths;

    luaL_argcheck(L, count > 0, 2, "select takes the columns that are wanted");
    paths = lua_newuserdatauv(L, (size_t)count * sizeof(*paths), 0);
    for (int i = 0; i < count; i++)
        paths[i] = text_check(L, i + 2, "a path");
    row = keep_row(L);
    failure_check(
        L, colander_row_select(row, paths, (size_t)count, &scratch->row, &err),
        &err);
    return push_made(L);
}

/* colander.patch(row, columns): a row that is changed as family:patch would */
static int
patch_row(lua_State *L)
{
    struct scratch *scratch = scratch_get(L);
    struct colander_slice row = keep_row(L);
    struct colander_slice patch = row_check(L, 2);
    struct colander_error err;

    failure_check(L, colander_row_patch(row, patch, &scratch->row, &err), &err);
    return push_made(L);
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

    luaL_checktype(L, 2, LUA_TTABLE);
    row = keep_row(L);
    where = condition_compile(L, 2);
    code = colander_predicate_evaluate(where, row, &is_match, NULL, &err);
    colander_predicate_destroy(where);
    failure_check(L, code, &err);
    lua_pushboolean(L, is_match);
    return 1;
}

/* colander.fromjson(text): a row, with its key where the text has "_key" */
static int
from_json(lua_State *L)
{
    struct scratch *scratch = scratch_get(L);
    struct colander_slice text;
    struct colander_slice key;
    struct colander_slice row;
    struct colander_error err;
    bool has_key;

    text.data = (const uint8_t *)luaL_checklstring(L, 1, &text.size);
    if (scratch->reader == NULL)
        scratch->reader = colander_json_reader_create();
    if (scratch->reader == NULL)
        failure_memory(L, "to read JSON");
    failure_check(L,
                  colander_json_reader_row(scratch->reader, text, &key,
                                           &has_key, &row, &err),
                  &err);
    row_push(L, has_key ? key : colander_slice_of(NULL, 0), row);
    return 1;
}

/* colander.tojson(value): any that a row may have, or a row */
static int
to_json(lua_State *L)
{
    struct scratch *scratch = scratch_get(L);
    struct colander_slice row;
    struct colander_value value;
    struct colander_error err;
    bool found;

    luaL_checkany(L, 1);
    lua_settop(L, 1);
    if (row_is(L, 1)) {
        luaL_tolstring(L, 1, NULL);
        return 1;
    }
    lua_createtable(L, 0, 1); /* the value, as the only column of a row */
    lua_pushvalue(L, 1);
    lua_setfield(L, -2, "value");
    row = row_check(L, 2);
    failure_check(L, colander_row_get(row, "value", &value, &found, &err),
                  &err);
    if (!found)
        value = colander_null();
    scratch->text.size = 0;
    failure_check(L, colander_json_append_value(&scratch->text, &value, &err),
                  &err);
    lua_pushlstring(L, (const char *)scratch->text.data, scratch->text.size);
    return 1;
}

void
row_functions_open(lua_State *L)
{
    static const struct luaL_Reg functions[] = {
        {"get", get_value},
        {"select", select_columns},
        {"patch", patch_row},
        {"matches", matches_row},
        {"fromjson", from_json},
        {"tojson", to_json},
        {NULL, NULL},
    };

    luaL_setfuncs(L, functions, 0);
}

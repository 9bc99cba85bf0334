/*
 * Reads: rows got by their keys, one or many at once.
 *
 * SPDX-License-Identifier: MIT
 */
#include "scripting/families.h"

#include "scripting/failure.h"
#include "scripting/fields.h"
#include "scripting/rows.h"
#include "scripting/scratch.h"
#include "scripting/values.h"

#define ROWS "colander.rows"
#define ROWS_MAX 1000000 /* in one read */

/* Keys and the rows under them. */
struct rows {
    size_t count;
    struct colander_buffer bytes; /* of all keys */
    struct colander_slice *keys;
    struct colander_buffer *rows;
    bool *found;
};

/* {at = snapshot, select = {path, ...}} at `index`, or nil; gives where the
 * snapshot is, 0: there is none. */
static int
read_options(lua_State *L, int index, const char *what,
             struct colander_read *read)
{
    static const char *const known[] = {"at", "select", NULL};

    memset(read, 0, sizeof(*read));
    if (lua_isnil(L, index))
        return 0;
    fields_check(L, index, what, known);
    read->paths = field_texts(L, index, "select", &read->path_count);
    return field_push(L, index, "at") ? lua_gettop(L) : 0;
}

/* The family at 1, open, and the snapshot at `snapshot_index` of its store:
 * last, as what is before may run functions of the script (see scratch.h). */
static struct colander_family *
check_open(lua_State *L, int snapshot_index, struct colander_read *read)
{
    struct script_family *family = family_check(L, 1);

    if (snapshot_index > 0)
        read->snapshot =
            snapshot_check(L, snapshot_index, family->handle.parent);
    return family->family;
}

int
family_get(lua_State *L)
{
    struct scratch *scratch = scratch_get(L);
    struct colander_family *family;
    struct colander_read read;
    struct colander_error err;
    int snapshot_index;
    bool found;

    lua_settop(L, 3);
    snapshot_index = read_options(L, 3, "get", &read);
    value_key(L, 2, &scratch->key);
    family = check_open(L, snapshot_index, &read);
    failure_check(L,
                  colander_family_get(family,
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

/* ---------------------------------------------------------------- many --- */

static void
rows_release(struct rows *rows)
{
    colander_buffer_release(&rows->bytes);
    for (size_t i = 0; i < rows->count; i++)
        colander_buffer_release(&rows->rows[i]);
}

static int
rows_collect(lua_State *L)
{
    rows_release(luaL_checkudata(L, 1, ROWS));
    return 0;
}

/* Pushes room for the rows under `count` keys. */
static struct rows *
rows_make(lua_State *L, size_t count)
{
    const size_t size = sizeof(struct rows) +
                        count * (sizeof(struct colander_slice) +
                                 sizeof(struct colander_buffer) + sizeof(bool));
    struct rows *rows = lua_newuserdatauv(L, size, 0);

    memset(rows, 0, size);
    rows->count = count;
    rows->keys = (struct colander_slice *)(rows + 1);
    rows->rows = (struct colander_buffer *)(rows->keys + count);
    rows->found = (bool *)(rows->rows + count);
    if (luaL_newmetatable(L, ROWS) != 0) {
        lua_pushcfunction(L, rows_collect);
        lua_setfield(L, -2, "__gc");
    }
    lua_setmetatable(L, -2);
    return rows;
}

/* Encodes the keys that are in the list at `index`. */
static void
add_keys(lua_State *L, int index, struct rows *rows)
{
    struct colander_buffer *key = &scratch_get(L)->key;
    struct colander_error err;
    size_t offset = 0;

    for (size_t i = 0; i < rows->count; i++) {
        lua_rawgeti(L, index, (lua_Integer)i + 1);
        value_key(L, lua_gettop(L), key);
        lua_pop(L, 1);
        failure_check(
            L, colander_buffer_append(&rows->bytes, key->data, key->size, &err),
            &err);
        rows->keys[i].size = key->size;
    }
    for (size_t i = 0; i < rows->count;
         i++) { /* now they stay where they are */
        rows->keys[i].data = rows->bytes.data + offset;
        offset += rows->keys[i].size;
    }
}

/* Pushes a table of those that were found, under their numbers, and `n`. */
static void
push_found(lua_State *L, struct rows *rows)
{
    lua_createtable(L, (int)rows->count, 1);
    lua_pushinteger(L, (lua_Integer)rows->count);
    lua_setfield(L, -2, "n");
    for (size_t i = 0; i < rows->count; i++) {
        if (!rows->found[i])
            continue;
        row_push(L, rows->keys[i], colander_buffer_slice(&rows->rows[i]));
        lua_rawseti(L, -2, (lua_Integer)i + 1);
        colander_buffer_release(&rows->rows[i]); /* it is copied */
    }
}

int
family_get_many(lua_State *L)
{
    struct colander_family *family;
    struct colander_read read;
    struct colander_error err;
    struct rows *rows;
    int snapshot_index;

    lua_settop(L, 3);
    if (!lua_istable(L, 2))
        failure_misuse(L, "get_many takes a list of keys, and this is a %s",
                       luaL_typename(L, 2));
    snapshot_index = read_options(L, 3, "get_many", &read);
    rows = rows_make(L, list_check(L, 2, "get_many", ROWS_MAX));
    add_keys(L, 2, rows);
    family = check_open(L, snapshot_index, &read);
    failure_check(L,
                  colander_family_get_many(family, rows->keys, rows->count,
                                           &read, rows->rows, rows->found,
                                           &err),
                  &err);
    push_found(L, rows);
    return 1;
}

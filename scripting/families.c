/*
 * Families: see families.h.
 *
 * Reading arguments may run finalizers of the script (see scratch.h), which may
 * close the family or overwrite the scratch. So each method reads its key after
 * all other arguments, and checks the family last.
 *
 * SPDX-License-Identifier: MIT
 */
#include "scripting/families.h"

#include "scripting/failure.h"
#include "scripting/fields.h"
#include "scripting/module.h"
#include "scripting/rows.h"
#include "scripting/scratch.h"
#include "scripting/scripting.h"
#include "scripting/types.h"
#include "scripting/values.h"

#include <stdlib.h>

#define ROWS_MAX 1000000 /* in one read */

struct script_family *
family_check(lua_State *L, int index)
{
    return type_check(L, index, FAMILY_TYPE);
}

struct colander_family *
scripting_family_at(lua_State *L, int index)
{
    const struct script_family *family = luaL_testudata(L, index, FAMILY_TYPE);

    return family != NULL && family->handle.is_open ? family->family : NULL;
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
    (void)err;
    shared_family_unref(((struct script_family *)handle)->shared);
    return COLANDER_OK;
}

/* Pushes a handle of the family with the name at 2. */
static void
push_family(lua_State *L)
{
    struct script_store *store = store_check(L, 1);
    const char *name = text_check(L, 2, "the name of a family");
    struct script_family *family =
        type_push_handle(L, FAMILY_TYPE, sizeof(*family), 1, 1, close_family);
    struct shared_family *shared = calloc(1, sizeof(*shared));

    if (shared == NULL)
        failure_memory(L, "for a family");
    shared->reference_count = 1;
    family->shared = shared;
    failure_try(
        L, colander_family_open(store->store, name, &shared->family, &err));
    family->family = shared->family;
    family->handle.family_name = colander_family_name(family->family);
}

/* store:family(name) */
static int
store_family(lua_State *L)
{
    arguments_check_count(L, 2);
    push_family(L);
    return 1;
}

/* Returns whether the family at `index` is open, exists, and has the name at
 * 2. */
static bool
is_usable(lua_State *L, int index)
{
    struct colander_family *family = scripting_family_at(L, index);

    return family != NULL && colander_family_exists(family) &&
           strcmp(colander_family_name(family), lua_tostring(L, 2)) == 0;
}

/* store.name: a method, or the family of that name, or nil if it does not
 * exist. Upvalue 1 is the methods. The store keeps the families. */
static int
store_index(lua_State *L)
{
    lua_settop(L, 2);
    lua_pushvalue(L, 2);
    if (lua_gettable(L, lua_upvalueindex(1)) != LUA_TNIL ||
        lua_type(L, 2) != LUA_TSTRING)
        return 1;
    (void)store_check(L, 1);
    if (lua_getiuservalue(L, 1, STORE_FAMILIES) == LUA_TNIL) {
        lua_newtable(L);
        lua_pushvalue(L, -1);
        lua_setiuservalue(L, 1, STORE_FAMILIES);
        lua_replace(L, -2);
    }
    lua_pushvalue(L, 2);
    if (lua_rawget(L, -2) != LUA_TNIL && is_usable(L, -1))
        return 1;
    push_family(L);
    if (!is_usable(L, -1))
        return 0;
    lua_pushvalue(L, 2);
    lua_pushvalue(L, -2);
    lua_rawset(L, 4);
    return 1;
}

/* store:drop(name) */
static int
store_drop(lua_State *L)
{
    arguments_check_count(L, 2);
    push_family(L);
    failure_try(L, colander_family_drop(family_check(L, -1)->family, &err));
    return 0;
}

static int
family_text(lua_State *L)
{
    const struct script_family *family = luaL_checkudata(L, 1, FAMILY_TYPE);

    if (family->handle.is_open)
        lua_pushfstring(L, "family '%s'", family->handle.family_name);
    else
        lua_pushliteral(L, "family (closed)");
    return 1;
}

/* Pushes "_key" of the plain table at 2, or nil. Without it the table at 2 is a
 * copy from then on, with the same metatable. */
static void
take_key(lua_State *L)
{
    if (!lua_istable(L, 2) || !field_push(L, 2, COLANDER_KEY_COLUMN)) {
        lua_pushnil(L);
        return;
    }
    lua_newtable(L);
    lua_pushnil(L);
    while (lua_next(L, 2) != 0) {
        lua_pushvalue(L, -2);
        lua_insert(L, -2);
        lua_rawset(L, -4);
    }
    lua_pushnil(L);
    lua_setfield(L, -2, COLANDER_KEY_COLUMN);
    if (lua_getmetatable(L, 2) != 0)
        lua_setmetatable(L, -2);
    lua_replace(L, 2);
}

/* Puts the key of the row at 2 into the scratch: the value on top or, if that
 * is nil, the key with which it was read, or a new one. */
static void
own_key(lua_State *L, struct scratch *scratch)
{
    const struct colander_slice own = row_key(L, 2);
    struct colander_error err;
    enum colander_code code;

    if (!lua_isnil(L, -1)) {
        value_key(L, lua_gettop(L), &scratch->key);
        return;
    }
    scratch->key.size = 0;
    code = own.size > 0
               ? colander_buffer_append(&scratch->key, own.data, own.size, &err)
               : colander_key_generate(&scratch->key, &err);
    failure_check(L, code, &err);
}

typedef enum colander_code family_write(struct colander_family *,
                                        struct colander_slice,
                                        struct colander_slice,
                                        const struct colander_write_options *,
                                        struct colander_error *);

/* Writes the row at `index` under the key at 2, or under its own if it is at 2
 * itself. Without `write` it is inserted. Returns the key, or nil if the row
 * was not inserted. */
static int
write_row(lua_State *L, int index, family_write *write)
{
    struct scratch *scratch = scratch_get(L);
    const struct colander_write_options options = field_write_options(L, 4);
    struct script_family *family;
    struct colander_slice row;
    struct colander_slice key;
    bool is_written = true;

    if (index == 2)
        take_key(L);
    row = row_check(L, index);
    if (index == 2)
        own_key(L, scratch);
    else
        value_key(L, 2, &scratch->key);
    family = family_check(L, 1);
    key = colander_buffer_slice(&scratch->key);
    if (write != NULL)
        failure_try(L, write(family->family, key, row, &options, &err));
    else
        failure_try(L, colander_family_insert(family->family, key, row,
                                              &options, &is_written, &err));
    if (is_written)
        value_push_key(L, key, &scratch->parts);
    else
        lua_pushnil(L);
    return 1;
}

/* Returns the index of the row in (key, row [, options]) or (row). */
static int
row_argument(lua_State *L)
{
    const bool is_alone = lua_isnoneornil(L, 3);

    (void)family_check(L, 1);
    if (is_alone && !lua_isnoneornil(L, 4))
        failure_misuse(L, "options require a key: (key, row, options)");
    return is_alone ? 2 : 3;
}

/* family:put(key, row [, options]), family:put(row): the key */
static int
family_put(lua_State *L)
{
    arguments_check_count(L, 4);
    return write_row(L, row_argument(L), colander_family_put);
}

/* family:insert(key, row [, options]), family:insert(row): the key, or nil if
 * it has a row */
static int
family_insert(lua_State *L)
{
    arguments_check_count(L, 4);
    return write_row(L, row_argument(L), NULL);
}

/* family:patch(key, columns [, options]): the key */
static int
family_patch(lua_State *L)
{
    arguments_check_count(L, 4);
    (void)family_check(L, 1);
    return write_row(L, 3, colander_family_patch);
}

/* Whether the key at 2 is a table that find would take as words of a condition:
 * {"lang=pl"}. */
static bool
is_condition(lua_State *L)
{
    const char *words[COLANDER_KEY_PARTS_MAX];
    const size_t count = lua_istable(L, 2) ? lua_rawlen(L, 2) : 0;
    struct colander_predicate *predicate;

    for (size_t i = 0; i < count; i++) {
        if (lua_rawgeti(L, 2, (lua_Integer)i + 1) != LUA_TSTRING)
            return false;
        words[i] = lua_tostring(L, -1); /* the table keeps it */
        lua_pop(L, 1);
    }
    predicate =
        count > 0 ? colander_where_words(words, count, NULL, NULL) : NULL;
    colander_predicate_destroy(predicate);
    return predicate != NULL;
}

/* Raises an error if no row has the key, which is a condition as well: deleting
 * nothing is not what was meant. */
static void
check_meant(lua_State *L, struct script_family *family, struct scratch *scratch)
{
    bool found;

    if (!is_condition(L))
        return;
    failure_try(L, colander_family_get(family->family,
                                       colander_buffer_slice(&scratch->key),
                                       NULL, &scratch->row, &found, &err));
    if (!found)
        failure_misuse(L, "delete takes a key, and no row has this one: "
                          "find{...}:delete() deletes what a condition finds");
}

/* family:delete(key [, options]) */
static int
family_delete(lua_State *L)
{
    struct scratch *scratch = scratch_get(L);
    const struct colander_write_options options = field_write_options(L, 3);
    struct script_family *family;

    arguments_check_count(L, 3);
    value_key(L, 2, &scratch->key);
    family = family_check(L, 1);
    check_meant(L, family, scratch);
    failure_try(L, colander_family_delete(family->family,
                                          colander_buffer_slice(&scratch->key),
                                          &options, &err));
    return 0;
}

void
bounds_read(lua_State *L, int index, struct key_bounds *bounds)
{
    static const char *const names[] = {"prefix", "from", "to", "exact"};

    for (size_t i = 0; i < 4; i++) {
        bounds->keys[i].size = 0;
        if (!field_push(L, index, names[i]))
            continue;
        value_key(L, lua_gettop(L), &bounds->keys[i]);
        lua_pop(L, 1);
    }
}

struct colander_key_range
bounds_range(const struct key_bounds *bounds)
{
    return (struct colander_key_range){
        .prefix = colander_buffer_slice(&bounds->keys[0]),
        .from = colander_buffer_slice(&bounds->keys[1]),
        .to = colander_buffer_slice(&bounds->keys[2]),
        .exact = colander_buffer_slice(&bounds->keys[3]),
    };
}

void
bounds_release(void *bounds)
{
    for (size_t i = 0; i < 4; i++)
        colander_buffer_release(&((struct key_bounds *)bounds)->keys[i]);
}

/* family:delete_range{prefix = , from = , to = , exact = [, sync = ]}: the
 * number of rows that were deleted; {} deletes all */
static int
family_delete_range(lua_State *L)
{
    static const struct field fields[] = {
        BOUNDS_FIELDS,
        FIELD(SYNC, "sync", colander_write_options, durability),
        FIELD_END,
    };
    struct key_bounds *bounds;
    struct colander_key_range range;
    struct colander_write_options options;
    uint64_t count;

    arguments_check_count(L, 2);
    luaL_checktype(L, 2, LUA_TTABLE); /* nil would delete all rows */
    colander_write_options_init(&options);
    fields_read(L, 2, "delete_range", fields, &options);
    bounds = type_push_owner(L, sizeof(*bounds), bounds_release);
    bounds_read(L, 2, bounds);
    range = bounds_range(bounds);
    failure_try(L,
                colander_family_delete_range(family_check(L, 1)->family, &range,
                                             &options, &count, &err));
    lua_pushinteger(L, (lua_Integer)count);
    return 1;
}

/* Keys, and the rows under them. */
struct rows {
    size_t count;
    struct colander_buffer bytes; /* of all keys */
    struct colander_slice *keys;
    struct colander_buffer *rows;
    bool *found;
};

/* Reads {at = snapshot, select = {path, ...}} at 3, or nil. Pushes the
 * snapshot, or nil, at 4. */
static void
read_options(lua_State *L, const char *what, struct colander_read *read)
{
    static const struct field fields[] = {FIELD_NAME("at"),
                                          FIELD_NAME("select"), FIELD_END};

    memset(read, 0, sizeof(*read));
    lua_settop(L, 3);
    fields_read(L, 3, what, fields, NULL);
    if (lua_isnil(L, 3) || !field_push(L, 3, "at"))
        lua_pushnil(L);
    if (!lua_isnil(L, 3))
        read->paths = field_paths(L, 3, "select", &read->path_count);
}

/* Returns the family at 1, and adds the snapshot at 4 to `read`. */
static struct colander_family *
check_open(lua_State *L, struct colander_read *read)
{
    struct script_family *family = family_check(L, 1);

    if (!lua_isnil(L, 4))
        read->snapshot = snapshot_check(L, 4, family->handle.parent)->snapshot;
    return family->family;
}

/* family:get(key [, options]): a row, or nil */
static int
family_get(lua_State *L)
{
    struct scratch *scratch = scratch_get(L);
    struct colander_family *family;
    struct colander_read read;
    bool found;

    arguments_check_count(L, 3);
    read_options(L, "get", &read);
    value_key(L, 2, &scratch->key);
    family = check_open(L, &read);
    failure_try(L, colander_family_get(family,
                                       colander_buffer_slice(&scratch->key),
                                       &read, &scratch->row, &found, &err));
    if (found)
        scripting_push_row(L, colander_buffer_slice(&scratch->key),
                           colander_buffer_slice(&scratch->row));
    else
        lua_pushnil(L);
    return 1;
}

static void
release_rows(void *object)
{
    struct rows *rows = object;

    colander_buffer_release(&rows->bytes);
    for (size_t i = 0; i < rows->count; i++)
        colander_buffer_release(&rows->rows[i]);
}

/* Pushes room for the rows under `count` keys. */
static struct rows *
push_rows(lua_State *L, size_t count)
{
    const size_t each = sizeof(struct colander_slice) +
                        sizeof(struct colander_buffer) + sizeof(bool);
    struct rows *rows =
        type_push_owner(L, sizeof(struct rows) + count * each, release_rows);

    rows->count = count;
    rows->keys = (struct colander_slice *)(rows + 1);
    rows->rows = (struct colander_buffer *)(rows->keys + count);
    rows->found = (bool *)(rows->rows + count);
    return rows;
}

/* Encodes the keys in the list at 2. */
static void
add_keys(lua_State *L, struct rows *rows)
{
    struct colander_buffer *key = &scratch_get(L)->key;
    size_t offset = 0;

    for (size_t i = 0; i < rows->count; i++) {
        lua_rawgeti(L, 2, (lua_Integer)i + 1);
        value_key(L, lua_gettop(L), key);
        lua_pop(L, 1);
        failure_try(L, colander_buffer_append(&rows->bytes, key->data,
                                              key->size, &err));
        rows->keys[i].size = key->size;
    }
    for (size_t i = 0; i < rows->count; i++) { /* the buffer moves no more */
        rows->keys[i].data = rows->bytes.data + offset;
        offset += rows->keys[i].size;
    }
}

/* Pushes a table of the rows that were found, under the numbers of their keys,
 * and `n`. */
static void
push_found(lua_State *L, struct rows *rows)
{
    lua_createtable(L, (int)rows->count, 1);
    lua_pushinteger(L, (lua_Integer)rows->count);
    lua_setfield(L, -2, "n");
    for (size_t i = 0; i < rows->count; i++) {
        if (!rows->found[i])
            continue;
        scripting_push_row(L, rows->keys[i],
                           colander_buffer_slice(&rows->rows[i]));
        lua_rawseti(L, -2, (lua_Integer)i + 1);
        colander_buffer_release(&rows->rows[i]); /* copied */
    }
}

/* family:get_many(keys [, options]): a table of rows */
static int
family_get_many(lua_State *L)
{
    struct colander_family *family;
    struct colander_read read;
    struct rows *rows;

    arguments_check_count(L, 3);
    if (!lua_istable(L, 2))
        failure_misuse(L, "get_many: a list of keys expected, got a %s",
                       luaL_typename(L, 2));
    read_options(L, "get_many", &read);
    rows = push_rows(L, list_check(L, 2, "get_many",
                                   scratch_get(L)->open_max > 0
                                       ? SCRIPTING_KEYS_MAX
                                       : ROWS_MAX));
    add_keys(L, rows);
    family = check_open(L, &read);
    failure_try(L,
                colander_family_get_many(family, rows->keys, rows->count, &read,
                                         rows->rows, rows->found, &err));
    push_found(L, rows);
    return 1;
}

void
families_register(lua_State *L)
{
    static const struct luaL_Reg store_methods[] = {
        {"family", store_family},
        {"drop", store_drop},
        {NULL, NULL},
    };
    static const struct luaL_Reg methods[] = {
        {"put", family_put},
        {"insert", family_insert},
        {"patch", family_patch},
        {"delete", family_delete},
        {"delete_range", family_delete_range},
        {"get", family_get},
        {"get_many", family_get_many},
        {NULL, NULL},
    };
    static const struct luaL_Reg metamethods[] = {
        {"__tostring", family_text},
        {NULL, NULL},
    };

    type_extend(L, STORE_TYPE, store_methods, NULL);
    type_extend(L, FAMILY_TYPE, methods, metamethods);
    luaL_getmetatable(L, STORE_TYPE);
    type_push_methods(L, STORE_TYPE);
    lua_pushcclosure(L, store_index, 1);
    lua_setfield(L, -2, "__index");
    lua_pop(L, 1);
}

/* SPDX-License-Identifier: MIT */
#include "scripting/values.h"

#include "scripting/failure.h"
#include "scripting/module.h"
#include "scripting/scratch.h"
#include "scripting/typed_value.h"
#include "scripting/types.h"

#include <stdlib.h>

#define ARRAY "colander.array"

/* ------------------------------------------------------------- pushing --- */

/* Recursive: the depth of rows was checked when they were written. */
static void
push_members(lua_State *L, const struct colander_value *container)
{
    const bool is_map = container->type == COLANDER_MAP;
    struct colander_members members;
    struct colander_value value;
    struct colander_slice name;
    lua_Integer number = 0;
    int count;

    luaL_checkstack(L, 8, "a value is nested too deeply");
    failure_try(L, colander_members_init(&members, container->bytes, &err));
    count = (int)(members.left & 0xffff);
    lua_createtable(L, is_map ? 0 : count, is_map ? count : 0);
    while (value_next_member(L, &members, &name, &value)) {
        if (is_map)
            lua_pushlstring(L, (const char *)name.data, name.size);
        value_push(L, &value);
        if (is_map)
            lua_rawset(L, -3);
        else
            lua_rawseti(L, -2, ++number);
    }
    if (!is_map)
        luaL_setmetatable(L, ARRAY);
}

void
value_push(lua_State *L, const struct colander_value *value)
{
    switch (value->type) {
    case COLANDER_BOOLEAN:
        lua_pushboolean(L, value->boolean);
        break;
    case COLANDER_INTEGER:
        lua_pushinteger(L, value->integer);
        break;
    case COLANDER_DOUBLE:
        lua_pushnumber(L, value->number);
        break;
    case COLANDER_STRING:
        lua_pushlstring(L, (const char *)value->bytes.data, value->bytes.size);
        break;
    case COLANDER_NULL:
    case COLANDER_UNSIGNED:
    case COLANDER_BINARY:
    case COLANDER_TIMESTAMP:
    case COLANDER_EXTENSION:
        typed_value_push(L, value);
        break;
    case COLANDER_ARRAY:
    case COLANDER_MAP:
        push_members(L, value);
        break;
    }
}

/* ------------------------------------------------------------- getting --- */

bool
value_get(lua_State *L, int index, struct colander_value *value)
{
    const struct colander_value *typed_value;
    struct colander_slice bytes;

    switch (lua_type(L, index)) {
    case LUA_TBOOLEAN:
        *value = colander_boolean(lua_toboolean(L, index));
        return true;
    case LUA_TNUMBER:
        *value = lua_isinteger(L, index)
                     ? colander_integer(lua_tointeger(L, index))
                     : colander_double(lua_tonumber(L, index));
        return true;
    case LUA_TSTRING:
        bytes.data = (const uint8_t *)lua_tolstring(L, index, &bytes.size);
        *value = colander_string(bytes);
        return true;
    default:
        typed_value = typed_value_get(L, index);
        if (typed_value == NULL)
            return false;
        *value = *typed_value;
        return true;
    }
}

struct colander_value
value_expect(lua_State *L, int index, const char *what)
{
    struct colander_value value = colander_null();

    if (lua_isnil(L, index))
        failure_misuse(L, "%s: nil is not a value (colander.null is)", what);
    if (!value_get(L, index, &value))
        failure_misuse(L,
                       "%s: a %s is not a scalar (a string, a number, a "
                       "boolean, colander.null, ...)",
                       what, luaL_typename(L, index));
    return value;
}

bool
value_is_array(lua_State *L, int index)
{
    return type_is_table(L, index, ARRAY) || lua_rawlen(L, index) > 0;
}

/* ------------------------------------------------------------ building --- */

/* Where a value is: a chain on the stack of C, which ends with the row. */
struct place {
    const struct place *outer;  /* NULL: this is the row */
    struct colander_slice name; /* of a column; NULL: an element, */
    uint64_t number;            /* this one */
    unsigned depth;             /* of the row: 1 */
};

static const struct place whole_row = {.depth = 1};

/* Pushes the path of a place, for a message. */
static const char *
push_path(lua_State *L, const struct place *place)
{
    if (place->outer == NULL)
        return lua_pushliteral(L, "");
    (void)push_path(L, place->outer);
    if (place->name.data == NULL)
        lua_pushfstring(L, "[%I]", (LUAI_UACINT)place->number);
    else
        lua_pushstring(L, place->outer->outer == NULL ? "" : ".");
    lua_pushlstring(L, (const char *)place->name.data, place->name.size);
    lua_concat(L, 3);
    return lua_tostring(L, -1);
}

static void value_add(lua_State *L, int index,
                      struct colander_row_builder *builder,
                      const struct place *place);

/* Adds the elements 1..n. Any other key is an error. */
static void
add_elements(lua_State *L, int index, struct colander_row_builder *builder,
             const struct place *place)
{
    const lua_Unsigned count = lua_rawlen(L, index);
    struct place element = {place, {NULL, 0}, 1, place->depth + 1};
    lua_Unsigned key_count = 0;

    for (; element.number <= count; element.number++) {
        lua_rawgeti(L, index, (lua_Integer)element.number);
        value_add(L, lua_gettop(L), builder, &element);
        lua_pop(L, 1);
    }
    lua_pushnil(L);
    while (lua_next(L, index) != 0) {
        lua_pop(L, 1);
        key_count++;
    }
    if (key_count != count)
        failure_misuse(
            L,
            "column '%.255s': a table must be an array (1 to n) or a "
            "map (names), and this one has %d elements and %d keys",
            push_path(L, place), (int)count, (int)key_count);
}

/* A column of a table. Its name and its value are on the stack. */
struct column {
    struct colander_slice name;
    int value; /* index */
};

static int
compare_columns(const void *a, const void *b)
{
    const struct column *left = a;
    const struct column *right = b;

    return colander_slice_compare(left->name, right->name);
}

/* Returns a column in a growing buffer, where they start at byte `first`. */
static struct column *
column_at(const struct colander_buffer *columns, size_t first, size_t number)
{
    return (struct column *)(void *)(columns->data + first) + number;
}

/* Pushes all names and values of the table at `index`, adds the columns to
 * `columns` in the order of their names, and returns their number. Creates
 * nothing in Lua: a finalizer could put a row while this one is being built. */
static size_t
push_columns(lua_State *L, int index, struct colander_buffer *columns,
             const struct place *place)
{
    const size_t first = columns->size;
    struct column column;
    size_t count;

    lua_pushnil(L);
    while (lua_next(L, index) != 0) {
        const char *type = luaL_typename(L, -2);

        if (lua_type(L, -2) != LUA_TSTRING)
            failure_misuse(L,
                           "column '%.255s': a name must be a string, not a %s",
                           push_path(L, place), type);
        column.name.data =
            (const uint8_t *)lua_tolstring(L, -2, &column.name.size);
        column.value = lua_gettop(L);
        failure_try(
            L, colander_buffer_append(columns, &column, sizeof(column), &err));
        luaL_checkstack(L, 8, "a row has too many columns");
        lua_pushvalue(L, -2);
    }
    count = (columns->size - first) / sizeof(column);
    if (count > 1)
        qsort(column_at(columns, first, 0), count, sizeof(column),
              compare_columns);
    return count;
}

static void
add_column(lua_State *L, const struct column *column,
           struct colander_row_builder *builder, const struct place *outer)
{
    const struct place place = {outer, column->name, 0, outer->depth + 1};

    value_add(L, column->value, builder, &place);
}

/* Sorted, because the order of a table differs from run to run. */
static void
add_columns(lua_State *L, int index, struct colander_row_builder *builder,
            const struct place *place)
{
    struct colander_buffer *columns = &scratch_get(L)->columns;
    const int top = lua_gettop(L);
    const size_t first = columns->size;
    const size_t count = push_columns(L, index, columns, place);

    for (size_t i = 0; i < count; i++) {
        /* copied: adding its value may move the buffer */
        const struct column column = *column_at(columns, first, i);

        add_column(L, &column, builder, place);
    }
    columns->size = first;
    lua_settop(L, top);
}

static void
add_table(lua_State *L, int index, struct colander_row_builder *builder,
          const struct place *place)
{
    if (place->depth > COLANDER_ROW_DEPTH_MAX)
        failure_misuse(L,
                       "column '%.255s': nested deeper than %d (does a table "
                       "contain itself?)",
                       push_path(L, place), COLANDER_ROW_DEPTH_MAX);
    luaL_checkstack(L, 8, "a value is nested too deeply");
    if (colander_row_builder_has_failed(builder))
        return; /* a table that is in many may have no end */
    if (value_is_array(L, index)) {
        colander_row_builder_begin_array_named(builder, place->name);
        add_elements(L, index, builder, place);
    } else {
        colander_row_builder_begin_map_named(builder, place->name);
        add_columns(L, index, builder, place);
    }
    colander_row_builder_end(builder);
}

static void
value_add(lua_State *L, int index, struct colander_row_builder *builder,
          const struct place *place)
{
    struct colander_value value;

    if (lua_istable(L, index)) {
        add_table(L, index, builder, place);
        return;
    }
    if (!value_get(L, index, &value))
        failure_misuse(L, "column '%.255s': a %s cannot be stored",
                       push_path(L, place), luaL_typename(L, index));
    colander_row_builder_add_named(builder, place->name, value);
}

void
value_add_columns(lua_State *L, int index, struct colander_row_builder *builder)
{
    luaL_checkstack(L, 8, "a value is nested too deeply");
    scratch_get(L)->columns.size = 0; /* an error may have left some */
    add_columns(L, index, builder, &whole_row);
}

/* Returns the column `name` of sorted ones, or NULL. */
static struct column *
find_column(struct column *columns, size_t count, struct colander_slice name)
{
    const struct column wanted = {name, 0};

    if (count == 0)
        return NULL;
    return bsearch(&wanted, columns, count, sizeof(*columns), compare_columns);
}

/* Adds a changed column, unless it was removed, and marks it as done. */
static void
add_change(lua_State *L, struct column *change, const void *removed,
           struct colander_row_builder *builder)
{
    const struct column column = *change;

    change->value = 0;
    if (lua_touserdata(L, column.value) != removed)
        add_column(L, &column, builder, &whole_row);
}

void
value_change_columns(lua_State *L, int index, struct colander_slice row,
                     const void *removed, struct colander_row_builder *builder)
{
    struct colander_buffer *changes = &scratch_get(L)->columns;
    const int top = lua_gettop(L);
    struct colander_members members;
    struct colander_slice name;
    struct colander_value value;
    struct column *change;
    size_t count;

    luaL_checkstack(L, 8, "a value is nested too deeply");
    changes->size = 0; /* an error may have left some */
    count = push_columns(L, index, changes, &whole_row);
    failure_try(L, colander_members_init(&members, row, &err));
    while (value_next_member(L, &members, &name, &value)) {
        change = find_column(column_at(changes, 0, 0), count, name);
        if (change == NULL)
            colander_row_builder_add_named(builder, name, value);
        else
            add_change(L, change, removed, builder);
    }
    for (size_t i = 0; i < count; i++) {
        if (column_at(changes, 0, i)->value != 0)
            add_change(L, column_at(changes, 0, i), removed, builder);
    }
    lua_settop(L, top);
}

/* ---------------------------------------------------------------- keys --- */

void
value_key(lua_State *L, int index, struct colander_buffer *key)
{
    struct colander_value parts[COLANDER_KEY_PARTS_MAX];
    size_t count = 1;

    if (!lua_istable(L, index)) {
        parts[0] = value_expect(L, index, "a key");
    } else {
        count = (size_t)lua_rawlen(L, index);
        if (count == 0 || count > COLANDER_KEY_PARTS_MAX)
            failure_misuse(L, "a key must have 1 to %d parts, not %d%s",
                           COLANDER_KEY_PARTS_MAX, (int)count,
                           value_is_array(L, index)
                               ? ""
                               : " (conditions are for find{...})");
        luaL_checkstack(L, COLANDER_KEY_PARTS_MAX, NULL);
        for (size_t i = 0; i < count; i++) {
            lua_rawgeti(L, index, (lua_Integer)i + 1);
            parts[i] = value_expect(L, -1, "a part of a key");
        }
        lua_pop(L, (int)count); /* the table keeps them alive */
    }
    failure_try(L, colander_key_encode(parts, count, key, &err));
}

void
value_push_key(lua_State *L, struct colander_slice key,
               struct colander_buffer *scratch)
{
    struct colander_value parts[COLANDER_KEY_PARTS_MAX];
    uint8_t copies[COLANDER_KEY_SIZE_MAX];
    size_t copied = 0;
    size_t count;

    failure_try(L, colander_key_decode(key, parts, &count, scratch, &err));
    /* pushing may run finalizers: see scratch.h */
    for (size_t i = 0; i < count; i++) {
        struct colander_slice *bytes = &parts[i].bytes;

        if (!colander_type_has_bytes(parts[i].type))
            continue;
        memcpy(copies + copied, bytes->data, bytes->size);
        bytes->data = copies + copied;
        copied += bytes->size;
    }
    if (count == 1) {
        value_push(L, &parts[0]);
        return;
    }
    lua_createtable(L, (int)count, 0);
    for (size_t i = 0; i < count; i++) {
        value_push(L, &parts[i]);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    luaL_setmetatable(L, ARRAY);
}

/* -------------------------------------------------------------- module --- */

/* colander.array(table): the same table, marked as an array */
static int
mark_array(lua_State *L)
{
    arguments_check_count(L, 1);
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 1);
    luaL_setmetatable(L, ARRAY);
    return 1;
}

bool
value_is_null(lua_State *L, int index)
{
    const struct colander_value *value = typed_value_get(L, index);

    return lua_isnil(L, index) ||
           (value != NULL && value->type == COLANDER_NULL);
}

/* colander.isnull(value): whether it is null or nil */
static int
is_null(lua_State *L)
{
    arguments_check_count(L, 1);
    lua_pushboolean(L, value_is_null(L, 1));
    return 1;
}

/* An array, such as a key of several parts, as JSON, if it can be one. */
static int
array_text(lua_State *L)
{
    lua_settop(L, 1);
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_pushvalue(L, 1);
    if (lua_pcall(L, 1, 1, 0) != LUA_OK)
        lua_pushfstring(L, "array: %p", lua_topointer(L, 1));
    return 1;
}

void
value_set_array_text(lua_State *L)
{
    luaL_getmetatable(L, ARRAY);
    lua_insert(L, -2);
    lua_pushcclosure(L, array_text, 1);
    lua_setfield(L, -2, "__tostring");
    lua_pop(L, 1);
}

/* colander.type(value): its type in a row; nil if it cannot be stored */
static int
type_of(lua_State *L)
{
    struct colander_value value;

    arguments_check_count(L, 1);
    luaL_checkany(L, 1);
    if (value_get(L, 1, &value))
        lua_pushstring(L, colander_type_name(value.type));
    else if (lua_istable(L, 1))
        lua_pushstring(L, value_is_array(L, 1) ? "array" : "map");
    else
        lua_pushnil(L);
    return 1;
}

/* colander.compare(a, b): -1, 0 or 1, in the order of keys */
static int
compare_values(lua_State *L)
{
    struct colander_value a = value_expect(L, 1, "compare");
    struct colander_value b = value_expect(L, 2, "compare");
    int order = colander_value_compare(&a, &b);

    arguments_check_count(L, 2);
    lua_pushinteger(L, (order > 0) - (order < 0));
    return 1;
}

void
values_register(lua_State *L)
{
    static const struct luaL_Reg none[] = {{NULL, NULL}};
    static const struct luaL_Reg functions[] = {
        {"array", mark_array}, {"isnull", is_null}, {"compare", compare_values},
        {"type", type_of},     {NULL, NULL},
    };

    type_define(L, ARRAY, none);
    luaL_setfuncs(L, functions, 0);
}

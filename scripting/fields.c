/* SPDX-License-Identifier: MIT */
#include "scripting/fields.h"

#include "scripting/failure.h"

#include <lauxlib.h>

#define LIST_MAX 100000 /* strings */

size_t
list_check(lua_State *L, int index, const char *what, size_t max)
{
    const int table = lua_absindex(L, index);
    const lua_Unsigned count = lua_rawlen(L, table);

    if (count > max)
        failure_try(L, COLANDER_FAIL(&err, COLANDER_LIMIT,
                                     "%s: a list of more than %zu", what, max));
    lua_pushnil(L);
    while (lua_next(L, table) != 0) {
        lua_pop(L, 1);
        if (lua_type(L, -1) == LUA_TSTRING &&
            strcmp(lua_tostring(L, -1), "n") == 0) /* of table.pack */
            continue;
        if (!lua_isinteger(L, -1) || lua_tointeger(L, -1) < 1 ||
            (lua_Unsigned)lua_tointeger(L, -1) > count)
            failure_misuse(L, "%s: a list expected, and it has '%s'", what,
                           luaL_tolstring(L, -1, NULL));
    }
    return (size_t)count;
}

const char *
text_check(lua_State *L, int index, const char *what)
{
    size_t size;
    const char *text = luaL_checklstring(L, index, &size);

    if (strlen(text) != size)
        failure_misuse(L, "%s contains a zero byte", what);
    return text;
}

static const struct field *
find_field(const struct field *fields, const char *name)
{
    for (; fields->name != NULL; fields++) {
        if (strcmp(name, fields->name) == 0)
            return fields;
    }
    return NULL;
}

static void
expect(lua_State *L, const char *name, const char *what)
{
    failure_misuse(L, "option '%s' must be %s, not a %s", name, what,
                   luaL_typename(L, -1));
}

/* Appends `word` to the list on top of the stack. */
static void
append_word(lua_State *L, const char *word)
{
    const char *list = lua_tostring(L, -1);

    lua_pushfstring(L, "%s%s%s", list, *list == '\0' ? "" : ", ", word);
    lua_remove(L, -2);
}

/* Raises that `name` is unknown, with the names that are known. */
static void
reject_name(lua_State *L, const char *what, const char *name,
            const struct field *fields)
{
    lua_pushliteral(L, "");
    for (; fields->name != NULL; fields++) {
        if (fields->kind != FIELD_OLD)
            append_word(L, fields->name);
    }
    failure_misuse(L, "%s: unknown option '%s' (options: %s)", what, name,
                   lua_tostring(L, -1));
}

static void
read_choice(lua_State *L, const struct field *field, void *to)
{
    const char *word;

    if (lua_type(L, -1) != LUA_TSTRING)
        expect(L, field->name, "a string");
    word = text_check(L, -1, field->name);
    if (field_set_word(field, to, colander_slice_text(word)))
        return;
    lua_pushliteral(L, "");
    for (const char *const *known = field->words; *known != NULL; known++)
        append_word(L, *known);
    failure_misuse(L, "option '%s': unknown value '%s' (values: %s)",
                   field->name, word, lua_tostring(L, -1));
}

static void
read_integer(lua_State *L, const struct field *field, void *to)
{
    const uint64_t max =
        field->kind == FIELD_UINT64 ? (uint64_t)INT64_MAX : UINT32_MAX;
    lua_Integer number;
    int is_integer;

    number = lua_tointegerx(L, -1, &is_integer);
    if (!is_integer || lua_type(L, -1) != LUA_TNUMBER)
        expect(L, field->name, "an integer");
    if (number < 0 || (uint64_t)number > max)
        failure_misuse(L, "option '%s' cannot be %s", field->name,
                       luaL_tolstring(L, -1, NULL));
    field_set_number(field, to, (uint64_t)number);
}

/* Reads the value on top of the stack. */
static void
read_field(lua_State *L, const struct field *field, void *to)
{
    switch (field->kind) {
    case FIELD_OTHER:
    case FIELD_OLD:
        break;
    case FIELD_BOOLEAN:
    case FIELD_SYNC:
        if (!lua_isboolean(L, -1))
            expect(L, field->name, "true or false");
        if (lua_toboolean(L, -1))
            field_set_number(field, to, 1); /* COLANDER_SYNC as well */
        else
            field_set_number(field, to,
                             field->kind == FIELD_SYNC ? COLANDER_NO_SYNC : 0);
        break;
    case FIELD_UINT32_OR_AUTO:
        if (lua_type(L, -1) == LUA_TSTRING &&
            strcmp(lua_tostring(L, -1), "auto") == 0) {
            field_set_number(field, to, UINT32_MAX);
            break;
        }
        /* fall through */
    case FIELD_UINT32:
    case FIELD_UINT64:
        read_integer(L, field, to);
        break;
    case FIELD_DOUBLE:
        if (lua_type(L, -1) != LUA_TNUMBER)
            expect(L, field->name, "a number");
        *field_double(field, to) = lua_tonumber(L, -1);
        break;
    case FIELD_CHOICE:
        read_choice(L, field, to);
        break;
    }
}

void
fields_read(lua_State *L, int index, const char *what,
            const struct field *fields, void *to)
{
    const char *name;

    if (lua_isnoneornil(L, index))
        return;
    if (!lua_istable(L, index))
        failure_misuse(L, "%s: options must be a table, not a %s", what,
                       luaL_typename(L, index));
    lua_pushnil(L);
    while (lua_next(L, index) != 0) {
        lua_pop(L, 1);
        if (lua_type(L, -1) != LUA_TSTRING)
            failure_misuse(L,
                           "%s: the name of an option must be a string, "
                           "not a %s",
                           what, luaL_typename(L, -1));
        name = text_check(L, -1, "the name of an option");
        if (find_field(fields, name) == NULL)
            reject_name(L, what, name, fields);
    }
    for (; fields->name != NULL; fields++) {
        if (fields->kind <= FIELD_OLD || !field_push(L, index, fields->name))
            continue;
        read_field(L, fields, to);
        lua_pop(L, 1);
    }
}

static void
push_member(lua_State *L, const struct field *field, const void *from)
{
    const uint64_t number = field_number(field, from);

    if (field->kind <= FIELD_OLD)
        lua_pushnil(L);
    else if (field->kind == FIELD_CHOICE)
        lua_pushstring(L, field->words[number]);
    else if (field->kind == FIELD_BOOLEAN)
        lua_pushboolean(L, number != 0);
    else if (field->kind == FIELD_DOUBLE)
        lua_pushnumber(L, *field_double(field, from));
    else if (field->kind == FIELD_UINT32_OR_AUTO && number == UINT32_MAX)
        lua_pushliteral(L, "auto");
    else
        lua_pushinteger(L, (lua_Integer)number);
}

void
fields_push(lua_State *L, const struct field *fields, const void *from)
{
    lua_newtable(L);
    for (; fields->name != NULL; fields++) {
        push_member(L, fields, from);
        lua_setfield(L, -2, fields->name);
    }
}

bool
field_push(lua_State *L, int index, const char *name)
{
    lua_pushstring(L, name);
    if (lua_rawget(L, index) != LUA_TNIL)
        return true;
    lua_pop(L, 1);
    return false;
}

/* Returns the paths in the list on top, and replaces it by what keeps them. */
static const char **
check_paths(lua_State *L, const char *what, size_t *count)
{
    const int index = lua_gettop(L);
    const char **paths;

    if (!lua_istable(L, index))
        failure_misuse(L, "%s: a list of paths expected, got a %s", what,
                       luaL_typename(L, index));
    *count = list_check(L, index, what, LIST_MAX);
    paths = lua_newuserdatauv(L, (*count + 1) * sizeof(char *), 1);
    lua_createtable(L, (int)*count, 0);
    for (size_t i = 0; i < *count; i++) {
        if (lua_rawgeti(L, index, (lua_Integer)i + 1) != LUA_TSTRING)
            failure_misuse(L, "%s: a path must be a string, not a %s", what,
                           luaL_typename(L, -1));
        paths[i] = text_check(L, -1, "a path");
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    lua_setiuservalue(L, -2, 1);
    lua_remove(L, index);
    return paths;
}

const char **
field_paths(lua_State *L, int index, const char *name, size_t *count)
{
    *count = 0;
    return field_push(L, index, name) ? check_paths(L, name, count) : NULL;
}

const char **
arguments_paths(lua_State *L, int index, const char *what, size_t *count)
{
    const int top = lua_gettop(L);

    luaL_argcheck(L, top >= index, index, "path expected");
    lua_createtable(L, top, 0);
    for (int i = index; i <= top; i++) {
        lua_pushvalue(L, i);
        lua_rawseti(L, -2, i - index + 1);
    }
    return check_paths(L, what, count);
}

struct colander_write_options
field_write_options(lua_State *L, int index)
{
    static const struct field fields[] = {
        FIELD(SYNC, "sync", colander_write_options, durability),
        FIELD_END,
    };
    struct colander_write_options options;

    colander_write_options_init(&options);
    fields_read(L, index, "a write", fields, &options);
    return options;
}

/*
 * Fields: see fields.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "scripting/fields.h"

#include "scripting/failure.h"

#include <lauxlib.h>

#define LIST_MAX 100000 /* of texts */

size_t
list_check(lua_State *L, int index, const char *what, size_t most)
{
    const lua_Unsigned count = lua_rawlen(L, index);
    struct colander_error err;

    if (count > most)
        failure_check(L,
                      COLANDER_FAIL(&err, COLANDER_LIMIT,
                                    "%s: a list of more than %zu", what, most),
                      &err);
    return (size_t)count;
}

const char *
text_check(lua_State *L, int index, const char *what)
{
    size_t size;
    const char *text = luaL_checklstring(L, index, &size);

    if (strlen(text) != size)
        failure_misuse(L, "%s has a zero byte in it", what);
    return text;
}

static bool
is_known(const char *name, const char *const *known)
{
    for (; *known != NULL; known++) {
        if (strcmp(name, *known) == 0)
            return true;
    }
    return false;
}

/* Raises that `given` is none of `known`, and tells those. */
static void
refuse(lua_State *L, const char *what, const char *given,
       const char *const *known)
{
    luaL_Buffer list;

    luaL_buffinit(L, &list);
    for (size_t i = 0; known[i] != NULL; i++) {
        if (i > 0)
            luaL_addstring(&list, ", ");
        luaL_addstring(&list, known[i]);
    }
    luaL_pushresult(&list);
    failure_misuse(L, "%s knows no '%s'; there are: %s", what, given,
                   lua_tostring(L, -1));
}

void
fields_check(lua_State *L, int index, const char *what,
             const char *const *known)
{
    if (!lua_istable(L, index))
        failure_misuse(L, "%s: options are a table, and this is a %s", what,
                       luaL_typename(L, index));
    lua_pushnil(L);
    while (lua_next(L, index) != 0) {
        lua_pop(L, 1);
        if (lua_type(L, -1) != LUA_TSTRING)
            failure_misuse(L, "%s: options have names, and this is a %s", what,
                           luaL_typename(L, -1));
        if (!is_known(text_check(L, -1, "the name of an option"), known))
            refuse(L, what, lua_tostring(L, -1), known);
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

static void
expect(lua_State *L, const char *name, const char *what)
{
    failure_misuse(L, "option '%s' is %s, not a %s", name, what,
                   luaL_typename(L, -1));
}

bool
field_boolean(lua_State *L, int index, const char *name, bool absent)
{
    bool boolean;

    if (!field_push(L, index, name))
        return absent;
    if (!lua_isboolean(L, -1))
        expect(L, name, "true or false");
    boolean = lua_toboolean(L, -1);
    lua_pop(L, 1);
    return boolean;
}

uint64_t
field_number(lua_State *L, int index, const char *name, uint64_t absent,
             uint64_t most)
{
    lua_Integer number;
    int is_number;

    if (!field_push(L, index, name))
        return absent;
    number = lua_tointegerx(L, -1, &is_number);
    if (!is_number || lua_type(L, -1) != LUA_TNUMBER)
        expect(L, name, "a whole number");
    if (number < 0 || (uint64_t)number > most)
        failure_misuse(L, "option '%s' cannot be %s", name,
                       luaL_tolstring(L, -1, NULL));
    lua_pop(L, 1);
    return (uint64_t)number;
}

double
field_double(lua_State *L, int index, const char *name, double absent)
{
    double number;

    if (!field_push(L, index, name))
        return absent;
    if (lua_type(L, -1) != LUA_TNUMBER)
        expect(L, name, "a number");
    number = lua_tonumber(L, -1);
    lua_pop(L, 1);
    return number;
}

int
field_choice(lua_State *L, int index, const char *name,
             const char *const *choices, int absent)
{
    if (!field_push(L, index, name))
        return absent;
    if (lua_type(L, -1) != LUA_TSTRING)
        expect(L, name, "a word");
    (void)text_check(L, -1, name);
    for (int i = 0; choices[i] != NULL; i++) {
        if (strcmp(lua_tostring(L, -1), choices[i]) == 0) {
            lua_pop(L, 1);
            return i;
        }
    }
    refuse(L, name, lua_tostring(L, -1), choices);
    return absent;
}

const char *const *
field_texts(lua_State *L, int index, const char *name, size_t *count)
{
    const char **texts;

    *count = 0;
    if (!field_push(L, index, name))
        return NULL;
    if (!lua_istable(L, -1))
        expect(L, name, "a list");
    *count = list_check(L, lua_gettop(L), name, LIST_MAX);
    texts = lua_newuserdatauv(L, (*count + 1) * sizeof(char *), 1);
    lua_createtable(L, (int)*count, 0);
    for (size_t i = 0; i < *count; i++) {
        if (lua_rawgeti(L, -3, (lua_Integer)i + 1) != LUA_TSTRING)
            expect(L, name, "a list of strings");
        texts[i] = text_check(L, -1, name);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    lua_setiuservalue(L, -2, 1);
    lua_remove(L, -2);
    return texts;
}

enum colander_durability
field_durability(lua_State *L, int index)
{
    static const char *const known[] = {"sync", NULL};

    if (lua_isnoneornil(L, index))
        return COLANDER_AS_STORE;
    fields_check(L, index, "a write", known);
    if (!field_push(L, index, "sync"))
        return COLANDER_AS_STORE;
    lua_pop(L, 1);
    return field_boolean(L, index, "sync", false) ? COLANDER_SYNC
                                                  : COLANDER_NO_SYNC;
}

int
names_push(lua_State *L)
{
    const struct colander_names *names = lua_touserdata(L, 1);

    for (size_t i = 0; i < names->count; i++) {
        lua_pushstring(L, names->names[i]);
        lua_rawseti(L, 2, (lua_Integer)i + 1);
    }
    return 0;
}

/*
 * Specials: see special.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "scripting/special.h"

#include "scripting/failure.h"
#include "scripting/fields.h"

#include <inttypes.h>
#include <lauxlib.h>
#include <stdio.h>

#define TYPE "colander.value"

struct special {
    struct colander_value value;
    uint8_t bytes[];
};

static const char null_key; /* its address: the null in the registry */

static bool
has_bytes(const struct colander_value *value)
{
    return value->type == COLANDER_BINARY || value->type == COLANDER_EXTENSION;
}

static void
make(lua_State *L, const struct colander_value *value)
{
    size_t size = has_bytes(value) ? value->bytes.size : 0;
    struct special *special =
        lua_newuserdatauv(L, sizeof(struct special) + size, 0);

    special->value = *value;
    if (size > 0)
        memcpy(special->bytes, value->bytes.data, size);
    if (has_bytes(value))
        special->value.bytes.data = special->bytes;
    luaL_setmetatable(L, TYPE);
}

void
special_push(lua_State *L, const struct colander_value *value)
{
    if (value->type == COLANDER_NULL)
        lua_rawgetp(L, LUA_REGISTRYINDEX, &null_key);
    else
        make(L, value);
}

const struct colander_value *
special_get(lua_State *L, int index)
{
    const struct special *special = luaL_testudata(L, index, TYPE);

    return special == NULL ? NULL : &special->value;
}

/* ------------------------------------------------------------- looking --- */

static struct colander_value
check(lua_State *L, int index)
{
    const struct special *special = luaL_checkudata(L, index, TYPE);

    return special->value;
}

static int
special_index(lua_State *L)
{
    struct colander_value value = check(L, 1);
    const char *field = luaL_checkstring(L, 2);

    if (strcmp(field, "type") == 0)
        lua_pushstring(L, colander_type_name(value.type));
    else if (has_bytes(&value) && strcmp(field, "bytes") == 0)
        lua_pushlstring(L, (const char *)value.bytes.data, value.bytes.size);
    else if (value.type == COLANDER_EXTENSION && strcmp(field, "kind") == 0)
        lua_pushinteger(L, value.extension_type);
    else if (value.type == COLANDER_TIMESTAMP && strcmp(field, "seconds") == 0)
        lua_pushinteger(L, value.second);
    else if (value.type == COLANDER_TIMESTAMP &&
             strcmp(field, "nanoseconds") == 0)
        lua_pushinteger(L, value.nanosecond);
    else
        lua_pushnil(L);
    return 1;
}

/* As JSON says it, without the quotes of what JSON has no type for. */
static int
special_text(lua_State *L)
{
    struct colander_value value = check(L, 1);
    struct colander_buffer json = COLANDER_BUFFER_EMPTY;
    struct colander_error err;
    luaL_Buffer text;
    const char *at;
    size_t size;
    enum colander_code code;

    if (value.type == COLANDER_BINARY) {
        lua_pushfstring(L, "binary of %d bytes", (int)value.bytes.size);
        return 1;
    }
    code = colander_json_append_value(&json, &value, &err);
    if (code == COLANDER_OK) {
        at = (const char *)json.data;
        size = json.size;
        if (size >= 2 && at[0] == '"') {
            at++;
            size -= 2;
        }
        /* a buffer of its own: nothing may throw while `json` is held */
        if (size <= LUAL_BUFFERSIZE) {
            char *room = luaL_buffinitsize(L, &text, LUAL_BUFFERSIZE);

            memcpy(room, at, size);
            colander_buffer_release(&json);
            luaL_pushresultsize(&text, size);
            return 1;
        }
    }
    colander_buffer_release(&json);
    failure_check(L, code, &err);
    lua_pushstring(L, colander_type_name(value.type));
    return 1;
}

static int
special_size(lua_State *L)
{
    struct colander_value value = check(L, 1);

    if (!has_bytes(&value))
        failure_misuse(L, "a %s has no length", colander_type_name(value.type));
    lua_pushinteger(L, (lua_Integer)value.bytes.size);
    return 1;
}

/* Either side may be a number or a string. */
static int
compare(lua_State *L)
{
    struct colander_value sides[2];

    for (int i = 0; i < 2; i++) {
        const struct colander_value *value = special_get(L, i + 1);

        if (value != NULL)
            sides[i] = *value;
        else if (lua_isinteger(L, i + 1))
            sides[i] = colander_integer(lua_tointeger(L, i + 1));
        else if (lua_type(L, i + 1) == LUA_TNUMBER)
            sides[i] = colander_double(lua_tonumber(L, i + 1));
        else
            failure_misuse(L, "a %s is not compared with a %s",
                           colander_type_name(check(L, 2 - i).type),
                           luaL_typename(L, i + 1));
    }
    return colander_value_compare(&sides[0], &sides[1]);
}

static int
special_equal(lua_State *L)
{
    const struct colander_value *a = special_get(L, 1);
    const struct colander_value *b = special_get(L, 2);

    lua_pushboolean(L, a != NULL && b != NULL && a->type == b->type &&
                           colander_value_compare(a, b) == 0);
    return 1;
}

static int
special_less(lua_State *L)
{
    lua_pushboolean(L, compare(L) < 0);
    return 1;
}

static int
special_less_equal(lua_State *L)
{
    lua_pushboolean(L, compare(L) <= 0);
    return 1;
}

/* -------------------------------------------------------------- making --- */

/* colander.binary(bytes) */
static int
make_binary(lua_State *L)
{
    struct colander_slice bytes;
    struct colander_value value;

    bytes.data = (const uint8_t *)luaL_checklstring(L, 1, &bytes.size);
    value = colander_binary(bytes);
    make(L, &value);
    return 1;
}

/* colander.timestamp(seconds [, nanoseconds]) */
static int
make_timestamp(lua_State *L)
{
    lua_Integer second = luaL_checkinteger(L, 1);
    lua_Integer nanosecond = luaL_optinteger(L, 2, 0);
    struct colander_value value;

    luaL_argcheck(L, nanosecond >= 0 && nanosecond < 1000000000, 2,
                  "nanoseconds are 0 to 999999999");
    value = colander_timestamp(second, (uint32_t)nanosecond);
    make(L, &value);
    return 1;
}

/* colander.extension(kind, bytes) */
static int
make_extension(lua_State *L)
{
    lua_Integer kind = luaL_checkinteger(L, 1);
    struct colander_slice bytes;
    struct colander_value value;

    bytes.data = (const uint8_t *)luaL_checklstring(L, 2, &bytes.size);
    luaL_argcheck(L, kind >= -128 && kind <= 127 && kind != -1, 1,
                  "an extension is of kind -128 to 127, and -1 is a "
                  "timestamp");
    value = colander_binary(bytes);
    value.type = COLANDER_EXTENSION;
    value.extension_type = (int8_t)kind;
    make(L, &value);
    return 1;
}

/* colander.unsigned(digits): a number, or a special above 2^63 - 1. */
static int
make_unsigned(lua_State *L)
{
    const char *digits = text_check(L, 1, "a number");
    struct colander_value value;
    uint64_t number = 0;

    luaL_argcheck(L, *digits != '\0', 1, "digits are expected");
    for (; *digits != '\0'; digits++) {
        unsigned digit = (unsigned)(*digits - '0');

        luaL_argcheck(L, digit <= 9, 1, "digits are expected");
        luaL_argcheck(L,
                      number < UINT64_MAX / 10 || (number == UINT64_MAX / 10 &&
                                                   digit <= UINT64_MAX % 10),
                      1, "larger than 64 bits hold");
        number = number * 10 + digit;
    }
    value = colander_unsigned(number);
    if (value.type == COLANDER_INTEGER)
        lua_pushinteger(L, value.integer);
    else
        make(L, &value);
    return 1;
}

void
special_open(lua_State *L)
{
    static const struct luaL_Reg metamethods[] = {
        {"__index", special_index},
        {"__tostring", special_text},
        {"__len", special_size},
        {"__eq", special_equal},
        {"__lt", special_less},
        {"__le", special_less_equal},
        {NULL, NULL},
    };
    static const struct luaL_Reg functions[] = {
        {"binary", make_binary},
        {"timestamp", make_timestamp},
        {"extension", make_extension},
        {"unsigned", make_unsigned},
        {NULL, NULL},
    };
    struct colander_value null = colander_null();

    if (luaL_newmetatable(L, TYPE) != 0) {
        luaL_setfuncs(L, metamethods, 0);
        lua_pushstring(L, TYPE);
        lua_setfield(L, -2, "__metatable");
        make(L, &null);
        lua_rawsetp(L, LUA_REGISTRYINDEX, &null_key);
    }
    lua_pop(L, 1);
    luaL_setfuncs(L, functions, 0);
    special_push(L, &null);
    lua_setfield(L, -2, "null");
}

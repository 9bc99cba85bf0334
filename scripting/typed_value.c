/* SPDX-License-Identifier: MIT */
#include "scripting/typed_value.h"

#include "scripting/failure.h"
#include "scripting/fields.h"
#include "scripting/module.h"
#include "scripting/scratch.h"
#include "scripting/types.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#define TYPE "colander.value"

struct typed_value {
    struct colander_value value;
    uint8_t bytes[];
};

static const char null_key; /* its address is null's key in the registry */

static void
push_copy(lua_State *L, const struct colander_value *value)
{
    const bool has_bytes = colander_type_has_bytes(value->type);
    size_t size = has_bytes ? value->bytes.size : 0;
    struct typed_value *copy =
        lua_newuserdatauv(L, sizeof(struct typed_value) + size, 0);

    copy->value = *value;
    if (size > 0)
        memcpy(copy->bytes, value->bytes.data, size);
    if (has_bytes)
        copy->value.bytes.data = copy->bytes;
    luaL_setmetatable(L, TYPE);
}

void
typed_value_push(lua_State *L, const struct colander_value *value)
{
    if (value->type == COLANDER_NULL)
        lua_rawgetp(L, LUA_REGISTRYINDEX, &null_key);
    else
        push_copy(L, value);
}

const struct colander_value *
typed_value_get(lua_State *L, int index)
{
    const struct typed_value *typed_value = luaL_testudata(L, index, TYPE);

    return typed_value == NULL ? NULL : &typed_value->value;
}

static struct colander_value
check(lua_State *L, int index)
{
    const struct typed_value *typed_value = luaL_checkudata(L, index, TYPE);

    return typed_value->value;
}

/* t:date(format): as os.date of Lua, in UTC */
static int
timestamp_date(lua_State *L)
{
    const struct colander_value value = check(L, 1);
    const char *format = luaL_optstring(L, 2, "%04Y-%m-%d");
    const size_t room = 64 * strlen(format) + 64;
    const time_t second = value.second;
    struct tm time;
    size_t size;
    char *text;

    if (value.type != COLANDER_TIMESTAMP)
        failure_misuse(L, "a %s has no date", colander_type_name(value.type));
    if (gmtime_r(&second, &time) == NULL)
        failure_misuse(L, "the year of the time is too large");
    /* A space first, so that 0 means that there is not enough room. */
    format = lua_pushfstring(L, " %s", format);
    text = lua_newuserdatauv(L, room, 0);
    size = strftime(text, room, format, &time);
    if (size == 0)
        failure_misuse(L, "the format of a date is too long");
    lua_pushlstring(L, text + 1, size - 1);
    return 1;
}

static int
typed_value_index(lua_State *L)
{
    struct colander_value value = check(L, 1);
    const char *field = luaL_checkstring(L, 2);

    if (strcmp(field, "type") == 0)
        lua_pushstring(L, colander_type_name(value.type));
    else if (colander_type_has_bytes(value.type) && strcmp(field, "bytes") == 0)
        lua_pushlstring(L, (const char *)value.bytes.data, value.bytes.size);
    else if (value.type == COLANDER_EXTENSION && strcmp(field, "kind") == 0)
        lua_pushinteger(L, value.extension_type);
    else if (value.type == COLANDER_TIMESTAMP && strcmp(field, "seconds") == 0)
        lua_pushinteger(L, value.second);
    else if (value.type == COLANDER_TIMESTAMP &&
             strcmp(field, "nanoseconds") == 0)
        lua_pushinteger(L, value.nanosecond);
    else if (value.type == COLANDER_TIMESTAMP && strcmp(field, "date") == 0)
        lua_pushcfunction(L, timestamp_date);
    else
        lua_pushnil(L);
    return 1;
}

/* As JSON, without quotes. */
static int
typed_value_text(lua_State *L)
{
    struct colander_buffer *json = &scratch_get(L)->text;
    struct colander_value value = check(L, 1);
    const char *text;
    size_t size;

    if (value.type == COLANDER_BINARY) {
        lua_pushfstring(L, "binary of %d bytes", (int)value.bytes.size);
        return 1;
    }
    json->size = 0;
    failure_try(L, colander_json_append_value(json, &value, &err));
    text = (const char *)json->data;
    size = json->size;
    if (size >= 2 && text[0] == '"') {
        text++;
        size -= 2;
    }
    lua_pushlstring(L, text, size);
    return 1;
}

static int
typed_value_size(lua_State *L)
{
    struct colander_value value = check(L, 1);

    if (!colander_type_has_bytes(value.type))
        failure_misuse(L, "a %s has no length", colander_type_name(value.type));
    lua_pushinteger(L, (lua_Integer)value.bytes.size);
    return 1;
}

/* Returns the string at `index`, valid as long as that. */
static struct colander_value
text_of(lua_State *L, int index)
{
    size_t size;
    const char *text = lua_tolstring(L, index, &size);

    return colander_string(colander_slice_of(text, size));
}

/* Orders a timestamp and a string, if that is a time. */
static bool
order_text(const struct colander_value *time, const struct colander_value *text,
           int *order)
{
    struct colander_times times;

    if (time->type != COLANDER_TIMESTAMP || text->type != COLANDER_STRING ||
        !colander_times_read(text->bytes, &times))
        return false;
    *order = (colander_value_compare(time, &times.last) > 0) -
             (colander_value_compare(time, &times.first) < 0);
    return true;
}

bool
typed_value_order(const struct colander_value *a,
                  const struct colander_value *b, int *order)
{
    if (order_text(a, b, order))
        return true;
    if (order_text(b, a, order)) {
        *order = -*order;
        return true;
    }
    if (a->type != b->type &&
        !(colander_type_is_number(a->type) && colander_type_is_number(b->type)))
        return false;
    *order = colander_value_compare(a, b);
    return true;
}

/* Compares the operands, one of which may be a number, or a time as text. */
static int
compare(lua_State *L)
{
    struct colander_value sides[2];
    int order;

    for (int i = 0; i < 2; i++) {
        const struct colander_value *value = typed_value_get(L, i + 1);

        if (value != NULL)
            sides[i] = *value;
        else if (lua_isinteger(L, i + 1))
            sides[i] = colander_integer(lua_tointeger(L, i + 1));
        else if (lua_type(L, i + 1) == LUA_TNUMBER)
            sides[i] = colander_double(lua_tonumber(L, i + 1));
        else if (lua_type(L, i + 1) == LUA_TSTRING &&
                 check(L, 2 - i).type == COLANDER_TIMESTAMP)
            sides[i] = text_of(L, i + 1);
        else
            failure_misuse(L, "cannot compare a %s with a %s",
                           colander_type_name(check(L, 2 - i).type),
                           luaL_typename(L, i + 1));
    }
    if (typed_value_order(&sides[0], &sides[1], &order))
        return order;
    if (sides[0].type == COLANDER_STRING || sides[1].type == COLANDER_STRING)
        failure_misuse(L, "cannot compare a timestamp with a string that is "
                          "not a time");
    return colander_value_compare(&sides[0], &sides[1]);
}

static int
typed_value_equal(lua_State *L)
{
    const struct colander_value *a = typed_value_get(L, 1);
    const struct colander_value *b = typed_value_get(L, 2);

    lua_pushboolean(L, a != NULL && b != NULL && a->type == b->type &&
                           colander_value_compare(a, b) == 0);
    return 1;
}

/* a < b, and a <= b if upvalue 1 is 1 */
static int
typed_value_less(lua_State *L)
{
    lua_pushboolean(L, compare(L) < lua_tointeger(L, lua_upvalueindex(1)));
    return 1;
}

/* colander.binary(bytes) */
static int
create_binary(lua_State *L)
{
    struct colander_slice bytes;
    struct colander_value value;

    arguments_check_count(L, 1);
    bytes.data = (const uint8_t *)luaL_checklstring(L, 1, &bytes.size);
    value = colander_binary(bytes);
    push_copy(L, &value);
    return 1;
}

/* ---------------------------------------------------------- arithmetic --- */

/* Pushes the timestamp `seconds` after `time`; the number is at `index`. */
static int
push_after(lua_State *L, struct colander_value time, int index, int sign)
{
    const lua_Number number = sign * luaL_checknumber(L, index);
    int64_t seconds = lua_tointeger(L, index);
    uint32_t nanosecond = 0;

    luaL_argcheck(L, number >= -0x1p62 && number <= 0x1p62, index,
                  "the time is out of range");
    seconds *= sign;
    if (!lua_isinteger(L, index)) {
        seconds = (int64_t)number;
        seconds -= (lua_Number)seconds > number;
        nanosecond = (uint32_t)((number - (lua_Number)seconds) * 1e9 + 0.5);
    }
    nanosecond += time.nanosecond;
    luaL_argcheck(L,
                  !__builtin_add_overflow(time.second, seconds, &time.second) &&
                      !__builtin_add_overflow(
                          time.second, nanosecond / 1000000000, &time.second),
                  index, "the time is out of range");
    time.nanosecond = nanosecond % 1000000000;
    push_copy(L, &time);
    return 1;
}

static struct colander_value
check_timestamp(lua_State *L, int index)
{
    const struct colander_value *value = typed_value_get(L, index);

    if (value == NULL || value->type != COLANDER_TIMESTAMP)
        failure_misuse(L, "attempt to calculate with a %s",
                       value == NULL ? luaL_typename(L, index)
                                     : colander_type_name(value->type));
    return *value;
}

/* t + seconds, seconds + t */
static int
timestamp_add(lua_State *L)
{
    const int time = lua_type(L, 1) == LUA_TNUMBER ? 2 : 1;

    return push_after(L, check_timestamp(L, time), 3 - time, 1);
}

/* t - seconds, t - t: seconds, as an integer if they are whole */
static int
timestamp_subtract(lua_State *L)
{
    const struct colander_value from = check_timestamp(L, 1);
    struct colander_value other;
    int64_t seconds;

    if (lua_type(L, 2) == LUA_TNUMBER)
        return push_after(L, from, 2, -1);
    other = check_timestamp(L, 2);
    luaL_argcheck(L,
                  !__builtin_sub_overflow(from.second, other.second, &seconds),
                  2, "the duration is out of range");
    if (from.nanosecond == other.nanosecond)
        lua_pushinteger(L, seconds);
    else
        lua_pushnumber(L, (lua_Number)seconds + ((lua_Number)from.nanosecond -
                                                 (lua_Number)other.nanosecond) /
                                                    1e9);
    return 1;
}

/* ------------------------------------------------------------ creating --- */

/* colander.duration("7d"): seconds */
static int
create_duration(lua_State *L)
{
    arguments_check_count(L, 1);
    int64_t seconds;

    luaL_checktype(L, 1, LUA_TSTRING);
    luaL_argcheck(L, colander_duration_read(text_of(L, 1).bytes, &seconds), 1,
                  "a duration such as '7d' or '1h30m' expected");
    lua_pushinteger(L, seconds);
    return 1;
}

/* colander.timestamp(text), colander.timestamp(seconds [, nanoseconds]) */
static int
create_timestamp(lua_State *L)
{
    struct colander_times times;
    struct colander_value value;
    lua_Integer nanosecond;
    lua_Integer second;

    arguments_check_count(L, 2);
    if (lua_type(L, 1) == LUA_TSTRING && lua_isnumber(L, 1) == 0) {
        luaL_argcheck(L, colander_times_read(text_of(L, 1).bytes, &times), 1,
                      "a time such as '2015-03-24T10:00Z' expected");
        push_copy(L, &times.first);
        return 1;
    }
    second = luaL_checkinteger(L, 1);
    nanosecond = luaL_optinteger(L, 2, 0);
    luaL_argcheck(L, nanosecond >= 0 && nanosecond < 1000000000, 2,
                  "0 to 999999999 expected");
    value = colander_timestamp(second, (uint32_t)nanosecond);
    push_copy(L, &value);
    return 1;
}

/* colander.extension(kind, bytes) */
static int
create_extension(lua_State *L)
{
    lua_Integer kind = luaL_checkinteger(L, 1);
    struct colander_slice bytes;
    struct colander_value value;

    arguments_check_count(L, 2);
    bytes.data = (const uint8_t *)luaL_checklstring(L, 2, &bytes.size);
    luaL_argcheck(L, kind >= -128 && kind <= 127 && kind != -1, 1,
                  "-128 to 127 expected, except -1 (timestamps)");
    value = colander_binary(bytes);
    value.type = COLANDER_EXTENSION;
    value.extension_type = (int8_t)kind;
    push_copy(L, &value);
    return 1;
}

/* colander.unsigned(digits): an integer up to 2^63 - 1, else a typed value */
static int
create_unsigned(lua_State *L)
{
    const char *digits = text_check(L, 1, "a number");
    struct colander_value value;
    uint64_t number;

    arguments_check_count(L, 1);
    luaL_argcheck(
        L, *digits != '\0' && digits[strspn(digits, "0123456789")] == '\0', 1,
        "digits expected");
    errno = 0;
    number = strtoull(digits, NULL, 10);
    luaL_argcheck(L, errno == 0, 1, "number exceeds 64 bits");
    value = colander_unsigned(number);
    if (value.type == COLANDER_INTEGER)
        lua_pushinteger(L, value.integer);
    else
        push_copy(L, &value);
    return 1;
}

void
typed_values_register(lua_State *L)
{
    static const struct luaL_Reg metamethods[] = {
        {"__index", typed_value_index},
        {"__tostring", typed_value_text},
        {"__len", typed_value_size},
        {"__eq", typed_value_equal},
        {"__add", timestamp_add},
        {"__sub", timestamp_subtract},
        {NULL, NULL},
    };
    static const struct luaL_Reg functions[] = {
        {"binary", create_binary},     {"timestamp", create_timestamp},
        {"duration", create_duration}, {"extension", create_extension},
        {"unsigned", create_unsigned}, {NULL, NULL},
    };
    struct colander_value null = colander_null();

    type_define(L, TYPE, metamethods);
    luaL_getmetatable(L, TYPE);
    type_set_function(L, "__lt", typed_value_less, 0);
    type_set_function(L, "__le", typed_value_less, 1);
    lua_pop(L, 1);
    if (lua_rawgetp(L, LUA_REGISTRYINDEX, &null_key) == LUA_TNIL) {
        push_copy(L, &null);
        lua_rawsetp(L, LUA_REGISTRYINDEX, &null_key);
    }
    lua_pop(L, 1);
    luaL_setfuncs(L, functions, 0);
    typed_value_push(L, &null);
    lua_setfield(L, -2, "null");
}

/*
 * Schema reader: see schema_reader.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "shell/schema_reader.h"

#include <lauxlib.h>
#include <stdarg.h>
#include <stdio.h>

#include "shell/schema_lines.h"
#include "shell/schema_words.h"

struct schema_place
schema_place_field(const struct schema_place *above, const char *name)
{
    struct schema_place place = *above;
    size_t size = strlen(place.shown);

    (void)snprintf(place.shown + size, sizeof(place.shown) - size, "%s%.*s",
                   size == 0 ? "" : ".", SCHEMA_SHOWN_MAX, name);
    place.names[place.count++] = name;
    return place;
}

struct schema_place
schema_place_named(const struct schema_place *above, const char *text)
{
    struct schema_place place = *above;
    size_t size = strlen(place.shown);

    (void)snprintf(place.shown + size, sizeof(place.shown) - size, "[\"%.*s\"]",
                   SCHEMA_SHOWN_MAX, text);
    place.names[place.count++] = text;
    return place;
}

/* An element of a list. */
static struct schema_place
place_element(const struct schema_place *above, lua_Integer index)
{
    struct schema_place place = *above;
    size_t size = strlen(place.shown);

    (void)snprintf(place.shown + size, sizeof(place.shown) - size, "[%lld]",
                   (long long)index);
    return place;
}

/* ------------------------------------------------------------ mistakes --- */

void
schema_refuse(struct schema_reader *reader, const struct schema_place *place,
              const char *format, ...)
{
    char message[400];
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(message, sizeof(message), format, arguments);
    va_end(arguments);
    if (reader->code != COLANDER_OK)
        return;
    for (size_t i = place->count; i > 0 && reader->line == 0; i--)
        reader->line = schema_line(reader->text, place->names, i);
    reader->code =
        COLANDER_FAIL(&reader->err, COLANDER_INVALID, "%s%s%s", place->shown,
                      place->count == 0 ? "" : ": ", message);
}

void
schema_refuse_error(struct schema_reader *reader,
                    const struct schema_place *place, enum colander_code code,
                    const struct colander_error *err)
{
    if (code == COLANDER_OK)
        return;
    schema_refuse(reader, place, "%s", err->message);
    if (code == COLANDER_NO_MEMORY)
        reader->code = code;
}

/* What is on top, in words. */
static const char *
found(lua_State *L, char text[SCHEMA_SHOWN_MAX + 8])
{
    switch (lua_type(L, -1)) {
    case LUA_TSTRING:
        (void)snprintf(text, SCHEMA_SHOWN_MAX + 8, "\"%.*s\"", SCHEMA_SHOWN_MAX,
                       lua_tostring(L, -1));
        return text;
    case LUA_TNUMBER:
        if (lua_isinteger(L, -1))
            (void)snprintf(text, SCHEMA_SHOWN_MAX + 8, "%lld",
                           (long long)lua_tointeger(L, -1));
        else
            (void)snprintf(text, SCHEMA_SHOWN_MAX + 8, "%g",
                           lua_tonumber(L, -1));
        return text;
    case LUA_TBOOLEAN:
        return lua_toboolean(L, -1) ? "true" : "false";
    default:
        (void)snprintf(text, SCHEMA_SHOWN_MAX + 8, "a %s",
                       luaL_typename(L, -1));
        return text;
    }
}

void
schema_refuse_found(lua_State *L, struct schema_reader *reader,
                    const struct schema_place *place, const char *wanted)
{
    char text[SCHEMA_SHOWN_MAX + 8];

    schema_refuse(reader, place, "must be %s, not %s", wanted, found(L, text));
}

/* --------------------------------------------------------------- texts --- */

const char *
schema_read_text(lua_State *L, struct schema_reader *reader,
                 const struct schema_place *place, const char *wanted)
{
    size_t size;
    const char *text;

    if (lua_type(L, -1) != LUA_TSTRING) {
        schema_refuse_found(L, reader, place, wanted);
        return NULL;
    }
    text = lua_tolstring(L, -1, &size);
    if (strlen(text) == size)
        return text;
    schema_refuse(reader, place, "has a zero byte in it");
    return NULL;
}

/* Whether the table has nothing but what stands one behind the other. */
static bool
is_list(lua_State *L)
{
    lua_Unsigned count = lua_rawlen(L, -1);
    lua_Unsigned field_count = 0;

    lua_pushnil(L);
    while (lua_next(L, -2) != 0) {
        lua_pop(L, 1);
        field_count++;
    }
    return field_count == count;
}

void
schema_read_list(lua_State *L, struct schema_reader *reader,
                 const struct schema_place *place, const char *wanted,
                 schema_element *element, void *context)
{
    lua_Integer count;

    if (!lua_istable(L, -1)) {
        element(L, reader, place, context);
        return;
    }
    if (!is_list(L)) {
        schema_refuse(reader, place, "must be %s, and have no other fields",
                      wanted);
        return;
    }
    count = (lua_Integer)lua_rawlen(L, -1);
    if (count == 0)
        schema_refuse(reader, place, "is empty");
    for (lua_Integer i = 1; i <= count && reader->code == COLANDER_OK; i++) {
        struct schema_place below = place_element(place, i);

        lua_rawgeti(L, -1, i);
        element(L, reader, &below, context);
        lua_pop(L, 1);
    }
}

void
schema_add_text(lua_State *L, struct schema_reader *reader,
                const struct schema_place *place, void *context)
{
    struct colander_error err;
    const char *text =
        schema_read_text(L, reader, place, "a text or a list of texts");

    if (text != NULL)
        schema_refuse_error(reader, place,
                            schema_texts_add(context, text, &err), &err);
}

void
schema_add_path(lua_State *L, struct schema_reader *reader,
                const struct schema_place *place, void *context)
{
    struct colander_error err;
    struct schema_place at = *place;
    const char *path =
        schema_read_text(L, reader, place, "a column or a list of columns");

    if (path == NULL)
        return;
    at.names[at.count++] = path; /* for its line, in a list of many */
    schema_refuse_error(reader, &at, schema_check_path(path, &err), &err);
    if (reader->code == COLANDER_OK)
        schema_add_text(L, reader, &at, context);
}

/* -------------------------------------------------------------- fields --- */

/* Looks for fields that nobody knows. */
static void
check_names(lua_State *L, struct schema_reader *reader,
            const struct schema_place *place, const char *const *names,
            size_t count)
{
    const int top = lua_gettop(L);

    lua_pushnil(L);
    while (reader->code == COLANDER_OK && lua_next(L, top) != 0) {
        char hint[SCHEMA_HINT_SIZE];
        struct schema_place below;
        size_t i = 0;

        lua_pop(L, 1);
        if (lua_type(L, -1) != LUA_TSTRING) {
            schema_refuse(reader, place, "has a value without a name");
            continue;
        }
        while (i < count && strcmp(lua_tostring(L, -1), names[i]) != 0)
            i++;
        if (i < count)
            continue;
        below = schema_place_field(place, lua_tostring(L, -1));
        schema_refuse(
            reader, &below, "unknown field%s",
            schema_words_hint(lua_tostring(L, -1), names, count, hint));
    }
    lua_settop(L, top); /* also when a name was refused */
}

void
schema_read_fields(lua_State *L, struct schema_reader *reader,
                   const struct schema_place *place,
                   const struct schema_field *fields, size_t count)
{
    const char *names[SCHEMA_FIELDS_MAX];

    for (size_t i = 0; i < count; i++)
        names[i] = fields[i].name;
    if (!lua_istable(L, -1)) {
        schema_refuse_found(L, reader, place, "a table with fields");
        return;
    }
    check_names(L, reader, place, names, count);
    for (size_t i = 0; i < count && reader->code == COLANDER_OK; i++) {
        struct schema_place below = schema_place_field(place, fields[i].name);

        lua_pushstring(L, fields[i].name);
        if (lua_rawget(L, -2) != LUA_TNIL)
            fields[i].read(L, reader, &below);
        lua_pop(L, 1);
    }
}

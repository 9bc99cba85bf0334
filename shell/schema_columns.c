/*
 * Schema columns: the fields of a schema file that say how columns are read.
 *
 * SPDX-License-Identifier: MIT
 */
#include "shell/schema_reader.h"
#include "shell/schema_words.h"

/* --------------------------------------------------------------- types --- */

static const struct {
    const char *name;
    enum value_type type;
} types[] = {
    {"string", VALUE_STRING}, {"integer", VALUE_INTEGER},
    {"number", VALUE_NUMBER}, {"boolean", VALUE_BOOLEAN},
    {"time", VALUE_TIME},     {"guess", VALUE_GUESSED},
};

#define TYPE_COUNT (sizeof(types) / sizeof(types[0]))

/* The type on top, under `path`. */
static void
read_type(lua_State *L, struct schema_reader *reader,
          const struct schema_place *place, const char *path)
{
    const char *names[TYPE_COUNT];
    char hint[SCHEMA_HINT_SIZE];
    struct colander_error err;
    const char *name = schema_read_text(L, reader, place, "the name of a type");

    if (name == NULL)
        return;
    for (size_t i = 0; i < TYPE_COUNT; i++) {
        const struct value_reading reading = {types[i].type, NULL};

        names[i] = types[i].name;
        if (strcmp(name, types[i].name) != 0)
            continue;
        schema_refuse_error(
            reader, place,
            schema_add_column(reader->schema, path, &reading, &err), &err);
        return;
    }
    schema_refuse(reader, place, "unknown type '%.*s'%s", SCHEMA_SHOWN_MAX,
                  name, schema_words_hint(name, names, TYPE_COUNT, hint));
}

void
schema_read_types(lua_State *L, struct schema_reader *reader,
                  const struct schema_place *place)
{
    const int top = lua_gettop(L);

    if (!lua_istable(L, -1)) {
        schema_refuse_found(
            L, reader, place,
            "a table of columns and their types, { id = \"string\" }");
        return;
    }
    lua_pushnil(L);
    while (reader->code == COLANDER_OK && lua_next(L, top) != 0) {
        size_t size = 0;
        const char *path =
            lua_type(L, -2) == LUA_TSTRING ? lua_tolstring(L, -2, &size) : NULL;

        if (path == NULL) {
            schema_refuse(
                reader, place,
                "must name columns and their types, { id = \"string\" }");
        } else if (strlen(path) != size) {
            schema_refuse(reader, place,
                          "a column has a zero byte in its name");
        } else {
            struct schema_place below = schema_place_named(place, path);

            read_type(L, reader, &below, path);
        }
        lua_pop(L, 1);
    }
    lua_settop(L, top); /* also when a column was refused */
}

/* ---------------------------------------------------------------- time --- */

/* A format into the reader's. */
static void
add_format(lua_State *L, struct schema_reader *reader,
           const struct schema_place *place, void *context)
{
    struct colander_buffer *joined = &reader->joined;
    struct colander_error err;
    enum colander_code code = COLANDER_OK;
    const char *format =
        schema_read_text(L, reader, place, "a text or a list of texts");

    (void)context;
    if (format == NULL)
        return;
    if (strchr(format, '\n') != NULL || *format == '\0')
        schema_refuse(reader, place, "is no format of times");
    if (joined->size > 0)
        code = colander_buffer_append(joined, "\n", 1, &err);
    if (code == COLANDER_OK)
        code = colander_buffer_append(joined, format, strlen(format), &err);
    schema_refuse_error(reader, place, code, &err);
}

static void
read_format(lua_State *L, struct schema_reader *reader,
            const struct schema_place *place)
{
    struct colander_error err;

    schema_read_list(L, reader, place, "a text or a list of texts", add_format,
                     NULL);
    schema_refuse_error(reader, place,
                        colander_buffer_append(&reader->joined, "", 1, &err),
                        &err);
}

/* A column whose times are as the reader's formats say. */
static void
add_column(lua_State *L, struct schema_reader *reader,
           const struct schema_place *place, void *context)
{
    const struct value_reading reading = {
        VALUE_TIME,
        reader->joined.size == 0 ? NULL : (const char *)reader->joined.data};
    struct colander_error err;
    struct schema_place at = *place;
    const char *path =
        schema_read_text(L, reader, place, "a column or a list of columns");

    (void)context;
    if (path == NULL)
        return;
    at.names[at.count++] = path; /* for its line */
    schema_refuse_error(reader, &at,
                        schema_add_column(reader->schema, path, &reading, &err),
                        &err);
}

static void
read_column(lua_State *L, struct schema_reader *reader,
            const struct schema_place *place)
{
    schema_read_list(L, reader, place, "a column or a list of columns",
                     add_column, NULL);
}

static bool
has_field(lua_State *L, const char *name)
{
    bool is_there;

    lua_pushstring(L, name);
    is_there = lua_rawget(L, -2) != LUA_TNIL;
    lua_pop(L, 1);
    return is_there;
}

/* One column, or a table with columns and their format. */
static void
add_time(lua_State *L, struct schema_reader *reader,
         const struct schema_place *place, void *context)
{
    static const struct schema_field fields[] = {
        {"format", read_format},
        {"column", read_column},
    };

    colander_buffer_clear(&reader->joined);
    if (!lua_istable(L, -1)) {
        add_column(L, reader, place, context);
        return;
    }
    schema_read_fields(L, reader, place, fields, 2);
    if (!has_field(L, "column"))
        schema_refuse(reader, place, "has no 'column'");
}

void
schema_read_time(lua_State *L, struct schema_reader *reader,
                 const struct schema_place *place)
{
    static const char wanted[] = "a column, { column = ..., format = ... } or "
                                 "a list of these";

    if (lua_istable(L, -1) && lua_rawlen(L, -1) == 0)
        add_time(L, reader, place, NULL);
    else
        schema_read_list(L, reader, place, wanted, add_time, NULL);
}

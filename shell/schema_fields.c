/*
 * Schema fields: the fields of a schema file but for those of columns.
 *
 * SPDX-License-Identifier: MIT
 */
#include <assert.h>
#include <stdlib.h>

#include "shell/schema_reader.h"

#define LEFT_OUT_MAX 64 /* columns, as filters.h has it */

/* -------------------------------------------------------------- fields --- */

static void
read_about(lua_State *L, struct schema_reader *reader,
           const struct schema_place *place)
{
    (void)schema_read_text(L, reader, place, "a text");
}

static void
read_key(lua_State *L, struct schema_reader *reader,
         const struct schema_place *place)
{
    struct schema_texts *key = &reader->schema->key;

    schema_read_list(L, reader, place, "a column or a list of columns",
                     schema_add_path, key);
    if (key->count > COLANDER_KEY_PARTS_MAX)
        schema_refuse(reader, place, "has %zu columns, over the limit of %d",
                      key->count, COLANDER_KEY_PARTS_MAX);
    for (size_t i = 0; i < key->count; i++) {
        if (strstr(key->texts[i], "[]") != NULL)
            schema_refuse(reader, place,
                          "'%.*s' may be many values, a key has one",
                          SCHEMA_SHOWN_MAX, key->texts[i]);
    }
}

static void
read_null(lua_State *L, struct schema_reader *reader,
          const struct schema_place *place)
{
    schema_read_list(L, reader, place, "a text or a list of texts",
                     schema_add_text, &reader->schema->nulls);
}

static void
read_unfiltered(lua_State *L, struct schema_reader *reader,
                const struct schema_place *place)
{
    struct schema_texts *left_out = &reader->schema->left_out;

    schema_read_list(L, reader, place, "a column or a list of columns",
                     schema_add_path, left_out);
    if (left_out->count > LEFT_OUT_MAX)
        schema_refuse(reader, place, "has %zu columns, over the limit of %d",
                      left_out->count, LEFT_OUT_MAX);
}

static void
read_record(lua_State *L, struct schema_reader *reader,
            const struct schema_place *place)
{
    struct colander_error err;
    const char *path = schema_read_text(L, reader, place, "a column");

    if (path == NULL)
        return;
    schema_refuse_error(reader, place, schema_check_path(path, &err), &err);
    if (strstr(path, "[]") != NULL)
        schema_refuse(reader, place, "'%.*s' may be many maps, a record is one",
                      SCHEMA_SHOWN_MAX, path);
    reader->schema->record = strdup(path);
    if (reader->schema->record == NULL)
        reader->code = COLANDER_FAIL(&reader->err, COLANDER_NO_MEMORY,
                                     "cannot keep a schema");
}

static void
read_delimiter(lua_State *L, struct schema_reader *reader,
               const struct schema_place *place)
{
    static const char wanted[] =
        "one character such as \",\" or \"\\t\", no quote and no line end";
    const char *text = schema_read_text(L, reader, place, wanted);

    if (text == NULL)
        return;
    if (strlen(text) != 1 || (uint8_t)*text >= 0x80 ||
        strchr("\"\r\n", *text) != NULL)
        schema_refuse_found(L, reader, place, wanted);
    reader->schema->delimiter = *text;
}

static void
read_guess(lua_State *L, struct schema_reader *reader,
           const struct schema_place *place)
{
    if (!lua_isboolean(L, -1))
        schema_refuse_found(L, reader, place, "true or false");
    reader->schema->guesses = lua_toboolean(L, -1);
}

/* -------------------------------------------------------------- family --- */

/* The number on top; 0, with the mistake told, when it is none. */
static double
read_number(lua_State *L, struct schema_reader *reader,
            const struct schema_place *place, const char *wanted, double above,
            double most)
{
    double number = lua_type(L, -1) == LUA_TNUMBER ? lua_tonumber(L, -1) : -1;

    if (number > above && number <= most)
        return number;
    schema_refuse_found(L, reader, place, wanted);
    return 0;
}

static void
read_fp_rate(lua_State *L, struct schema_reader *reader,
             const struct schema_place *place)
{
    reader->schema->fp_rate =
        read_number(L, reader, place, "a number above 1e-9 and below 1", 1e-9,
                    0.9999999999);
}

static void
read_bits_per_value(lua_State *L, struct schema_reader *reader,
                    const struct schema_place *place)
{
    reader->schema->bits_per_value =
        read_number(L, reader, place, "a number above 0, 64 at most", 0, 64);
    if (reader->schema->fp_rate > 0)
        schema_refuse(reader, place, "goes in place of fp_rate, not with it");
}

static void
read_rows_per_segment(lua_State *L, struct schema_reader *reader,
                      const struct schema_place *place)
{
    lua_Integer rows = lua_isinteger(L, -1) ? lua_tointeger(L, -1) : -1;

    if (rows < 0 || rows > 65536 || (rows & (rows - 1)) != 0) {
        schema_refuse_found(L, reader, place,
                            "0 or a power of two up to 65536");
        return;
    }
    reader->schema->rows_per_segment = (uint32_t)rows;
}

static void
read_family(lua_State *L, struct schema_reader *reader,
            const struct schema_place *place)
{
    static const struct schema_field fields[] = {
        {"fp_rate", read_fp_rate},
        {"bits_per_value", read_bits_per_value},
        {"rows_per_segment", read_rows_per_segment},
    };

    schema_read_fields(L, reader, place, fields,
                       sizeof(fields) / sizeof(fields[0]));
}

/* ----------------------------------------------------------------- all --- */

void
schema_read_table(lua_State *L, void *context)
{
    static const struct schema_field fields[] = {
        {"about", read_about},
        {"record", read_record},
        {"key", read_key},
        {"types", schema_read_types},
        {"time", schema_read_time},
        {"null", read_null},
        {"delimiter", read_delimiter},
        {"guess", read_guess},
        {"unfiltered", read_unfiltered},
        {"family", read_family},
    };
    const struct schema_place place = {.count = 0};

    static_assert(sizeof(fields) / sizeof(fields[0]) <= SCHEMA_FIELDS_MAX,
                  "schema_read_fields has room for all");
    schema_read_fields(L, context, &place, fields,
                       sizeof(fields) / sizeof(fields[0]));
}

/* SPDX-License-Identifier: MIT */
#include "loading/schema_lua.h"
#include "loading/known_schemas.h"

#include <lauxlib.h>
#include <lualib.h>
#include <stdlib.h>
#include <time.h>

#define CHUNK "schema"       /* the names of the text and of the checks, */
#define CHECK "schema_check" /* in Lua's messages */
#define MEMORY_MAX ((size_t)8 << 20)
#define INSTRUCTIONS_MAX 1000000
#define COUNTED_INSTRUCTIONS 1000 /* between two checks of the limits */
#define SECONDS_MAX 1.0

/* A text on its way through Lua. */
struct reading {
    struct colander_slice text;
    struct colander_schema *schema;
    enum colander_code code; /* NO_MEMORY if our own memory was short */
    bool was_given;          /* the text, to Lua's reader */
    size_t memory_used;
    uint32_t check_count; /* of the limits */
    double start;         /* seconds */
};

/* -------------------------------------------------------------- limits --- */

/* Lua's allocator. For a new block `old_size` is a type, not a size. */
static void *
allocate(void *data, void *pointer, size_t old_size, size_t size)
{
    struct reading *reading = data;
    void *moved;

    if (pointer == NULL)
        old_size = 0;
    if (size == 0) {
        reading->memory_used -= old_size;
        free(pointer);
        return NULL;
    }
    if (size > old_size && size - old_size > MEMORY_MAX - reading->memory_used)
        return NULL;
    moved = realloc(pointer, size);
    if (moved != NULL)
        reading->memory_used += size - old_size;
    return moved;
}

/* Returns seconds of this thread, so that a busy machine does not count. */
static double
seconds_used(void)
{
    struct timespec used;

    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return (double)used.tv_sec + (double)used.tv_nsec / 1e9;
}

/* Instructions may take long, for example those that join long texts. */
static void
check_limits(lua_State *L, lua_Debug *activation)
{
    struct reading *reading = *(struct reading **)lua_getextraspace(L);

    (void)activation;
    reading->check_count++;
    if (reading->check_count < INSTRUCTIONS_MAX / COUNTED_INSTRUCTIONS &&
        seconds_used() - reading->start <= SECONDS_MAX)
        return;
    luaL_where(L, 0);
    lua_pushliteral(L, "takes too long: a schema is data, not a program");
    lua_concat(L, 2);
    (void)lua_error(L);
}

static void
set_limits(lua_State *L, struct reading *reading)
{
    reading->check_count = 0;
    lua_sethook(L, check_limits, LUA_MASKCOUNT, COUNTED_INSTRUCTIONS);
}

/* --------------------------------------------------------- environment --- */

/* __index: an unknown name is a text without its quotes, or a library. */
static int
refuse_get(lua_State *L)
{
    return luaL_error(L,
                      "'%s' is not known: texts need quotes, and there are no "
                      "functions",
                      luaL_tolstring(L, 2, NULL));
}

static int
refuse_set(lua_State *L)
{
    const char *name = luaL_tolstring(L, 2, NULL);

    return luaL_error(L,
                      "'%s' cannot be set: fields belong in 'return { }', and "
                      "variables are 'local %s'",
                      name, name);
}

/* Pushes an environment without anything. */
static void
push_environment(lua_State *L)
{
    lua_newtable(L);
    lua_newtable(L);
    lua_pushcfunction(L, refuse_get);
    lua_setfield(L, -2, "__index");
    lua_pushcfunction(L, refuse_set);
    lua_setfield(L, -2, "__newindex");
    lua_setmetatable(L, -2);
}

/* ----------------------------------------------------------------- put --- */

static enum colander_code
put_path(struct schema_texts *texts, const char *path,
         struct colander_error *err)
{
    enum colander_code code = column_path_check(path, err);

    return code == COLANDER_OK ? schema_texts_add(texts, path, err) : code;
}

/* Sets a member of the schema that is not set yet. */
static enum colander_code
put_one_path(char **member, const char *path, struct colander_error *err)
{
    enum colander_code code = column_path_check(path, err);

    if (code != COLANDER_OK)
        return code;
    *member = strdup(path);
    if (*member == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a schema");
    return COLANDER_OK;
}

static enum colander_code
put_column(lua_State *L, struct colander_schema *schema, const char *path,
           struct colander_error *err)
{
    struct value_reading reading = {.type = VALUE_GUESSED,
                                    .time_format = luaL_optstring(L, 4, NULL)};

    /* schema_check.lua knows the names, too */
    (void)value_type_parse(colander_slice_text(luaL_checkstring(L, 3)),
                           &reading.type);
    return schema_add_column(schema, path, &reading, false, err);
}

/* The copies in the schema count as memory of Lua, too: one text there can be
 * in a thousand lists. */
static void
count_copies(lua_State *L)
{
    for (int i = lua_gettop(L); i > 1; i--) {
        if (lua_type(L, i) != LUA_TSTRING)
            continue;
        (void)lua_newuserdatauv(L, lua_rawlen(L, i) + 1, 0);
        (void)luaL_ref(L, LUA_REGISTRYINDEX);
    }
}

/* put(field, value [, type, formats]), for schema_check.lua. */
static int
put(lua_State *L)
{
    struct reading *reading = lua_touserdata(L, lua_upvalueindex(1));
    struct colander_schema *schema = reading->schema;
    const char *field = luaL_checkstring(L, 1);
    const char *text = lua_tostring(L, 2);
    struct colander_error err;

    count_copies(L);
    if (strcmp(field, "column") == 0)
        reading->code = put_column(L, schema, text, &err);
    else if (strcmp(field, "key") == 0)
        reading->code = put_path(&schema->key, text, &err);
    else if (strcmp(field, "unfiltered") == 0)
        reading->code = put_path(&schema->unfiltered, text, &err);
    else if (strcmp(field, "null") == 0)
        reading->code = schema_texts_add(&schema->nulls, text, &err);
    else if (strcmp(field, "record") == 0)
        reading->code = put_one_path(&schema->record, text, &err);
    else if (strcmp(field, "time") == 0)
        reading->code = put_one_path(&schema->time, text, &err);
    else if (strcmp(field, "delimiter") == 0)
        schema->delimiter = text[0];
    else if (strcmp(field, "guess") == 0)
        schema->guesses = lua_toboolean(L, 2);
    else if (strcmp(field, "fp_rate") == 0)
        schema->fp_rate = luaL_checknumber(L, 2);
    else if (strcmp(field, "bits_per_value") == 0)
        schema->bits_per_value = luaL_checknumber(L, 2);
    else
        schema->rows_per_segment = (uint32_t)luaL_checkinteger(L, 2);
    if (reading->code == COLANDER_OK)
        return 0;
    if (reading->code == COLANDER_NO_MEMORY)
        return luaL_error(L, "%s", err.message);
    reading->code = COLANDER_OK; /* schema_check.lua fails with the place */
    lua_pushstring(L, err.message);
    return 1;
}

/* ------------------------------------------------------------- running --- */

static const char *
give_text(lua_State *L, void *data, size_t *size)
{
    struct reading *reading = data;

    (void)L;
    *size = reading->was_given ? 0 : reading->text.size;
    reading->was_given = true;
    return *size == 0 ? NULL : (const char *)reading->text.data;
}

/* Checks the table on top. Its libraries come only now, after the file ran. */
static void
check_table(lua_State *L, struct reading *reading)
{
    luaL_requiref(L, LUA_GNAME, luaopen_base, 1);
    luaL_requiref(L, LUA_STRLIBNAME, luaopen_string, 1);
    luaL_requiref(L, LUA_TABLIBNAME, luaopen_table, 1);
    luaL_requiref(L, LUA_MATHLIBNAME, luaopen_math, 1);
    lua_pop(L, 4);
    if (luaL_loadbufferx(L, (const char *)schema_check.text, schema_check.size,
                         "=" CHECK, "t") != LUA_OK)
        (void)lua_error(L);
    lua_insert(L, -2);
    lua_pushlstring(L, (const char *)reading->text.data, reading->text.size);
    lua_pushlightuserdata(L, reading);
    lua_pushcclosure(L, put, 1);
    lua_call(L, 3, 0);
}

/* The argument is the reading. */
static int
run(lua_State *L)
{
    struct reading *reading = lua_touserdata(L, 1);

    if (lua_load(L, give_text, reading, "=" CHUNK, "t") != LUA_OK)
        return lua_error(L);
    push_environment(L);
    (void)lua_setupvalue(L, -2, 1);
    set_limits(L, reading);
    lua_call(L, 0, 1);
    if (lua_isnil(L, -1))
        return luaL_error(L, "returns nothing: a schema is 'return { ... }'");
    if (!lua_istable(L, -1))
        return luaL_error(L, "returns a %s: a schema is 'return { ... }'",
                          luaL_typename(L, -1));
    set_limits(L, reading);
    check_table(L, reading);
    return 0;
}

/* Fails with a message of Lua's without its "schema:7: ", which is *line, or
 * without a line of our own. */
static enum colander_code
fail(lua_State *L, int status, size_t *line, struct colander_error *err)
{
    const char *message = lua_tostring(L, -1);
    char *end;

    if (status == LUA_ERRMEM)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "takes more than %zu MiB of memory",
                             MEMORY_MAX >> 20);
    if (message == NULL)
        return COLANDER_FAIL(err, COLANDER_INVALID, "fails with an error");
    if (strncmp(message, CHUNK ":", strlen(CHUNK ":")) == 0) {
        *line = strtoull(message + strlen(CHUNK ":"), &end, 10);
        message = strncmp(end, ": ", 2) == 0 ? end + 2 : end;
    } else if (strncmp(message, CHECK ":", strlen(CHECK ":")) == 0) {
        message = strstr(message, ": ") + 2;
    }
    return COLANDER_FAIL(err, COLANDER_INVALID, "%.400s", message);
}

enum colander_code
schema_lua_read(struct colander_slice text, struct colander_schema *schema,
                size_t *line, struct colander_error *err)
{
    struct reading reading = {.text = text, .schema = schema};
    enum colander_code code = COLANDER_OK;
    lua_State *L = lua_newstate(allocate, &reading);
    int status;

    *line = 0;
    if (L == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for Lua");
    *(struct reading **)lua_getextraspace(L) = &reading;
    reading.start = seconds_used();
    lua_pushcfunction(L, run);
    lua_pushlightuserdata(L, &reading);
    status = lua_pcall(L, 1, 0, 0);
    if (status != LUA_OK)
        code = fail(L, status, line, err);
    if (reading.code != COLANDER_OK)
        code = COLANDER_FAIL(err, reading.code, "no memory for a schema");
    lua_close(L);
    return code;
}

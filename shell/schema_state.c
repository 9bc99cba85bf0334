/*
 * Schema state: see schema_state.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "shell/schema_state.h"
#include "shell/clock.h"

#include <lauxlib.h>
#include <stdlib.h>

#include "shell/sandbox.h"
#include "shell/text.h"

#define CHUNK "schema"            /* what Lua calls the text in messages */
#define COUNTED_INSTRUCTIONS 1000 /* between two looks at the limits */

/* A text on its way through Lua. */
struct run {
    struct colander_slice text;
    schema_use *use;
    void *context;
    bool is_given; /* to Lua's reader */
    uint32_t look_count;
    double start;
};

/* -------------------------------------------------------------- limits --- */

/* Instructions may take long, as those that join long texts. */
static void
look_at_limits(lua_State *L, lua_Debug *activation)
{
    struct run *run = *(struct run **)lua_getextraspace(L);

    (void)activation;
    run->look_count++;
    if (run->look_count < SCHEMA_INSTRUCTIONS_MAX / COUNTED_INSTRUCTIONS &&
        clock_seconds() - run->start <= SCHEMA_SECONDS_MAX)
        return;
    luaL_where(L, 0);
    lua_pushliteral(L, "takes too long: a schema is data, no program");
    lua_concat(L, 2);
    (void)lua_error(L);
}

/* --------------------------------------------------------- environment --- */

/* __index: what is not there is a text without its quotes, or a library. */
static int
refuse_get(lua_State *L)
{
    return luaL_error(L,
                      "'%s' is not known: a text stands in quotes, and there "
                      "are no functions",
                      luaL_tolstring(L, 2, NULL));
}

static int
refuse_set(lua_State *L)
{
    const char *name = luaL_tolstring(L, 2, NULL);

    return luaL_error(L,
                      "'%s' cannot be set: fields stand within 'return { }'"
                      ", and variables are 'local %s'",
                      name, name);
}

/* Puts an environment without anything. */
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

/* ------------------------------------------------------------- running --- */

static const char *
give_text(lua_State *L, void *data, size_t *size)
{
    struct run *run = data;

    (void)L;
    *size = run->is_given ? 0 : run->text.size;
    run->is_given = true;
    return *size == 0 ? NULL : (const char *)run->text.data;
}

/* The argument is the run. */
static int
run_text(lua_State *L)
{
    struct run *run = lua_touserdata(L, 1);

    if (lua_load(L, give_text, run, "=" CHUNK, "t") != LUA_OK)
        return lua_error(L);
    push_environment(L);
    (void)lua_setupvalue(L, -2, 1);
    lua_sethook(L, look_at_limits, LUA_MASKCOUNT, COUNTED_INSTRUCTIONS);
    lua_call(L, 0, 1);
    lua_sethook(L, NULL, 0, 0);
    if (lua_isnil(L, -1))
        return luaL_error(L, "returns nothing: a schema is 'return { ... }'");
    if (!lua_istable(L, -1))
        return luaL_error(L, "returns a %s: a schema is 'return { ... }'",
                          luaL_typename(L, -1));
    run->use(L, run->context);
    return 0;
}

/* Tells a message of Lua's without "schema:7: ", which becomes *line. */
static enum colander_code
fail_with(const char *message, size_t *line, struct colander_error *err)
{
    struct colander_buffer shown = COLANDER_BUFFER_EMPTY;
    enum colander_code code;
    char *end;

    if (strncmp(message, CHUNK ":", strlen(CHUNK ":")) == 0) {
        *line = strtoull(message + strlen(CHUNK ":"), &end, 10);
        message = strncmp(end, ": ", 2) == 0 ? end + 2 : end;
    }
    code = text_append_printable(&shown, colander_slice_text(message), err);
    if (code == COLANDER_OK)
        code = COLANDER_FAIL(err, COLANDER_INVALID, "%.*s",
                             shown.size < 400 ? (int)shown.size : 400,
                             (const char *)shown.data);
    colander_buffer_release(&shown);
    return code;
}

static enum colander_code
fail(lua_State *L, int status, size_t *line, struct colander_error *err)
{
    if (status == LUA_ERRMEM)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "takes more than %zu MiB of memory",
                             SCHEMA_MEMORY_MAX >> 20);
    if (lua_type(L, -1) != LUA_TSTRING)
        return COLANDER_FAIL(err, COLANDER_INVALID, "an error of Lua");
    return fail_with(lua_tostring(L, -1), line, err);
}

enum colander_code
schema_state_run(struct colander_slice text, schema_use *use, void *context,
                 size_t *line, struct colander_error *err)
{
    struct sandbox_memory memory = {0, SCHEMA_MEMORY_MAX};
    struct run run = {.text = text, .use = use, .context = context};
    enum colander_code code = COLANDER_OK;
    lua_State *L = sandbox_new_state(&memory);
    int status;

    *line = 0;
    if (L == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for Lua");
    *(struct run **)lua_getextraspace(L) = &run;
    run.start = clock_seconds();
    lua_pushcfunction(L, run_text);
    lua_pushlightuserdata(L, &run);
    status = lua_pcall(L, 1, 0, 0);
    if (status != LUA_OK)
        code = fail(L, status, line, err);
    lua_close(L);
    return code;
}

/* See request_script.h. SPDX-License-Identifier: MIT */
#include "shell/request_script.h"
#include "shell/interrupt.h"
#include "shell/sandbox.h"
#include "shell/scripts.h"

#include "scripting/scripting.h"

#include <lauxlib.h>

#define MEMORY_SIZE ((size_t)64 << 20) /* of Lua, as --safe has it */
#define QUERY_SIZE ((size_t)64 << 20)  /* of what all open queries hold */

struct request_script {
    struct session *session;
    const char *text;
    struct colander_buffer json;
    struct colander_row_builder *builder; /* of the rows of a walk */
    uint64_t line_count;
    struct sandbox_memory memory;
};

static const char self_key; /* its address: the script in the registry */

static struct request_script *
self(lua_State *L)
{
    struct request_script *script;

    lua_rawgetp(L, LUA_REGISTRYINDEX, &self_key);
    script = lua_touserdata(L, -1);
    lua_pop(L, 1);
    return script;
}

/* ------------------------------------------------------------- printing --- */

/* Prints a line: a row with its key, or without one. */
static void
print_line(lua_State *L, struct colander_slice key, struct colander_slice row)
{
    struct request_script *script = self(L);
    struct colander_buffer *json = &script->json;
    FILE *out = session_out(script->session);
    struct colander_value columns = colander_null();
    struct colander_error err;
    enum colander_code code;

    columns.type = COLANDER_MAP;
    columns.bytes = row;
    colander_buffer_clear(json);
    code = key.size > 0 ? colander_json_append_row(json, key, row, &err)
                        : colander_json_append_value(json, &columns, &err);
    if (code == COLANDER_OK)
        code = colander_buffer_append(json, "\n", 1, &err);
    if (code == COLANDER_OK &&
        fwrite(json->data, 1, json->size, out) != json->size)
        code = COLANDER_FAIL(&err, COLANDER_CANCELLED, "cancelled");
    if (code == COLANDER_OK && interrupt_happened())
        code = COLANDER_FAIL(&err, COLANDER_CANCELLED, "cancelled");
    if (code != COLANDER_OK)
        scripting_raise(L, &err);
    script->line_count++;
}

static void
print_query(lua_State *L, int index)
{
    struct scripting_query query;
    struct colander_result result;

    scripting_query_begin(L, index, &query);
    while (scripting_query_next(L, index, &result))
        print_line(L, result.key, result.row);
    scripting_query_end(L, index);
}

static void
print_groups(lua_State *L, int index)
{
    const struct colander_slice none = {NULL, 0};
    struct colander_slice row;
    size_t count;
    int run;

    (void)scripting_groups_begin(L, index, &count);
    run = lua_gettop(L);
    while (scripting_groups_next(L, run, &row))
        print_line(L, none, row);
    lua_pop(L, 1);
}

/* Prints a row, or a table as one. Any other value is the column of one. */
static void
print_columns(lua_State *L, int index)
{
    struct colander_slice key, row;

    if (scripting_kind_of(L, index) != SCRIPTING_ROW &&
        !lua_istable(L, index)) {
        lua_createtable(L, 0, 1);
        lua_pushvalue(L, index);
        lua_setfield(L, -2, "value");
        lua_replace(L, index);
    }
    scripting_get_row(L, index, &key, &row);
    print_line(L, key, row);
}

/* Prints the values of a walk, and their measures, if they have some. */
static void
print_walk(lua_State *L, int index)
{
    struct colander_row_builder *builder = self(L)->builder;
    const struct colander_slice none = {NULL, 0};
    struct colander_value value, measure;
    const char *by;
    const char *name;

    scripting_walk_names(L, index, &by, &name);
    if (name != NULL && strcmp(by, name) == 0) /* the column is "count" */
        name = "rows";
    while (scripting_walk_next(L, index, &value, &measure)) {
        struct colander_slice row;
        struct colander_error err;

        colander_row_builder_add(builder, by, value);
        if (name != NULL)
            colander_row_builder_add(builder, name, measure);
        if (colander_row_builder_finish(builder, &row, &err) != COLANDER_OK)
            scripting_raise(L, &err);
        print_line(L, none, row);
    }
}

/* print(value...), for a client */
static int
print_values(lua_State *L)
{
    const int count = lua_gettop(L);

    for (int i = 1; i <= count; i++) {
        switch (scripting_kind_of(L, i)) {
        case SCRIPTING_QUERY:
            print_query(L, i);
            break;
        case SCRIPTING_GROUPS:
            print_groups(L, i);
            break;
        case SCRIPTING_WALK:
            print_walk(L, i);
            break;
        case SCRIPTING_ROW:
        case SCRIPTING_PLAIN:
            print_columns(L, i);
            break;
        }
    }
    return 0;
}

/* -------------------------------------------------------------- running --- */

/* Returns whether a family exists under the name at 2, or nil if its handle is
 * closed. */
static int
family_exists(lua_State *L)
{
    struct colander_family *family = scripting_family_at(L, 1);

    if (family == NULL)
        return 0;
    lua_pushboolean(L, colander_family_exists(family) &&
                           strcmp(colander_family_name(family),
                                  luaL_checkstring(L, 2)) == 0);
    return 1;
}

static void
furnish(lua_State *L, struct request_script *script)
{
    lua_pushlightuserdata(L, script);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &self_key);
    sandbox_open(L);
    luaL_requiref(L, "colander", luaopen_colander, 1);
    scripting_confine_to_reads(L, QUERY_SIZE);
    lua_pop(L, 1);
    scripting_set_watch(L, interrupt_watch, interrupt_happened);
    scripts_load(L, "globals");
    scripting_push_store(L, script->session->store);
    lua_pushcfunction(L, family_exists);
    lua_call(L, 2, 0);
    lua_pushcfunction(L, print_values);
    lua_setglobal(L, "print");
    scripts_load(L, "request_script");
    lua_call(L, 0, 0);
}

/* In protected mode: runs the script, and prints what it returns. */
static int
run(lua_State *L)
{
    struct request_script *script = lua_touserdata(L, 1);

    lua_settop(L, 0);
    furnish(L, script);
    sandbox_look_for_end(L);
    if (luaL_loadbufferx(L, script->text, strlen(script->text), "=script",
                         "t") != LUA_OK)
        return lua_error(L);
    lua_call(L, 0, LUA_MULTRET);
    return print_values(L);
}

/* In protected mode, as a script may have made the value of an error. */
static int
describe(lua_State *L)
{
    luaL_tolstring(L, 1, NULL);
    return 1;
}

static enum session_exit
fail(lua_State *L, struct request_script *script, int status)
{
    struct colander_error err;
    enum colander_code code = scripting_error_code(L, -1);
    const char *text;

    if (code == COLANDER_OK)
        code = status == LUA_ERRMEM ? COLANDER_LIMIT : COLANDER_INVALID;
    lua_pushcfunction(L, describe);
    lua_insert(L, -2);
    if (lua_pcall(L, 1, 1, 0) != LUA_OK || lua_tostring(L, -1) == NULL)
        text = "an error without text";
    else
        text = lua_tostring(L, -1);
    (void)COLANDER_FAIL(&err, code, "%s", text);
    return session_misused(script->session, &err);
}

enum session_exit
request_script_run(struct session *session, const char *text)
{
    struct request_script script = {
        .session = session,
        .text = text,
        .memory = {.max = MEMORY_SIZE, .member_max = SANDBOX_MEMBERS},
        .builder = colander_row_builder_create(),
    };
    enum session_exit exit = SESSION_FINE;
    struct colander_error err;
    lua_State *L = sandbox_new_state(&script.memory);
    int status = LUA_OK;

    if (L == NULL || script.builder == NULL) {
        (void)COLANDER_FAIL(&err, COLANDER_NO_MEMORY, "no memory for Lua");
        exit = session_fail(session, &err);
    } else {
        lua_pushcfunction(L, run);
        lua_pushlightuserdata(L, &script);
        status = lua_pcall(L, 1, 0, 0);
        if (status != LUA_OK)
            exit = fail(L, &script, status);
    }
    if (L != NULL)
        lua_close(L);
    colander_row_builder_destroy(script.builder);
    colander_buffer_release(&script.json);
    session_add_fact(session, "lines", script.line_count);
    return exit;
}

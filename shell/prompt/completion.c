/*
 * Completion: see completion.h. What it offers is in completion.lua.
 *
 * SPDX-License-Identifier: MIT
 */
#include "shell/prompt/completion.h"
#include "shell/column_stats.h"
#include "shell/command.h"
#include "shell/scripts.h"

#include <glob.h>
#include <lauxlib.h>
#include <stdlib.h>

#define SEEN_ROWS 500  /* whose columns are known */
#define FILES_MAX 1000 /* that are offered */

/* Pushes a list of the columns of the statistics at 1. */
static int
push_paths(lua_State *L)
{
    const struct column_stats *stats = lua_touserdata(L, 1);

    lua_newtable(L);
    for (size_t i = 0; i < column_stats_count(stats); i++) {
        lua_pushstring(L, column_stats_get(stats, i)->path);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    return 1;
}

/* Returns the columns of the family called 1. Upvalue: the store. */
static int
read_columns(lua_State *L)
{
    struct colander_store *store = lua_touserdata(L, lua_upvalueindex(1));
    struct column_stats *stats = column_stats_create();
    struct colander_family *family = NULL;
    int status;

    if (stats == NULL)
        return luaL_error(L, "not enough memory");
    /* what was read before a failure is good enough */
    if (colander_family_open(store, luaL_checkstring(L, 1), &family, NULL) ==
        COLANDER_OK)
        (void)!column_stats_read_sample(stats, family, SEEN_ROWS, NULL);
    colander_family_close(family);
    lua_pushcfunction(L, push_paths);
    lua_pushlightuserdata(L, stats);
    status = lua_pcall(L, 1, 1, 0);
    column_stats_destroy(stats);
    return status == LUA_OK ? 1 : lua_error(L);
}

/* Returns the names of files that begin with the text 1, those of directories
 * with a slash. */
static int
list_files(lua_State *L)
{
    const char *begin = luaL_checkstring(L, 1);
    glob_t found;
    char *pattern = NULL;
    int status = GLOB_NOMATCH;

    if (strpbrk(begin, "*?[\\") == NULL && asprintf(&pattern, "%s*", begin) > 0)
        status = glob(pattern, GLOB_MARK, NULL, &found);
    free(pattern);
    lua_newtable(L);
    if (status != 0)
        return 1;
    for (size_t i = 0; i < found.gl_pathc && i < FILES_MAX; i++) {
        lua_pushstring(L, found.gl_pathv[i]);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    globfree(&found);
    return 1;
}

/* Pushes a table of all dot commands, each with a list of its options. */
static void
push_commands(lua_State *L, const struct session *session)
{
    const struct command *command;

    lua_newtable(L);
    for (size_t i = 0; (command = command_at(session, i)) != NULL; i++) {
        const struct argument_option *option = command->options;
        lua_Integer count = 0;

        lua_newtable(L);
        for (; option->name != NULL; option++) {
            if (option->instead != NULL || option->name[0] == '\0')
                continue;
            lua_pushfstring(L, "--%s", option->name);
            lua_rawseti(L, -2, ++count);
        }
        lua_setfield(L, -2, command->name);
    }
}

/* Returns what to add to the line at 2, and what may follow. */
static int
complete(lua_State *L)
{
    const struct completion *completion = lua_touserdata(L, 1);
    const struct session *session = completion->session;

    scripts_push(L, "completion");
    lua_pushvalue(L, 2);
    push_commands(L, session);
    lua_pushlightuserdata(L, session->store);
    lua_pushcclosure(L, read_columns, 1);
    lua_pushinteger(L, (lua_Integer)(session->client == NULL
                                         ? output_width()
                                         : session->style.width));
    if (session->client == NULL)
        lua_pushcfunction(L, list_files);
    else
        lua_pushnil(L); /* the files are of the server */
    lua_call(L, 5, 2);
    return 2;
}

/* Fills the buffer with the string at `index`; nothing if it is nil. */
static void
take_text(lua_State *L, int index, struct colander_buffer *text)
{
    const char *bytes = lua_tostring(L, index);

    if (bytes != NULL)
        (void)!colander_buffer_append(text, bytes, strlen(bytes) + 1, NULL);
}

void
completion_find(void *context, struct colander_slice line,
                struct colander_buffer *added, struct colander_buffer *listing)
{
    struct completion *completion = context;
    lua_State *L = interpreter_state(completion->interpreter);

    lua_pushcfunction(L, complete);
    lua_pushlightuserdata(L, completion);
    lua_pushlstring(L, (const char *)line.data, line.size);
    if (lua_pcall(L, 2, 2, 0) == LUA_OK) {
        take_text(L, -2, added);
        take_text(L, -1, listing);
    }
    lua_settop(L, 0);
}

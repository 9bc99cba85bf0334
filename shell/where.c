/*
 * Where: see where.h.
 *
 * At the bottom of the state's stack are the function that tells of errors, the
 * one that judges a row, the table of names, and the expressions, in the order
 * in which they were added. Nothing is done outside protected calls that could
 * raise an error.
 *
 * SPDX-License-Identifier: MIT
 */
#include "shell/where.h"
#include "scripting/scripting.h"
#include "shell/interrupt.h"
#include "shell/text.h"

#include <ctype.h>
#include <lauxlib.h>
#include <lualib.h>
#include <stdlib.h>

#define CHUNK "where"          /* what Lua calls the expressions */
#define KEY_SIZE_SHOWN 100     /* of a key in a message */
#define POLL_INSTRUCTIONS 1000 /* of Lua between looks for Ctrl-C */

enum { HANDLER = 1, JUDGE, NAMES, EXPRESSIONS };

struct where {
    lua_State *L;
    size_t memory; /* bytes that Lua holds */
    const char **texts;
    size_t count;
};

/* --------------------------------------------------------------- state --- */

static void *
allocate(void *user, void *old, size_t old_size, size_t size)
{
    struct where *where = user;
    size_t held = old == NULL ? 0 : old_size; /* else it is a type */
    void *memory;

    if (size == 0) {
        where->memory -= held;
        free(old);
        return NULL;
    }
    if (size > held && where->memory - held + size > WHERE_MEMORY_MAX)
        return NULL;
    memory = realloc(old, size);
    if (memory != NULL)
        where->memory += size - held;
    return memory;
}

static void
poll_interrupt(lua_State *L, lua_Debug *activation)
{
    (void)activation;
    if (interrupt_happened())
        luaL_error(L, "interrupted");
}

/* Any error, as a text. */
static int
tell(lua_State *L)
{
    (void)luaL_tolstring(L, 1, NULL);
    return 1;
}

/* One row to judge. */
struct judgement {
    struct colander_slice key;
    struct colander_slice row;
    size_t index; /* of the expression under way */
    bool accepts;
};

/* Upvalues: the names, their metatable, null. Arguments: the judgement, then
 * the expressions. */
static int
judge(lua_State *L)
{
    struct judgement *judgement = lua_touserdata(L, 1);
    int count = lua_gettop(L);

    judgement->accepts = true;
    scripting_push_row(L, judgement->key, judgement->row);
    lua_pushvalue(L, -1);
    lua_setfield(L, lua_upvalueindex(1), "row");
    lua_setfield(L, lua_upvalueindex(2), "__index");
    for (int i = 2; i <= count && judgement->accepts; i++) {
        judgement->index = (size_t)i - 2;
        lua_pushvalue(L, i);
        lua_call(L, 0, 1);
        judgement->accepts =
            lua_toboolean(L, -1) && !lua_rawequal(L, -1, lua_upvalueindex(3));
        lua_pop(L, 1);
    }
    return 0;
}

/* Copies fields of the table at -1 to the one at -2, and pops the former. */
static void
copy_fields(lua_State *L, const char *const *fields, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        lua_getfield(L, -1, fields[i]);
        lua_setfield(L, -3, fields[i]);
    }
    lua_pop(L, 1);
}

/* Pushes a table of what expressions have besides columns. */
static void
push_names(lua_State *L)
{
    static const char *const functions[] = {"ipairs", "pairs", "tonumber",
                                            "tostring"};
    static const char *const values[] = {"binary",    "extension", "null",
                                         "timestamp", "type",      "unsigned"};
    static const struct luaL_Reg libraries[] = {
        {LUA_STRLIBNAME, luaopen_string},
        {LUA_MATHLIBNAME, luaopen_math},
        {LUA_TABLIBNAME, luaopen_table},
        {LUA_UTF8LIBNAME, luaopen_utf8},
    };

    lua_newtable(L);
    luaL_requiref(L, LUA_GNAME, luaopen_base, 0);
    copy_fields(L, functions, sizeof(functions) / sizeof(functions[0]));
    for (size_t i = 0; i < sizeof(libraries) / sizeof(libraries[0]); i++) {
        luaL_requiref(L, libraries[i].name, libraries[i].func, 0);
        lua_setfield(L, -2, libraries[i].name);
    }
    lua_newtable(L);
    luaL_requiref(L, "colander", luaopen_colander, 0);
    copy_fields(L, values, sizeof(values) / sizeof(values[0]));
    lua_setfield(L, -2, "colander");
}

/* What is set would hide a column of the rows to come. */
static int
refuse(lua_State *L)
{
    return luaL_error(L, "an expression cannot set '%s'",
                      luaL_tolstring(L, 2, NULL));
}

/* Gives the function that judges, and the names. */
static int
open_state(lua_State *L)
{
    push_names(L);
    scripting_forgive(L);
    lua_pushboolean(L, false);
    lua_setfield(L, -2, "row"); /* is there, so that it may be set */
    lua_pushvalue(L, -1);
    lua_newtable(L);
    lua_pushcfunction(L, refuse);
    lua_setfield(L, -2, "__newindex");
    lua_pushvalue(L, -1);
    lua_setmetatable(L, -3);
    lua_getfield(L, -3, "colander");
    lua_getfield(L, -1, "null");
    lua_remove(L, -2);
    lua_pushcclosure(L, judge, 3);
    lua_insert(L, -2);
    return 2;
}

struct where *
where_create(void)
{
    struct where *where = calloc(1, sizeof(*where));

    if (where == NULL)
        return NULL;
    where->L = lua_newstate(allocate, where);
    if (where->L == NULL)
        goto fail;
    lua_pushcfunction(where->L, tell);
    lua_pushcfunction(where->L, open_state);
    if (lua_pcall(where->L, 0, 2, 0) != LUA_OK)
        goto fail;
    lua_sethook(where->L, poll_interrupt, LUA_MASKCOUNT, POLL_INSTRUCTIONS);
    return where;
fail:
    where_destroy(where);
    return NULL;
}

void
where_destroy(struct where *where)
{
    if (where == NULL)
        return;
    if (where->L != NULL)
        lua_close(where->L);
    free(where->texts);
    free(where);
}

/* ------------------------------------------------------------- reading --- */

/* An expression between two texts, given to Lua byte by byte: its parser reads
 * one byte ahead, so that what was read tells where it stopped. */
struct source {
    const char *texts[3];
    size_t index; /* of the text that is read */
    size_t read;  /* bytes of it */
    size_t total; /* bytes of all */
    bool has_ended;
};

static const char *
read_byte(lua_State *L, void *user, size_t *size)
{
    struct source *source = user;

    (void)L;
    while (source->index < 3 &&
           source->texts[source->index][source->read] == '\0') {
        source->index++;
        source->read = 0;
    }
    source->has_ended = source->index == 3;
    *size = source->has_ended ? 0 : 1;
    if (source->has_ended)
        return NULL;
    source->total++;
    return &source->texts[source->index][source->read++];
}

/* A message without the line that Lua found something in. */
static const char *
without_place(const char *message)
{
    const char *at = message;

    if (strncmp(at, CHUNK ":", strlen(CHUNK ":")) != 0)
        return message;
    at += strlen(CHUNK ":");
    while (isdigit((unsigned char)*at))
        at++;
    return strncmp(at, ": ", 2) == 0 ? at + 2 : message;
}

/* Bytes of what stands between quotes behind "near": a byte that cannot be
 * shown is '<\195>' there. */
static size_t
token_size(const char *token)
{
    size_t size = strlen(token);

    if (size < 2 || token[0] != '\'')
        return 0;
    if (strncmp(token, "'<\\", 3) == 0 && token[size - 2] == '>')
        return 1;
    return size - 2;
}

/* What is wrong, in words that fit an expression. */
static void
fail_with(const char *message, bool is_whole, const char *token,
          struct colander_error *err)
{
    static const char unexpected[] = "unexpected symbol";
    bool is_end = strcmp(token, "<eof>") == 0;
    int size = (int)(strlen(message) - strlen(token));

    if (strncmp(token, "'<\\", 3) == 0 && atoi(token + 3) >= 0x80)
        (void)COLANDER_FAIL(err, COLANDER_INVALID,
                            "names have ASCII letters here: any other column "
                            "is row[\"...\"]");
    else if (is_whole && strncmp(message, unexpected, strlen(unexpected)) == 0)
        (void)COLANDER_FAIL(err, COLANDER_INVALID, "expected an expression");
    else if (is_whole || strncmp(message, "<eof> expected", 14) == 0)
        (void)COLANDER_FAIL(err, COLANDER_INVALID,
                            "%s stands behind the expression%s", token,
                            strcmp(token, "'='") == 0 ? " (equal is ==)" : "");
    else if (strncmp(message, unexpected, strlen(unexpected)) == 0)
        (void)COLANDER_FAIL(err, COLANDER_INVALID, "expected an expression%s%s",
                            is_end ? "" : " instead of ", is_end ? "" : token);
    else if (is_end)
        (void)COLANDER_FAIL(err, COLANDER_INVALID, "%.*sat the end",
                            size - (int)strlen("near "), message);
    else
        (void)COLANDER_FAIL(err, COLANDER_INVALID, "%s", message);
}

/* Tells of the error on top of the stack. */
static enum colander_code
misread(lua_State *L, const struct source *source, bool is_whole,
        size_t *offset, struct colander_error *err)
{
    const char *message = without_place(lua_tostring(L, -1));
    const char *near = strstr(message, " near ");
    const char *token = near == NULL ? "<eof>" : near + strlen(" near ");
    size_t size = token_size(token);
    size_t lead = strlen(source->texts[0]);
    size_t end = strlen(source->texts[1]);
    size_t place = source->total - size - (source->has_ended ? 0 : 1);

    *offset = place < lead ? 0 : place - lead;
    if (*offset > end)
        *offset = end;
    if (near == NULL)
        return COLANDER_FAIL(err, COLANDER_INVALID, "%s", message);
    fail_with(message, is_whole, token, err);
    return err->code;
}

/* Pushes the function of the source, or nothing on failure. */
static enum colander_code
load(lua_State *L, struct source *source, bool is_whole, size_t *offset,
     struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;
    int status = lua_load(L, read_byte, source, "=" CHUNK, "t");

    if (status == LUA_OK)
        return COLANDER_OK;
    if (status == LUA_ERRMEM)
        code = COLANDER_FAIL(err, COLANDER_NO_MEMORY, "not enough memory");
    else
        code = misread(L, source, is_whole, offset, err);
    lua_pop(L, 1);
    return code;
}

static enum colander_code
add_text(struct where *where, const char *text, struct colander_error *err)
{
    const char **texts =
        realloc(where->texts, (where->count + 1) * sizeof(*texts));

    if (texts != NULL)
        where->texts = texts;
    if (texts == NULL ||
        !lua_checkstack(where->L, (int)where->count + LUA_MINSTACK))
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory for an expression");
    where->texts[where->count] = text;
    return COLANDER_OK;
}

/* Without parentheses, Lua stops at what does not belong to an expression, such
 * as a parenthesis too many; within them it takes one expression only, and no
 * list, and nothing for none. The line that ends ends a comment. */
enum colander_code
where_add(struct where *where, const char *text, size_t *offset,
          struct colander_error *err)
{
    struct source bare = {{"return ", text, ""}, 0, 0, 0, false};
    struct source whole = {{"return (", text, "\n)"}, 0, 0, 0, false};
    struct colander_error unasked;
    lua_State *L = where->L;
    enum colander_code code;

    if (err == NULL)
        err = &unasked;
    *offset = 0;
    code = add_text(where, text, err);
    if (code == COLANDER_OK)
        code = load(L, &bare, false, offset, err);
    if (code != COLANDER_OK)
        return code;
    lua_pop(L, 1);
    code = load(L, &whole, true, offset, err);
    if (code != COLANDER_OK)
        return code;
    lua_pushvalue(L, NAMES);
    (void)lua_setupvalue(L, -2, 1); /* _ENV: each has it, used or not */
    where->count++;
    return COLANDER_OK;
}

/* ------------------------------------------------------------- judging --- */

/* Tells of the error on top of the stack, and pops it. */
static enum colander_code
fail(struct where *where, const struct judgement *judgement, int status,
     struct colander_error *err)
{
    struct colander_buffer key = COLANDER_BUFFER_EMPTY;
    const char *message = lua_tostring(where->L, -1);
    enum colander_code code =
        status == LUA_ERRMEM ? COLANDER_NO_MEMORY : COLANDER_INVALID;

    if (interrupt_happened()) {
        code = COLANDER_FAIL(err, COLANDER_CANCELLED, "cancelled");
    } else if (text_append_key(&key, judgement->key, err) != COLANDER_OK) {
        code = err->code;
    } else {
        (void)COLANDER_FAIL(
            err, code, "row '%.*s': %.250s: in --where '%.200s'",
            key.size < KEY_SIZE_SHOWN ? (int)key.size : KEY_SIZE_SHOWN,
            (const char *)key.data,
            message == NULL ? "an error" : without_place(message),
            where->texts[judgement->index]);
    }
    colander_buffer_release(&key);
    lua_pop(where->L, 1);
    return code;
}

enum colander_code
where_accepts(struct where *where, struct colander_slice key,
              struct colander_slice row, bool *accepts,
              struct colander_error *err)
{
    struct judgement judgement = {key, row, 0, false};
    lua_State *L = where->L;
    int status;

    lua_pushvalue(L, JUDGE);
    lua_pushlightuserdata(L, &judgement);
    for (size_t i = 0; i < where->count; i++)
        lua_pushvalue(L, EXPRESSIONS + (int)i);
    status = lua_pcall(L, (int)where->count + 1, 0, HANDLER);
    *accepts = judgement.accepts;
    return status == LUA_OK ? COLANDER_OK
                            : fail(where, &judgement, status, err);
}

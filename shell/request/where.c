/*
 * Where: see where.h.
 *
 * The stack begins with the message handler, the functions that add an
 * expression, list its columns and comparisons and judge a row, and the
 * expressions in the order in which they were added. Whatever may raise an
 * error runs in a protected call.
 *
 * SPDX-License-Identifier: MIT
 */
#include "shell/where.h"
#include "core/array.h"
#include "scripting/scripting.h"
#include "shell/interrupt.h"
#include "shell/sandbox.h"
#include "shell/scripts.h"
#include "shell/text.h"

#include <lauxlib.h>
#include <stdlib.h>

#define CHUNK "where"          /* what Lua calls the expressions */
#define KEY_SIZE_SHOWN 100     /* of a key in a message */
#define POLL_INSTRUCTIONS 1000 /* of Lua between two checks for Ctrl-C */

enum { HANDLER = 1, ADD, COLUMNS, COMPARISONS, JUDGE, EXPRESSIONS };

#define COMPARISONS_MAX 20 /* that a hint looks at */

struct where {
    lua_State *L;
    struct sandbox_memory memory; /* of Lua */
    const char **texts;
    size_t count;
    size_t capacity;
};

/* --------------------------------------------------------------- state --- */

static void
poll_interrupt(lua_State *L, lua_Debug *activation)
{
    (void)activation;
    if (interrupt_happened())
        luaL_error(L, "interrupted");
}

/* Turns any error into a text. */
static int
describe_error(lua_State *L)
{
    (void)luaL_tolstring(L, 1, NULL);
    return 1;
}

struct judgement {
    struct colander_slice key;
    struct colander_slice row;
    size_t index; /* of the current expression */
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

/* Returns the function that adds an expression, those that list its columns and
 * its comparisons, and the one that judges. */
static int
open_state(lua_State *L)
{
    sandbox_open(L);
    luaL_requiref(L, "colander", luaopen_colander, 1);
    lua_pop(L, 1);
    scripting_be_lenient(L);
    scripts_load(L, "where");
    lua_call(L, 0, 6);
    lua_pushcclosure(L, judge, 3);
    return 4;
}

struct where *
where_create(void)
{
    struct where *where = calloc(1, sizeof(*where));

    if (where == NULL)
        return NULL;
    where->memory.max = WHERE_MEMORY_MAX;
    where->L = sandbox_new_state(&where->memory);
    if (where->L == NULL)
        goto fail;
    lua_pushcfunction(where->L, describe_error);
    lua_pushcfunction(where->L, open_state);
    if (lua_pcall(where->L, 0, 4, 0) != LUA_OK)
        goto fail;
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

static enum colander_code
add_text(struct where *where, const char *text, struct colander_error *err)
{
    enum colander_code code =
        array_reserve(&where->texts, where->count, &where->capacity, 1, err);

    if (code != COLANDER_OK)
        return code;
    if (!lua_checkstack(where->L, (int)where->count + LUA_MINSTACK))
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory for an expression");
    where->texts[where->count] = text;
    return COLANDER_OK;
}

/* Calls the function at 1 with the C string at 2. Returns two results. */
static int
call_with_text(lua_State *L)
{
    lua_pushstring(L, lua_touserdata(L, 2));
    lua_replace(L, 2);
    lua_call(L, 1, 2);
    return 2;
}

enum colander_code
where_add(struct where *where, const char *text, size_t *offset,
          struct colander_error *err)
{
    lua_State *L = where->L;
    enum colander_code code = add_text(where, text, err);
    const char *message;

    *offset = 0;
    if (code != COLANDER_OK)
        return code;
    lua_sethook(L, NULL, 0, 0);
    lua_pushcfunction(L, call_with_text);
    lua_pushvalue(L, ADD);
    lua_pushlightuserdata(L, (void *)text);
    if (lua_pcall(L, 2, 2, HANDLER) != LUA_OK)
        lua_pushinteger(L, 0);
    if (lua_isfunction(L, -2)) {
        lua_pop(L, 1);
        where->count++;
        lua_sethook(L, poll_interrupt, LUA_MASKCOUNT, POLL_INSTRUCTIONS);
        return COLANDER_OK;
    }
    message = lua_tostring(L, -2);
    *offset = (size_t)lua_tointeger(L, -1);
    code = strcmp(message, "not enough memory") == 0 ? COLANDER_NO_MEMORY
                                                     : COLANDER_INVALID;
    (void)COLANDER_FAIL(err, code, "%s", message);
    lua_pop(L, 2);
    return code;
}

/* ------------------------------------------------------------- judging --- */

/* Returns the message without the line that Lua puts before it. */
static const char *
without_place(const char *message)
{
    int size = 0;

    (void)sscanf(message, CHUNK ":%*[0-9]: %n", &size);
    return message + size;
}

/* Fails with the error on top of the stack, and pops it. */
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

/* ------------------------------------------------------------- columns --- */

size_t
where_columns(struct where *where, const char **paths, size_t count)
{
    lua_State *L = where->L;
    size_t found = 0;

    lua_sethook(L, NULL, 0, 0);
    for (size_t i = 0; i < where->count && lua_checkstack(L, LUA_MINSTACK);
         i++) {
        lua_pushcfunction(L, call_with_text);
        lua_pushvalue(L, COLUMNS);
        lua_pushlightuserdata(L, (void *)where->texts[i]);
        if (lua_pcall(L, 2, 1, 0) != LUA_OK)
            break; /* memory is short */
        for (size_t j = 1; found < count; j++) {
            if (lua_rawgeti(L, -1, (lua_Integer)j) != LUA_TSTRING)
                break;
            paths[found++] = lua_tostring(L, -1);
            lua_pop(L, 1); /* the list keeps it */
        }
    } /* the lists stay on the stack */
    return found;
}

/* Returns the condition of a list of comparisons, on top of the stack, that
 * begins at `at`; NULL after the last. */
static struct colander_predicate *
comparison_at(lua_State *L, lua_Integer at)
{
    struct colander_predicate *predicate = NULL;
    struct colander_value value = colander_null();

    (void)lua_rawgeti(L, -1, at);
    (void)lua_rawgeti(L, -2, at + 1);
    (void)lua_rawgeti(L, -3, at + 2);
    if (lua_isboolean(L, -2))
        value = colander_boolean(lua_toboolean(L, -2));
    else if (lua_isinteger(L, -2))
        value = colander_integer(lua_tointeger(L, -2));
    else if (lua_type(L, -2) == LUA_TNUMBER)
        value = colander_double(lua_tonumber(L, -2));
    else if (lua_type(L, -2) == LUA_TSTRING)
        value = colander_text(lua_tostring(L, -2));
    if (value.type != COLANDER_NULL)
        predicate =
            lua_toboolean(L, -1)
                ? colander_where_written(lua_tostring(L, -3),
                                         COLANDER_OPERATOR_GE, &value, 1, NULL)
                : colander_where(lua_tostring(L, -3), COLANDER_EQ, value, NULL);
    lua_pop(L, 3);
    return predicate;
}

struct colander_predicate *
where_comparisons(struct where *where)
{
    lua_State *L = where->L;
    struct colander_predicate *found[COMPARISONS_MAX];
    size_t count = 0;

    lua_sethook(L, NULL, 0, 0);
    for (size_t i = 0; i < where->count && lua_checkstack(L, LUA_MINSTACK);
         i++) {
        lua_pushcfunction(L, call_with_text);
        lua_pushvalue(L, COMPARISONS);
        lua_pushlightuserdata(L, (void *)where->texts[i]);
        if (lua_pcall(L, 2, 1, 0) == LUA_OK) {
            for (lua_Integer at = 1; count < COMPARISONS_MAX; at += 3) {
                found[count] = comparison_at(L, at);
                if (found[count] == NULL)
                    break;
                count++;
            }
        }
        lua_pop(L, 1);
    }
    return count > 0 ? colander_all_of(found, count, NULL) : NULL;
}

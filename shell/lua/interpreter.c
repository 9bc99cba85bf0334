/* See interpreter.h. SPDX-License-Identifier: MIT */
#include "shell/interpreter.h"
#include "shell/interrupt.h"
#include "shell/lua/coroutines.h"
#include "shell/lua/suggestion.h"
#include "shell/pager.h"
#include "shell/sandbox.h"
#include "shell/scripts.h"
#include "shell/text.h"

#include "scripting/scripting.h"

#include <lauxlib.h>
#include <lualib.h>
#include <stdlib.h>

/* What Lua may use for clients: those that are trusted, and others, for which
 * queries may use as much. */
#define TRUSTED_CLIENT_SIZE ((size_t)1 << 30)
#define CLIENT_SIZE ((size_t)64 << 20)
#define CLIENT_QUERY_SIZE ((size_t)64 << 20)

struct interpreter {
    struct session *session;
    lua_State *L;
    bool is_safe;      /* scripts are not trusted */
    bool is_sandboxed; /* they have the libraries of the sandbox */
    struct sandbox_memory memory;
    enum interpreter_detail detail; /* of the current call */
    enum colander_code code;        /* of the error that ended it */
};

static const char self_key; /* its address: the interpreter in the registry */

static struct interpreter *
self(lua_State *L)
{
    struct interpreter *interpreter;

    lua_rawgetp(L, LUA_REGISTRYINDEX, &self_key);
    interpreter = lua_touserdata(L, -1);
    lua_pop(L, 1);
    return interpreter;
}

/* ------------------------------------------------------------- globals --- */

/* os.exit([status]): Lua's, but it always closes the store first */
static int
exit_program(lua_State *L)
{
    struct interpreter *interpreter = self(L);
    struct session *session = interpreter->session;
    struct colander_error err;
    int status = EXIT_SUCCESS;

    if (lua_isboolean(L, 1))
        status = lua_toboolean(L, 1) ? EXIT_SUCCESS : EXIT_FAILURE;
    else
        status = (int)luaL_optinteger(L, 1, EXIT_SUCCESS);
    coroutines_end(L);
    pager_end();
    lua_close(L); /* given a coroutine, closes the whole state */
    if (session_close(session, &err) != COLANDER_OK)
        status = (int)session_fail(session, &err);
    if (output_flush(stdout, &err) != COLANDER_OK && status == 0)
        status = (int)session_fail(session, &err);
    exit(status);
}

static void
replace_exit(lua_State *L)
{
    lua_getglobal(L, LUA_OSLIBNAME);
    lua_pushcfunction(L, exit_program);
    lua_setfield(L, -2, "exit");
    lua_pop(L, 1);
}

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

/* print(value...), for a client: Lua's */
static int
print_for_client(lua_State *L)
{
    FILE *out = session_out(self(L)->session);
    const int count = lua_gettop(L);

    for (int i = 1; i <= count; i++) {
        size_t size;
        const char *text = luaL_tolstring(L, i, &size);

        if (i > 1)
            (void)fputc('\t', out);
        (void)fwrite(text, 1, size, out);
        lua_pop(L, 1);
    }
    (void)fputc('\n', out);
    return 0;
}

/* io.write(value...), for a client: Lua's, but it returns nothing */
static int
write_for_client(lua_State *L)
{
    FILE *out = session_out(self(L)->session);
    const int count = lua_gettop(L);

    for (int i = 1; i <= count; i++) {
        size_t size;
        const char *text = luaL_checklstring(L, i, &size);

        (void)fwrite(text, 1, size, out);
    }
    return 0;
}

/* Replaces what would print in the server. Clients that are not trusted only
 * read, as by POST /lua, and have nothing that could not be stopped. */
static void
furnish_for_client(lua_State *L, const struct session_client *client)
{
    lua_pushcfunction(L, print_for_client);
    lua_setglobal(L, "print");
    lua_createtable(L, 0, 1);
    lua_pushcfunction(L, write_for_client);
    lua_setfield(L, -2, "write");
    lua_setglobal(L, LUA_IOLIBNAME);
    if (client->is_trusted)
        return;
    scripts_load(L, "request_script");
    lua_call(L, 0, 0);
}

/* Fills a new state. Called in protected mode. */
static int
furnish(lua_State *L)
{
    struct interpreter *interpreter = lua_touserdata(L, 1);
    const struct session_client *client = interpreter->session->client;

    if (interpreter->is_sandboxed) {
        sandbox_open(L);
    } else {
        luaL_openlibs(L);
        coroutines_track(L);
        replace_exit(L);
    }
    lua_pushlightuserdata(L, interpreter);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &self_key);
    luaL_requiref(L, "colander", luaopen_colander, 1);
    if (client != NULL && !client->is_trusted)
        scripting_confine_to_reads(L, CLIENT_QUERY_SIZE);
    else if (interpreter->is_sandboxed)
        scripting_confine(L);
    lua_pop(L, 1);
    scripting_set_watch(L, interrupt_watch, interrupt_happened);
    scripting_push_store(L, interpreter->session->store);
    scripts_keep(L, "inspect");
    if (!interpreter->is_safe || (client != NULL && client->facts == NULL))
        scripts_keep(L, "completion"); /* someone may type */
    if (!interpreter->is_safe) {
        scripts_keep(L, "words");
        scripts_push(L, "words");
        lua_setglobal(L, "help");
    }
    scripts_load(L, "globals");
    lua_insert(L, -2);
    lua_pushcfunction(L, family_exists);
    lua_call(L, 2, 0);
    if (client != NULL)
        furnish_for_client(L, client);
    return 0;
}

/* ---------------------------------------------------------------- life --- */

enum colander_code
interpreter_create(struct session *session, size_t memory_size,
                   struct interpreter **interpreter, struct colander_error *err)
{
    struct interpreter *created = calloc(1, sizeof(*created));

    *interpreter = NULL;
    if (session->client != NULL)
        memory_size =
            session->client->is_trusted ? TRUSTED_CLIENT_SIZE : CLIENT_SIZE;
    if (created != NULL) {
        created->is_sandboxed = memory_size > 0;
        created->is_safe =
            created->is_sandboxed &&
            (session->client == NULL || !session->client->is_trusted);
        created->memory.max = memory_size;
        if (session->client != NULL && created->is_safe)
            created->memory.member_max = SANDBOX_MEMBERS;
        created->L = created->is_sandboxed ? sandbox_new_state(&created->memory)
                                           : luaL_newstate();
    }
    if (created == NULL || created->L == NULL) {
        free(created);
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for Lua");
    }
    created->session = session;
    lua_pushcfunction(created->L, furnish);
    lua_pushlightuserdata(created->L, created);
    if (lua_pcall(created->L, 1, 0, 0) != LUA_OK) {
        COLANDER_FAIL(err, COLANDER_NO_MEMORY, "cannot start Lua: %s",
                      lua_tostring(created->L, -1));
        interpreter_destroy(created);
        return COLANDER_NO_MEMORY;
    }
    *interpreter = created;
    return COLANDER_OK;
}

void
interpreter_destroy(struct interpreter *interpreter)
{
    if (interpreter == NULL)
        return;
    lua_close(interpreter->L);
    free(interpreter);
}

lua_State *
interpreter_state(struct interpreter *interpreter)
{
    return interpreter->L;
}

/* ---------------------------------------------------------------- calls --- */

/* Whether the error is that a client's Lua lacks what needs the files or the
 * process of its user. */
static bool
is_of_missing(const struct session_client *client, const char *text)
{
    static const char *const names[] = {
        "backup",  "dofile",   "execute", "exit",   "getenv",
        "lines",   "loadfile", "open",    "popen",  "read",
        "require", "remove",   "rename",  "tmpname"};
    const char *at = strstr(text, "attempt to call a nil value (");
    const char *name = at == NULL ? NULL : strchr(at, '\'');

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const size_t size = strlen(names[i]);

        if (client != NULL && name != NULL &&
            strncmp(name + 1, names[i], size) == 0 && name[size + 1] == '\'')
            return true;
    }
    return false;
}

/* Turns an error into a text, with a traceback if that is wanted. */
static int
describe_error(lua_State *L)
{
    struct interpreter *interpreter = self(L);

    interpreter->code = scripting_error_code(L, 1);
    luaL_tolstring(L, 1, NULL);
    if (is_of_missing(interpreter->session->client, lua_tostring(L, -1))) {
        lua_pushliteral(L, "\nthis Lua runs in the server, without files, "
                           "other programs, os.exit and db:backup");
        lua_concat(L, 2);
    } else if (interpreter->is_safe) {
        suggestion_add_safe(L);
    } else {
        suggestion_add(L, interpreter->session->store);
    }
    if (interpreter->detail == INTERPRETER_TRACEBACK)
        luaL_traceback(L, L, lua_tostring(L, -1), 1);
    return 1;
}

/* Prints a text of several lines, without control characters. */
static void
complain_of(const struct session *session, const char *text)
{
    size_t size = strcspn(text, "\n");

    session_complain(session, SESSION_FINE, "%.*s", (int)size, text);
    for (text += size; *text == '\n'; text += size) {
        if (*++text == '\t') { /* as tracebacks are */
            fputs("    ", session_err(session));
            text++;
        }
        size = strcspn(text, "\n");
        text_complain(session_err(session), colander_slice_of(text, size));
    }
}

/* Prints the error on the stack, which came with `code`. */
static enum session_exit
fail(struct interpreter *interpreter, enum colander_code code)
{
    const struct session *session = interpreter->session;
    const char *text = lua_tostring(interpreter->L, -1);
    enum session_exit status = SESSION_FAILED;

    if (interrupt_happened() && !interrupt_left_unread()) {
        status = session_complain(session, SESSION_INTERRUPTED, "interrupted");
    } else if (interrupt_left_unread() || code == COLANDER_CANCELLED) {
        status = SESSION_UNREAD;
    } else {
        complain_of(session, text == NULL ? "an error without text" : text);
        if (code == COLANDER_CORRUPT || code == COLANDER_IO)
            status = SESSION_DAMAGED;
    }
    lua_pop(interpreter->L, 1);
    return status;
}

enum session_exit
interpreter_fail(struct interpreter *interpreter)
{
    return fail(interpreter, COLANDER_INVALID);
}

enum session_exit
interpreter_call(struct interpreter *interpreter, int argument_count,
                 enum interpreter_detail detail)
{
    lua_State *L = interpreter->L;
    const int base = lua_gettop(L) - argument_count;
    int status;

    interpreter->detail = detail;
    interpreter->code = COLANDER_OK;
    lua_pushcfunction(L, describe_error);
    lua_insert(L, base);
    if (interpreter->session->client != NULL)
        sandbox_look_for_end(L);
    else
        coroutines_begin(L);
    status = lua_pcall(L, argument_count, LUA_MULTRET, base);
    if (interpreter->session->client == NULL)
        coroutines_end(L);
    lua_remove(L, base);
    return status == LUA_OK ? SESSION_FINE
                            : fail(interpreter, interpreter->code);
}

/* -------------------------------------------------------------- scripts --- */

static void
set_arguments(lua_State *L, const char *name, const char *const *words,
              size_t word_count)
{
    lua_createtable(L, (int)word_count, 1);
    lua_pushstring(L, name);
    lua_rawseti(L, -2, 0);
    for (size_t i = 0; i < word_count; i++) {
        lua_pushstring(L, words[i]);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    lua_setglobal(L, "arg");
}

/* Loads a script as Lua loads a file: skips a first line that begins with #. */
static int
load_text(lua_State *L, const char *name, struct colander_slice text)
{
    static const char mark[] = "\xEF\xBB\xBF"; /* of UTF-8 */
    size_t first = 0;
    int loaded;

    if (text.size >= 3 && memcmp(text.data, mark, 3) == 0)
        text = colander_slice_of(text.data + 3, text.size - 3);
    if (text.size > 0 && text.data[0] == '#') {
        while (first < text.size && text.data[first] != '\n')
            first++;
    }
    lua_pushfstring(L, strcmp(name, "-") == 0 ? "=stdin" : "@%s", name);
    loaded = luaL_loadbufferx(L, (const char *)text.data + first,
                              text.size - first, lua_tostring(L, -1), "t");
    lua_remove(L, -2);
    return loaded;
}

enum session_exit
interpreter_run_script(struct interpreter *interpreter, const char *name,
                       struct colander_slice text, const char *const *words,
                       size_t word_count)
{
    lua_State *L = interpreter->L;
    enum session_exit status;
    int loaded;

    if (text.data != NULL)
        loaded = load_text(L, name, text);
    else
        loaded = luaL_loadfilex(L, strcmp(name, "-") == 0 ? NULL : name, "t");
    if (loaded != LUA_OK)
        return interpreter_fail(interpreter);
    if (!lua_checkstack(L, (int)word_count + LUA_MINSTACK))
        return session_complain(interpreter->session, SESSION_USAGE,
                                "too many words");
    set_arguments(L, name, words, word_count);
    for (size_t i = 0; i < word_count; i++)
        lua_pushstring(L, words[i]);
    status =
        interpreter_call(interpreter, (int)word_count, INTERPRETER_TRACEBACK);
    lua_settop(L, 0);
    return status;
}

/*
 * Any bytes as an untrusted script, or as calls of the module with arguments of
 * any type: nothing crashes, leaks, or exceeds its memory limit, a find returns
 * what matches, and the store is intact afterwards.
 *
 * The first byte selects the kind. lua_calls.lua makes the calls. A script has
 * what the sandbox allows, except for functions that no limit of this process
 * can end: the program kills its process for those.
 *
 * SPDX-License-Identifier: MIT
 */
#include "colander.h"
#include "fuzz/store.h"
#include "scripting/scripting.h"
#include "shell/sandbox.h"

#include <lauxlib.h>

#define MEMORY_MAX ((size_t)32 << 20) /* of Lua */
#define INSTRUCTIONS_MAX 300000
#define COUNTED_INSTRUCTIONS 1000

/* ---------------------------------------------------------------- state --- */

/* How many instructions a state has run. */
struct run {
    unsigned count; /* in thousands */
};

/* Ends what takes too long: from then on at each instruction, so that no pcall
 * continues. */
static void
count_instructions(lua_State *L, lua_Debug *activation)
{
    struct run *run = *(struct run **)lua_getextraspace(L);

    (void)activation;
    if (++run->count < INSTRUCTIONS_MAX / COUNTED_INSTRUCTIONS)
        return;
    lua_sethook(L, count_instructions, LUA_MASKCOUNT, 1);
    (void)luaL_error(L, "too many instructions");
}

/* colander.open: opens another store, the same one for all paths. */
static int
open_other(lua_State *L)
{
    luaL_checkstring(L, 1);
    lua_pushfstring(L, "%s/other", fuzz_directory);
    lua_replace(L, 1);
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
    return lua_gettop(L);
}

/* Prepares a state, and pushes the module and a handle of the store. */
static void
push_module(lua_State *L)
{
    sandbox_open(L);
    luaL_requiref(L, "colander", luaopen_colander, 1);
    lua_getfield(L, -1, "open");
    lua_pushcclosure(L, open_other, 1);
    lua_setfield(L, -2, "open");
    scripting_push_store(L, fuzz_store);
    lua_pushvalue(L, -1);
    lua_setglobal(L, "db");
}

/* Runs the file in the target's folder, with the bytes, store and module. */
static void
run_file(lua_State *L, const char *name, struct colander_slice bytes)
{
    const char *path = lua_pushfstring(L, "%s/%s", FUZZ_FOLDER, name);

    if (luaL_loadfilex(L, path, "t") != LUA_OK)
        (void)lua_error(L);
    lua_pushlstring(L, (const char *)bytes.data, bytes.size);
    lua_pushvalue(L, 2);
    lua_pushvalue(L, 1);
    lua_call(L, 3, 0);
}

/* The input of `run_protected`. */
struct input {
    struct colander_slice bytes;
    bool is_script;
};

static int
run_protected(lua_State *L)
{
    const struct input *input = lua_touserdata(L, 1);

    lua_settop(L, 0);
    push_module(L);
    lua_sethook(L, count_instructions, LUA_MASKCOUNT, COUNTED_INSTRUCTIONS);
    if (!input->is_script) {
        run_file(L, "lua_calls.lua", input->bytes);
        return 0;
    }
    run_file(L, "lua_limits.lua", input->bytes);
    if (luaL_loadbufferx(L, (const char *)input->bytes.data, input->bytes.size,
                         "script", "t") != LUA_OK)
        return lua_error(L);
    lua_call(L, 0, 0);
    return 0;
}

static void
run(const struct input *input)
{
    struct sandbox_memory memory = {.max = MEMORY_MAX};
    struct run run = {0};
    lua_State *L = sandbox_new_state(&memory);

    expect(L != NULL);
    *(struct run **)lua_getextraspace(L) = &run;
    lua_pushcfunction(L, run_protected);
    lua_pushlightuserdata(L, (void *)(uintptr_t)input);
    if (lua_pcall(L, 1, 0, 0) != LUA_OK && !input->is_script) {
        const char *message = lua_tostring(L, -1);

        if (message != NULL && strstr(message, "broken:") != NULL) {
            (void)fprintf(stderr, "%s\n", message);
            abort();
        }
    }
    lua_close(L);
    expect(memory.used == 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char other[TEMPORARY_SIZE + 8];
    struct input input;

    if (size == 0)
        return 0;
    fuzz_store_prepare();
    input.bytes = colander_slice_of(data + 1, size - 1);
    input.is_script = data[0] % 4 == 0;
    run(&input);
    (void)snprintf(other, sizeof(other), "%s/other", fuzz_directory);
    temporary_remove(other);
    return 0;
}

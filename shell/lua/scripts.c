/* See scripts.h. SPDX-License-Identifier: MIT */
#include "shell/scripts.h"
#include "shell/text.h"

#include <lauxlib.h>
#include <lualib.h>

static int
push_text(lua_State *L)
{
    const struct colander_buffer *text = lua_touserdata(L, 1);

    lua_pushlstring(L, (const char *)text->data, text->size);
    return 1;
}

/* Returns the text without control characters. */
static int
printable(lua_State *L)
{
    struct colander_buffer shown = COLANDER_BUFFER_EMPTY;
    struct colander_slice text;
    int status = LUA_ERRMEM;

    text.data = (const uint8_t *)luaL_checklstring(L, 1, &text.size);
    lua_pushliteral(L, "not enough memory");
    if (text_append_printable(&shown, text, NULL) == COLANDER_OK) {
        lua_pushcfunction(L, push_text);
        lua_pushlightuserdata(L, &shown);
        status = lua_pcall(L, 1, 1, 0);
    }
    colander_buffer_release(&shown);
    return status == LUA_OK ? 1 : lua_error(L);
}

void
scripts_load(lua_State *L, const char *name)
{
    const struct script *script = scripts;

    while (strcmp(script->name, name) != 0)
        script++;
    lua_pushfstring(L, "=%s.lua", name);
    if (luaL_loadbufferx(L, (const char *)script->text, script->size,
                         lua_tostring(L, -1), "t") != LUA_OK)
        (void)lua_error(L);
    lua_remove(L, -2);
}

void
scripts_keep(lua_State *L, const char *name)
{
    scripts_load(L, name);
    lua_pushvalue(L, -2);
    lua_pushcfunction(L, printable);
    lua_pushcfunction(L, luaopen_debug);
    lua_call(L, 0, 1);
    lua_call(L, 3, 1);
    lua_setfield(L, LUA_REGISTRYINDEX, name);
}

void
scripts_push(lua_State *L, const char *name)
{
    lua_getfield(L, LUA_REGISTRYINDEX, name);
}

/*
 * Handles: see handle.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "scripting/handle.h"

#include "scripting/failure.h"

#include <lauxlib.h>

void
handle_init(lua_State *L, struct handle *handle, struct handle *parent,
            enum colander_code (*close)(struct handle *handle,
                                        struct colander_error *err))
{
    if (parent != NULL && !parent->is_open)
        luaL_error(L, "what this is made from was closed meanwhile");
    handle->parent = parent;
    handle->first_child = NULL;
    handle->previous = NULL;
    handle->next = parent == NULL ? NULL : parent->first_child;
    handle->close = close;
    handle->is_open = true;
    if (handle->next != NULL)
        handle->next->previous = handle;
    if (parent != NULL)
        parent->first_child = handle;
}

static void
leave_parent(struct handle *handle)
{
    if (handle->next != NULL)
        handle->next->previous = handle->previous;
    if (handle->previous != NULL)
        handle->previous->next = handle->next;
    else if (handle->parent != NULL)
        handle->parent->first_child = handle->next;
    handle->parent = handle->next = handle->previous = NULL;
}

/* It calls itself for those below: a tree of handles is a few levels deep. */
enum colander_code
handle_close(struct handle *handle, struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;
    enum colander_code own;

    if (!handle->is_open)
        return COLANDER_OK;
    handle->is_open = false;
    while (handle->first_child != NULL) {
        own =
            handle_close(handle->first_child, code == COLANDER_OK ? err : NULL);
        if (code == COLANDER_OK)
            code = own;
    }
    leave_parent(handle);
    own = handle->close(handle, code == COLANDER_OK ? err : NULL);
    return code == COLANDER_OK ? own : code;
}

static const char handle_mark; /* its address: in metatables of handles */

/* The handle at `index`; NULL: it is none, whatever a script has put there. */
static struct handle *
to_handle(lua_State *L, int index)
{
    bool is_handle;

    if (lua_type(L, index) != LUA_TUSERDATA || lua_getmetatable(L, index) == 0)
        return NULL;
    is_handle = lua_rawgetp(L, -1, &handle_mark) == LUA_TBOOLEAN;
    lua_pop(L, 2);
    return is_handle ? lua_touserdata(L, index) : NULL;
}

bool
handle_is_open(lua_State *L, int index)
{
    const struct handle *handle = to_handle(L, index);

    return handle != NULL && handle->is_open;
}

/* `handle:close()`, and at the end of a <close> variable. */
static int
close_handle(lua_State *L)
{
    struct handle *handle = to_handle(L, 1);
    struct colander_error err;

    luaL_argcheck(L, handle != NULL, 1,
                  "a handle is expected (write h:close())");
    failure_check(L, handle_close(handle, &err), &err);
    return 0;
}

/* The collector may not be stopped by an error: it is a warning. */
static int
collect_handle(lua_State *L)
{
    struct handle *handle = to_handle(L, 1);
    struct colander_error err;

    if (handle != NULL && handle_close(handle, &err) != COLANDER_OK) {
        lua_warning(L, "colander: ", 1);
        lua_warning(L, err.message, 0);
    }
    return 0;
}

void
handle_type(lua_State *L, const char *name, const luaL_Reg *methods,
            const luaL_Reg *metamethods)
{
    static const struct luaL_Reg common[] = {
        {"__gc", collect_handle},
        {"__close", close_handle},
        {NULL, NULL},
    };

    if (luaL_newmetatable(L, name) == 0)
        return;
    luaL_setfuncs(L, common, 0);
    if (metamethods != NULL)
        luaL_setfuncs(L, metamethods, 0);
    lua_newtable(L);
    luaL_setfuncs(L, methods, 0);
    lua_pushcfunction(L, close_handle);
    lua_setfield(L, -2, "close");
    lua_setfield(L, -2, "__index");
    lua_pushboolean(L, true);
    lua_rawsetp(L, -2, &handle_mark);
    lua_pushstring(L, name);
    lua_setfield(L, -2, "__metatable");
}

void *
handle_check(lua_State *L, int index, const char *name, const char *noun)
{
    struct handle *handle = luaL_testudata(L, index, name);

    if (handle == NULL)
        luaL_error(L,
                   "argument %d: a %s is expected, not %s (methods are called "
                   "with a colon: x:method())",
                   index, noun, luaL_typename(L, index));
    else if (!handle->is_open)
        luaL_error(L, "the %s is closed", noun);
    return handle;
}

/* SPDX-License-Identifier: MIT */
#include "scripting/types.h"

#include "scripting/failure.h"

/* The field of a metatable that has the methods, also if __index is a
 * function. */
#define METHODS "methods"

#define OWNER_TYPE TYPE_PREFIX "owner"

/* ------------------------------------------------------------- handles --- */

/* Opens a zeroed handle under `parent`, which is open (NULL: none). */
static void
handle_open(struct handle *handle, struct handle *parent,
            handle_close_function *close)
{
    handle->parent = parent;
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

/* Closes the handle and all below it, and returns the first failure. They are
 * closed in any case. Does nothing if the handle is not open. Recursive: the
 * tree is a few levels deep. */
static enum colander_code
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

static int collect_handle(lua_State *L);

/* Returns the handle at `index`, open or not, or NULL if there is none. */
static struct handle *
handle_at(lua_State *L, int index)
{
    bool is_handle;

    if (lua_type(L, index) != LUA_TUSERDATA ||
        luaL_getmetafield(L, index, "__gc") == LUA_TNIL)
        return NULL;
    is_handle = lua_tocfunction(L, -1) == collect_handle;
    lua_pop(L, 1);
    return is_handle ? lua_touserdata(L, index) : NULL;
}

const char *
handle_family_name(lua_State *L, int index)
{
    const struct handle *handle = handle_at(L, index);

    while (handle != NULL && handle->is_open && handle->family_name == NULL)
        handle = handle->parent;
    return handle == NULL || !handle->is_open ? NULL : handle->family_name;
}

/* --------------------------------------------------------------- types --- */

/* `handle:close()`, and the end of a <close> variable. */
static int
close_handle(lua_State *L)
{
    struct handle *handle = handle_at(L, 1);

    luaL_argcheck(L, handle != NULL, 1, "handle expected; write h:close()");
    failure_try(L, handle_close(handle, &err));
    return 0;
}

/* An error in a finalizer would only be a warning of Lua's, without its text:
 * warn with the text instead. */
static int
collect_handle(lua_State *L)
{
    struct handle *handle = handle_at(L, 1);
    struct colander_error err;

    if (handle != NULL && handle_close(handle, &err) != COLANDER_OK) {
        lua_warning(L, "colander: ", 1);
        lua_warning(L, err.message, 0);
    }
    return 0;
}

void
type_extend(lua_State *L, const char *name, const luaL_Reg *methods,
            const luaL_Reg *metamethods)
{
    if (luaL_newmetatable(L, name) != 0) {
        lua_pushcfunction(L, collect_handle);
        lua_setfield(L, -2, "__gc");
        lua_pushcfunction(L, close_handle);
        lua_setfield(L, -2, "__close");
        lua_pushstring(L, name);
        lua_setfield(L, -2, "__metatable");
        lua_createtable(L, 0, 16);
        lua_pushcfunction(L, close_handle);
        lua_setfield(L, -2, "close");
        lua_pushvalue(L, -1);
        lua_setfield(L, -3, METHODS);
        lua_setfield(L, -2, "__index");
    }
    if (metamethods != NULL)
        luaL_setfuncs(L, metamethods, 0);
    lua_getfield(L, -1, METHODS);
    if (methods != NULL)
        luaL_setfuncs(L, methods, 0);
    lua_pop(L, 2);
}

void
type_push_methods(lua_State *L, const char *name)
{
    luaL_getmetatable(L, name);
    lua_getfield(L, -1, METHODS);
    lua_remove(L, -2);
}

void *
type_push_handle(lua_State *L, const char *name, size_t size, int user_values,
                 int parent_index, handle_close_function *close)
{
    struct handle *parent = NULL;
    struct handle *handle = lua_newuserdatauv(L, size, user_values);

    memset(handle, 0, size);
    luaL_setmetatable(L, name);
    if (parent_index != 0) {
        parent = lua_touserdata(L, parent_index);
        lua_pushvalue(L, parent_index);
        lua_setiuservalue(L, -2, 1);
        if (!parent->is_open)
            luaL_error(L, "closed while it was used, by a finalizer");
    }
    handle_open(handle, parent, close);
    return handle;
}

void *
type_check(lua_State *L, int index, const char *name)
{
    const char *noun = name + strlen(TYPE_PREFIX);
    struct handle *handle = luaL_testudata(L, index, name);

    if (handle == NULL)
        luaL_error(L,
                   "argument %d: %s expected, got %s (call methods with a "
                   "colon: x:method())",
                   index, noun, luaL_typename(L, index));
    else if (!handle->is_open)
        luaL_error(L, "the %s is closed", noun);
    return handle;
}

void
type_define(lua_State *L, const char *name, const luaL_Reg *metamethods)
{
    luaL_newmetatable(L, name);
    luaL_setfuncs(L, metamethods, 0);
    lua_pushstring(L, name);
    lua_setfield(L, -2, "__metatable");
    lua_pop(L, 1);
}

bool
type_is_table(lua_State *L, int index, const char *name)
{
    bool is_same;

    if (!lua_istable(L, index) || lua_getmetatable(L, index) == 0)
        return false;
    luaL_getmetatable(L, name);
    is_same = lua_rawequal(L, -1, -2) != 0;
    lua_pop(L, 2);
    return is_same;
}

void
type_set_function(lua_State *L, const char *name, lua_CFunction function,
                  int number)
{
    lua_pushinteger(L, number);
    lua_pushcclosure(L, function, 1);
    lua_setfield(L, -2, name);
}

struct owner {
    void (*release)(void *object); /* NULL: called */
    uint64_t object[];
};

static int
collect_owner(lua_State *L)
{
    struct owner *owner = luaL_checkudata(L, 1, OWNER_TYPE);

    if (owner->release != NULL)
        owner->release(owner->object);
    owner->release = NULL;
    return 0;
}

void *
type_push_owner(lua_State *L, size_t size, void (*release)(void *object))
{
    struct owner *owner = lua_newuserdatauv(L, sizeof(*owner) + size, 0);

    memset(owner, 0, sizeof(*owner) + size);
    owner->release = release;
    if (luaL_newmetatable(L, OWNER_TYPE) != 0) {
        lua_pushcfunction(L, collect_owner);
        lua_setfield(L, -2, "__gc");
    }
    lua_setmetatable(L, -2);
    return owner->object;
}

void *
type_owned(lua_State *L, int index)
{
    struct owner *owner = lua_touserdata(L, index);

    return owner == NULL ? NULL : owner->object;
}

/*
 * Chunks: see chunk.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "shell/chunk.h"

#include <lauxlib.h>

/* What Lua reads, byte by byte: so it is known how far it has come. */
struct reading {
    const char *lead; /* before the text; "" when it was read */
    struct colander_slice text;
    size_t size; /* bytes of the text that were read */
};

static const char *
read_byte(lua_State *L, void *data, size_t *size)
{
    struct reading *reading = data;

    (void)L;
    if (*reading->lead != '\0') {
        *size = 1;
        return reading->lead++;
    }
    *size = reading->size < reading->text.size ? 1 : 0;
    if (*size == 0)
        return NULL;
    return (const char *)reading->text.data + reading->size++;
}

/* Loads `lead` and the text; gives how many bytes of it were read. */
static int
load(lua_State *L, const char *lead, struct colander_slice text,
     const char *name, size_t *size)
{
    struct reading reading = {lead, text, 0};
    const int status = lua_load(L, read_byte, &reading, name, "t");

    *size = reading.size;
    return status;
}

/* Whether the error on top is that the text ends too early. */
static bool
is_unfinished(lua_State *L)
{
    static const char mark[] = "<eof>";
    size_t size;
    const char *message = lua_tolstring(L, -1, &size);

    return message != NULL && size >= sizeof(mark) - 1 &&
           strcmp(message + size - (sizeof(mark) - 1), mark) == 0;
}

enum chunk_state
chunk_load(lua_State *L, struct colander_slice text, const char *name)
{
    size_t expression_size;
    size_t size;

    if (load(L, "return ", text, name, &expression_size) == LUA_OK)
        return CHUNK_READY;
    if (load(L, "", text, name, &size) == LUA_OK) {
        lua_remove(L, -2);
        return CHUNK_READY;
    }
    /* it was meant as what went well for longer */
    lua_remove(L, expression_size > size ? -1 : -2);
    if (!is_unfinished(L))
        return CHUNK_WRONG;
    lua_pop(L, 1);
    return CHUNK_UNFINISHED;
}

/*
 * Inspection: see inspect.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "shell/inspect.h"
#include "shell/text.h"

#include <ctype.h>
#include <lauxlib.h>
#include <stdlib.h>

#define DEPTH_MAX 8

/* What is being appended. */
struct inspection {
    lua_State *L;
    struct colander_buffer *text;
    size_t size_max;
    int depth;
};

static void append_value(struct inspection *inspection, int index);

static void
append(struct inspection *inspection, const char *bytes, size_t size)
{
    if (colander_buffer_append(inspection->text, bytes, size, NULL) !=
        COLANDER_OK)
        luaL_error(inspection->L, "not enough memory");
}

static void
append_text(struct inspection *inspection, const char *text)
{
    append(inspection, text, strlen(text));
}

static bool
is_full(struct inspection *inspection)
{
    return inspection->text->size > inspection->size_max;
}

/* Appends them printable, so many as there is room for. */
static void
append_bytes(struct inspection *inspection, const char *bytes, size_t size)
{
    const size_t used = inspection->text->size;
    const size_t room =
        used < inspection->size_max ? inspection->size_max - used : 0;
    const size_t taken = size < room ? size : room;

    if (text_append_printable(inspection->text, colander_slice_of(bytes, taken),
                              NULL) != COLANDER_OK)
        luaL_error(inspection->L, "not enough memory");
    if (taken < size)
        append_text(inspection, TEXT_ELLIPSIS);
}

static void
append_printable(struct inspection *inspection, int index)
{
    size_t size;
    const char *text = lua_tolstring(inspection->L, index, &size);

    append_bytes(inspection, text, size);
}

/* Whether the string at `index` can stand in a table without brackets. */
static bool
is_name(lua_State *L, int index)
{
    size_t size;
    const char *text = lua_tolstring(L, index, &size);

    if (size == 0 || isdigit((unsigned char)text[0]))
        return false;
    for (size_t i = 0; i < size; i++) {
        if (!isalnum((unsigned char)text[i]) && text[i] != '_')
            return false;
    }
    return true;
}

/* A string inside a table, as Lua would be written. */
static void
append_quoted(struct inspection *inspection, int index)
{
    size_t size;
    const char *text = lua_tolstring(inspection->L, index, &size);

    append_text(inspection, "\"");
    while (size > 0 && !is_full(inspection)) {
        size_t plain = 0;

        while (plain < size && text[plain] != '"' && text[plain] != '\\')
            plain++;
        append_bytes(inspection, text, plain);
        if (plain < size) {
            append(inspection, "\\", 1);
            append(inspection, text + plain++, 1);
        }
        text += plain;
        size -= plain;
    }
    append_text(inspection, "\"");
}

/* The names of the table at `index` that are no elements, put in order into a
 * new table on top, so that what is shown twice looks the same. */
static lua_Integer
push_names(lua_State *L, int index, lua_Integer element_count)
{
    lua_Integer count = 0;

    lua_newtable(L);
    lua_pushnil(L);
    while (lua_next(L, index) != 0) {
        lua_pop(L, 1);
        if (lua_isinteger(L, -1) && lua_tointeger(L, -1) >= 1 &&
            lua_tointeger(L, -1) <= element_count)
            continue;
        lua_pushvalue(L, -1);
        lua_rawseti(L, -3, ++count);
    }
    return count;
}

/* A name in the list of them. */
struct name {
    struct colander_slice text;
    lua_Integer number;
};

static int
compare_names(const void *a, const void *b)
{
    const struct colander_slice *first = &((const struct name *)a)->text;
    const struct colander_slice *second = &((const struct name *)b)->text;
    const size_t size = first->size < second->size ? first->size : second->size;
    const int order = memcmp(first->data, second->data, size);

    if (order != 0)
        return order;
    return (first->size > second->size) - (first->size < second->size);
}

/* Sorts the list on top when all in it are strings; else it stays. */
static void
sort_names(lua_State *L, lua_Integer count)
{
    struct name *names =
        lua_newuserdatauv(L, ((size_t)count + 1) * sizeof(*names), 0);
    bool is_sortable = true;

    lua_createtable(L, (int)count, 0); /* the old list keeps the strings */

    for (lua_Integer i = 0; i < count && is_sortable; i++) {
        is_sortable = lua_rawgeti(L, -3, i + 1) == LUA_TSTRING;
        names[i].number = i + 1;
        if (is_sortable)
            names[i].text.data =
                (const uint8_t *)lua_tolstring(L, -1, &names[i].text.size);
        lua_pop(L, 1);
    }
    if (is_sortable)
        qsort(names, (size_t)count, sizeof(*names), compare_names);
    for (lua_Integer i = 0; i < count && is_sortable; i++) {
        lua_rawgeti(L, -3, names[i].number);
        lua_rawseti(L, -2, i + 1);
    }
    if (is_sortable)
        lua_replace(L, -3);
    else
        lua_pop(L, 1);
    lua_pop(L, 1);
}

static void
append_members(struct inspection *inspection, int index, bool is_first)
{
    lua_State *L = inspection->L;
    const lua_Integer count =
        push_names(L, index, (lua_Integer)lua_rawlen(L, index));
    const int names = lua_gettop(L);

    sort_names(L, count);
    for (lua_Integer i = 1; i <= count && !is_full(inspection); i++) {
        if (!is_first)
            append_text(inspection, ", ");
        is_first = false;
        if (lua_rawgeti(L, names, i) == LUA_TSTRING && is_name(L, -1)) {
            append_printable(inspection, lua_gettop(L));
        } else {
            append_text(inspection, "[");
            append_value(inspection, lua_gettop(L));
            append_text(inspection, "]");
        }
        append_text(inspection, " = ");
        lua_rawget(L, index);
        append_value(inspection, lua_gettop(L));
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
}

static void
append_table(struct inspection *inspection, int index)
{
    lua_State *L = inspection->L;
    const lua_Integer count = (lua_Integer)lua_rawlen(L, index);

    luaL_checkstack(L, 8, "a table within tables");
    append_text(inspection, "{");
    for (lua_Integer i = 1; i <= count && !is_full(inspection); i++) {
        if (i > 1)
            append_text(inspection, ", ");
        lua_rawgeti(L, index, i);
        append_value(inspection, lua_gettop(L));
        lua_pop(L, 1);
    }
    if (!is_full(inspection))
        append_members(inspection, index, count == 0);
    if (is_full(inspection))
        append_text(inspection, ", " TEXT_ELLIPSIS);
    append_text(inspection, "}");
}

static void
append_value(struct inspection *inspection, int index)
{
    lua_State *L = inspection->L;
    const bool is_plain_table =
        lua_istable(L, index) &&
        luaL_getmetafield(L, index, "__tostring") == LUA_TNIL;

    if (lua_istable(L, index) && !is_plain_table)
        lua_pop(L, 1);
    if (is_plain_table && inspection->depth == DEPTH_MAX) {
        append_text(inspection, "{" TEXT_ELLIPSIS "}");
    } else if (is_plain_table) {
        inspection->depth++;
        append_table(inspection, index);
        inspection->depth--;
    } else if (lua_type(L, index) == LUA_TSTRING) {
        append_quoted(inspection, index);
    } else {
        luaL_tolstring(L, index, NULL);
        append_printable(inspection, lua_gettop(L));
        lua_pop(L, 1);
    }
}

/* A string by itself: bare, and its lines are lines. */
static void
append_lines(struct inspection *inspection, int index)
{
    size_t size;
    const char *text = lua_tolstring(inspection->L, index, &size);

    while (size > 0 && !is_full(inspection)) {
        const char *end = memchr(text, '\n', size);
        const size_t line = end == NULL ? size : (size_t)(end - text);

        append_bytes(inspection, text, line);
        text += line;
        size -= line;
        if (size > 0) {
            append(inspection, "\n", 1);
            text++;
            size--;
        }
    }
}

void
inspect_append(lua_State *L, int index, struct colander_buffer *text,
               size_t size_max)
{
    struct inspection inspection = {L, text, text->size + size_max, 0};

    index = lua_absindex(L, index);
    if (lua_type(L, index) == LUA_TSTRING)
        append_lines(&inspection, index);
    else
        append_value(&inspection, index);
}

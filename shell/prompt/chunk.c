/* See chunk.h. SPDX-License-Identifier: MIT */
#include "shell/prompt/chunk.h"

/* Lua reads byte by byte, so it is known how far it came. */
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

/* Loads `lead` and the text. Sets *size to the bytes of the text read. */
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
    /* the user meant whichever was valid for longer */
    lua_remove(L, expression_size > size ? -1 : -2);
    if (!is_unfinished(L))
        return CHUNK_WRONG;
    lua_pop(L, 1);
    return CHUNK_UNFINISHED;
}

/* ------------------------------------------------------------ brackets --- */

/* Returns the level of the long bracket that begins (with '[') or ends (with
 * ']') at `at`, or -1. */
static int
long_level(struct colander_slice line, size_t at, char bracket)
{
    size_t end = at + 1;

    while (end < line.size && line.data[end] == '=')
        end++;
    if (end >= line.size || line.data[end] != bracket)
        return -1;
    return (int)(end - at - 1);
}

/* Returns the end of the open long string or comment, or the size of the line
 * if it continues. */
static size_t
skip_long(struct brackets *brackets, struct colander_slice line, size_t at)
{
    for (; at < line.size; at++) {
        if (line.data[at] == ']' &&
            long_level(line, at, ']') == brackets->level) {
            at += (size_t)brackets->level + 2;
            brackets->level = -1;
            return at;
        }
    }
    return line.size;
}

/* Returns the end of the string in quotes that begins at `at`. One whose line
 * ends in a backslash continues; then a bracket is open or Lua is tried. */
static size_t
skip_quoted(struct colander_slice line, size_t at)
{
    const uint8_t quote = line.data[at++];

    while (at < line.size && line.data[at] != quote)
        at += line.data[at] == '\\' ? 2 : 1;
    return at < line.size ? at + 1 : line.size;
}

/* Returns the end of the comment that begins at `at`. */
static size_t
skip_comment(struct brackets *brackets, struct colander_slice line, size_t at)
{
    if (at + 2 >= line.size || line.data[at + 2] != '[')
        return line.size;
    brackets->level = long_level(line, at + 2, '[');
    if (brackets->level < 0)
        return line.size;
    return skip_long(brackets, line, at + 4 + (size_t)brackets->level);
}

/* Reads what is not inside a string or comment. Returns the end of it. */
static size_t
step(struct brackets *brackets, struct colander_slice line, size_t at)
{
    switch (line.data[at]) {
    case '"':
    case '\'':
        return skip_quoted(line, at);
    case '-':
        if (at + 1 < line.size && line.data[at + 1] == '-')
            return skip_comment(brackets, line, at);
        break;
    case '[':
        brackets->level = long_level(line, at, '[');
        if (brackets->level >= 0)
            return skip_long(brackets, line, at + 2 + (size_t)brackets->level);
        brackets->depth++;
        break;
    case '(':
    case '{':
        brackets->depth++;
        break;
    case ')':
    case ']':
    case '}':
        brackets->depth--;
        break;
    default:
        break;
    }
    return at + 1;
}

void
brackets_add(struct brackets *brackets, struct colander_slice line)
{
    size_t at = brackets->level < 0 ? 0 : skip_long(brackets, line, 0);

    while (at < line.size)
        at = step(brackets, line, at);
}

bool
brackets_are_open(const struct brackets *brackets)
{
    return brackets->depth > 0 || brackets->level >= 0;
}

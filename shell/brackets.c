/*
 * Brackets: see brackets.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "shell/brackets.h"

/* The level of the long bracket that begins (with '[') or ends (with ']') at
 * `at`; -1: there is none. */
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

/* Where the long string or comment ends that is open; the line's size: it goes
 * on. */
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

/* Where the string in quotes ends that begins at `at`. One whose line ends in a
 * backslash goes on, but then a bracket is open anyway or Lua is tried. */
static size_t
skip_quoted(struct colander_slice line, size_t at)
{
    const uint8_t quote = line.data[at++];

    while (at < line.size && line.data[at] != quote)
        at += line.data[at] == '\\' ? 2 : 1;
    return at < line.size ? at + 1 : line.size;
}

/* Where it goes on behind the comment that begins at `at`. */
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

/* Looks at what is no string and no comment; gives where it goes on. */
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

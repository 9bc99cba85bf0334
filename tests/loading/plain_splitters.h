/*
 * Plain splitters: each has the whole text, and does not care how long it
 * takes.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_LOADING_PLAIN_SPLITTERS_H
#define TESTS_LOADING_PLAIN_SPLITTERS_H

#include "loading/pieces.h"

#define TEXT_SIZE_MAX 200

/* What the plain splitters find next: the record, and where it ends. */
struct found {
    enum split split;
    size_t from;
    size_t size;
    size_t next;
};

typedef struct found plain_function(struct colander_slice text, size_t from,
                                    int *place);

static bool
is_one_of(uint8_t byte, const char *bytes)
{
    return byte != 0 && strchr(bytes, byte) != NULL;
}

static size_t
trimmed(struct colander_slice text, size_t from, size_t end, const char *bytes)
{
    while (end > from && is_one_of(text.data[end - 1], bytes))
        end--;
    return end - from;
}

static size_t
line_from(struct colander_slice text, size_t from)
{
    while (from < text.size && text.data[from] != '\n')
        from++;
    return from;
}

/* --------------------------------------------------------------- lines --- */

static struct found
plain_jsonl(struct colander_slice text, size_t from, int *place)
{
    size_t end;

    (void)place;
    while (from < text.size && is_one_of(text.data[from], " \t\r\n"))
        from++;
    end = line_from(text, from);
    return (struct found){from == text.size ? SPLIT_END : SPLIT_RECORD, from,
                          trimmed(text, from, end, "\r"),
                          end < text.size ? end + 1 : end};
}

/* ----------------------------------------------------------------- CSV --- */

/* Bytes of the line that ends at `end` without its CR. */
static struct found
csv_found(struct colander_slice text, enum split split, size_t from, size_t end)
{
    size_t size = end - from;

    if (size > 0 && text.data[end - 1] == '\r')
        size--;
    return (struct found){split, from, size, end < text.size ? end + 1 : end};
}

static bool
ends_line(struct colander_slice text, size_t at)
{
    if (at < text.size && text.data[at] == '\r')
        at++;
    return at >= text.size || text.data[at] == '\n';
}

static struct found
plain_csv(struct colander_slice text, size_t from, int *place)
{
    size_t at;

    (void)place;
    while (from < text.size && ends_line(text, from))
        from = line_from(text, from) < text.size ? line_from(text, from) + 1
                                                 : text.size;
    if (from == text.size)
        return (struct found){SPLIT_END, from, 0, from};
    for (at = from; at < text.size && text.data[at] != '\n'; at++) {
        if (text.data[at] != '"' || (at > from && text.data[at - 1] != ','))
            continue;
        for (at++; at < text.size; at++) {
            if (text.data[at] != '"')
                continue;
            if (at + 1 == text.size || text.data[at + 1] != '"')
                break;
            at++;
        }
        if (at == text.size ||
            !(ends_line(text, at + 1) || text.data[at + 1] == ','))
            return csv_found(text, SPLIT_BAD, from, line_from(text, from));
    }
    return csv_found(text, SPLIT_RECORD, from, at);
}

/* ---------------------------------------------------------------- JSON --- */

enum { START, RECORDS, ARRAY, BEHIND };

#define WORD                                                                   \
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-+._$"

/* Where the value at `from` ends; *fault where it is broken, or the end. */
static size_t
json_value(struct colander_slice text, size_t from, size_t *fault)
{
    char stack[TEXT_SIZE_MAX + 1];
    size_t depth = 0;
    uint8_t last = 0;
    bool in_string = false;

    *fault = SIZE_MAX;
    for (size_t at = from; at < text.size; at++) {
        uint8_t byte = text.data[at];

        if (in_string) {
            if (byte == '\\')
                byte = ++at < text.size ? text.data[at] : 'x';
            else if (byte == '"')
                in_string = false;
            *fault = byte == '\n' ? at : SIZE_MAX;
        } else if (byte == '"') {
            in_string = true;
        } else if (is_one_of(byte, "{[")) {
            if (depth > 0 && stack[depth - 1] == '{' ? last != ':'
                : depth > 0                          ? !is_one_of(last, "[,")
                                                     : false)
                *fault = at;
            stack[depth++] = (char)byte;
        } else if (is_one_of(byte, "}]")) {
            if (stack[--depth] != (byte == '}' ? '{' : '['))
                *fault = at;
        }
        if (*fault != SIZE_MAX)
            return at;
        if (!in_string && depth == 0)
            return at + 1;
        if (!is_one_of(byte, " \t\r\n"))
            last = byte;
    }
    *fault = text.size;
    return text.size;
}

/* Where the line of `at` begins. */
static size_t
line_begin(struct colander_slice text, size_t at)
{
    while (at > 0 && text.data[at - 1] != '\n')
        at--;
    return at;
}

static size_t
blanks_from(struct colander_slice text, size_t from)
{
    size_t at = from;

    while (at < text.size && is_one_of(text.data[at], " \t"))
        at++;
    return at - from;
}

/* The indentation that all blanks are of: none where they are mixed. */
static bool
is_plain_indent(struct colander_slice text, size_t line, size_t size)
{
    for (size_t i = 1; i < size; i++) {
        if (text.data[line + i] != text.data[line])
            return false;
    }
    return true;
}

/* Up to the newline before a line that begins as the one at `line` does. */
static size_t
json_resync(struct colander_slice text, size_t line, size_t fault)
{
    size_t size = blanks_from(text, line);
    size_t at = line_begin(text, fault);

    if (fault - at != blanks_from(text, at) || at <= line)
        at = line_from(text, fault) + 1;
    for (; at < text.size; at = line_from(text, at) + 1) {
        if (blanks_from(text, at) == size && at + size < text.size &&
            text.data[at + size] == '{' &&
            memcmp(text.data + at, text.data + line, size) == 0)
            return at - 1;
    }
    return text.size;
}

/* The line of the record that begins at `from`, or that the record before it
 * on the same line began; SIZE_MAX when none did. */
static size_t
json_line(struct colander_slice text, size_t from, size_t record_line)
{
    size_t line = line_begin(text, from);
    size_t size = blanks_from(text, line);

    if (line + size == from)
        return is_plain_indent(text, line, size) ? line : SIZE_MAX;
    return record_line;
}

static struct found
json_bad(struct colander_slice text, size_t from, size_t end, int *place)
{
    struct found bad = {SPLIT_BAD, from, trimmed(text, from, end, " \t\r\n"),
                        end};

    if (end == text.size)
        *place = BEHIND;
    return bad;
}

static size_t
skip_between(struct colander_slice text, size_t from, int *place, size_t *line)
{
    for (; from < text.size; from++) {
        uint8_t byte = text.data[from];
        size_t at = from;

        if (byte == '\n')
            *line = SIZE_MAX;
        if (byte == '[' && *place == START)
            *place = ARRAY;
        else if (byte == ']' && *place == ARRAY)
            *place = BEHIND;
        else if (*place == START && is_one_of(byte, WORD)) {
            while (at < text.size && is_one_of(text.data[at], WORD " \t\r\n"))
                at++;
            if (at == text.size || text.data[at] != '=')
                break;
            from = at;
            *line = SIZE_MAX;
        } else if (!is_one_of(byte, *place == ARRAY    ? " \t\r\n,"
                                    : *place == BEHIND ? " \t\r\n;"
                                                       : " \t\r\n,;"))
            break;
    }
    return from;
}

/* The line that the record under way, or the last one, began. */
static size_t json_record_line;

static struct found
plain_json(struct colander_slice text, size_t from, int *place)
{
    size_t fault = SIZE_MAX;
    size_t end;

    if (from == 0)
        json_record_line = SIZE_MAX;
    from = skip_between(text, from, place, &json_record_line);
    if (from == text.size) {
        enum split split = *place == ARRAY ? SPLIT_BAD : SPLIT_END;

        *place = BEHIND;
        return (struct found){split, from, 0, from};
    }
    json_record_line = json_line(text, from, json_record_line);
    if (*place == BEHIND)
        return json_bad(text, from, text.size, place);
    if (*place == START)
        *place = RECORDS;
    if (is_one_of(text.data[from], WORD)) {
        for (end = from; end < text.size && is_one_of(text.data[end], WORD);)
            end++;
        return (struct found){SPLIT_BAD, from, end - from, end};
    }
    if (is_one_of(text.data[from], "{[\""))
        end = json_value(text, from, &fault);
    else
        end = fault = from;
    if (fault == SIZE_MAX)
        return (struct found){text.data[from] == '{' ? SPLIT_RECORD : SPLIT_BAD,
                              from, end - from, end};
    if (fault == text.size || json_record_line == SIZE_MAX)
        return json_bad(text, from, text.size, place);
    return json_bad(text, from, json_resync(text, json_record_line, fault),
                    place);
}

/* ------------------------------------------------------------- msgpack --- */

static uint64_t
big_endian(struct colander_slice text, size_t at, size_t size)
{
    uint64_t number = 0;

    for (size_t i = 0; i < size; i++)
        number = number << 8 | (at + i < text.size ? text.data[at + i] : 0);
    return number;
}

/* Where the value at `from` ends; SIZE_MAX when it does not. */
static size_t
msgpack_value(struct colander_slice text, size_t from)
{
    static const uint8_t fixed[32] = {0, 0, 0,  0, 0, 0, 0, 0, 0, 0, 4,
                                      8, 1, 2,  4, 8, 1, 2, 4, 8, 2, 3,
                                      5, 9, 17, 0, 0, 0, 0, 0, 0, 0};
    static const uint8_t counted[32] = {0, 0, 0, 0, 1, 2, 4, 1, 2, 4, 0,
                                        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
                                        0, 0, 0, 1, 2, 4, 2, 4, 2, 4};
    uint8_t head = from < text.size ? text.data[from] : 0xc1;
    uint64_t values = 0;
    uint64_t size = 0;

    if (head == 0xc1)
        return SIZE_MAX;
    from++;
    if (head >= 0x80 && head < 0xa0) {
        values = (uint64_t)(head & 0x0f) * (head < 0x90 ? 2 : 1);
    } else if (head >= 0xa0 && head < 0xc0) {
        size = head & 0x1f;
    } else if (head >= 0xc0 && head < 0xe0) {
        size = big_endian(text, from, counted[head - 0xc0]);
        from += counted[head - 0xc0] + fixed[head - 0xc0];
        if (head >= 0xdc) {
            values = size * (head >= 0xde ? 2 : 1);
            size = 0;
        } else if (head >= 0xc7 && head <= 0xc9) {
            from++; /* the type */
        }
    }
    if (from > text.size || size > text.size - from)
        return SIZE_MAX;
    from += size;
    for (; values > 0 && from != SIZE_MAX; values--)
        from = msgpack_value(text, from);
    return from;
}

static struct found
plain_msgpack(struct colander_slice text, size_t from, int *place)
{
    size_t end = from;
    uint8_t head;

    (void)place;
    if (from == text.size)
        return (struct found){SPLIT_END, from, 0, from};
    head = text.data[from];
    end = msgpack_value(text, from);
    if (end == SIZE_MAX)
        return (struct found){SPLIT_BAD, from, text.size - from, text.size};
    return (struct found){head >> 4 == 8 || head == 0xde || head == 0xdf
                              ? SPLIT_RECORD
                              : SPLIT_BAD,
                          from, end - from, end};
}

#endif

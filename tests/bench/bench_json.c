/*
 * A JSON object made into a row, as RFC 8259 has it.
 *
 * It goes down no deeper than a row may, so its own calls are bounded.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench_data.h"

#include <errno.h>
#include <stdlib.h>

struct reader {
    struct colander_row_builder *builder;
    const char *at;
    const char *end; /* a zero byte stands there */
    struct colander_buffer *name;
    struct colander_buffer *text;
};

static bool read_value(struct reader *reader, const char *name, unsigned depth);

static void
skip_space(struct reader *reader)
{
    while (*reader->at == ' ' || *reader->at == '\t' || *reader->at == '\n' ||
           *reader->at == '\r')
        reader->at++;
}

/* Steps over `c`, with the space before and behind it; false when it is not
 * there. */
static bool
take(struct reader *reader, char c)
{
    skip_space(reader);
    if (*reader->at != c)
        return false;
    reader->at++;
    skip_space(reader);
    return true;
}

static bool
take_word(struct reader *reader, const char *word)
{
    size_t size = strlen(word);

    if (strncmp(reader->at, word, size) != 0)
        return false;
    reader->at += size;
    return true;
}

/* ------------------------------------------------------------- strings --- */

static void
append(struct colander_buffer *buffer, const void *data, size_t size)
{
    struct colander_error err;

    bench_check(colander_buffer_append(buffer, data, size, &err), &err);
}

static void
append_character(struct colander_buffer *buffer, uint32_t c)
{
    uint8_t bytes[4];
    size_t size = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const uint8_t leads[] = {0, 0, 0xc0, 0xe0, 0xf0};

    for (size_t i = size; i-- > 1; c >>= 6)
        bytes[i] = (uint8_t)(0x80 | (c & 0x3f));
    bytes[0] = (uint8_t)(leads[size] | c);
    append(buffer, bytes, size);
}

static bool
read_hex(struct reader *reader, uint32_t *number)
{
    *number = 0;
    for (int i = 0; i < 4; i++) {
        static const char digits[] = "0123456789abcdef0123456789ABCDEF";
        const char *digit =
            *reader->at == '\0' ? NULL : strchr(digits, *reader->at);

        if (digit == NULL)
            return false;
        *number = *number << 4 | ((uint32_t)(digit - digits) & 15);
        reader->at++;
    }
    return true;
}

/* What is behind \u; half a pair becomes U+FFFD. */
static bool
read_unicode(struct reader *reader, struct colander_buffer *text)
{
    uint32_t first;
    uint32_t second;

    if (!read_hex(reader, &first))
        return false;
    if (first >= 0xd800 && first < 0xdc00 && take_word(reader, "\\u")) {
        if (!read_hex(reader, &second))
            return false;
        if (second >= 0xdc00 && second < 0xe000) {
            append_character(text, 0x10000 + ((first - 0xd800) << 10) +
                                       (second - 0xdc00));
            return true;
        }
        append_character(text, 0xfffd);
        first = second;
    }
    append_character(text, first >= 0xd800 && first < 0xe000 ? 0xfffd : first);
    return true;
}

static bool
read_escape(struct reader *reader, struct colander_buffer *text)
{
    static const char names[] = "\"\\/bfnrt";
    static const char meant[] = "\"\\/\b\f\n\r\t";
    const char *name;

    if (take_word(reader, "u"))
        return read_unicode(reader, text);
    name = *reader->at == '\0' ? NULL : strchr(names, *reader->at);
    if (name == NULL)
        return false;
    append(text, meant + (name - names), 1);
    reader->at++;
    return true;
}

static bool
read_string(struct reader *reader, struct colander_buffer *text)
{
    colander_buffer_clear(text);
    if (*reader->at != '"')
        return false;
    reader->at++;
    for (;;) {
        const char *from = reader->at;

        while ((uint8_t)*reader->at >= ' ' && *reader->at != '"' &&
               *reader->at != '\\')
            reader->at++;
        append(text, from, (size_t)(reader->at - from));
        if ((uint8_t)*reader->at < ' ')
            return false;
        if (*reader->at++ == '"')
            return true;
        if (!read_escape(reader, text))
            return false;
    }
}

/* ------------------------------------------------------------- numbers --- */

static size_t
skip_digits(const char *text)
{
    size_t count = 0;

    while (text[count] >= '0' && text[count] <= '9')
        count++;
    return count;
}

/* The bytes of the number that `text` begins with, or 0. */
static size_t
number_size(const char *text, bool *is_whole)
{
    size_t size = text[0] == '-';
    size_t digits = skip_digits(text + size);

    *is_whole = true;
    if (digits == 0 || (digits > 1 && text[size] == '0'))
        return 0;
    size += digits;
    if (text[size] == '.') {
        *is_whole = false;
        digits = skip_digits(text + size + 1);
        if (digits == 0)
            return 0;
        size += digits + 1;
    }
    if (text[size] == 'e' || text[size] == 'E') {
        *is_whole = false;
        size += text[size + 1] == '+' || text[size + 1] == '-' ? 2 : 1;
        digits = skip_digits(text + size);
        if (digits == 0)
            return 0;
        size += digits;
    }
    return size;
}

static struct colander_value
number_of(const char *text, bool is_whole)
{
    errno = 0;
    if (is_whole && text[0] == '-') {
        long long number = strtoll(text, NULL, 10);

        if (errno == 0)
            return colander_integer(number);
    } else if (is_whole) {
        unsigned long long number = strtoull(text, NULL, 10);

        if (errno == 0)
            return colander_unsigned(number);
    }
    return colander_double(strtod(text, NULL));
}

bool
bench_json_number(const char *text, size_t size, struct colander_value *value)
{
    bool is_whole;

    if (size == 0 || number_size(text, &is_whole) != size)
        return false;
    *value = number_of(text, is_whole);
    return true;
}

/* -------------------------------------------------------------- values --- */

static void
begin(struct reader *reader, const char *name, bool is_map)
{
    struct colander_slice bytes = colander_buffer_slice(reader->name);

    if (name == NULL && is_map)
        colander_row_builder_begin_map(reader->builder, NULL);
    else if (name == NULL)
        colander_row_builder_begin_array(reader->builder, NULL);
    else if (is_map)
        colander_row_builder_begin_map_named(reader->builder, bytes);
    else
        colander_row_builder_begin_array_named(reader->builder, bytes);
}

static void
add(struct reader *reader, const char *name, struct colander_value value)
{
    if (name == NULL)
        colander_row_builder_add(reader->builder, NULL, value);
    else
        colander_row_builder_add_named(
            reader->builder, colander_buffer_slice(reader->name), value);
}

/* The members of an object, up to its end. */
static bool
read_members(struct reader *reader, unsigned depth)
{
    if (depth > COLANDER_ROW_DEPTH_MAX || !take(reader, '{'))
        return false;
    if (take(reader, '}'))
        return true;
    do {
        if (!read_string(reader, reader->name) || !take(reader, ':') ||
            !read_value(reader, "", depth))
            return false;
    } while (take(reader, ','));
    return take(reader, '}');
}

static bool
read_elements(struct reader *reader, unsigned depth)
{
    if (depth > COLANDER_ROW_DEPTH_MAX || !take(reader, '['))
        return false;
    if (take(reader, ']'))
        return true;
    do {
        if (!read_value(reader, NULL, depth))
            return false;
    } while (take(reader, ','));
    return take(reader, ']');
}

static bool
read_container(struct reader *reader, const char *name, unsigned depth)
{
    bool is_map = *reader->at == '{';
    bool is_read;

    begin(reader, name, is_map);
    is_read = is_map ? read_members(reader, depth + 1)
                     : read_elements(reader, depth + 1);
    colander_row_builder_end(reader->builder);
    return is_read;
}

static bool
read_scalar(struct reader *reader, struct colander_value *value)
{
    bool is_whole;
    size_t size;

    *value = colander_null();
    if (*reader->at == '"') {
        bool is_read = read_string(reader, reader->text);

        *value = colander_string(colander_buffer_slice(reader->text));
        return is_read;
    }
    if (take_word(reader, "null"))
        return true;
    *value = colander_boolean(*reader->at == 't');
    if (take_word(reader, "true") || take_word(reader, "false"))
        return true;
    size = number_size(reader->at, &is_whole);
    if (size == 0)
        return false;
    *value = number_of(reader->at, is_whole);
    reader->at += size;
    return true;
}

/* A value: a column called reader->name, or with `name` NULL an element. */
static bool
read_value(struct reader *reader, const char *name, unsigned depth)
{
    struct colander_value value;

    if (*reader->at == '{' || *reader->at == '[')
        return read_container(reader, name, depth);
    if (!read_scalar(reader, &value))
        return false;
    add(reader, name, value);
    return true;
}

bool
bench_json_add(struct colander_row_builder *builder, const char *line,
               size_t size, struct colander_buffer *name,
               struct colander_buffer *text)
{
    struct reader reader = {builder, line, line + size, name, text};

    if (!read_members(&reader, 1))
        return false;
    return reader.at == reader.end;
}

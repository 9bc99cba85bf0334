/* See text.h. SPDX-License-Identifier: MIT */
#include "shell/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <wchar.h>

#define REPLACEMENT "\xEF\xBF\xBD" /* U+FFFD */

enum colander_code
text_append_list(struct colander_buffer *out, struct colander_error *err,
                 const char *format, va_list list)
{
    enum colander_code code;
    char *text = NULL;
    const int size = vasprintf(&text, format, list);

    if (size < 0)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a text");
    code = colander_buffer_append(out, text, (size_t)size, err);
    free(text);
    return code;
}

enum colander_code
text_append_format(struct colander_buffer *out, struct colander_error *err,
                   const char *format, ...)
{
    enum colander_code code;
    va_list list;

    va_start(list, format);
    code = text_append_list(out, err, format, list);
    va_end(list);
    return code;
}

/* Returns the size of the character at the start of `text`, which is not empty,
 * or 0 if it is not UTF-8. */
static size_t
character_size(struct colander_slice text, wchar_t *character)
{
    mbstate_t state;
    size_t size;

    memset(&state, 0, sizeof(state));
    size = mbrtowc(character, (const char *)text.data, text.size, &state);
    if (size == (size_t)-1 || size == (size_t)-2)
        return 0;
    return size == 0 ? 1 : size;
}

static enum colander_code
append_control(struct colander_buffer *out, wchar_t character,
               struct colander_error *err)
{
    switch (character) {
    case L'\n':
        return colander_buffer_append(out, "\\n", 2, err);
    case L'\r':
        return colander_buffer_append(out, "\\r", 2, err);
    case L'\t':
        return colander_buffer_append(out, "\\t", 2, err);
    default:
        return text_append_format(out, err, "\\x%02x", (unsigned)character);
    }
}

/* Direction marks have no width, but would reorder the line around them. */
static bool
is_direction(wchar_t c)
{
    return (c >= 0x200E && c <= 0x200F) || (c >= 0x202A && c <= 0x202E) ||
           (c >= 0x2066 && c <= 0x2069) || c == 0x061C;
}

enum colander_code
text_append_printable(struct colander_buffer *out, struct colander_slice bytes,
                      struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    while (bytes.size > 0 && code == COLANDER_OK) {
        wchar_t character = 0;
        size_t size = character_size(bytes, &character);

        if (size == 0) {
            code = colander_buffer_append(out, REPLACEMENT, 3, err);
            size = 1;
        } else if (character < 0x20 || (character >= 0x7F && character < 0xA0))
            code = append_control(out, character, err);
        else if (wcwidth(character) < 0 || is_direction(character))
            code = colander_buffer_append(out, REPLACEMENT, 3, err);
        else
            code = colander_buffer_append(out, bytes.data, size, err);
        bytes.data += size;
        bytes.size -= size;
    }
    return code;
}

void
text_complain(FILE *file, struct colander_slice text)
{
    struct colander_buffer shown = COLANDER_BUFFER_EMPTY;

    if (text_append_printable(&shown, text, NULL) == COLANDER_OK)
        fprintf(file, "%.*s\n", (int)shown.size, (const char *)shown.data);
    colander_buffer_release(&shown);
}

/* Appends the first whole characters of up to `size_max` bytes, and an ellipsis
 * if there are more. */
static enum colander_code
append_beginning(struct colander_buffer *out, struct colander_slice bytes,
                 size_t size_max, struct colander_error *err)
{
    bool is_cut = bytes.size > size_max;
    enum colander_code code;

    if (is_cut) {
        bytes.size = size_max;
        while (bytes.size > 0 && (bytes.data[bytes.size] & 0xC0) == 0x80)
            bytes.size--;
    }
    code = text_append_printable(out, bytes, err);
    if (code == COLANDER_OK && is_cut)
        code = colander_buffer_append(out, TEXT_ELLIPSIS, strlen(TEXT_ELLIPSIS),
                                      err);
    return code;
}

enum colander_code
text_append_value(struct colander_buffer *out,
                  const struct colander_value *value, size_t size_max,
                  struct colander_error *err)
{
    struct colander_buffer json = COLANDER_BUFFER_EMPTY;
    struct colander_slice text;
    enum colander_code code;

    if (value->type == COLANDER_STRING)
        return append_beginning(out, value->bytes, size_max, err);
    code = colander_json_append_value(&json, value, err);
    text = colander_buffer_slice(&json);
    if (code == COLANDER_OK && value->type == COLANDER_TIMESTAMP &&
        text.size > 2)
        text = colander_slice_of(text.data + 1, text.size - 2);
    if (code == COLANDER_OK)
        code = append_beginning(out, text, size_max, err);
    colander_buffer_release(&json);
    return code;
}

static enum colander_code
append_newline(struct colander_buffer *out, size_t depth,
               struct colander_error *err)
{
    enum colander_code code = colander_buffer_append(out, "\n", 1, err);

    for (size_t i = 0; i < depth && code == COLANDER_OK; i++)
        code = colander_buffer_append(out, "  ", 2, err);
    return code;
}

/* Appends a byte that is not in a string, and what separates it from others.
 * `next` follows it. Changes the depth. */
static enum colander_code
append_indented(struct colander_buffer *out, char byte, char next,
                size_t *depth, struct colander_error *err)
{
    const bool is_end = byte == '}' || byte == ']';
    enum colander_code code = COLANDER_OK;

    if (is_end && (out->size == 0 || (out->data[out->size - 1] != '{' &&
                                      out->data[out->size - 1] != '[')))
        code = append_newline(out, *depth - 1, err);
    *depth -= is_end;
    if (code == COLANDER_OK)
        code = colander_buffer_append(out, &byte, 1, err);
    if (code != COLANDER_OK)
        return code;
    if (byte == ':')
        return colander_buffer_append(out, " ", 1, err);
    *depth += byte == '{' || byte == '[';
    if (byte == ',' ||
        ((byte == '{' || byte == '[') && next != '}' && next != ']'))
        return append_newline(out, *depth, err);
    return COLANDER_OK;
}

enum colander_code
text_indent_json(struct colander_buffer *json, struct colander_error *err)
{
    struct colander_buffer out = COLANDER_BUFFER_EMPTY;
    enum colander_code code = COLANDER_OK;
    bool is_string = false;
    size_t depth = 0;

    for (size_t i = 0; i < json->size && code == COLANDER_OK; i++) {
        const char byte = (char)json->data[i];
        const char next = i + 1 < json->size ? (char)json->data[i + 1] : '\0';

        if (byte == '"' || is_string) {
            code = colander_buffer_append(&out, &json->data[i], 1, err);
            if (is_string && byte == '\\' && code == COLANDER_OK)
                code = colander_buffer_append(&out, &json->data[++i], 1, err);
            is_string = is_string != (byte == '"');
        } else {
            code = append_indented(&out, byte, next, &depth, err);
        }
    }
    if (code == COLANDER_OK) {
        colander_buffer_release(json);
        *json = out;
    } else {
        colander_buffer_release(&out);
    }
    return code;
}

enum colander_code
text_append_key(struct colander_buffer *out, struct colander_slice key,
                struct colander_error *err)
{
    struct colander_value parts[COLANDER_KEY_PARTS_MAX];
    struct colander_buffer scratch = COLANDER_BUFFER_EMPTY;
    struct colander_buffer json = COLANDER_BUFFER_EMPTY;
    enum colander_code code;
    size_t count = 0;

    code = colander_key_decode(key, parts, &count, &scratch, err);
    if (code != COLANDER_OK)
        goto done;
    if (count == 1) {
        code = text_append_value(out, &parts[0], SIZE_MAX, err);
        goto done;
    }
    code = colander_json_append_key(&json, key, err);
    if (code == COLANDER_OK)
        code = text_append_printable(out, colander_buffer_slice(&json), err);
done:
    colander_buffer_release(&json);
    colander_buffer_release(&scratch);
    return code;
}

char *
text_copy(struct colander_slice text)
{
    return text.size == 0 ? strdup("")
                          : strndup((const char *)text.data, text.size);
}

/* Returns how many bytes of the text fit into `width` cells, and sets *cells to
 * what they take. */
static size_t
measure(struct colander_slice text, size_t width, size_t *cells)
{
    size_t fitting = 0;

    *cells = 0;
    while (fitting < text.size) {
        wchar_t character = 0;
        const size_t size = character_size(
            colander_slice_of(text.data + fitting, text.size - fitting),
            &character);
        const int columns = size == 0 ? 1 : wcwidth(character);
        const size_t wide = columns > 0 ? (size_t)columns : 0;

        if (wide > width - *cells)
            break;
        *cells += wide;
        fitting += size == 0 ? 1 : size;
    }
    return fitting;
}

size_t
text_fit(struct colander_slice text, size_t width)
{
    size_t cells;

    return measure(text, width, &cells);
}

size_t
text_width(struct colander_slice text)
{
    size_t cells;

    (void)measure(text, SIZE_MAX, &cells);
    return cells;
}

enum colander_code
text_append_caret(struct colander_buffer *out, const char *text, size_t offset,
                  struct colander_error *err)
{
    struct colander_buffer shown = COLANDER_BUFFER_EMPTY;
    enum colander_code code;
    size_t width;

    code = text_append_printable(&shown, colander_slice_of(text, offset), err);
    if (code != COLANDER_OK)
        goto done;
    width = text_width(colander_buffer_slice(&shown));
    code =
        text_append_printable(&shown, colander_slice_text(text + offset), err);
    if (code == COLANDER_OK)
        code = text_append_format(out, err, "    %.*s\n    %*s^\n",
                                  (int)shown.size, (const char *)shown.data,
                                  (int)width, "");
done:
    colander_buffer_release(&shown);
    return code;
}

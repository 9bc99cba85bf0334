/*
 * Text: see text.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "shell/text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <wchar.h>

#define REPLACEMENT "\xEF\xBF\xBD" /* U+FFFD */

enum colander_code
text_append_format(struct colander_buffer *out, struct colander_error *err,
                   const char *format, ...)
{
    enum colander_code code;
    char *text = NULL;
    va_list list;
    int size;

    va_start(list, format);
    size = vasprintf(&text, format, list);
    va_end(list);
    if (size < 0)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a text");
    code = colander_buffer_append(out, text, (size_t)size, err);
    free(text);
    return code;
}

/* Bytes of the character at the start of `text`, which is not empty; 0 when
 * it is damaged. */
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

/* Marks that turn the direction of what follows have no width and would
 * reorder the line around them. */
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

/* Appends the first `size_max` bytes, or fewer so as to end with a whole
 * character, and an ellipsis if there are more. */
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
    enum colander_code code;

    if (value->type == COLANDER_STRING)
        return append_beginning(out, value->bytes, size_max, err);
    code = colander_json_append_value(&json, value, err);
    if (code == COLANDER_OK)
        code =
            append_beginning(out, colander_buffer_slice(&json), size_max, err);
    colander_buffer_release(&json);
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

void
text_drop_lead(char *message, struct colander_slice lead)
{
    size_t size = strlen(message);

    if (lead.size <= size && memcmp(message, lead.data, lead.size) == 0)
        memmove(message, message + lead.size, size - lead.size + 1);
}

char *
text_copy(struct colander_slice text)
{
    return text.size == 0 ? strdup("")
                          : strndup((const char *)text.data, text.size);
}

enum colander_code
text_append_count(struct colander_buffer *out, uint64_t count,
                  struct colander_error *err)
{
    char digits[24];
    size_t size = (size_t)snprintf(digits, sizeof(digits), "%" PRIu64, count);
    enum colander_code code = COLANDER_OK;

    for (size_t i = 0; i < size && code == COLANDER_OK; i++) {
        if (i > 0 && (size - i) % 3 == 0)
            code = colander_buffer_append(out, ",", 1, err);
        if (code == COLANDER_OK)
            code = colander_buffer_append(out, &digits[i], 1, err);
    }
    return code;
}

size_t
text_fit(struct colander_slice text, size_t width)
{
    size_t fitting = 0;
    size_t cells = 0;

    while (fitting < text.size) {
        struct colander_slice rest =
            colander_slice_of(text.data + fitting, text.size - fitting);
        wchar_t character = 0;
        size_t size = character_size(rest, &character);
        int columns = size == 0 ? 1 : wcwidth(character);

        cells += columns > 0 ? (size_t)columns : 0;
        if (cells > width)
            break;
        fitting += size == 0 ? 1 : size;
    }
    return fitting;
}

size_t
text_width(struct colander_slice text)
{
    size_t cells = 0;

    while (text.size > 0) {
        wchar_t character = 0;
        size_t size = character_size(text, &character);
        int columns = size == 0 ? 1 : wcwidth(character);

        cells += columns > 0 ? (size_t)columns : 0;
        size = size == 0 ? 1 : size;
        text.data += size;
        text.size -= size;
    }
    return cells;
}

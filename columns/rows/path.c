/* See path.h. SPDX-License-Identifier: MIT */
#include "columns/path.h"

#include "columns/utf8.h"

static int
hex_digit(char character)
{
    if (character >= '0' && character <= '9')
        return character - '0';
    if (character >= 'a' && character <= 'f')
        return character - 'a' + 10;
    if (character >= 'A' && character <= 'F')
        return character - 'A' + 10;
    return -1;
}

struct parser {
    const char *text;
    const char *at;
    uint8_t *byte; /* the place of the next byte of a name */
    struct path *path;
    struct colander_error *err;
};

/* Bytes of the path that a message has room for, without half a character. */
static int
shown_size(const struct parser *parser)
{
    return (int)utf8_cut((const uint8_t *)parser->text, strlen(parser->text),
                         200);
}

static enum colander_code
fail_at(const struct parser *parser, const char *message)
{
    return COLANDER_FAIL(parser->err, COLANDER_INVALID,
                         "path '%.*s': %s (position %td)", shown_size(parser),
                         parser->text, message, parser->at - parser->text + 1);
}

static enum colander_code
add_step(struct parser *parser, struct path_step step)
{
    if (parser->path->count == COLANDER_ROW_DEPTH_MAX)
        return COLANDER_FAIL(
            parser->err, COLANDER_INVALID, "path '%.*s': more than %d steps",
            shown_size(parser), parser->text, COLANDER_ROW_DEPTH_MAX);
    parser->path->steps[parser->path->count++] = step;
    return COLANDER_OK;
}

/* The character after a backslash, or the byte of \xHH. */
static enum colander_code
parse_escape(struct parser *parser)
{
    const char *at = parser->at + 1;
    int high, low;

    if (*at == '\0')
        return fail_at(parser, "nothing follows '\\'");
    if (*at != 'x') {
        *parser->byte++ = (uint8_t)*at;
        parser->at += 2;
        return COLANDER_OK;
    }
    high = hex_digit(at[1]);
    low = high < 0 ? -1 : hex_digit(at[2]);
    if (low < 0)
        return fail_at(parser, "'\\x' must be followed by two hex digits");
    *parser->byte++ = (uint8_t)(high * 16 + low);
    parser->at += 4;
    return COLANDER_OK;
}

static enum colander_code
parse_name(struct parser *parser)
{
    struct path_step step = {{parser->byte, 0}, false};
    enum colander_code code;

    while (*parser->at != '\0' && *parser->at != '.' && *parser->at != '[') {
        if (*parser->at == ']')
            return fail_at(parser, "']' without '['");
        if (*parser->at == '\\') {
            code = parse_escape(parser);
            if (code != COLANDER_OK)
                return code;
        } else {
            *parser->byte++ = (uint8_t)*parser->at++;
        }
    }
    step.name.size = (size_t)(parser->byte - step.name.data);
    if (step.name.size > COLANDER_NAME_SIZE_MAX)
        return COLANDER_FAIL(parser->err, COLANDER_LIMIT,
                             "path '%.*s': a name of %zu bytes, over the "
                             "limit of %d",
                             shown_size(parser), parser->text, step.name.size,
                             COLANDER_NAME_SIZE_MAX);
    return add_step(parser, step);
}

static enum colander_code
parse_elements(struct parser *parser)
{
    const struct path_step step = {{NULL, 0}, true};
    enum colander_code code = COLANDER_OK;

    while (*parser->at == '[' && code == COLANDER_OK) {
        if (parser->at[1] != ']')
            return fail_at(parser, "'[' must be followed by ']' (a[] is any "
                                   "element of a)");
        parser->at += 2;
        code = add_step(parser, step);
    }
    return code;
}

static enum colander_code
parse_steps(struct parser *parser)
{
    enum colander_code code;

    for (;;) {
        code = parse_name(parser);
        if (code == COLANDER_OK)
            code = parse_elements(parser);
        if (code != COLANDER_OK || *parser->at == '\0')
            return code;
        if (*parser->at != '.')
            return fail_at(parser, "'[]' must be followed by '.' or the end");
        parser->at++;
    }
}

/* Never fewer than the steps that parse_steps adds. */
static size_t
step_bound(const char *text)
{
    size_t bound = 1;

    for (; *text != '\0'; text++)
        bound += *text == '.' || *text == '[';
    return bound < COLANDER_ROW_DEPTH_MAX ? bound : COLANDER_ROW_DEPTH_MAX;
}

enum colander_code
colander_path_parse(const char *text, struct path *path,
                    struct colander_error *err)
{
    size_t steps_size = step_bound(text) * sizeof(struct path_step);
    struct parser parser = {text, text, NULL, path, err};
    enum colander_code code;

    path->count = 0;
    path->steps = malloc(steps_size + strlen(text));
    if (path->steps == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "cannot keep a path");
    parser.byte = (uint8_t *)path->steps + steps_size;
    code = parse_steps(&parser);
    if (code != COLANDER_OK)
        path_release(path);
    return code;
}

/* Control characters, and bytes that are not UTF-8. */
static bool
needs_hex(uint8_t byte, bool is_utf8)
{
    return byte < 0x20 || byte == 0x7f || (byte >= 0x80 && !is_utf8);
}

static bool
needs_backslash(uint8_t byte)
{
    return byte == '.' || byte == '[' || byte == ']' || byte == '\\';
}

enum colander_code
colander_path_append_name(struct colander_buffer *text,
                          struct colander_slice name,
                          struct colander_error *err)
{
    static const char digits[] = "0123456789abcdef";
    bool is_utf8 = utf8_is_valid(name.data, name.size);
    enum colander_code code;
    uint8_t *to;

    if (name.size > SIZE_MAX / 4)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "name is too long");
    code = colander_buffer_reserve(text, 4 * name.size, err);
    if (code != COLANDER_OK || name.size == 0)
        return code;
    to = text->data + text->size;
    for (size_t i = 0; i < name.size; i++) {
        if (needs_hex(name.data[i], is_utf8)) {
            *to++ = '\\';
            *to++ = 'x';
            *to++ = (uint8_t)digits[name.data[i] >> 4];
            *to++ = (uint8_t)digits[name.data[i] & 0x0f];
            continue;
        }
        if (needs_backslash(name.data[i]))
            *to++ = '\\';
        *to++ = name.data[i];
    }
    text->size = (size_t)(to - text->data);
    return COLANDER_OK;
}

enum colander_code
path_append_step(struct colander_buffer *text, const struct path_step *step,
                 bool is_first, struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    if (step->is_element)
        return colander_buffer_append(text, "[]", 2, err);
    if (!is_first)
        code = colander_buffer_append(text, ".", 1, err);
    if (code != COLANDER_OK)
        return code;
    return colander_path_append_name(text, step->name, err);
}

void
colander_path_make_plain(char *path)
{
    char *to = path;

    for (; *path != '\0'; path++) {
        if (path[0] == '\\' && path[1] != '\0' && path[1] != 'x')
            path++;
        *to++ = *path;
    }
    *to = '\0';
}

enum colander_code
path_append(struct colander_buffer *text, const struct path *path,
            struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    for (size_t i = 0; i < path->count && code == COLANDER_OK; i++)
        code = path_append_step(text, &path->steps[i], i == 0, err);
    return code;
}

int
path_step_compare(const struct path_step *a, const struct path_step *b)
{
    if (a->is_element || b->is_element)
        return b->is_element - a->is_element;
    return colander_slice_compare(a->name, b->name);
}

int
path_compare(const struct path *a, const struct path *b)
{
    for (size_t i = 0; i < a->count && i < b->count; i++) {
        int order = path_step_compare(&a->steps[i], &b->steps[i]);

        if (order != 0)
            return order;
    }
    return (a->count > b->count) - (a->count < b->count);
}

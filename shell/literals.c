/*
 * Literals: see literals.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "shell/literals.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* Where reading stands. */
struct reader {
    struct literals *literals;
    const char *source;
    const char *at;
};

static bool
is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The end of the JSON number that begins at `at`, or NULL. */
static const char *
number_end(const char *at)
{
    if (*at == '-')
        at++;
    if (!is_digit(*at))
        return NULL;
    if (*at == '0')
        at++;
    else
        at += strspn(at, "0123456789");
    if (at[0] == '.') {
        if (!is_digit(at[1]))
            return NULL;
        at += 1 + strspn(at + 1, "0123456789");
    }
    if (*at == 'e' || *at == 'E') {
        at += at[1] == '+' || at[1] == '-' ? 2 : 1;
        if (!is_digit(*at))
            return NULL;
        at += strspn(at, "0123456789");
    }
    return at;
}

static enum colander_code
parse_integer(const char *text, struct colander_value *value,
              struct colander_error *err)
{
    errno = 0;
    if (text[0] == '-')
        *value = colander_integer(strtoimax(text, NULL, 10));
    else
        *value = colander_unsigned(strtoumax(text, NULL, 10));
    if (errno == ERANGE)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "integer does not fit 64 bits (text goes in "
                             "double quotes)");
    return COLANDER_OK;
}

/* Takes the number from reader->at to `end`. */
static enum colander_code
take_number(struct reader *reader, const char *end,
            struct colander_value *value, struct colander_error *err)
{
    size_t size = (size_t)(end - reader->at);
    double number;

    if (strcspn(reader->at, ".eE") >= size) {
        enum colander_code code = parse_integer(reader->at, value, err);

        if (code == COLANDER_OK)
            reader->at = end;
        return code;
    }
    number = strtod(reader->at, NULL);
    if (!isfinite(number))
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "number is too large for a double");
    *value = colander_double(number);
    reader->at = end;
    return COLANDER_OK;
}

/* The bytes were reserved by literals_parse: a string of JSON is never longer
 * without its escapes. */
static void
put_byte(struct reader *reader, unsigned byte)
{
    struct colander_buffer *text = &reader->literals->text;

    text->data[text->size++] = (uint8_t)byte;
}

static void
put_character(struct reader *reader, uint32_t point)
{
    if (point < 0x80) {
        put_byte(reader, point);
    } else if (point < 0x800) {
        put_byte(reader, 0xC0 | point >> 6);
        put_byte(reader, 0x80 | (point & 0x3F));
    } else if (point < 0x10000) {
        put_byte(reader, 0xE0 | point >> 12);
        put_byte(reader, 0x80 | (point >> 6 & 0x3F));
        put_byte(reader, 0x80 | (point & 0x3F));
    } else {
        put_byte(reader, 0xF0 | point >> 18);
        put_byte(reader, 0x80 | (point >> 12 & 0x3F));
        put_byte(reader, 0x80 | (point >> 6 & 0x3F));
        put_byte(reader, 0x80 | (point & 0x3F));
    }
}

/* Reads the four hexadecimal digits behind \u. */
static bool
take_hex(const char *at, uint32_t *unit)
{
    *unit = 0;
    for (int i = 0; i < 4; i++) {
        char c = at[i];

        if (is_digit(c))
            *unit = *unit << 4 | (uint32_t)(c - '0');
        else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
            *unit = *unit << 4 | (uint32_t)((c | 0x20) - 'a' + 10);
        else
            return false;
    }
    return true;
}

/* reader->at is at the backslash of \uXXXX. */
static enum colander_code
take_unicode(struct reader *reader, struct colander_error *err)
{
    uint32_t point, low;

    if (!take_hex(reader->at + 2, &point))
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "\\u needs four hexadecimal digits");
    if (point >= 0xD800 && point < 0xE000) {
        const char *next = reader->at + 6;

        if (point >= 0xDC00 || next[0] != '\\' || next[1] != 'u' ||
            !take_hex(next + 2, &low) || low < 0xDC00 || low > 0xDFFF)
            return COLANDER_FAIL(
                err, COLANDER_INVALID,
                "\\u%04" PRIx32 " is half of a pair of surrogates", point);
        point = 0x10000 + ((point - 0xD800) << 10) + (low - 0xDC00);
        reader->at += 6;
    }
    reader->at += 6;
    put_character(reader, point);
    return COLANDER_OK;
}

/* reader->at is at a backslash. */
static enum colander_code
take_escape(struct reader *reader, struct colander_error *err)
{
    static const char names[] = "\"\\/bfnrt";
    static const char bytes[] = "\"\\/\b\f\n\r\t";
    const char *name;

    if (reader->at[1] == 'u')
        return take_unicode(reader, err);
    name = reader->at[1] == '\0' ? NULL : strchr(names, reader->at[1]);
    if (name == NULL)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "JSON knows no such escape");
    put_byte(reader, (unsigned char)bytes[name - names]);
    reader->at += 2;
    return COLANDER_OK;
}

/* reader->at is at the opening quote. */
static enum colander_code
take_string(struct reader *reader, struct colander_value *value,
            struct colander_error *err)
{
    const char *open = reader->at++;
    size_t start = reader->literals->text.size;

    while (*reader->at != '"') {
        enum colander_code code = COLANDER_OK;

        if (*reader->at == '\0') {
            reader->at = open;
            return COLANDER_FAIL(err, COLANDER_INVALID,
                                 "string has no closing quote");
        }
        if (*reader->at == '\\')
            code = take_escape(reader, err);
        else
            put_byte(reader, (unsigned char)*reader->at++);
        if (code != COLANDER_OK)
            return code;
    }
    reader->at++;
    *value =
        colander_string(colander_slice_of(reader->literals->text.data + start,
                                          reader->literals->text.size - start));
    return COLANDER_OK;
}

/* Takes `word` if it stands here by itself. */
static bool
take_word(struct reader *reader, const char *word)
{
    size_t size = strlen(word);

    if (strncmp(reader->at, word, size) != 0 ||
        strchr(" \t\n\r,]", reader->at[size]) == NULL)
        return false;
    reader->at += size;
    return true;
}

static enum colander_code
take_element(struct reader *reader, struct colander_value *value,
             struct colander_error *err)
{
    const char *end = number_end(reader->at);

    if (end != NULL)
        return take_number(reader, end, value, err);
    if (*reader->at == '"')
        return take_string(reader, value, err);
    if (take_word(reader, "null"))
        *value = colander_null();
    else if (take_word(reader, "true"))
        *value = colander_boolean(true);
    else if (take_word(reader, "false"))
        *value = colander_boolean(false);
    else
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "expected a number, a string in double quotes, "
                             "true, false or null");
    return COLANDER_OK;
}

static void
skip_space(struct reader *reader)
{
    reader->at += strspn(reader->at, " \t\n\r");
}

/* reader->at is at the opening bracket. */
static enum colander_code
take_list(struct reader *reader, struct colander_error *err)
{
    struct literals *literals = reader->literals;

    literals->is_list = true;
    reader->at++;
    skip_space(reader);
    if (*reader->at == ']') {
        reader->at++;
        return COLANDER_OK;
    }
    for (;;) {
        enum colander_code code;

        skip_space(reader);
        code = take_element(reader, &literals->values[literals->count], err);
        if (code != COLANDER_OK)
            return code;
        literals->count++;
        skip_space(reader);
        if (*reader->at == ']')
            break;
        if (*reader->at != ',')
            return COLANDER_FAIL(err, COLANDER_INVALID,
                                 "expected ',' or ']' in the list");
        reader->at++;
    }
    reader->at++;
    return COLANDER_OK;
}

/* Reads all of the source that is meant as JSON. */
static enum colander_code
take_all(struct reader *reader, struct colander_error *err)
{
    struct literals *literals = reader->literals;
    enum colander_code code;

    if (*reader->at == '[') {
        code = take_list(reader, err);
    } else {
        code = take_element(reader, &literals->values[0], err);
        literals->count = 1;
    }
    if (code == COLANDER_OK && *reader->at != '\0')
        code = COLANDER_FAIL(err, COLANDER_INVALID,
                             "something stands behind the value");
    return code;
}

/* Room for whatever `source` may hold, so that nothing has to grow. */
static enum colander_code
make_room(struct literals *literals, const char *source,
          struct colander_error *err)
{
    size_t size = strlen(source);

    literals->values = calloc(size / 2 + 1, sizeof(*literals->values));
    if (literals->values == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for values");
    return colander_buffer_reserve(&literals->text, size + 1, err);
}

static bool
is_json(const char *source)
{
    static const char *const words[] = {"null", "true", "false"};
    const char *end = number_end(source);

    if (source[0] == '"' || source[0] == '[')
        return true;
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (strcmp(source, words[i]) == 0)
            return true;
    }
    return end != NULL && *end == '\0';
}

/* Whether the text begins as hardly any is meant to: with what was rather to
 * be an operator, or with a quote that is none here. */
static bool
is_slip(const char *source)
{
    return source[0] != '\0' && strchr("=<>~' ", source[0]) != NULL;
}

static enum colander_code
parse_as(struct literals *literals, const char *source, bool as_json,
         size_t *offset, struct colander_error *err)
{
    struct reader reader = {literals, source, source};
    enum colander_code code;

    *offset = 0;
    code = make_room(literals, source, err);
    if (code != COLANDER_OK)
        return code;
    if (as_json) {
        code = take_all(&reader, err);
        *offset = (size_t)(reader.at - source);
        return code;
    }
    if (is_slip(source))
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "text that begins so goes in double quotes");
    memcpy(literals->text.data, source, strlen(source));
    literals->text.size = strlen(source);
    literals->values[0] =
        colander_string(colander_buffer_slice(&literals->text));
    literals->count = 1;
    return COLANDER_OK;
}

enum colander_code
literals_parse(struct literals *literals, const char *source, size_t *offset,
               struct colander_error *err)
{
    return parse_as(literals, source, is_json(source), offset, err);
}

enum colander_code
literals_parse_text(struct literals *literals, const char *source,
                    size_t *offset, struct colander_error *err)
{
    return parse_as(literals, source, source[0] == '"', offset, err);
}

void
literals_release(struct literals *literals)
{
    free(literals->values);
    colander_buffer_release(&literals->text);
    literals->values = NULL;
    literals->count = 0;
    literals->is_list = false;
}

enum colander_code
literals_parse_key(const char *source, struct colander_buffer *key,
                   size_t *offset, struct colander_error *err)
{
    struct literals literals = LITERALS_EMPTY;
    enum colander_code code;

    code = literals_parse(&literals, source, offset, err);
    if (code == COLANDER_OK) {
        *offset = 0;
        code = colander_key_encode(literals.values, literals.count, key, err);
    }
    literals_release(&literals);
    return code;
}

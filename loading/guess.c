/* See guess.h. SPDX-License-Identifier: MIT */
#include "loading/guess.h"

#include "loading/csv.h"

#include <strings.h>

/* Formats by name, then other endings of file names. */
static const struct format {
    const char *name;
    enum record_format format;
    char delimiter;
} formats[] = {
    {"jsonl", RECORDS_JSONL, 0},
    {"json", RECORDS_JSON, 0},
    {"csv", RECORDS_CSV, 0},
    {"tsv", RECORDS_CSV, '\t'},
    {"msgpack", RECORDS_MSGPACK, 0},
    {"influx", RECORDS_INFLUX, 0},
    {"elasticsearch", RECORDS_ITEMS, 0},
    {"ndjson", RECORDS_JSONL, 0},
    {"js", RECORDS_JSON, 0},
    {"tab", RECORDS_CSV, '\t'},
    {"mp", RECORDS_MSGPACK, 0},
    {"lp", RECORDS_INFLUX, 0},
};

#define NAME_COUNT 7
#define ENDING_COUNT (sizeof(formats) / sizeof(formats[0]))

bool
format_parse(const char *text, enum record_format *format, char *delimiter)
{
    for (size_t i = 0; i < NAME_COUNT; i++) {
        if (strcmp(text, formats[i].name) == 0) {
            *format = formats[i].format;
            *delimiter = formats[i].delimiter;
            return true;
        }
    }
    return false;
}

const char *
format_name(enum record_format format, char delimiter)
{
    size_t found = 0;

    for (size_t i = 0; i < NAME_COUNT; i++) {
        bool is_tab = formats[i].delimiter == '\t';

        if (formats[i].format == format && (!is_tab || delimiter == '\t'))
            found = i;
    }
    return formats[found].name;
}

/* ---------------------------------------------------------------- names --- */

/* Removes `.ending` from the end of a name. */
static bool
take_off(struct colander_slice *name, const char *ending)
{
    size_t size = strlen(ending);
    const char *at = (const char *)name->data + name->size - size;

    if (name->size <= size || at[-1] != '.' ||
        strncasecmp(at, ending, size) != 0)
        return false;
    name->size -= size + 1;
    return true;
}

/* Removes `.1` or another number from the end of a name. */
static bool
take_off_number(struct colander_slice *name)
{
    size_t size = name->size;

    while (size > 0 && name->data[size - 1] >= '0' &&
           name->data[size - 1] <= '9')
        size--;
    if (size < 2 || size == name->size || name->data[size - 1] != '.')
        return false;
    name->size = size - 1;
    return true;
}

/* Returns the format that the end of a name suggests, or NULL, and removes that
 * end. */
static const struct format *
take_off_format(struct colander_slice *name)
{
    struct colander_slice shorter;

    if (!take_off(name, "gz") && !take_off(name, "zst"))
        (void)take_off(name, "zstd");
    shorter = *name;
    (void)take_off_number(&shorter);
    for (size_t i = 0; i < ENDING_COUNT; i++) {
        if (take_off(&shorter, formats[i].name)) {
            *name = shorter;
            return &formats[i];
        }
    }
    return NULL;
}

static const struct format *
format_of(const char *path)
{
    struct colander_slice name;

    if (path == NULL)
        return NULL;
    name = colander_slice_text(path);
    return take_off_format(&name);
}

struct colander_slice
format_stem(const char *path)
{
    const char *slash = strrchr(path, '/');
    struct colander_slice name =
        colander_slice_text(slash == NULL ? path : slash + 1);

    (void)take_off_format(&name);
    return name;
}

/* ---------------------------------------------------------------- bytes --- */

static bool
begins_with(struct colander_slice text, const char *bytes, size_t size)
{
    return text.size >= size && memcmp(text.data, bytes, size) == 0;
}

/* Whether every second of the first bytes is zero, as in UTF-16 text. */
static bool
is_utf16(struct colander_slice text)
{
    const uint8_t *at = text.data;

    if (begins_with(text, "\xff\xfe", 2) || begins_with(text, "\xfe\xff", 2))
        return true;
    if (text.size < 4)
        return false;
    if (at[0] == 0 && at[2] == 0)
        return at[1] >= '\t' && at[1] < 0x7f && at[3] != 0;
    return at[1] == 0 && at[3] == 0 && at[0] >= '\t' && at[0] < 0x7f &&
           at[2] != 0;
}

static struct colander_slice
first_line(struct colander_slice text)
{
    const uint8_t *end = NULL;

    if (text.size > 0)
        end = memchr(text.data, '\n', text.size);
    if (end != NULL)
        text.size = (size_t)(end - text.data);
    return text;
}

static struct colander_slice
without_blanks(struct colander_slice text)
{
    while (text.size > 0 &&
           memchr(" \t\r\n", *text.data, strlen(" \t\r\n")) != NULL)
        text = colander_slice_of(text.data + 1, text.size - 1);
    return text;
}

/* Whether the line is one object, and all of it. */
static bool
is_one_object(struct colander_slice line)
{
    struct splitter splitter;
    struct split_record ended;

    splitter_init(&splitter, RECORDS_JSON, 0);
    if (splitter_next(&splitter, line, true, &ended, NULL) != SPLIT_RECORD)
        return false;
    line = colander_slice_of(line.data + ended.size, line.size - ended.size);
    return without_blanks(line).size == 0;
}

/* The splitter skips an assignment. */
static bool
is_assignment(struct colander_slice text)
{
    struct splitter splitter;
    struct split_record ended;
    const uint8_t *sign;

    splitter_init(&splitter, RECORDS_JSON, 0);
    (void)splitter_next(&splitter, text, false, &ended, NULL);
    sign = memchr(text.data, '=', ended.size);
    if (sign == NULL)
        return false;
    sign++;
    text = without_blanks(
        colander_slice_of(sign, text.size - (size_t)(sign - text.data)));
    return text.size > 0 && (*text.data == '[' || *text.data == '{');
}

bool
guess_is_msgpack(struct colander_slice text)
{
    uint8_t first = text.size > 0 ? *text.data : 0;
    size_t head = first == 0xde ? 3 : first == 0xdf ? 5 : 1;
    bool may_be_utf8 = head > 1 && text.size > 1 && text.data[1] >> 6 == 2;
    uint8_t key = text.size > head ? text.data[head] : 0xa0;

    return (first >> 4 == 8 || head > 1) && !may_be_utf8 &&
           (first == 0x80 || key >> 5 == 5 || (key >= 0xd9 && key <= 0xdb));
}

/* Whether the bytes may be a header. */
static bool
is_header(struct colander_slice line)
{
    bool has_delimiter = false;

    for (size_t i = 0; i < line.size; i++) {
        uint8_t byte = line.data[i];

        if (byte < ' ' && byte != '\t' && byte != '\r')
            return false;
        has_delimiter |= byte == ',' || byte == ';' || byte == '\t';
    }
    return has_delimiter;
}

/* ----------------------------------------------------------- together --- */

enum colander_code
format_given(enum record_format format, char delimiter,
             struct colander_slice text, struct format_guess *guess,
             struct colander_error *err)
{
    *guess = (struct format_guess){format, delimiter, 0};
    if (format == RECORDS_MSGPACK)
        return COLANDER_OK;
    if (is_utf16(text))
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "the text is UTF-16: convert it to UTF-8, for "
                             "example with iconv -f UTF-16 -t UTF-8");
    if (begins_with(text, "\xef\xbb\xbf", 3)) {
        guess->skip = 3;
        text = colander_slice_of(text.data + 3, text.size - 3);
    }
    if (format == RECORDS_CSV && delimiter == 0)
        guess->delimiter = csv_delimiter(first_line(text));
    return COLANDER_OK;
}

/* Returns false if the text does not decide. */
static bool
guess_by_text(struct colander_slice text, bool is_json,
              enum record_format *format)
{
    struct colander_slice begin = without_blanks(text);

    *format = RECORDS_JSON;
    if (begin.size == 0)
        return true;
    if (*begin.data == '{') {
        if (is_one_object(first_line(begin)))
            *format = RECORDS_JSONL;
        return true;
    }
    if (is_json || *begin.data == '[' || is_assignment(begin))
        return true;
    *format = guess_is_msgpack(text) ? RECORDS_MSGPACK : RECORDS_CSV;
    return guess_is_msgpack(text) || is_header(first_line(begin));
}

enum colander_code
format_guess(const char *name, struct colander_slice text,
             struct format_guess *guess, struct colander_error *err)
{
    const struct format *named = format_of(name);
    struct colander_slice after_mark = text;
    enum record_format format;
    enum colander_code code;

    if (named != NULL && named->format != RECORDS_JSON)
        return format_given(named->format, named->delimiter, text, guess, err);
    code = format_given(RECORDS_JSON, 0, text, guess, err);
    if (code != COLANDER_OK)
        return code;
    after_mark.size -= guess->skip;
    after_mark.data += text.size > 0 ? guess->skip : 0;
    if (!guess_by_text(after_mark, named != NULL, &format))
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "neither the name nor the first bytes show the "
                             "format: use --format");
    return format_given(format, 0, text, guess, err);
}

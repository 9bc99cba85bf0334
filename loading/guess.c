/*
 * Guess: names first, then bytes.
 *
 * SPDX-License-Identifier: MIT
 */
#include "loading/guess.h"

#include "loading/csv.h"

#include <strings.h>

static const struct {
    const char *name;
    enum record_format format;
    char delimiter;
} formats[] = {
    {"jsonl", RECORDS_JSONL, 0},     {"json", RECORDS_JSON, 0},
    {"csv", RECORDS_CSV, 0},         {"tsv", RECORDS_CSV, '\t'},
    {"msgpack", RECORDS_MSGPACK, 0},
};

/* What the end of a name says. */
enum hint {
    HINT_NONE,
    HINT_JSON, /* in one way or the other */
    HINT_JSONL,
    HINT_CSV,
    HINT_TSV,
    HINT_MSGPACK,
};

static const struct {
    const char *ending;
    enum hint hint;
} endings[] = {
    {"jsonl", HINT_JSONL}, {"ndjson", HINT_JSONL}, {"json", HINT_JSON},
    {"js", HINT_JSON},     {"csv", HINT_CSV},      {"tsv", HINT_TSV},
    {"tab", HINT_TSV},     {"mp", HINT_MSGPACK},   {"msgpack", HINT_MSGPACK},
};

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

bool
format_parse(const char *text, enum record_format *format, char *delimiter)
{
    for (size_t i = 0; i < COUNT(formats); i++) {
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

    for (size_t i = 0; i < COUNT(formats); i++) {
        bool is_tab = formats[i].delimiter == '\t';

        if (formats[i].format == format && (!is_tab || delimiter == '\t'))
            found = i;
    }
    return formats[found].name;
}

/* ---------------------------------------------------------------- names --- */

/* Takes `.ending` off the end of a name. */
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

static enum hint
hint_of(const char *path)
{
    struct colander_slice name;

    if (path == NULL)
        return HINT_NONE;
    name = colander_slice_text(path);
    if (!take_off(&name, "gz") && !take_off(&name, "zst"))
        (void)take_off(&name, "zstd");
    for (size_t i = 0; i < COUNT(endings); i++) {
        if (take_off(&name, endings[i].ending))
            return endings[i].hint;
    }
    return HINT_NONE;
}

/* ---------------------------------------------------------------- bytes --- */

static bool
begins_with(struct colander_slice text, const char *bytes, size_t size)
{
    return text.size >= size && memcmp(text.data, bytes, size) == 0;
}

/* Every second of its first bytes is zero, and it begins as a text does. */
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

/* The splitter knows an assignment when it sees one. */
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

/* A map of msgpack, whose first key is a string: no letter of UTF-8, nor the
 * first byte of a picture. */
static bool
is_map(struct colander_slice text)
{
    uint8_t first = text.size > 0 ? *text.data : 0;
    size_t head = first == 0xde ? 3 : first == 0xdf ? 5 : 1;
    uint8_t key = text.size > head ? text.data[head] : 0xa0;

    return (first >> 4 == 8 || head > 1) &&
           (first == 0x80 || key >> 5 == 5 || (key >= 0xd9 && key <= 0xdb));
}

/* Whether it may be a line of names, by what is in it. */
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
                             "the text is UTF-16: make it UTF-8, as with "
                             "iconv -f UTF-16 -t UTF-8");
    if (begins_with(text, "\xef\xbb\xbf", 3)) {
        guess->skip = 3;
        text = colander_slice_of(text.data + 3, text.size - 3);
    }
    if (format == RECORDS_CSV && delimiter == 0)
        guess->delimiter = csv_delimiter(first_line(text));
    return COLANDER_OK;
}

/* False: nothing is known. */
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
    *format = is_map(text) ? RECORDS_MSGPACK : RECORDS_CSV;
    return is_map(text) || is_header(first_line(begin));
}

enum colander_code
format_guess(const char *name, struct colander_slice text,
             struct format_guess *guess, struct colander_error *err)
{
    enum hint hint = hint_of(name);
    struct colander_slice behind_mark = text;
    enum record_format format;
    enum colander_code code;

    if (hint == HINT_JSONL)
        return format_given(RECORDS_JSONL, 0, text, guess, err);
    if (hint == HINT_CSV || hint == HINT_TSV)
        return format_given(RECORDS_CSV, hint == HINT_TSV ? '\t' : 0, text,
                            guess, err);
    if (hint == HINT_MSGPACK)
        return format_given(RECORDS_MSGPACK, 0, text, guess, err);
    code = format_given(RECORDS_JSON, 0, text, guess, err);
    if (code != COLANDER_OK)
        return code;
    behind_mark.size -= guess->skip;
    behind_mark.data += text.size > 0 ? guess->skip : 0;
    if (!guess_by_text(behind_mark, hint == HINT_JSON, &format))
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "neither its name nor its beginning tells the "
                             "format: say which with --format");
    return format_given(format, 0, text, guess, err);
}

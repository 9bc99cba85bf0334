/*
 * JSON: rows and values as text for people and other programs.
 *
 * What is written is always valid JSON in valid UTF-8 (RFC 8259), on one line
 * and independent of the locale, whatever bytes were stored; and a number
 * reads back as the same number. On failure nothing is appended.
 *
 * Knows: rows as msgpack tells them; one reader goes through all levels
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/msgpack.h"
#include "columns/utf8.h"
#include "columns/value.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define SECONDS_PER_DAY 86400

/* 0000-01-01 and 10000-01-01: RFC 3339 has years of four digits. */
#define SECOND_FIRST INT64_C(-62167219200)
#define SECOND_END INT64_C(253402300800)

#define DOUBLE_DIGITS_MAX 17 /* always enough to read back the same double */

static enum colander_code
append_text(struct colander_buffer *json, const char *text,
            struct colander_error *err)
{
    return colander_buffer_append(json, text, strlen(text), err);
}

/* ------------------------------------------------------------ strings --- */

/* The escape for `byte`, or NULL when it stands for itself. */
static const char *
escape_of(uint8_t byte, char room[8])
{
    switch (byte) {
    case '"':
        return "\\\"";
    case '\\':
        return "\\\\";
    case '\b':
        return "\\b";
    case '\f':
        return "\\f";
    case '\n':
        return "\\n";
    case '\r':
        return "\\r";
    case '\t':
        return "\\t";
    default:
        if (byte >= 0x20)
            return NULL;
        (void)snprintf(room, 8, "\\u%04x", (unsigned)byte);
        return room;
    }
}

/* How many bytes at `data` may be written as they are. */
static size_t
plain_run(const uint8_t *data, size_t size)
{
    size_t run = 0;

    while (run < size) {
        size_t step = 1;

        if (data[run] >= 0x80)
            step = utf8_character_size(data + run, size - run);
        else if (data[run] < 0x20 || data[run] == '"' || data[run] == '\\')
            break;
        if (step == 0)
            break;
        run += step;
    }
    return run;
}

static enum colander_code
append_string(struct colander_buffer *json, struct colander_slice text,
              struct colander_error *err)
{
    enum colander_code code = append_text(json, "\"", err);
    size_t at = 0;

    while (code == COLANDER_OK && at < text.size) {
        size_t run = plain_run(text.data + at, text.size - at);
        const char *escape;
        char room[8];

        code = colander_buffer_append(json, text.data + at, run, err);
        at += run;
        if (code != COLANDER_OK || at == text.size)
            break;
        escape = escape_of(text.data[at], room);
        if (escape == NULL)
            escape = "\xEF\xBF\xBD"; /* U+FFFD for a byte that is no text */
        code = append_text(json, escape, err);
        at++;
    }
    if (code != COLANDER_OK)
        return code;
    return append_text(json, "\"", err);
}

static enum colander_code
append_base64(struct colander_buffer *json, struct colander_slice bytes,
              struct colander_error *err)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                 "abcdefghijklmnopqrstuvwxyz0123456789+/";
    enum colander_code code = append_text(json, "\"", err);

    for (size_t at = 0; code == COLANDER_OK && at < bytes.size; at += 3) {
        size_t size = bytes.size - at < 3 ? bytes.size - at : 3;
        uint32_t bits = 0;
        char four[4];

        for (size_t i = 0; i < 3; i++)
            bits = bits << 8 | (i < size ? bytes.data[at + i] : 0u);
        for (size_t i = 0; i < 4; i++)
            four[i] = i <= size ? digits[bits >> (18 - 6 * i) & 63] : '=';
        code = colander_buffer_append(json, four, sizeof(four), err);
    }
    if (code != COLANDER_OK)
        return code;
    return append_text(json, "\"", err);
}

/* ------------------------------------------------------------ numbers --- */

/* A double as 0.DIGITS times ten to the `exponent`. */
struct decimal {
    char digits[DOUBLE_DIGITS_MAX + 1];
    int count; /* of digits; the last is not 0, unless it is the only one */
    int exponent;
};

/* Takes apart what %.*e made of a number above 0. The point is whatever the
 * locale says: all that is no digit is passed over. */
static void
decimal_parse(struct decimal *decimal, const char *text)
{
    decimal->count = 0;
    for (; *text != 'e'; text++) {
        if (*text >= '0' && *text <= '9')
            decimal->digits[decimal->count++] = *text;
    }
    decimal->exponent = (int)strtol(text + 1, NULL, 10) + 1;
    while (decimal->count > 1 && decimal->digits[decimal->count - 1] == '0')
        decimal->count--;
}

/* The fewest digits that read back as `number`, which is above 0 and finite.
 * Fifteen always survive the way to a normal double and back, so nothing is
 * gained from trying fewer there. */
static void
decimal_of_double(struct decimal *decimal, double number)
{
    int count = isnormal(number) ? 15 : 1;
    char text[64];

    for (; count <= DOUBLE_DIGITS_MAX; count++) {
        (void)snprintf(text, sizeof(text), "%.*e", count - 1, number);
        if (strtod(text, NULL) == number)
            break;
    }
    decimal_parse(decimal, text);
}

/* `room` takes what is longest: -0.0000ddddddddddddddddd. */
static void
decimal_print(const struct decimal *decimal, char room[40])
{
    const char *digits = decimal->digits;
    int count = decimal->count;
    int exponent = decimal->exponent;

    if (exponent < -3 || exponent > DOUBLE_DIGITS_MAX)
        (void)snprintf(room, 40, "%c.%.*se%+03d", digits[0],
                       count > 1 ? count - 1 : 1, count > 1 ? digits + 1 : "0",
                       exponent - 1);
    else if (exponent <= 0)
        (void)snprintf(room, 40, "0.%.*s%.*s", -exponent, "000", count, digits);
    else if (exponent < count)
        (void)snprintf(room, 40, "%.*s.%.*s", exponent, digits,
                       count - exponent, digits + exponent);
    else
        (void)snprintf(room, 40, "%.*s%.*s.0", count, digits, exponent - count,
                       "0000000000000000");
}

static enum colander_code
append_double(struct colander_buffer *json, double number,
              struct colander_error *err)
{
    struct decimal decimal = {.digits = "0", .count = 1, .exponent = 1};
    enum colander_code code = COLANDER_OK;
    char text[40];

    if (!isfinite(number))
        return append_text(json, "null", err);
    if (number != 0)
        decimal_of_double(&decimal, fabs(number));
    decimal_print(&decimal, text);
    if (signbit(number))
        code = append_text(json, "-", err);
    if (code != COLANDER_OK)
        return code;
    return append_text(json, text, err);
}

static enum colander_code
append_integer(struct colander_buffer *json, int64_t integer,
               struct colander_error *err)
{
    char text[24];

    (void)snprintf(text, sizeof(text), "%" PRId64, integer);
    return append_text(json, text, err);
}

static enum colander_code
append_natural(struct colander_buffer *json, uint64_t natural,
               struct colander_error *err)
{
    char text[24];

    (void)snprintf(text, sizeof(text), "%" PRIu64, natural);
    return append_text(json, text, err);
}

/* --------------------------------------------------------- timestamps --- */

struct date {
    int year;
    int month; /* from 1 */
    int day;   /* from 1 */
};

static bool
year_is_leap(int year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

/* Days from 0000-01-01 to the first of January of `year`. */
static int
days_before_year(int year)
{
    int last = year - 1;

    if (year == 0)
        return 0;
    return 365 * year + last / 4 - last / 100 + last / 400 + 1;
}

/* `day` counts from 0000-01-01 in the Gregorian calendar. */
static struct date
date_of_day(int day)
{
    static const int month_sizes[] = {31, 28, 31, 30, 31, 30,
                                      31, 31, 30, 31, 30, 31};
    struct date date = {.year = day / 366, .month = 1};

    while (days_before_year(date.year + 1) <= day)
        date.year++;
    day -= days_before_year(date.year);
    for (;; date.month++) {
        int size = month_sizes[date.month - 1];

        if (date.month == 2 && year_is_leap(date.year))
            size++;
        if (day < size)
            break;
        day -= size;
    }
    date.day = day + 1;
    return date;
}

/* The fraction of a second in the fewest groups of three digits. */
static void
fraction_print(char room[16], uint32_t nanosecond)
{
    if (nanosecond == 0)
        room[0] = '\0';
    else if (nanosecond % 1000000 == 0)
        (void)snprintf(room, 16, ".%03" PRIu32, nanosecond / 1000000);
    else if (nanosecond % 1000 == 0)
        (void)snprintf(room, 16, ".%06" PRIu32, nanosecond / 1000);
    else
        (void)snprintf(room, 16, ".%09" PRIu32, nanosecond);
}

static enum colander_code
append_timestamp(struct colander_buffer *json,
                 const struct colander_value *value, struct colander_error *err)
{
    int64_t since_first;
    struct date date;
    int second;
    char fraction[16];
    char text[96];

    if (value->second < SECOND_FIRST || value->second >= SECOND_END ||
        value->nanosecond >= VALUE_NANOSECONDS) {
        (void)snprintf(text, sizeof(text),
                       "{\"seconds\":%" PRId64 ",\"nanoseconds\":%" PRIu32 "}",
                       value->second, value->nanosecond);
        return append_text(json, text, err);
    }
    since_first = value->second - SECOND_FIRST;
    date = date_of_day((int)(since_first / SECONDS_PER_DAY));
    second = (int)(since_first % SECONDS_PER_DAY);
    fraction_print(fraction, value->nanosecond);
    (void)snprintf(text, sizeof(text), "\"%04d-%02d-%02dT%02d:%02d:%02d%sZ\"",
                   date.year, date.month, date.day, second / 3600,
                   second / 60 % 60, second % 60, fraction);
    return append_text(json, text, err);
}

/* ------------------------------------------------------------- values --- */

static enum colander_code
append_extension(struct colander_buffer *json,
                 const struct colander_value *value, struct colander_error *err)
{
    enum colander_code code = append_text(json, "{\"type\":", err);

    if (code == COLANDER_OK)
        code = append_integer(json, value->extension_type, err);
    if (code == COLANDER_OK)
        code = append_text(json, ",\"data\":", err);
    if (code == COLANDER_OK)
        code = append_base64(json, value->bytes, err);
    if (code == COLANDER_OK)
        code = append_text(json, "}", err);
    return code;
}

static enum colander_code
append_scalar(struct colander_buffer *json, const struct colander_value *value,
              struct colander_error *err)
{
    switch (value->type) {
    case COLANDER_NULL:
        return append_text(json, "null", err);
    case COLANDER_BOOLEAN:
        return append_text(json, value->boolean ? "true" : "false", err);
    case COLANDER_INTEGER:
        return append_integer(json, value->integer, err);
    case COLANDER_UNSIGNED:
        return append_natural(json, value->natural, err);
    case COLANDER_DOUBLE:
        return append_double(json, value->number, err);
    case COLANDER_STRING:
        return append_string(json, value->bytes, err);
    case COLANDER_BINARY:
        return append_base64(json, value->bytes, err);
    case COLANDER_TIMESTAMP:
        return append_timestamp(json, value, err);
    case COLANDER_EXTENSION:
        return append_extension(json, value, err);
    default:
        return COLANDER_FAIL(err, COLANDER_INVALID, "unknown type of value %d",
                             (int)value->type);
    }
}

static enum colander_code append_item(struct colander_buffer *json,
                                      struct msgpack_reader *reader, int depth,
                                      struct colander_error *err);

static enum colander_code
append_name(struct colander_buffer *json, struct msgpack_reader *reader,
            struct colander_error *err)
{
    struct colander_slice name;
    enum msgpack_result result = msgpack_read_name(reader, &name);
    enum colander_code code;

    if (result != MSGPACK_FINE)
        return msgpack_fail(result, COLANDER_CORRUPT, "container", err);
    code = append_string(json, name, err);
    if (code != COLANDER_OK)
        return code;
    return append_text(json, ":", err);
}

/* All members with commas between them, and one before the first unless
 * `is_first`. */
static enum colander_code
append_members(struct colander_buffer *json, struct msgpack_reader *reader,
               bool is_map, uint32_t count, bool is_first, int depth,
               struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    for (; count > 0 && code == COLANDER_OK; count--) {
        if (!is_first)
            code = append_text(json, ",", err);
        if (code == COLANDER_OK && is_map)
            code = append_name(json, reader, err);
        if (code == COLANDER_OK)
            code = append_item(json, reader, depth, err);
        is_first = false;
    }
    return code;
}

/* What the reader stands before, with all that is in it; `depth` counts the
 * containers around it. The reader is left behind it: so each byte is read
 * once, however deep it is. */
static enum colander_code
append_item(struct colander_buffer *json, struct msgpack_reader *reader,
            int depth, struct colander_error *err)
{
    struct colander_value value;
    enum msgpack_result result;
    enum colander_code code;
    uint32_t count;
    bool is_map;

    result = msgpack_read(reader, &value, &count);
    if (result != MSGPACK_FINE)
        return msgpack_fail(result, COLANDER_CORRUPT, "container", err);
    if (value.type < COLANDER_ARRAY)
        return append_scalar(json, &value, err);
    if (depth == COLANDER_ROW_DEPTH_MAX)
        return COLANDER_FAIL(err, COLANDER_CORRUPT,
                             "maps and arrays are nested more than %d deep",
                             COLANDER_ROW_DEPTH_MAX);
    is_map = value.type == COLANDER_MAP;
    code = append_text(json, is_map ? "{" : "[", err);
    if (code == COLANDER_OK)
        code =
            append_members(json, reader, is_map, count, true, depth + 1, err);
    if (code != COLANDER_OK)
        return code;
    return append_text(json, is_map ? "}" : "]", err);
}

static enum colander_code
append_value(struct colander_buffer *json, const struct colander_value *value,
             struct colander_error *err)
{
    struct msgpack_reader reader;
    struct colander_value head;
    uint32_t count;

    if (value->type != COLANDER_ARRAY && value->type != COLANDER_MAP)
        return append_scalar(json, value, err);
    reader = msgpack_reader_of(value->bytes);
    if (msgpack_read(&reader, &head, &count) == MSGPACK_FINE &&
        head.type < COLANDER_ARRAY)
        return COLANDER_FAIL(err, COLANDER_CORRUPT,
                             "container is neither a map nor an array");
    reader = msgpack_reader_of(value->bytes);
    return append_item(json, &reader, 0, err);
}

enum colander_code
colander_json_append_value(struct colander_buffer *json,
                           const struct colander_value *value,
                           struct colander_error *err)
{
    size_t size = json->size;
    enum colander_code code = append_value(json, value, err);

    if (code != COLANDER_OK)
        json->size = size;
    return code;
}

/* ----------------------------------------------------------------- rows --- */

static enum colander_code
append_parts(struct colander_buffer *json, const struct colander_value *parts,
             size_t count, struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    if (count == 1)
        return append_scalar(json, &parts[0], err);
    for (size_t i = 0; code == COLANDER_OK && i < count; i++) {
        code = append_text(json, i == 0 ? "[" : ",", err);
        if (code == COLANDER_OK)
            code = append_scalar(json, &parts[i], err);
    }
    if (code != COLANDER_OK)
        return code;
    return append_text(json, "]", err);
}

static enum colander_code
append_key(struct colander_buffer *json, struct colander_slice key,
           struct colander_error *err)
{
    struct colander_value parts[COLANDER_KEY_PARTS_MAX];
    struct colander_buffer scratch = COLANDER_BUFFER_EMPTY;
    size_t count;
    enum colander_code code =
        colander_key_decode(key, parts, &count, &scratch, err);

    if (code == COLANDER_OK)
        code = append_parts(json, parts, count, err);
    colander_buffer_release(&scratch);
    return code;
}

enum colander_code
colander_json_append_key(struct colander_buffer *json,
                         struct colander_slice key, struct colander_error *err)
{
    size_t size = json->size;
    enum colander_code code = append_key(json, key, err);

    if (code != COLANDER_OK)
        json->size = size;
    return code;
}

static enum colander_code
append_row(struct colander_buffer *json, struct colander_slice key,
           struct colander_slice row, struct colander_error *err)
{
    struct msgpack_reader reader = msgpack_reader_of(row);
    struct colander_value head;
    enum msgpack_result result;
    enum colander_code code;
    uint32_t count;

    result = msgpack_read(&reader, &head, &count);
    if (result != MSGPACK_FINE)
        return msgpack_fail(result, COLANDER_CORRUPT, "row", err);
    if (head.type != COLANDER_MAP)
        return COLANDER_FAIL(err, COLANDER_CORRUPT, "row is not a map");
    code = append_text(json, "{\"" COLANDER_KEY_COLUMN "\":", err);
    if (code == COLANDER_OK)
        code = append_key(json, key, err);
    if (code == COLANDER_OK)
        code = append_members(json, &reader, true, count, false, 1, err);
    if (code == COLANDER_OK)
        code = append_text(json, "}", err);
    return code;
}

enum colander_code
colander_json_append_row(struct colander_buffer *json,
                         struct colander_slice key, struct colander_slice row,
                         struct colander_error *err)
{
    size_t size = json->size;
    enum colander_code code = append_row(json, key, row, err);

    if (code != COLANDER_OK)
        json->size = size;
    return code;
}

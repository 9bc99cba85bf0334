/*
 * JSON: rows and values as text for people and other programs.
 *
 * The output is always valid JSON in valid UTF-8 (RFC 8259), on one line and
 * independent of the locale, whatever bytes are stored. A number reads back as
 * the same number. On failure nothing is appended.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/json/numbers_inside.h"
#include "columns/row.h"
#include "columns/utf8.h"
#include "columns/value.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>

/* 0000-01-01 and 10000-01-01: RFC 3339 has years of four digits. */
#define SECOND_FIRST INT64_C(-62167219200)
#define SECOND_END INT64_C(253402300800)

/* Text that is appended, until something fails. */
struct writer {
    struct colander_buffer *json;
    size_t start; /* of what is appended */
    enum colander_code code;
    struct colander_error *err;
};

static struct writer
writer_of(struct colander_buffer *json, struct colander_error *err)
{
    const struct writer writer = {json, json->size, COLANDER_OK, err};

    return writer;
}

/* After a failure nothing is left appended. */
static enum colander_code
finish(const struct writer *writer)
{
    if (writer->code != COLANDER_OK)
        writer->json->size = writer->start;
    return writer->code;
}

static inline void
put(struct writer *writer, const void *data, size_t size)
{
    struct colander_buffer *json = writer->json;

    if (writer->code == COLANDER_OK && size > json->capacity - json->size) {
        writer->code = colander_buffer_append(json, data, size, writer->err);
    } else if (writer->code == COLANDER_OK) {
        memcpy(json->data + json->size, data, size);
        json->size += size;
    }
}

static void
put_text(struct writer *writer, const char *text)
{
    put(writer, text, strlen(text));
}

/* Puts less than a hundred bytes. */
__attribute__((format(printf, 2, 3))) static void
print(struct writer *writer, const char *format, ...)
{
    char text[100];
    va_list arguments;

    va_start(arguments, format);
    put(writer, text, (size_t)vsnprintf(text, sizeof(text), format, arguments));
    va_end(arguments);
}

/* Fails for bytes that are malformed. */
static void
fail_malformed(struct writer *writer, enum msgpack_result result)
{
    if (writer->code == COLANDER_OK)
        writer->code =
            msgpack_fail(result, COLANDER_CORRUPT, "container", writer->err);
}

/* ------------------------------------------------------------ strings --- */

/* Returns the escape for `byte`, or NULL if it needs none. */
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

static void
put_string(struct writer *writer, struct colander_slice text)
{
    size_t at = 0;

    put(writer, "\"", 1);
    while (at < text.size) {
        size_t run = plain_run(text.data + at, text.size - at);
        const char *escape;
        char room[8];

        put(writer, text.data + at, run);
        at += run;
        if (at == text.size)
            break;
        escape = escape_of(text.data[at++], room);
        if (escape == NULL)
            escape = "\xEF\xBF\xBD"; /* U+FFFD for a byte that is not text */
        put_text(writer, escape);
    }
    put(writer, "\"", 1);
}

static void
put_base64(struct writer *writer, struct colander_slice bytes)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                 "abcdefghijklmnopqrstuvwxyz0123456789+/";

    put(writer, "\"", 1);
    for (size_t at = 0; at < bytes.size; at += 3) {
        size_t size = bytes.size - at < 3 ? bytes.size - at : 3;
        uint32_t bits = 0;
        char four[4];

        for (size_t i = 0; i < 3; i++)
            bits = bits << 8 | (i < size ? bytes.data[at + i] : 0u);
        for (size_t i = 0; i < 4; i++)
            four[i] = i <= size ? digits[bits >> (18 - 6 * i) & 63] : '=';
        put(writer, four, sizeof(four));
    }
    put(writer, "\"", 1);
}

/* ------------------------------------------------------------ scalars --- */

static void
put_double(struct writer *writer, double number)
{
    char text[NUMBER_TEXT_MAX];

    if (isfinite(number))
        put(writer, text, number_print(number, text));
    else
        put_text(writer, "null");
}

static void
put_timestamp(struct writer *writer, const struct colander_value *value)
{
    const time_t second = value->second;
    uint32_t fraction = value->nanosecond;
    int digits = 9;
    struct tm time;

    if (second < SECOND_FIRST || second >= SECOND_END ||
        fraction >= VALUE_NANOSECONDS) {
        print(writer, "{\"seconds\":%" PRId64 ",\"nanoseconds\":%" PRIu32 "}",
              value->second, fraction);
        return;
    }
    (void)gmtime_r(&second, &time);
    print(writer, "\"%04d-%02d-%02dT%02d:%02d:%02d", time.tm_year + 1900,
          time.tm_mon + 1, time.tm_mday, time.tm_hour, time.tm_min,
          time.tm_sec);
    for (; digits > 0 && fraction % 1000 == 0; digits -= 3)
        fraction /= 1000;
    if (digits > 0) /* in the fewest groups of three */
        print(writer, ".%0*" PRIu32, digits, fraction);
    put_text(writer, "Z\"");
}

static void
put_scalar(struct writer *writer, const struct colander_value *value)
{
    switch (value->type) {
    case COLANDER_NULL:
        put_text(writer, "null");
        return;
    case COLANDER_BOOLEAN:
        put_text(writer, value->boolean ? "true" : "false");
        return;
    case COLANDER_INTEGER:
        print(writer, "%" PRId64, value->integer);
        return;
    case COLANDER_UNSIGNED:
        print(writer, "%" PRIu64, value->natural);
        return;
    case COLANDER_DOUBLE:
        put_double(writer, value->number);
        return;
    case COLANDER_STRING:
        put_string(writer, value->bytes);
        return;
    case COLANDER_BINARY:
        put_base64(writer, value->bytes);
        return;
    case COLANDER_TIMESTAMP:
        put_timestamp(writer, value);
        return;
    case COLANDER_EXTENSION:
        print(writer, "{\"type\":%d,\"data\":", value->extension_type);
        put_base64(writer, value->bytes);
        put(writer, "}", 1);
        return;
    default:
        writer->code =
            COLANDER_FAIL(writer->err, COLANDER_INVALID,
                          "unknown type of value %d", (int)value->type);
    }
}

/* --------------------------------------------------------- containers --- */

static void put_item(struct writer *writer, struct msgpack_reader *reader,
                     int depth);

static void
put_name(struct writer *writer, struct msgpack_reader *reader)
{
    struct colander_slice name;
    enum msgpack_result result = msgpack_read_name(reader, &name);

    if (result != MSGPACK_FINE) {
        fail_malformed(writer, result);
        return;
    }
    put_string(writer, name);
    put(writer, ":", 1);
}

/* All members with commas between them, and one before the first unless
 * `is_first`. */
static void
put_members(struct writer *writer, struct msgpack_reader *reader, bool is_map,
            uint32_t count, bool is_first, int depth)
{
    for (; count > 0 && writer->code == COLANDER_OK; count--) {
        if (!is_first)
            put(writer, ",", 1);
        if (is_map)
            put_name(writer, reader);
        put_item(writer, reader, depth);
        is_first = false;
    }
}

/* Puts the next item of the reader, which is inside `depth` containers. Each
 * byte is read once, however deep it is. */
static void
put_item(struct writer *writer, struct msgpack_reader *reader, int depth)
{
    struct colander_value value;
    enum msgpack_result result;
    uint32_t count;
    bool is_map;

    if (writer->code != COLANDER_OK)
        return;
    result = msgpack_read(reader, &value, &count);
    if (result != MSGPACK_FINE) {
        fail_malformed(writer, result);
    } else if (value.type < COLANDER_ARRAY) {
        put_scalar(writer, &value);
    } else if (depth == COLANDER_ROW_DEPTH_MAX) {
        writer->code =
            COLANDER_FAIL(writer->err, COLANDER_CORRUPT,
                          "maps and arrays are nested more than %d deep",
                          COLANDER_ROW_DEPTH_MAX);
    } else {
        is_map = value.type == COLANDER_MAP;
        put(writer, is_map ? "{" : "[", 1);
        put_members(writer, reader, is_map, count, true, depth + 1);
        put(writer, is_map ? "}" : "]", 1);
    }
}

enum colander_code
colander_json_append_value(struct colander_buffer *json,
                           const struct colander_value *value,
                           struct colander_error *err)
{
    struct writer writer = writer_of(json, err);
    struct msgpack_reader reader;
    struct colander_value head;
    uint32_t count;

    if (value->type != COLANDER_ARRAY && value->type != COLANDER_MAP) {
        put_scalar(&writer, value);
        return finish(&writer);
    }
    reader = msgpack_reader_of(value->bytes);
    if (msgpack_read(&reader, &head, &count) == MSGPACK_FINE &&
        head.type < COLANDER_ARRAY)
        return COLANDER_FAIL(err, COLANDER_CORRUPT,
                             "container is neither a map nor an array");
    reader = msgpack_reader_of(value->bytes);
    put_item(&writer, &reader, 0);
    return finish(&writer);
}

/* ----------------------------------------------------------------- rows --- */

/* One part, or an array of them. */
static void
put_key(struct writer *writer, struct colander_slice key)
{
    struct colander_value parts[COLANDER_KEY_PARTS_MAX];
    struct colander_buffer scratch = COLANDER_BUFFER_EMPTY;
    size_t count = 0;

    if (writer->code == COLANDER_OK)
        writer->code =
            colander_key_decode(key, parts, &count, &scratch, writer->err);
    for (size_t i = 0; i < count; i++) {
        if (count > 1)
            put(writer, i == 0 ? "[" : ",", 1);
        put_scalar(writer, &parts[i]);
    }
    if (count > 1)
        put(writer, "]", 1);
    colander_buffer_release(&scratch);
}

enum colander_code
colander_json_append_key(struct colander_buffer *json,
                         struct colander_slice key, struct colander_error *err)
{
    struct writer writer = writer_of(json, err);

    put_key(&writer, key);
    return finish(&writer);
}

enum colander_code
colander_json_append_row(struct colander_buffer *json,
                         struct colander_slice key, struct colander_slice row,
                         struct colander_error *err)
{
    struct writer writer = writer_of(json, err);
    struct msgpack_reader reader = msgpack_reader_of(row);
    uint32_t count = 0;

    writer.code = row_begin(&reader, COLANDER_CORRUPT, &count, err);
    put_text(&writer, "{\"" COLANDER_KEY_COLUMN "\":");
    put_key(&writer, key);
    put_members(&writer, &reader, true, count, false, 1);
    put(&writer, "}", 1);
    return finish(&writer);
}

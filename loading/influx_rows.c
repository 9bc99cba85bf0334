/* See influx_rows.h. SPDX-License-Identifier: MIT */
#include "loading/influx_rows.h"
#include "columns/numbers.h"
#include "core/array.h"
#include "loading/rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <xxhash.h>

#define SERIES_MAX 1000 /* bytes of tags in a key; longer ones are hashed */
#define SECOND UINT64_C(1000000000)

struct influx_tag {
    struct colander_slice name;
    struct colander_slice value;
};

/* A line, and how far it was read. */
struct scan {
    struct colander_slice line;
    size_t at;
    struct colander_buffer *text; /* has room for the whole line */
};

void
influx_rows_release(struct influx_rows *rows)
{
    colander_row_builder_destroy(rows->builder);
    colander_buffer_release(&rows->text);
    colander_buffer_release(&rows->series);
    colander_buffer_release(&rows->key);
    free(rows->tags);
}

bool
influx_unit_read(const char *text, uint64_t *unit)
{
    static const struct {
        const char *name;
        uint64_t unit;
    } units[] = {
        {"ns", 1},          {"n", 1},
        {"us", 1000},       {"u", 1000},
        {"\xc2\xb5", 1000}, {"\xc2\xb5s", 1000},
        {"ms", 1000000},    {"s", SECOND},
        {"m", 60 * SECOND}, {"h", 3600 * SECOND},
    };

    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (strcmp(text, units[i].name) == 0) {
            *unit = units[i].unit;
            return true;
        }
    }
    return false;
}

/* ---------------------------------------------------------------- texts --- */

/* Returns the next byte, 0 at the end. */
static char
peek(const struct scan *scan)
{
    return scan->at < scan->line.size ? (char)scan->line.data[scan->at] : '\0';
}

static bool
is_at_end(const struct scan *scan)
{
    return scan->at == scan->line.size;
}

static void
skip_blanks(struct scan *scan)
{
    while (peek(scan) == ' ')
        scan->at++;
}

/* Whether the byte is one of them; a zero byte is none. */
static bool
is_one_of(char byte, const char *bytes)
{
    return byte != '\0' && strchr(bytes, byte) != NULL;
}

/* Takes the bytes up to one of `ends`, without the backslashes before those
 * that are `escaped`. */
static struct colander_slice
take_text(struct scan *scan, const char *ends, const char *escaped)
{
    const uint8_t *data = scan->line.data;
    const size_t from = scan->text->size;

    for (; !is_at_end(scan) && !is_one_of(peek(scan), ends); scan->at++) {
        if (data[scan->at] == '\\' && scan->at + 1 < scan->line.size &&
            is_one_of((char)data[scan->at + 1], escaped))
            scan->at++;
        scan->text->data[scan->text->size++] = data[scan->at];
    }
    return colander_slice_of(scan->text->data + from, scan->text->size - from);
}

/* ----------------------------------------------------------------- tags --- */

static int
compare_tags(const void *a, const void *b)
{
    const struct influx_tag *first = a;
    const struct influx_tag *second = b;

    return colander_slice_compare(first->name, second->name);
}

static enum colander_code
take_tag(struct influx_rows *rows, struct scan *scan,
         struct colander_error *err)
{
    struct influx_tag tag;
    enum colander_code code;

    tag.name = take_text(scan, ",= ", ",= ");
    if (tag.name.size == 0 || peek(scan) != '=')
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "expected a tag, as in host=a");
    scan->at++;
    tag.value = take_text(scan, ",= ", ",= ");
    if (tag.value.size == 0)
        return COLANDER_FAIL(err, COLANDER_INVALID, "the tag has no value");
    if (peek(scan) == '=')
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "write = in the value of a tag as \\=");
    code = array_reserve(&rows->tags, rows->tag_count, &rows->tag_capacity, 1,
                         err);
    if (code == COLANDER_OK)
        rows->tags[rows->tag_count++] = tag;
    return code;
}

/* Takes the measurement and the tags, and adds them to the row. */
static enum colander_code
take_series(struct influx_rows *rows, struct scan *scan,
            struct colander_slice *measurement, struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    rows->tag_count = 0;
    *measurement = take_text(scan, ", ", ", ");
    if (measurement->size == 0)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "the measurement is missing");
    while (code == COLANDER_OK && peek(scan) == ',') {
        scan->at++;
        code = take_tag(rows, scan, err);
    }
    if (code != COLANDER_OK)
        return code;
    if (rows->tag_count > 1)
        qsort(rows->tags, rows->tag_count, sizeof(*rows->tags), compare_tags);
    colander_row_builder_add(rows->builder, INFLUX_MEASUREMENT,
                             colander_string(*measurement));
    for (size_t i = 0; i < rows->tag_count; i++)
        colander_row_builder_add_named(rows->builder, rows->tags[i].name,
                                       colander_string(rows->tags[i].value));
    return COLANDER_OK;
}

/* --------------------------------------------------------------- fields --- */

static bool
read_boolean(struct colander_slice text, struct colander_value *value)
{
    static const char *const words[] = {"t", "T", "true",  "True",  "TRUE",
                                        "f", "F", "false", "False", "FALSE"};

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (colander_slice_equal(text, colander_slice_text(words[i]))) {
            *value = colander_boolean(i < 5);
            return true;
        }
    }
    return false;
}

/* Reads 1.5, 1e3, 1: doubles; 1i: an integer; 1u: one without a sign. */
static bool
read_number(struct colander_slice text, struct colander_value *value)
{
    const char last = text.size > 0 ? (char)text.data[text.size - 1] : '\0';
    const bool has_letter = last == 'i' || last == 'u';
    bool is_whole;

    text.size -= has_letter;
    if (text.size == 0 || colander_number_size(text, COLANDER_NUMBER_LOOSE,
                                               &is_whole) != text.size)
        return false;
    if (!has_letter)
        return colander_number_double(text, value);
    return is_whole && colander_number_integer(text, value) &&
           (last == 'i' ? value->type == COLANDER_INTEGER : *text.data != '-');
}

static enum colander_code
take_string(struct scan *scan, struct colander_value *value,
            struct colander_error *err)
{
    scan->at++;
    *value = colander_string(take_text(scan, "\"", "\"\\"));
    if (peek(scan) != '"')
        return COLANDER_FAIL(err, COLANDER_INVALID, "a string is not closed");
    scan->at++;
    return COLANDER_OK;
}

static enum colander_code
take_field(struct influx_rows *rows, struct scan *scan,
           struct colander_error *err)
{
    const struct colander_slice name = take_text(scan, ",= ", ",= ");
    struct colander_value value;
    enum colander_code code = COLANDER_OK;
    size_t from;

    if (name.size == 0 || peek(scan) != '=')
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "expected a field, as in value=1");
    scan->at++;
    from = scan->at;
    if (peek(scan) == '"') {
        code = take_string(scan, &value, err);
    } else {
        const struct colander_slice text = take_text(scan, ", ", "");

        if (!read_boolean(text, &value) && !read_number(text, &value)) {
            scan->at = from;
            code = COLANDER_FAIL(err, COLANDER_INVALID,
                                 "'%.*s' is neither a number such as 1.5, 2i "
                                 "or 2u, nor a boolean; a string has quotes",
                                 text.size < 60 ? (int)text.size : 60,
                                 (const char *)text.data);
        }
    }
    if (code == COLANDER_OK && !is_at_end(scan) && !is_one_of(peek(scan), ", "))
        code = COLANDER_FAIL(err, COLANDER_INVALID,
                             "expected a comma or a blank after the field");
    if (code == COLANDER_OK)
        colander_row_builder_add_named(rows->builder, name, value);
    return code;
}

static enum colander_code
take_fields(struct influx_rows *rows, struct scan *scan,
            struct colander_error *err)
{
    enum colander_code code;

    skip_blanks(scan);
    code = take_field(rows, scan, err);
    while (code == COLANDER_OK && peek(scan) == ',') {
        scan->at++;
        code = take_field(rows, scan, err);
    }
    return code;
}

/* ----------------------------------------------------------------- time --- */

static struct colander_value
time_now(struct influx_rows *rows)
{
    if (rows->now.type == COLANDER_NULL) {
        struct timespec now;

        (void)clock_gettime(CLOCK_REALTIME, &now); /* cannot fail on Linux */
        rows->now = colander_timestamp(now.tv_sec, (uint32_t)now.tv_nsec);
    }
    return rows->now;
}

static enum colander_code
take_time(struct influx_rows *rows, struct scan *scan, uint64_t unit,
          struct colander_value *time, struct colander_error *err)
{
    struct colander_slice text;
    struct colander_value number;
    int64_t nanosecond;
    int64_t second;
    int64_t rest;
    bool is_whole;
    size_t from;

    skip_blanks(scan);
    *time = time_now(rows);
    if (is_at_end(scan))
        return COLANDER_OK;
    from = scan->at;
    text = take_text(scan, " ", "");
    skip_blanks(scan);
    if (!is_at_end(scan) ||
        colander_number_size(text, COLANDER_NUMBER_LOOSE, &is_whole) !=
            text.size ||
        !is_whole || !colander_number_integer(text, &number) ||
        number.type != COLANDER_INTEGER) {
        scan->at = from;
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "the time is not an integer of 64 bits");
    }
    /* as in InfluxDB, which has nanoseconds in 64 bits */
    if (__builtin_mul_overflow(number.integer, (int64_t)unit, &nanosecond))
        return COLANDER_FAIL(err, COLANDER_INVALID, "the time is out of range");
    second = nanosecond / (int64_t)SECOND;
    rest = nanosecond % (int64_t)SECOND;
    if (rest < 0) {
        rest += (int64_t)SECOND;
        second--;
    }
    *time = colander_timestamp(second, (uint32_t)rest);
    return COLANDER_OK;
}

/* ------------------------------------------------------------------ key --- */

/* Appends a text, with backslashes where it could be taken for more. */
static enum colander_code
append_escaped(struct colander_buffer *series, struct colander_slice text,
               struct colander_error *err)
{
    enum colander_code code =
        colander_buffer_reserve(series, 2 * text.size, err);

    for (size_t i = 0; i < text.size && code == COLANDER_OK; i++) {
        if (is_one_of((char)text.data[i], ",= "))
            series->data[series->size++] = '\\';
        series->data[series->size++] = text.data[i];
    }
    return code;
}

/* Sets `series` to the tags, or to a hash of them. */
static enum colander_code
make_series(struct influx_rows *rows, struct colander_error *err)
{
    struct colander_buffer *series = &rows->series;
    enum colander_code code = COLANDER_OK;

    colander_buffer_clear(series);
    for (size_t i = 0; i < rows->tag_count && code == COLANDER_OK; i++) {
        if (i > 0)
            code = colander_buffer_append(series, ",", 1, err);
        if (code == COLANDER_OK)
            code = append_escaped(series, rows->tags[i].name, err);
        if (code == COLANDER_OK)
            code = colander_buffer_append(series, "=", 1, err);
        if (code == COLANDER_OK)
            code = append_escaped(series, rows->tags[i].value, err);
    }
    if (code == COLANDER_OK && series->size > SERIES_MAX) {
        const XXH128_hash_t hash = XXH3_128bits(series->data, series->size);

        series->size = (size_t)snprintf(
            (char *)series->data, SERIES_MAX, "#%016llx%016llx",
            (unsigned long long)hash.high64, (unsigned long long)hash.low64);
    }
    return code;
}

static enum colander_code
make_key(struct influx_rows *rows, struct colander_slice measurement,
         const struct colander_value *time, struct colander_error *err)
{
    struct colander_value parts[3];
    enum colander_code code = make_series(rows, err);

    parts[0] = colander_string(measurement);
    parts[1] = colander_string(colander_buffer_slice(&rows->series));
    parts[2] = *time;
    return code == COLANDER_OK ? colander_key_encode(parts, 3, &rows->key, err)
                               : code;
}

/* ----------------------------------------------------------------- line --- */

static enum colander_code
take_line(struct influx_rows *rows, struct scan *scan, uint64_t unit,
          struct colander_error *err)
{
    struct colander_slice measurement;
    struct colander_value time;
    enum colander_code code = take_series(rows, scan, &measurement, err);

    if (code == COLANDER_OK)
        code = take_fields(rows, scan, err);
    if (code == COLANDER_OK)
        code = take_time(rows, scan, unit, &time, err);
    if (code != COLANDER_OK)
        return code;
    colander_row_builder_add(rows->builder, INFLUX_TIME, time);
    return make_key(rows, measurement, &time, err);
}

enum colander_code
influx_rows_row(struct influx_rows *rows, struct colander_slice line,
                uint64_t unit, struct parsed_row *parsed,
                struct colander_error *err)
{
    struct scan scan = {line, 0, &rows->text};
    struct colander_slice dropped;
    enum colander_code code;

    if (rows->builder == NULL)
        rows->builder = colander_row_builder_create();
    if (rows->builder == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a row");
    colander_buffer_clear(&rows->text);
    code = colander_buffer_reserve(&rows->text, line.size + 1, err);
    if (code == COLANDER_OK)
        code = take_line(rows, &scan, unit, err);
    if (code != COLANDER_OK) {
        parsed->fault = scan.at;
        (void)!colander_row_builder_finish(rows->builder, &dropped, NULL);
        return code;
    }
    parsed->has_key = true;
    parsed->key = colander_buffer_slice(&rows->key);
    return colander_row_builder_finish(rows->builder, &parsed->row, err);
}

/* See csv.h. SPDX-License-Identifier: MIT */
#include "columns/utf8.h"
#include "loading/csv_inside.h"
#include "loading/encode.h"
#include "loading/rows.h"

#include <stdlib.h>

bool
csv_field_cut_quoted(const uint8_t **at, const uint8_t *end, char delimiter,
                     struct csv_field *field)
{
    const uint8_t *begin = *at + 1;
    const uint8_t *quote = begin;

    for (;;) {
        quote = memchr(quote, '"', (size_t)(end - quote));
        if (quote == NULL)
            return false;
        if (end - quote < 2 || quote[1] != '"')
            break;
        field->has_pairs = true;
        quote += 2;
    }
    field->text = colander_slice_of(begin, (size_t)(quote - begin));
    *at = quote + 1;
    return *at == end || **at == (uint8_t)delimiter;
}

const uint8_t *
csv_field_end(const uint8_t *at, const uint8_t *end, char delimiter)
{
    const uint8_t *found = memchr(at, delimiter, (size_t)(end - at));

    return found == NULL ? end : found;
}

enum colander_code
csv_field_text(const struct csv_field *field, struct colander_buffer *scratch,
               struct colander_slice *text, struct colander_error *err)
{
    struct colander_slice left = field->text;
    enum colander_code code;

    *text = left;
    if (!field->has_pairs)
        return COLANDER_OK;
    colander_buffer_clear(scratch);
    code = colander_buffer_reserve(scratch, left.size, err);
    if (code != COLANDER_OK)
        return code;
    while (left.size > 0) {
        const uint8_t *quote = memchr(left.data, '"', left.size);
        size_t size = quote == NULL ? left.size : (size_t)(quote - left.data);
        size_t kept = quote == NULL ? size : size + 1;

        memcpy(scratch->data + scratch->size, left.data, kept);
        scratch->size += kept;
        size = quote == NULL ? size : size + 2;
        left = colander_slice_of(left.data + size, left.size - size);
    }
    *text = colander_buffer_slice(scratch);
    return COLANDER_OK;
}

enum colander_code
csv_fail_quote(bool is_closed, struct colander_error *err)
{
    if (is_closed)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "neither a delimiter nor the end of the line "
                             "follows a quote that closes");
    return COLANDER_FAIL(err, COLANDER_INVALID,
                         "an opening quote is never closed");
}

char
csv_delimiter(struct colander_slice line)
{
    static const char delimiters[] = {',', '\t', ';'};
    size_t counts[3] = {0};
    bool is_quoted = false;
    size_t best = 0;

    for (size_t i = 0; i < line.size; i++) {
        is_quoted ^= line.data[i] == '"';
        for (size_t j = 0; j < 3 && !is_quoted; j++)
            counts[j] += line.data[i] == (uint8_t)delimiters[j];
    }
    for (size_t i = 1; i < 3; i++) {
        if (counts[i] > counts[best])
            best = i;
    }
    return delimiters[best];
}

/* -------------------------------------------------------------- reader --- */

/* A record that is being read. */
struct reading {
    struct csv_reader *reader;
    struct colander_slice record;
    size_t index;   /* of the column */
    uint32_t count; /* of columns in the row */
    bool has_key;
    struct colander_error *err;
};

void
csv_reader_release(struct csv_reader *reader)
{
    colander_buffer_release(&reader->row);
    colander_buffer_release(&reader->scratch);
    colander_buffer_release(&reader->key);
    colander_json_reader_destroy(reader->json);
    free(reader->counts);
}

void
csv_reader_count(const struct csv_reader *reader, struct column_counts *counts)
{
    for (size_t i = 0;
         reader->counts != NULL && i < reader->header->column_count; i++) {
        if (reader->header->columns[i].reading == NULL)
            column_counts_add(counts, csv_column_name(reader->header, i),
                              &reader->counts[i]);
    }
}

/* -------------------------------------------------------------- values --- */

/* A fast path for the integers that most numbers are. typed_value_guess returns
 * the same, and column_kind_read handles all other texts. */
static bool
is_plain_integer(struct colander_slice text, struct colander_value *value)
{
    int64_t number = 0;

    if (text.size == 0 || text.size > 18 ||
        (*text.data == '0' && text.size > 1))
        return false;
    for (size_t i = 0; i < text.size; i++) {
        unsigned digit = text.data[i] - (unsigned)'0';

        if (digit > 9)
            return false;
        number = number * 10 + digit;
    }
    value->type = COLANDER_INTEGER;
    value->integer = number;
    return true;
}

/* The same for decimals of up to 15 digits: both numbers are exact as doubles,
 * so their quotient is the nearest one. */
static bool
is_plain_decimal(struct colander_slice text, struct colander_value *value)
{
    static const double powers[] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6, 1e7,
                                    1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14};
    const bool is_negative = text.size > 0 && *text.data == '-';
    const size_t first = is_negative;
    size_t point = 0;
    int64_t digits = 0;
    double number;

    if (text.size < first + 3 || text.size > first + 16)
        return false;
    for (size_t i = first; i < text.size; i++) {
        const unsigned digit = text.data[i] - (unsigned)'0';

        if (digit <= 9)
            digits = digits * 10 + digit;
        else if (text.data[i] == '.' && point == 0)
            point = i;
        else
            return false;
    }
    if (point <= first || point + 1 == text.size ||
        (text.data[first] == '0' && point > first + 1))
        return false;
    number = (double)digits / powers[text.size - point - 1];
    value->type = COLANDER_DOUBLE;
    value->number = is_negative ? -number : number;
    return true;
}

/* Reads a text of a column without a type, and counts the value. */
static void
guess_value(const struct csv_column *column, struct colander_slice text,
            struct value_counts *counts, struct colander_value *value)
{
    if (column->kind == COLUMN_TEXT) {
        *value = colander_string(text);
        counts->of[COLANDER_STRING]++;
    } else if (column->kind != COLUMN_BOOLEAN &&
               is_plain_integer(text, value)) {
        counts->of[COLANDER_INTEGER]++;
    } else if (column->kind == COLUMN_NUMBER && is_plain_decimal(text, value)) {
        counts->of[COLANDER_DOUBLE]++;
    } else {
        *value = column_kind_read((enum column_kind)column->kind, text);
        counts->of[value->type]++;
        if (value->type == COLANDER_STRING && column_kind_is_missing(text))
            value_counts_miss(counts, text);
    }
}

/* Reads a text of a column with a type. */
static void
read_typed(struct csv_reader *reader, const struct csv_column *column,
           struct colander_slice text, struct colander_value *value)
{
    (void)typed_value_read(column->reading, text, value);
    misfits_see(reader->misfits, column->reading, value);
}

/* --------------------------------------------------------------- keys --- */

/* Reads a text as JSON; *is_json says whether it is. */
static enum colander_code
json_key(struct csv_reader *reader, struct colander_slice text, bool *is_json,
         struct colander_error *err)
{
    struct colander_value value;
    enum colander_code code;

    *is_json = false;
    if (reader->json == NULL)
        reader->json = colander_json_reader_create();
    if (reader->json == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "cannot read a key");
    code = colander_json_reader_value(reader->json, text, &value, err);
    if (code == COLANDER_OK)
        code = colander_key_encode_value(&value, &reader->key, err);
    *is_json = code == COLANDER_OK;
    return code == COLANDER_INVALID ? COLANDER_OK : code;
}

/* Reads a text as the value that is printed so, or else as a string. */
static enum colander_code
exact_value(struct csv_reader *reader, struct colander_slice text,
            struct colander_value *value, struct colander_error *err)
{
    struct colander_buffer *printed = &reader->key;
    enum colander_code code = COLANDER_OK;

    *value = column_kind_read(COLUMN_GUESSED, text);
    if (!colander_type_is_number(value->type))
        return COLANDER_OK;
    colander_buffer_clear(printed);
    code = colander_json_append_value(printed, value, err);
    if (code == COLANDER_OK &&
        !colander_slice_equal(text, colander_buffer_slice(printed)))
        *value = colander_string(text);
    return code;
}

static enum colander_code
read_key(struct csv_reader *reader, const struct csv_column *column,
         struct colander_slice text, struct colander_error *err)
{
    struct colander_value value = colander_null();
    bool is_json = false;
    enum colander_code code = COLANDER_OK;

    if (column->reading == NULL && column->kind != COLUMN_TEXT &&
        text.size > 0 && (*text.data == '[' || *text.data == '"'))
        code = json_key(reader, text, &is_json, err);
    if (code != COLANDER_OK || is_json)
        return code;
    if (column->reading != NULL)
        read_typed(reader, column, text, &value);
    else if (column->kind == COLUMN_TEXT)
        value = colander_string(text);
    else
        code = exact_value(reader, text, &value, err);
    return code == COLANDER_OK
               ? colander_key_encode(&value, 1, &reader->key, err)
               : code;
}

/* ------------------------------------------------------------- fields --- */

bool
csv_field_is_null(const struct csv_header *header,
                  const struct csv_field *field)
{
    if (header->nulls == NULL || field->is_quoted)
        return false;
    if (field->text.size == 0)
        return header->has_empty_null;
    if (!header->begins_null[*field->text.data])
        return false;
    for (size_t i = 0; i < header->nulls->count; i++) {
        if (colander_slice_equal(field->text,
                                 colander_slice_text(header->nulls->texts[i])))
            return true;
    }
    return false;
}

static enum colander_code
put_value(struct reading *reading, const struct csv_column *column,
          const struct colander_value *value)
{
    struct csv_reader *reader = reading->reader;
    struct colander_buffer *row = &reader->row;
    size_t room = column->name_size + ENCODED_SCALAR_MAX;
    uint8_t *at;

    if (value->type == COLANDER_STRING)
        room += value->bytes.size;
    if (row->capacity - row->size < room) {
        enum colander_code code =
            colander_buffer_reserve(row, room, reading->err);

        if (code != COLANDER_OK)
            return code;
    }
    at = row->data + row->size;
    memcpy(at, reader->header->names.data + column->name_at, column->name_size);
    at = encode_scalar(at + column->name_size, value);
    row->size = (size_t)(at - row->data);
    reading->count++;
    return COLANDER_OK;
}

static enum colander_code
put_field(struct reading *reading, const struct csv_field *field)
{
    struct csv_reader *reader = reading->reader;
    const struct csv_header *header = reader->header;
    const struct csv_column *column = &header->columns[reading->index];
    struct colander_value value = colander_null();
    struct colander_slice text;
    enum colander_code code;

    if (csv_field_is_null(header, field))
        return column->is_key ? COLANDER_OK
                              : put_value(reading, column, &value);
    if (field->text.size == 0 && !field->is_quoted)
        return COLANDER_OK;
    text = field->text;
    if (field->has_pairs) {
        code = csv_field_text(field, &reader->scratch, &text, reading->err);
        if (code != COLANDER_OK)
            return code;
    }
    if (column->is_key) {
        reading->has_key = true;
        return read_key(reader, column, text, reading->err);
    }
    if (column->reading != NULL)
        read_typed(reader, column, text, &value);
    else
        guess_value(column, text, &reader->counts[reading->index], &value);
    return put_value(reading, column, &value);
}

/* --------------------------------------------------------------- rows --- */

static enum colander_code
fail_count(const struct reading *reading)
{
    struct colander_slice record = reading->record;
    const uint8_t *at = record.data;
    const uint8_t *end = at + record.size;
    size_t count = 1;
    struct csv_field field;

    while (
        csv_field_cut(&at, end, reading->reader->header->delimiter, &field) &&
        at < end) {
        at++;
        count++;
    }
    return COLANDER_FAIL(reading->err, COLANDER_INVALID,
                         "the record has %zu field%s, but the header has %zu",
                         count, count == 1 ? "" : "s",
                         reading->reader->header->column_count);
}

/* Reads the fields; *at is where that ended. */
static enum colander_code
read_fields(struct reading *reading, const uint8_t **at)
{
    const struct csv_header *header = reading->reader->header;
    const uint8_t *end = reading->record.data + reading->record.size;

    for (; reading->index < header->column_count; reading->index++) {
        const uint8_t *begin = *at;
        struct csv_field field;
        enum colander_code code;

        if (!csv_field_cut(at, end, header->delimiter, &field))
            return csv_fail_quote(*at > begin, reading->err);
        code = put_field(reading, &field);
        if (code != COLANDER_OK) {
            *at = begin;
            return code;
        }
        if (*at == end)
            break;
        (*at)++;
    }
    return reading->index + 1 == header->column_count ? COLANDER_OK
                                                      : fail_count(reading);
}

/* Fails with the column in which bytes are not UTF-8. */
static enum colander_code
fail_text(const struct reading *reading, size_t fault)
{
    const struct csv_header *header = reading->reader->header;
    const uint8_t *at = reading->record.data;
    const uint8_t *end = at + reading->record.size;
    struct colander_slice name = colander_slice_text("?");
    struct csv_field field;

    for (size_t i = 0; i < header->column_count; i++) {
        name = csv_column_name(header, i);
        if (!csv_field_cut(&at, end, header->delimiter, &field) ||
            (size_t)(at - reading->record.data) > fault)
            break;
        at += at < end;
    }
    return COLANDER_FAIL(reading->err, COLANDER_INVALID,
                         "column '%.*s': byte 0x%02x is not UTF-8",
                         (int)name.size, (const char *)name.data,
                         reading->record.data[fault]);
}

static enum colander_code
finish_row(const struct reading *reading, struct colander_slice *row)
{
    struct colander_buffer *buffer = &reading->reader->row;
    uint8_t *begin =
        encode_map_head_before(buffer->data + ENCODED_HEAD_MAX, reading->count);
    size_t size = (size_t)(buffer->data + buffer->size - begin);

    if (size > COLANDER_ROW_SIZE_MAX)
        return COLANDER_FAIL(reading->err, COLANDER_LIMIT,
                             "the row has %zu bytes, more than %u", size,
                             COLANDER_ROW_SIZE_MAX);
    *row = colander_slice_of(begin, size);
    return COLANDER_OK;
}

enum colander_code
csv_reader_row(struct csv_reader *reader, struct colander_slice record,
               struct parsed_row *parsed, struct colander_error *err)
{
    struct reading reading = {reader, record, 0, 0, false, err};
    const uint8_t *place = record.data;
    enum colander_code code;

    parsed->fault = 0;
    if (record.size > COLANDER_JSON_SIZE_MAX)
        return COLANDER_FAIL(err, COLANDER_LIMIT,
                             "the record has %zu bytes, more than %u",
                             record.size, COLANDER_JSON_SIZE_MAX);
    parsed->fault = colander_utf8_size(record);
    if (parsed->fault < record.size)
        return fail_text(&reading, parsed->fault);
    if (reader->counts == NULL)
        reader->counts =
            calloc(reader->header->column_count, sizeof(*reader->counts));
    if (reader->counts == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for columns");
    colander_buffer_clear(&reader->row);
    code = colander_buffer_reserve(&reader->row, ENCODED_HEAD_MAX, err);
    if (code != COLANDER_OK)
        return code;
    reader->row.size = ENCODED_HEAD_MAX;
    code = read_fields(&reading, &place);
    parsed->fault = (size_t)(place - record.data);
    if (code == COLANDER_OK)
        code = finish_row(&reading, &parsed->row);
    parsed->has_key = reading.has_key;
    parsed->key = colander_buffer_slice(&reader->key);
    return code;
}

/*
 * JSON: rows and values as text.
 *
 * msgpack-c packs the rows, so that these tests do not depend on how this
 * project builds them.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/utf8.h"
#include "some_values.h"
#include "support/scoped.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <msgpack.h>

static void
assert_text(const struct colander_buffer *json, const char *text)
{
    if (!colander_slice_equal(colander_buffer_slice(json),
                              colander_slice_text(text)))
        fail_msg("%.*s is not %s", (int)json->size, (const char *)json->data,
                 text);
}

static void
assert_json(struct colander_value value, const char *text)
{
    SCOPED_BUFFER json = COLANDER_BUFFER_EMPTY;

    OK(colander_json_append_value(&json, &value, NULL));
    assert_text(&json, text);
}

/* Asserts that it fails, and leaves the buffer unchanged. */
static void
assert_json_fails(struct colander_value value, enum colander_code code)
{
    SCOPED_BUFFER json = COLANDER_BUFFER_EMPTY;
    struct colander_error err;

    OK(colander_buffer_append(&json, "before", 6, NULL));
    assert_int_equal(colander_json_append_value(&json, &value, &err), code);
    assert_int_equal(err.code, code);
    assert_text(&json, "before");
}

/* ------------------------------------------------------------- scalars --- */

TEST(simple_scalars_are_words_and_digits)
{
    assert_json(colander_null(), "null");
    assert_json(colander_boolean(true), "true");
    assert_json(colander_boolean(false), "false");
    assert_json(colander_integer(0), "0");
    assert_json(colander_integer(INT64_MIN), "-9223372036854775808");
    assert_json(colander_integer(INT64_MAX), "9223372036854775807");
    assert_json(colander_unsigned(UINT64_MAX), "18446744073709551615");
}

TEST(doubles_are_short_and_keep_a_point_or_an_exponent)
{
    const struct {
        double number;
        const char *text;
    } golden[] = {
        {0.0, "0.0"},
        {-0.0, "-0.0"},
        {1.0, "1.0"},
        {-2.5, "-2.5"},
        {0.1, "0.1"},
        {0.30000000000000004, "0.30000000000000004"},
        {100, "100.0"},
        {1234567.25, "1234567.25"},
        {0.0001, "0.0001"},
        {0.00012345678901234567, "0.00012345678901234567"},
        {0.00001, "1.0e-05"},
        {1.5e-7, "1.5e-07"},
        {1e16, "10000000000000000.0"},
        {0x1p53, "9007199254740992.0"},
        {1e17, "1.0e+17"},
        {1e300, "1.0e+300"},
        {1.7976931348623157e308, "1.7976931348623157e+308"},
        {2.2250738585072014e-308, "2.2250738585072014e-308"},
        {0x1p-1074, "5.0e-324"},
        {(double)NAN, "null"},
        {(double)INFINITY, "null"},
        {-(double)INFINITY, "null"},
    };

    for (size_t i = 0; i < COUNT(golden); i++)
        assert_json(colander_double(golden[i].number), golden[i].text);
}

static void
assert_reads_back(double number, struct colander_buffer *json)
{
    struct colander_value value = colander_double(number);
    char text[64];
    char *end;

    colander_buffer_clear(json);
    OK(colander_json_append_value(json, &value, NULL));
    assert_true(json->size < sizeof(text));
    memcpy(text, json->data, json->size);
    text[json->size] = '\0';
    assert_non_null(strpbrk(text, ".e"));
    assert_int_equal(strspn(text, "-+.e0123456789"), json->size);
    assert_true(strtod(text, &end) == number);
    assert_int_equal(*end, '\0');
}

TEST(doubles_read_back_as_the_same_double)
{
    SCOPED_BUFFER json = COLANDER_BUFFER_EMPTY;

    for (int i = 0; i < 200000; i++) {
        uint64_t bits = random_next(random_state());
        double number;

        memcpy(&number, &bits, sizeof(number));
        if (random_below(random_state(), 2) == 0)
            number = ldexp((double)(int64_t)(bits >> 40),
                           (int)random_below(random_state(), 80) - 60);
        if (isfinite(number))
            assert_reads_back(number, &json);
    }
}

TEST(doubles_have_a_point_in_a_locale_with_a_comma)
{
    if (setlocale(LC_NUMERIC, "de_DE.UTF-8") == NULL)
        skip();
    assert_json(colander_double(0.1), "0.1");
    assert_json(colander_double(-12.75), "-12.75");
    assert_json(colander_double(1.5e300), "1.5e+300");
    (void)setlocale(LC_NUMERIC, "C");
}

TEST(strings_escape_only_what_must_be)
{
    assert_json(colander_text(""), "\"\"");
    assert_json(bytes_of(COLANDER_STRING, NULL, 0), "\"\"");
    assert_json(colander_text("say \"\\/\""), "\"say \\\"\\\\/\\\"\"");
    assert_json(colander_text("\b\f\n\r\t"), "\"\\b\\f\\n\\r\\t\"");
    assert_json(bytes_of(COLANDER_STRING, "a\0b\x1F\x7F", 5),
                "\"a\\u0000b\\u001f\x7F\"");
    assert_json(
        colander_text("Zażółć \xE2\x80\xA8\xE2\x80\xA9 \xF0\x9F\x98\x80"),
        "\"Zażółć \xE2\x80\xA8\xE2\x80\xA9 \xF0\x9F\x98\x80\"");
}

TEST(invalid_text_becomes_replacement_characters)
{
    assert_json(colander_text("a\xFFz"), "\"a\xEF\xBF\xBDz\"");
    assert_json(colander_text("\xC3"), "\"\xEF\xBF\xBD\"");
    assert_json(colander_text("\xC3\"\xC3\xA9"),
                "\"\xEF\xBF\xBD\\\"\xC3\xA9\"");
    assert_json(colander_text("\xED\xA0\x80"),
                "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\"");
}

TEST(every_string_of_bytes_becomes_valid_text)
{
    SCOPED_BUFFER json = COLANDER_BUFFER_EMPTY;

    for (int i = 0; i < 100000; i++) {
        uint8_t bytes[8];
        uint64_t bits = random_next(random_state());
        size_t size = random_below(random_state(), 9);
        struct colander_value value = bytes_of(COLANDER_STRING, bytes, size);

        memcpy(bytes, &bits, sizeof(bytes));
        colander_buffer_clear(&json);
        OK(colander_json_append_value(&json, &value, NULL));
        assert_true(utf8_is_valid(json.data, json.size));
        for (size_t j = 0; j < json.size; j++)
            assert_true(json.data[j] >= 0x20);
        if (utf8_is_valid(bytes, size) &&
            memmem(bytes, size, "\xEF\xBF\xBD", 3) == NULL)
            assert_null(memmem(json.data, json.size, "\xEF\xBF\xBD", 3));
    }
}

TEST(binaries_and_extensions_are_base64)
{
    struct colander_value extension = bytes_of(COLANDER_EXTENSION, "fo", 2);

    assert_json(bytes_of(COLANDER_BINARY, "", 0), "\"\"");
    assert_json(bytes_of(COLANDER_BINARY, "f", 1), "\"Zg==\"");
    assert_json(bytes_of(COLANDER_BINARY, "fo", 2), "\"Zm8=\"");
    assert_json(bytes_of(COLANDER_BINARY, "foo", 3), "\"Zm9v\"");
    assert_json(bytes_of(COLANDER_BINARY, "foob", 4), "\"Zm9vYg==\"");
    assert_json(bytes_of(COLANDER_BINARY, "\0\xFB\xEF\xFF", 4), "\"APvv/w==\"");
    extension.extension_type = -7;
    assert_json(extension, "{\"type\":-7,\"data\":\"Zm8=\"}");
}

TEST(a_value_of_no_type_is_invalid)
{
    struct colander_value value = colander_null();

    value.type = (enum colander_type)99;
    assert_json_fails(value, COLANDER_INVALID);
}

/* ---------------------------------------------------------- timestamps --- */

TEST(timestamps_are_rfc_3339_with_as_many_digits_as_needed)
{
    assert_json(colander_timestamp(0, 0), "\"1970-01-01T00:00:00Z\"");
    assert_json(colander_timestamp(1600000000, 120000000),
                "\"2020-09-13T12:26:40.120Z\"");
    assert_json(colander_timestamp(1600000000, 1000),
                "\"2020-09-13T12:26:40.000001Z\"");
    assert_json(colander_timestamp(1600000000, 100),
                "\"2020-09-13T12:26:40.000000100Z\"");
    assert_json(colander_timestamp(1600000000, 1),
                "\"2020-09-13T12:26:40.000000001Z\"");
    assert_json(colander_timestamp(-1, 999999999),
                "\"1969-12-31T23:59:59.999999999Z\"");
    assert_json(colander_timestamp(951782400, 0), "\"2000-02-29T00:00:00Z\"");
    assert_json(colander_timestamp(-2203891200, 0), "\"1900-03-01T00:00:00Z\"");
    assert_json(colander_timestamp(INT64_C(-62167219200), 0),
                "\"0000-01-01T00:00:00Z\"");
    assert_json(colander_timestamp(INT64_C(253402300799), 0),
                "\"9999-12-31T23:59:59Z\"");
}

TEST(timestamps_beyond_four_digit_years_are_numbers)
{
    assert_json(colander_timestamp(INT64_C(-62167219201), 5),
                "{\"seconds\":-62167219201,\"nanoseconds\":5}");
    assert_json(colander_timestamp(INT64_C(253402300800), 0),
                "{\"seconds\":253402300800,\"nanoseconds\":0}");
    assert_json(colander_timestamp(INT64_MIN, 999999999),
                "{\"seconds\":-9223372036854775808,\"nanoseconds\":999999999}");
}

/* ---------------------------------------------------------- containers --- */

static void
pack_text(msgpack_packer *packer, const char *text)
{
    msgpack_pack_str(packer, strlen(text));
    msgpack_pack_str_body(packer, text, strlen(text));
}

/* {"user": {"name": "Ann \"A\"", "tags": ["x", [], null, 2.0]}, "n\n": {}} */
static void
pack_nested(msgpack_packer *packer)
{
    msgpack_pack_map(packer, 2);
    pack_text(packer, "user");
    msgpack_pack_map(packer, 2);
    pack_text(packer, "name");
    pack_text(packer, "Ann \"A\"");
    pack_text(packer, "tags");
    msgpack_pack_array(packer, 4);
    pack_text(packer, "x");
    msgpack_pack_array(packer, 0);
    msgpack_pack_nil(packer);
    msgpack_pack_double(packer, 2.0);
    pack_text(packer, "n\n");
    msgpack_pack_map(packer, 0);
}

#define NESTED_COLUMNS                                                         \
    "\"user\":{\"name\":\"Ann \\\"A\\\"\",\"tags\":[\"x\",[],null,2.0]},"      \
    "\"n\\n\":{}"

TEST(maps_and_arrays_nest_on_one_line)
{
    SCOPED(msgpack_sbuffer_destroy) msgpack_sbuffer bytes;
    msgpack_packer packer;

    msgpack_sbuffer_init(&bytes);
    msgpack_packer_init(&packer, &bytes, msgpack_sbuffer_write);
    pack_nested(&packer);
    assert_json(bytes_of(COLANDER_MAP, bytes.data, bytes.size),
                "{" NESTED_COLUMNS "}");
    assert_json(bytes_of(COLANDER_ARRAY, "\x92\x01\xC3", 3), "[1,true]");
    assert_json(bytes_of(COLANDER_ARRAY, "\x90", 1), "[]");
    assert_json(bytes_of(COLANDER_MAP, "\x80", 1), "{}");
}

TEST(a_truncated_container_is_corrupt_and_appends_nothing)
{
    SCOPED(msgpack_sbuffer_destroy) msgpack_sbuffer bytes;
    msgpack_packer packer;

    msgpack_sbuffer_init(&bytes);
    msgpack_packer_init(&packer, &bytes, msgpack_sbuffer_write);
    pack_nested(&packer);
    for (size_t size = 0; size < bytes.size; size++) {
        SCOPED_MEMORY char *cut = malloc(size + 1); /* never 0 bytes */

        assert_non_null(cut);
        memcpy(cut + 1, bytes.data, size);
        assert_json_fails(bytes_of(COLANDER_MAP, cut + 1, size),
                          COLANDER_CORRUPT);
    }
}

TEST(nesting_ends_at_the_depth_that_rows_may_have)
{
    const size_t depth_max = COLANDER_ROW_DEPTH_MAX;
    uint8_t arrays[COLANDER_ROW_DEPTH_MAX + 1];
    char text[2 * COLANDER_ROW_DEPTH_MAX + 1] = "";

    memset(arrays, 0x91, sizeof(arrays));
    arrays[depth_max - 1] = 0x90;
    memset(text, '[', depth_max);
    memset(text + depth_max, ']', depth_max);
    assert_json(bytes_of(COLANDER_ARRAY, arrays, depth_max), text);
    arrays[depth_max - 1] = 0x91;
    arrays[depth_max] = 0x90;
    assert_json_fails(bytes_of(COLANDER_ARRAY, arrays, depth_max + 1),
                      COLANDER_CORRUPT);
}

/* ---------------------------------------------------------------- rows --- */

static void
assert_row(const struct colander_value *parts, size_t count,
           struct colander_slice row, const char *text)
{
    SCOPED_BUFFER json = COLANDER_BUFFER_EMPTY;
    SCOPED_BUFFER key = COLANDER_BUFFER_EMPTY;

    OK(colander_key_encode(parts, count, &key, NULL));
    OK(colander_json_append_row(&json, colander_buffer_slice(&key), row, NULL));
    assert_text(&json, text);
}

TEST(a_row_begins_with_its_key)
{
    const struct colander_value parts[] = {bytes_of(COLANDER_STRING, "a\0b", 3),
                                           colander_integer(5),
                                           colander_double(5.5)};
    SCOPED(msgpack_sbuffer_destroy) msgpack_sbuffer bytes;
    msgpack_packer packer;

    msgpack_sbuffer_init(&bytes);
    msgpack_packer_init(&packer, &bytes, msgpack_sbuffer_write);
    pack_nested(&packer);
    assert_row(parts, 1, colander_slice_of(bytes.data, bytes.size),
               "{\"_key\":\"a\\u0000b\"," NESTED_COLUMNS "}");
    assert_row(parts, 3, colander_slice_of(bytes.data, bytes.size),
               "{\"_key\":[\"a\\u0000b\",5,5.5]," NESTED_COLUMNS "}");
    assert_row(parts, 1, colander_slice_text("\x80"),
               "{\"_key\":\"a\\u0000b\"}");
}

static void
assert_row_fails(struct colander_slice key, struct colander_slice row)
{
    SCOPED_BUFFER json = COLANDER_BUFFER_EMPTY;
    struct colander_error err;

    OK(colander_buffer_append(&json, "before", 6, NULL));
    FAILS(colander_json_append_row(&json, key, row, &err), COLANDER_CORRUPT);
    assert_int_equal(err.code, COLANDER_CORRUPT);
    assert_text(&json, "before");
}

TEST(a_damaged_key_or_row_is_corrupt_and_appends_nothing)
{
    struct colander_slice key = colander_slice_text("\x09");
    struct colander_slice row = colander_slice_text("\x81\xA1x\x01");

    assert_row_fails(colander_slice_text("\x30"), row);
    assert_row_fails(colander_slice_text(""), row);
    assert_row_fails(key, colander_slice_text("\x91\x01"));
    assert_row_fails(key, colander_slice_text("\x81\xA1x"));
    assert_row_fails(key, colander_slice_text("\x07"));
    assert_row_fails(key, colander_slice_text(""));
}

/*
 * JSON read into rows: what is accepted, what is rejected, and the messages.
 *
 * SPDX-License-Identifier: MIT
 */
#include "json_rows.h"
#include "support/cases.h"
#include "support/scoped.h"

#include <stdio.h>
#include <stdlib.h>

static void
assert_row(const char *text, struct colander_slice row)
{
    struct read_row got = read_fine(colander_slice_text(text));

    assert_bytes(got.row, row);
    assert_false(got.has_key);
    assert_int_equal(got.key.size, 0);
}

/* Asserts that it fails, and that the reader continues after it. */
static void
assert_fails(struct colander_slice text, enum colander_code code,
             const char *message)
{
    struct colander_error err;
    struct read_row got;

    assert_int_equal(read_text(text, &got, &err), code);
    assert_int_equal(err.code, code);
    assert_string_equal(err.message, message);
    assert_int_equal(read_text(text, &got, NULL), code);
    assert_row("{\"a\":1}", BYTES("\x81\241a\x01"));
}

/* -------------------------------------------------------------- golden --- */

TEST(rows_are_msgpack_in_its_shortest_form)
{
    assert_row("{}", BYTES("\x80"));
    assert_row(" \t\r\n{ \"\" : [ ] , \"a\" : { } } \n",
               BYTES("\x82\xa0\x90\241a\x80"));
    assert_row("{\"user\": \"Smith\", \"likes\": 3}",
               BYTES("\x82\xa4user\xa5Smith\xa5likes\x03"));
    assert_row("{\"a\":[true,false,null,{\"b\":\"\"}]}",
               BYTES("\x81\241a\x94\xc3\xc2\xc0\x81\241b\xa0"));
}

static void
assert_number(const char *text, struct colander_value wanted)
{
    SCOPED_BUFFER json = COLANDER_BUFFER_EMPTY;
    struct colander_value value;
    bool found;

    put_bytes(&json, "{\"n\":", 5);
    put_bytes(&json, text, strlen(text));
    put_bytes(&json, "}", 1);
    OK(colander_row_get(read_fine(colander_buffer_slice(&json)).row, "n",
                        &value, &found, why()));
    assert_true(found);
    assert_int_equal(value.type, wanted.type);
    assert_memory_equal(&value.integer, &wanted.integer, 8);
}

TEST(integers_are_exact_to_64_bits)
{
    assert_number("0", colander_integer(0));
    assert_number("-0", colander_integer(0));
    assert_number("-1", colander_integer(-1));
    assert_number("9007199254740993", colander_integer(9007199254740993));
    assert_number("9223372036854775807", colander_integer(INT64_MAX));
    assert_number("-9223372036854775808", colander_integer(INT64_MIN));
    assert_number("9223372036854775808",
                  colander_unsigned((uint64_t)INT64_MAX + 1));
    assert_number("18446744073709551615", colander_unsigned(UINT64_MAX));
}

TEST(numbers_with_a_point_or_an_exponent_are_doubles)
{
    assert_number("0.0", colander_double(0.0));
    assert_number("-0.0", colander_double(-0.0));
    assert_number("1e2", colander_double(100));
    assert_number("1.0", colander_double(1));
    assert_number("-2.5E-1", colander_double(-0.25));
    assert_number("0.1", colander_double(0.1));
    assert_number("18446744073709551616.0", colander_double(0x1p64));
    assert_number("1.7976931348623157e308",
                  colander_double(1.7976931348623157e308));
    assert_number("5e-324", colander_double(0x1p-1074));
    assert_number("1e-400", colander_double(0));
    assert_number("0e999999999999", colander_double(0));
    assert_number("0.00000000000000000000000000000000000001e330",
                  colander_double(1e292));
}

TEST(strings_have_their_escapes_resolved)
{
    assert_row("{\"a\":\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0000\\u00e9\"}",
               BYTES("\x81\241a\xab\"\\/\b\f\n\r\t\0\xC3\xA9"));
    assert_row("{\"\\uD83D\\ude00\":\"\xF0\x9F\x98\x80\"}",
               BYTES("\x81\xa4\xF0\x9F\x98\x80\xa4\xF0\x9F\x98\x80"));
}

/* ---------------------------------------------------------------- keys --- */

static void
assert_key(const char *text, const struct colander_value *parts, size_t count,
           struct colander_slice row)
{
    SCOPED_BUFFER key = COLANDER_BUFFER_EMPTY;
    struct read_row got;

    OK(colander_key_encode(parts, count, &key, NULL));
    got = read_fine(colander_slice_text(text));
    assert_true(got.has_key);
    assert_bytes(got.key, colander_buffer_slice(&key));
    assert_bytes(got.row, row);
}

TEST(the_key_is_taken_out_wherever_it_is)
{
    const struct colander_slice row = BYTES("\x82\241a\x01\241b\x02");
    const struct colander_value key = colander_text("k1");

    assert_key("{\"_key\":\"k1\",\"a\":1,\"b\":2}", &key, 1, row);
    assert_key("{\"a\":1,\"_key\":\"k1\",\"b\":2}", &key, 1, row);
    assert_key("{\"a\":1,\"b\":2,\"_key\":\"k1\"}", &key, 1, row);
    assert_key("{\"a\":1,\"b\":2,\"\\u005fkey\":\"\\u006b1\"}", &key, 1, row);
    assert_key("{\"_key\":\"k1\"}", &key, 1, BYTES("\x80"));
}

TEST(a_key_is_a_scalar_or_an_array_of_them)
{
    const struct colander_value parts[] = {
        colander_text("s\xC3\xA9"),    colander_integer(-5),
        colander_unsigned(UINT64_MAX), colander_double(5.5),
        colander_boolean(true),        colander_text("")};
    const struct colander_value zero = colander_string(BYTES("a\0b"));
    const struct colander_value no = colander_boolean(false);
    const struct colander_value two = colander_integer(2);

    assert_key("{\"_key\":[\"s\xC3\xA9\",-5,18446744073709551615,5.5,true,"
               "\"\"]}",
               parts, COUNT(parts), BYTES("\x80"));
    assert_key("{\"_key\":[\"s\xC3\xA9\"]}", parts, 1, BYTES("\x80"));
    assert_key("{\"_key\":false}", &no, 1, BYTES("\x80"));
    assert_key("{\"_key\":2.0}", &two, 1, BYTES("\x80"));
    assert_key("{\"_key\":\"a\\u0000b\"}", &zero, 1, BYTES("\x80"));
}

TEST(a_name_like_the_keys_deeper_is_a_column)
{
    assert_row("{\"a\":{\"_key\":1},\"_keys\":2}",
               BYTES("\x82\241a\x81\xa4_key\x01\xa5_keys\x02"));
}

TEST(invalid_keys_are_rejected)
{
    char text[3000];

    assert_fails(BYTES("{\"a\":1,\"_key\":null}"), COLANDER_INVALID,
                 "column '_key': key part 1: null cannot be in a key");
    assert_fails(BYTES("{\"_key\":{\"a\":1}}"), COLANDER_INVALID,
                 "column '_key': key part 1: map cannot be in a key");
    assert_fails(BYTES("{\"_key\":[1,[2]]}"), COLANDER_INVALID,
                 "column '_key': key part 2: array cannot be in a key");
    assert_fails(BYTES("{\"_key\":[]}"), COLANDER_INVALID,
                 "column '_key': key has no parts");
    assert_fails(BYTES("{\"_key\":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17]"
                       "}"),
                 COLANDER_LIMIT,
                 "column '_key': key part 17: key has 17 parts, 16 are "
                 "allowed");
    assert_fails(BYTES("{\"_key\":1,\"a\":1,\"_key\":1}"), COLANDER_INVALID,
                 "column '_key': name appears twice");
    (void)snprintf(text, sizeof(text), "{\"_key\":\"%02100d\"}", 0);
    assert_fails(colander_slice_text(text), COLANDER_LIMIT,
                 "column '_key': key part 1: key is longer than 2048 bytes");
}

/* -------------------------------------------------------------- faults --- */

static const struct {
    const char *text;
    const char *message;
} faults[] = {
    {"", "byte 0: text is empty"},
    {" \n ", "byte 3: text is empty"},
    {"[1]", "byte 0: text is not an object"},
    {" \"a\"", "byte 1: text is not an object"},
    {"5", "byte 0: text is not an object"},
    {"null", "byte 0: text is not an object"},
    {"\xEF\xBB\xBF{}", "byte 0: text is not an object"},
    {"{", "byte 1: a name must begin here, with a quote"},
    {"{1:2}", "byte 1: a name must begin here, with a quote"},
    {"{\"a\":1,}", "byte 7: a name must begin here, with a quote"},
    {"{\"a\" 1}", "byte 5: a name must be followed by a colon"},
    {"{\"a\":}", "byte 5: no value begins here"},
    {"{\"a\":1 \"b\":2}", "byte 7: an object continues with , or }"},
    {"{\"a\":1]", "byte 6: an object continues with , or }"},
    {"{\"a\":[1 2]}", "byte 8: an array continues with , or ]"},
    {"{\"a\":[1,]}", "byte 8: no value begins here"},
    {"{\"a\":[1}", "byte 7: an array continues with , or ]"},
    {"{\"a\":1} x", "byte 8: text continues after its object"},
    {"{\"a\":1}{\"b\":2}", "byte 7: text continues after its object"},
    {"{\"a\":1}}", "byte 7: text continues after its object"},
    {"{\"a\":tru}", "byte 5: no value begins here"},
    {"{\"a\":truex}", "byte 9: an object continues with , or }"},
    {"{\"a\":NaN}", "byte 5: no value begins here"},
    {"{'a':1}", "byte 1: a name must begin here, with a quote"},
    {"{\"a\":01}", "byte 5: malformed number"},
    {"{\"a\":+1}", "byte 5: no value begins here"},
    {"{\"a\":-}", "byte 5: malformed number"},
    {"{\"a\":1.}", "byte 5: malformed number"},
    {"{\"a\":.5}", "byte 5: no value begins here"},
    {"{\"a\":1e}", "byte 5: malformed number"},
    {"{\"a\":1e+}", "byte 5: malformed number"},
    {"{\"a\":18446744073709551616}", "byte 5: integer has more than 64 bits"},
    {"{\"a\":-9223372036854775809}", "byte 5: integer has more than 64 bits"},
    {"{\"a\":1e309}", "byte 5: number is too large for a double"},
    {"{\"a\":-0.01e99999999999}", "byte 5: number is too large for a double"},
    {"{\"a\":1.8e308}", "byte 5: number is too large for a double"},
    {"{\"a\":\"b}", "byte 5: string has no end"},
    {"{\"a\":\"\\x\"}", "byte 6: unknown escape"},
    {"{\"a\":\"\\u12g4\"}", "byte 10: \\u without four hexadecimal digits"},
    {"{\"a\":\"\\ud800\"}",
     "byte 6: half of a surrogate pair is not a character"},
    {"{\"a\":\"\\udc00\"}",
     "byte 6: half of a surrogate pair is not a character"},
    {"{\"a\":\"\\ud800\\u0041\"}",
     "byte 6: half of a surrogate pair is not a character"},
    {"{\"a\":\"\\ud800\\ud800\"}",
     "byte 6: half of a surrogate pair is not a character"},
    {"{\"a\":\"\n\"}", "byte 6: control character in a string"},
    {"{\"a\":\"\xFF\"}", "byte 6: text is not UTF-8"},
    {"{\"a\":\"\xED\xA0\x80\"}", "byte 6: text is not UTF-8"},
    {"{\"a\":\"\xC3\"}", "byte 6: text is not UTF-8"},
    {"{\"a\":1,\"b\":2,\"a\":3}", "column 'a': name appears twice"},
    {"{\"a\":1,\"\\u0061\":3}", "column 'a': name appears twice"},
    {"{\"a\":[{\"b\":1,\"b\":1}]}", "column 'a[].b': name appears twice"},
};

TEST(faults_are_reported_with_their_place)
{
    for (size_t i = 0; i < COUNT(faults); i++)
        assert_fails(colander_slice_text(faults[i].text), COLANDER_INVALID,
                     faults[i].message);
    assert_fails(BYTES("{\"a\":1}\0"), COLANDER_INVALID,
                 "byte 7: text continues after its object");
    assert_fails(BYTES("{\0\"a\":1}"), COLANDER_INVALID,
                 "byte 1: a name must begin here, with a quote");
    assert_fails(BYTES("{\"a\0\":1}"), COLANDER_INVALID,
                 "byte 3: control character in a string");
    assert_fails(colander_slice_of(NULL, 0), COLANDER_INVALID,
                 "byte 0: text is empty");
}

/* -------------------------------------------------------------- limits --- */

/* {"a":[[..[1]..]]} of `depth` levels. */
static struct colander_buffer
nested(size_t depth, const char *content)
{
    struct colander_buffer text = COLANDER_BUFFER_EMPTY;

    put_bytes(&text, "{\"a\":", 5);
    for (size_t i = 1; i < depth; i++)
        put_bytes(&text, "[", 1);
    put_bytes(&text, content, strlen(content));
    for (size_t i = 1; i < depth; i++)
        put_bytes(&text, "]", 1);
    put_bytes(&text, "}", 1);
    return text;
}

static void
assert_too_deep(size_t depth, const char *content)
{
    SCOPED_BUFFER text = nested(depth, content);
    struct read_row got;

    FAILS(read_text(colander_buffer_slice(&text), &got, NULL), COLANDER_LIMIT);
}

TEST(nesting_ends_at_the_depth_that_rows_may_have)
{
    struct colander_buffer text = nested(COLANDER_ROW_DEPTH_MAX, "1");

    read_fine(colander_buffer_slice(&text));
    colander_buffer_release(&text);
    text = nested(COLANDER_ROW_DEPTH_MAX, "");
    read_fine(colander_buffer_slice(&text));
    colander_buffer_release(&text);
    text = nested(COLANDER_ROW_DEPTH_MAX + 1, "1");
    assert_fails(colander_buffer_slice(&text), COLANDER_LIMIT,
                 "byte 68: row has more than 64 levels");
    colander_buffer_release(&text);
    assert_too_deep(COLANDER_ROW_DEPTH_MAX + 1, "");
    assert_too_deep(COLANDER_ROW_DEPTH_MAX + 1, "{}");
    assert_too_deep(COLANDER_ROW_DEPTH_MAX + 2, "");
    assert_too_deep(1000000, "");
}

/* {"a":"xx..."} with `size` times x. */
static struct colander_buffer
long_string(size_t size)
{
    struct colander_buffer text = COLANDER_BUFFER_EMPTY;

    put_bytes(&text, "{\"a\":\"", 6);
    OK(colander_buffer_reserve(&text, size, NULL));
    memset(text.data + text.size, 'x', size);
    text.size += size;
    put_bytes(&text, "\"}", 2);
    return text;
}

TEST(rows_end_at_the_size_that_they_may_have)
{
    const size_t content = COLANDER_ROW_SIZE_MAX - 8;
    struct colander_buffer text = long_string(content);

    assert_int_equal(read_fine(colander_buffer_slice(&text)).row.size,
                     COLANDER_ROW_SIZE_MAX);
    colander_buffer_release(&text);
    text = long_string(content + 1);
    assert_fails(colander_buffer_slice(&text), COLANDER_LIMIT,
                 "row has 16777217 bytes, 16777216 at most");
    colander_buffer_release(&text);
    text = long_string(COLANDER_JSON_SIZE_MAX - 7);
    assert_fails(colander_buffer_slice(&text), COLANDER_LIMIT,
                 "text has 33554433 bytes, 33554432 at most");
    colander_buffer_release(&text);
}

TEST(rows_have_no_more_and_no_longer_names_than_they_may)
{
    SCOPED_BUFFER text = COLANDER_BUFFER_EMPTY;
    char name[32];

    put_bytes(&text, "{\"n\":0", 6);
    for (int i = 1; i <= COLANDER_ROW_NAMES_MAX; i++) {
        (void)snprintf(name, sizeof(name), ",\"n%d\":0", i);
        put_bytes(&text, name, strlen(name));
    }
    put_bytes(&text, "}", 1);
    assert_fails(colander_buffer_slice(&text), COLANDER_LIMIT,
                 "column 'n100000': row has more than 100000 names");
    colander_buffer_clear(&text);
    put_bytes(&text, "{\"", 2);
    for (int i = 0; i <= COLANDER_NAME_SIZE_MAX; i++)
        put_bytes(&text, "n", 1);
    put_bytes(&text, "\":0}", 4);
    FAILS(read_text(colander_buffer_slice(&text),
                    &(struct read_row){.has_key = false}, NULL),
          COLANDER_LIMIT);
}

TEST(a_null_reader_may_be_destroyed)
{
    colander_json_reader_destroy(NULL);
}

int
main(void)
{
    return tests_run(reader_create, reader_destroy);
}

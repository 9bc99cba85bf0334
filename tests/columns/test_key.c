/*
 * Keys: their golden bytes, and what is rejected.
 *
 * SPDX-License-Identifier: MIT
 */
#include "some_keys.h"
#include "support/scoped.h"

#include <stdio.h>

/* ------------------------------------------------------ bytes of keys --- */

/* Spaces in `hex` are for readability. */
static void
assert_bytes(struct colander_slice key, const char *hex)
{
    size_t at = 0;

    for (; *hex != '\0'; hex++) {
        unsigned byte;

        if (*hex == ' ')
            continue;
        assert_int_equal(sscanf(hex, "%2x", &byte), 1);
        hex++;
        assert_true(at < key.size);
        assert_int_equal(key.data[at], byte);
        at++;
    }
    assert_int_equal(at, key.size);
}

struct golden {
    struct colander_value part;
    const char *hex;
};

static void
assert_golden(const struct golden *golden, size_t count)
{
    SCOPED_BUFFER key = COLANDER_BUFFER_EMPTY;
    SCOPED_BUFFER scratch = COLANDER_BUFFER_EMPTY;

    for (size_t i = 0; i < count; i++) {
        struct colander_value parts[PARTS_MAX];
        size_t part_count;

        encode(&golden[i].part, 1, &key);
        assert_bytes(colander_buffer_slice(&key), golden[i].hex);
        assert_true(key_is_valid(colander_buffer_slice(&key)));
        OK(colander_key_decode(colander_buffer_slice(&key), parts, &part_count,
                               &scratch, NULL));
        assert_int_equal(part_count, 1);
        assert_int_equal(colander_value_compare(&parts[0], &golden[i].part), 0);
    }
}

TEST(integers_have_their_golden_bytes)
{
    const struct golden golden[] = {
        {colander_integer(INT64_MIN), "11 7FFFFFFFFFFFFFFF"},
        {colander_integer(INT64_MIN + 1), "11 8000000000000000"},
        {colander_integer(-(INT64_C(1) << 56)), "11 FEFFFFFFFFFFFFFF"},
        {colander_integer(1 - (INT64_C(1) << 56)), "12 00000000000000"},
        {colander_integer(-(INT64_C(1) << 48)), "12 FEFFFFFFFFFFFF"},
        {colander_integer(-(INT64_C(1) << 40)), "13 FEFFFFFFFFFF"},
        {colander_integer(-(INT64_C(1) << 32)), "14 FEFFFFFFFF"},
        {colander_integer(-(INT64_C(1) << 24)), "15 FEFFFFFF"},
        {colander_integer(-65536), "16 FEFFFF"},
        {colander_integer(-65535), "17 0000"},
        {colander_integer(-256), "17 FEFF"},
        {colander_integer(-255), "18 00"},
        {colander_integer(-1), "18 FE"},
        {colander_integer(0), "19"},
        {colander_integer(1), "1A 01"},
        {colander_integer(255), "1A FF"},
        {colander_integer(256), "1B 0100"},
        {colander_integer(65536), "1C 010000"},
        {colander_integer(INT64_C(1) << 24), "1D 01000000"},
        {colander_integer(INT64_C(1) << 32), "1E 0100000000"},
        {colander_integer(INT64_C(1) << 40), "1F 010000000000"},
        {colander_integer(INT64_C(1) << 48), "20 01000000000000"},
        {colander_integer(INT64_C(1) << 56), "21 0100000000000000"},
        {colander_integer(INT64_MAX), "21 7FFFFFFFFFFFFFFF"},
        {colander_unsigned(UINT64_C(1) << 63), "21 8000000000000000"},
        {colander_unsigned(UINT64_MAX), "21 FFFFFFFFFFFFFFFF"},
    };

    assert_golden(golden, COUNT(golden));
}

TEST(doubles_have_their_golden_bytes)
{
    const struct golden golden[] = {
        {colander_double((double)-INFINITY), "10 000FFFFFFFFFFFFF"},
        {colander_double(-DBL_MAX), "10 0010000000000000"},
        {colander_double(nextafter(-0x1p63, -DBL_MAX)), "10 3C1FFFFFFFFFFFFE"},
        {colander_double(-0x1p63), "11 7FFFFFFFFFFFFFFF"},
        {colander_double(-1.5), "18 FD F0 4007FFFFFFFFFFFF"},
        {colander_double(-0.5), "18 FE F0 401FFFFFFFFFFFFF"},
        {colander_double(-0x1p-1074), "18 FE F0 7FFFFFFFFFFFFFFE"},
        {colander_double(-0.0), "19"},
        {colander_double(0x1p-1074), "19 F0 8000000000000001"},
        {colander_double(0.1), "19 F0 BFB999999999999A"},
        {colander_double(5), "1A 05"},
        {colander_double(5.5), "1A 05 F0 C016000000000000"},
        {colander_double(0x1p52 - 0.5),
         "20 0FFFFFFFFFFFFF F0 C32FFFFFFFFFFFFF"},
        {colander_double(0x1p63), "21 8000000000000000"},
        {colander_double(nextafter(0x1p64, 0)), "21 FFFFFFFFFFFFF800"},
        {colander_double(0x1p64), "22 C3F0000000000000"},
        {colander_double((double)INFINITY), "22 FFF0000000000000"},
        {colander_double((double)NAN), "23"},
        {colander_double(-(double)NAN), "23"},
    };

    assert_golden(golden, COUNT(golden));
}

TEST(other_scalars_have_their_golden_bytes)
{
    const struct golden golden[] = {
        {colander_boolean(false), "08"},
        {colander_boolean(true), "09"},
        {bytes_of(COLANDER_STRING, NULL, 0), "30 00"},
        {colander_text("id1"), "30 696431 00"},
        {bytes_of(COLANDER_STRING, "a\0b\0\0", 5), "30 61 00FF 62 00FF00FF 00"},
        {colander_text("\xF4\x8F\xBF\xBF"), "30 F48FBFBF 00"},
        {bytes_of(COLANDER_BINARY, "", 0), "38 00"},
        {bytes_of(COLANDER_BINARY, "\0\xFF\xF0", 3), "38 00FF FF F0 00"},
        {colander_timestamp(INT64_MIN, 0), "40 0000000000000000 00000000"},
        {colander_timestamp(-1, 999999999), "40 7FFFFFFFFFFFFFFF 3B9AC9FF"},
        {colander_timestamp(1600000000, 5), "40 800000005F5E1000 00000005"},
        {extension_of(-128, "", 0), "48 00 00"},
        {extension_of(-2, "", 0), "48 7E 00"},
        {extension_of(0, "\0", 1), "48 80 00FF 00"},
        {extension_of(127, "x", 1), "48 FF 78 00"},
    };

    assert_golden(golden, COUNT(golden));
}

TEST(parts_of_a_tuple_follow_each_other)
{
    const struct colander_value parts[] = {colander_text("sensor-7"),
                                           colander_integer(1600000000)};
    SCOPED_BUFFER key = COLANDER_BUFFER_EMPTY;

    encode(parts, 2, &key);
    assert_bytes(colander_buffer_slice(&key),
                 "30 73656E736F722D37 00 1D 5F5E1000");
}

TEST(text_is_the_tuple_of_one_string)
{
    SCOPED_BUFFER key = COLANDER_BUFFER_EMPTY;

    OK(colander_key_text("id1", &key, NULL));
    assert_bytes(colander_buffer_slice(&key), "30 696431 00");
    FAILS(colander_key_text("\xFF", &key, NULL), COLANDER_INVALID);
}

/* --------------------------------------------------------- invalid keys --- */

static void
assert_encode_fails(const struct colander_value *parts, size_t count,
                    enum colander_code code, const char *message)
{
    SCOPED_BUFFER key = COLANDER_BUFFER_EMPTY;
    struct colander_error err;

    assert_int_equal(colander_key_encode(parts, count, &key, &err), code);
    assert_int_equal(err.code, code);
    assert_string_equal(err.message, message);
}

TEST(encode_refuses_what_cannot_be_in_a_key)
{
    struct colander_value parts[] = {colander_integer(1), colander_null()};

    assert_encode_fails(parts, 0, COLANDER_INVALID, "key has no parts");
    assert_encode_fails(parts, 2, COLANDER_INVALID,
                        "key part 2: null cannot be in a key");
    parts[1] = bytes_of(COLANDER_ARRAY, "\x90", 1);
    assert_encode_fails(parts, 2, COLANDER_INVALID,
                        "key part 2: array cannot be in a key");
    parts[1] = bytes_of(COLANDER_MAP, "\x80", 1);
    assert_encode_fails(parts, 2, COLANDER_INVALID,
                        "key part 2: map cannot be in a key");
    parts[1] = bytes_of(COLANDER_STRING, "\xC0\x80", 2);
    assert_encode_fails(parts, 2, COLANDER_INVALID,
                        "key part 2: string is not UTF-8");
    parts[1] = colander_timestamp(0, 1000000000);
    assert_encode_fails(parts, 2, COLANDER_INVALID,
                        "key part 2: timestamp has 1000000000 nanoseconds");
    parts[1] = extension_of(-1, "\0\0\0\1", 4);
    assert_encode_fails(parts, 2, COLANDER_INVALID,
                        "key part 2: extension type -1 is a timestamp");
    parts[1].type = (enum colander_type)(COLANDER_MAP + 1);
    assert_encode_fails(parts, 2, COLANDER_INVALID,
                        "key part 2: unknown cannot be in a key");
}

TEST(encode_keeps_the_limits)
{
    static char text[COLANDER_KEY_SIZE_MAX];
    SCOPED_BUFFER key = COLANDER_BUFFER_EMPTY;
    struct colander_value parts[PARTS_MAX + 1];

    for (size_t i = 0; i < COUNT(parts); i++)
        parts[i] = colander_boolean(true);
    encode(parts, PARTS_MAX, &key);
    assert_encode_fails(parts, PARTS_MAX + 1, COLANDER_LIMIT,
                        "key part 17: key has 17 parts, 16 are allowed");
    memset(text, 'x', sizeof(text));
    parts[1] = bytes_of(COLANDER_STRING, text, sizeof(text) - 3);
    encode(parts, 2, &key);
    assert_int_equal(key.size, COLANDER_KEY_SIZE_MAX);
    assert_true(key_is_valid(colander_buffer_slice(&key)));
    assert_encode_fails(parts, 3, COLANDER_LIMIT,
                        "key part 3: key is longer than 2048 bytes");
    parts[1].bytes.size++;
    assert_encode_fails(parts, 2, COLANDER_LIMIT,
                        "key part 2: key is longer than 2048 bytes");
    parts[1].bytes.size--;
    text[0] = '\0'; /* its escape is one byte too long */
    assert_encode_fails(parts, 2, COLANDER_LIMIT,
                        "key part 2: key is longer than 2048 bytes");
}

TEST(a_failing_encode_leaves_the_buffer_as_it_was)
{
    SCOPED_BUFFER key = COLANDER_BUFFER_EMPTY;
    struct colander_value null = colander_null();

    OK(colander_key_text("first", &key, NULL));
    FAILS(colander_key_encode(&null, 1, &key, NULL), COLANDER_INVALID);
    assert_bytes(colander_buffer_slice(&key), "30 6669727374 00");
    OK(colander_key_text("second", &key, NULL));
    assert_bytes(colander_buffer_slice(&key), "30 7365636F6E64 00");
}

static void
assert_corrupt(const char *hex, const char *message)
{
    SCOPED_BUFFER scratch = COLANDER_BUFFER_EMPTY;
    struct colander_value parts[PARTS_MAX];
    uint8_t bytes[64];
    size_t size = 0;
    size_t count;

    for (; *hex != '\0'; hex += *hex == ' ' ? 1 : 2) {
        unsigned byte;

        if (*hex != ' ' && sscanf(hex, "%2x", &byte) == 1)
            bytes[size++] = (uint8_t)byte;
    }
    FAILS(colander_key_decode(colander_slice_of(bytes, size), parts, &count,
                              &scratch, why()),
          COLANDER_CORRUPT);
    assert_string_equal(error_text(), message);
    assert_false(key_is_valid(colander_slice_of(bytes, size)));
}

TEST(decode_refuses_bytes_that_encode_never_makes)
{
    assert_corrupt("", "key is empty");
    assert_corrupt("00", "key part 1: unknown type tag");
    assert_corrupt("08 F0", "key part 2: unknown type tag");
    assert_corrupt("23 F0", "key part 2: unknown type tag");
    assert_corrupt("1A", "key part 1: ends too early");
    assert_corrupt("1A 00",
                   "key part 1: integer is longer than it needs to be");
    assert_corrupt("1B 00FF",
                   "key part 1: integer is longer than it needs to be");
    assert_corrupt("18 FF",
                   "key part 1: integer is longer than it needs to be");
    assert_corrupt("17 FF00",
                   "key part 1: integer is longer than it needs to be");
    assert_corrupt("11 7FFFFFFFFFFFFFFE",
                   "key part 1: negative integer is out of range");
    assert_corrupt("09 30 61", "key part 2: has no end");
    assert_corrupt("30 61 00FF", "key part 1: has no end");
    assert_corrupt("30 C3 00", "key part 1: string is not UTF-8");
    assert_corrupt("30 C3 00FF A9 00", "key part 1: string is not UTF-8");
    assert_corrupt("40 8000000000000000 3B9ACA00",
                   "key part 1: timestamp has too many nanoseconds");
    assert_corrupt("48", "key part 1: ends too early");
    assert_corrupt("48 80", "key part 1: has no end");
    assert_corrupt("48 7F 00",
                   "key part 1: extension has the type of timestamps");
}

TEST(decode_refuses_doubles_out_of_their_place)
{
    const char *range = "key part 1: double is within the integers, "
                        "or no number";
    const char *foreign = "key part 1: fraction does not belong to its integer";

    assert_corrupt("10 3C1FFFFFFFFFFFFF", range); /* -2^63 */
    assert_corrupt("10 C3F0000000000000", range); /* 2^64 */
    assert_corrupt("10 0007FFFFFFFFFFFF", range); /* NaN */
    assert_corrupt("22 C3EFFFFFFFFFFFFF", range);
    assert_corrupt("22 FFF8000000000000", range); /* NaN */
    assert_corrupt("1A 05 F0 C014000000000000",
                   "key part 1: fraction is a whole number");
    assert_corrupt("19 F0 7FFFFFFFFFFFFFFF", /* -0.0 */
                   "key part 1: fraction is a whole number");
    assert_corrupt("1A 06 F0 C016000000000000", foreign);
    assert_corrupt("18 FE F0 C016000000000000", foreign);
    assert_corrupt("19 F0 FFF8000000000000", foreign); /* NaN */
    assert_corrupt("19 F0 FFF0000000000000", foreign); /* infinity */
    assert_corrupt("21 8000000000000000 F0 C3E0000000000000", foreign);
    assert_corrupt("11 7FFFFFFFFFFFFFFF F0 3C1FFFFFFFFFFFFF", foreign);
}

TEST(decode_keeps_the_limits)
{
    static uint8_t bytes[COLANDER_KEY_SIZE_MAX + 1];
    SCOPED_BUFFER scratch = COLANDER_BUFFER_EMPTY;
    struct colander_value parts[PARTS_MAX];
    size_t count;

    memset(bytes, 0x09, sizeof(bytes));
    assert_true(
        is_key(colander_slice_of(bytes, PARTS_MAX), parts, &count, &scratch));
    assert_int_equal(count, PARTS_MAX);
    assert_false(is_key(colander_slice_of(bytes, PARTS_MAX + 1), parts, &count,
                        &scratch));
    memset(bytes, 'x', sizeof(bytes));
    bytes[0] = 0x30;
    bytes[COLANDER_KEY_SIZE_MAX] = 0;
    FAILS(colander_key_decode(colander_slice_of(bytes, sizeof(bytes)), parts,
                              &count, &scratch, why()),
          COLANDER_CORRUPT);
    assert_string_equal(error_text(), "key has 2049 bytes, 2048 are allowed");
    assert_false(key_is_valid(colander_slice_of(bytes, sizeof(bytes))));
}

TEST(decode_borrows_what_has_no_zero_byte)
{
    const struct colander_value parts[] = {colander_text("plain"),
                                           bytes_of(COLANDER_STRING, "a\0b", 3),
                                           bytes_of(COLANDER_BINARY, "\0", 1)};
    SCOPED_BUFFER key = COLANDER_BUFFER_EMPTY;
    SCOPED_BUFFER scratch = COLANDER_BUFFER_EMPTY;
    struct colander_value decoded[PARTS_MAX];
    size_t count;

    encode(parts, 3, &key);
    assert_true(is_key(colander_buffer_slice(&key), decoded, &count, &scratch));
    assert_ptr_equal(decoded[0].bytes.data, key.data + 1);
    assert_int_equal(scratch.size, 4);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(colander_value_compare(&parts[i], &decoded[i]), 0);
}

/* Unescaped parts would move if the buffer grew for each part. */
TEST(decode_keeps_unescaped_parts_together)
{
    static char text[600];
    struct colander_value parts[3];
    SCOPED_BUFFER key = COLANDER_BUFFER_EMPTY;
    SCOPED_BUFFER scratch = COLANDER_BUFFER_EMPTY;
    struct colander_value decoded[PARTS_MAX];
    size_t count;

    memset(text, 'x', sizeof(text));
    text[1] = '\0';
    for (size_t i = 0; i < 3; i++)
        parts[i] = bytes_of(COLANDER_STRING, text, sizeof(text) - i);
    encode(parts, 3, &key);
    assert_true(is_key(colander_buffer_slice(&key), decoded, &count, &scratch));
    assert_int_equal(count, 3);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(colander_value_compare(&parts[i], &decoded[i]), 0);
}

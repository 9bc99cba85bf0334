/*
 * Formats guessed by names and first bytes.
 *
 * SPDX-License-Identifier: MIT
 */
#include "loading/guess.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define SLICE(text) colander_slice_of(text, sizeof(text) - 1)

static void
assert_guess(const char *name, struct colander_slice text, const char *format)
{
    struct format_guess guess;
    struct colander_error err;

    if (format_guess(name, text, &guess, &err) != COLANDER_OK)
        fail_msg("%s", err.message);
    assert_string_equal(format_name(guess.format, guess.delimiter), format);
}

static void
names_tell_the_format(void **state)
{
    (void)state;
    assert_guess("a.jsonl", SLICE("[1]\n"), "jsonl");
    assert_guess("dir.csv/a.NDJSON.gz", SLICE("a,b\n"), "jsonl");
    assert_guess("a.csv", SLICE("{\"a\":1}\n"), "csv");
    assert_guess("a.csv.zst", SLICE("one\n"), "csv");
    assert_guess("a.tsv.zstd", SLICE("a,b\n"), "tsv");
    assert_guess("a.tab", SLICE("a,b\n"), "tsv");
    assert_guess("a.mp", SLICE("a,b\n"), "msgpack");
    assert_guess("a.msgpack.gz", SLICE("\xc1"), "msgpack");
    assert_guess("a.json", SLICE("a,b\n"), "json");
}

static void
json_is_told_from_lines_of_it(void **state)
{
    static const char *const names[] = {NULL, "a.json", "-", "tweet.js",
                                        "a.txt.gz"};

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        assert_guess(names[i], SLICE("{\"a\":1}\n{\"a\":2}\n"), "jsonl");
        assert_guess(names[i], SLICE("\n {\"a\":{}} \r\n"), "jsonl");
        assert_guess(names[i], SLICE("{\"a\":1}"), "jsonl");
        assert_guess(names[i], SLICE("{\n \"a\":1}\n"), "json");
        assert_guess(names[i], SLICE("{\"a\":1}{\"a\":2}\n"), "json");
        assert_guess(names[i], SLICE("{\"a\":\"x\n{\"a\":2}\n"), "json");
        assert_guess(names[i], SLICE("[{\"a\":1},\n"), "json");
        assert_guess(names[i], SLICE("[]"), "json");
        assert_guess(names[i], SLICE("window.YTD.tweet.part0 = [ {"), "json");
        assert_guess(names[i], SLICE("\xef\xbb\xbf[{\"a\":1}]"), "json");
    }
}

static void
other_bytes_tell_msgpack_and_csv(void **state)
{
    (void)state;
    assert_guess(NULL,
                 SLICE("\x81\xa1"
                       "a\x01"),
                 "msgpack");
    assert_guess("x", SLICE("\x80"), "msgpack");
    assert_guess("x", SLICE("\xde\x00\x10\xa1"), "msgpack");
    assert_guess("x", SLICE("\xdf\x00\x00\x00\x10"), "msgpack");
    assert_guess("x", SLICE("\xde\x80,b\n"), "csv"); /* a letter */
    assert_guess("x", SLICE("a=b,c\n1,2\n"), "csv");
    assert_guess("x", SLICE("a\tb\n"), "tsv");
    assert_guess("x", SLICE("a;b;c,d\n"), "csv");
}

static void
a_file_that_is_empty_is_fine(void **state)
{
    (void)state;
    assert_guess(NULL, SLICE(""), "json");
    assert_guess(NULL, SLICE("\xef\xbb\xbf"), "json");
    assert_guess("a.csv", SLICE(""), "csv");
    assert_guess(NULL, SLICE(" \n\n"), "json");
}

static void
what_nothing_tells_is_asked_for(void **state)
{
    static const struct colander_slice texts[] = {
        {(const uint8_t *)"hello\nworld, you\n", 17},
        {(const uint8_t *)"\x89PNG\r\n\x1a\n,,,", 11},
        {(const uint8_t *)"a,b\0c\n", 6},
        {(const uint8_t *)"null", 4},
    };
    struct format_guess guess;
    struct colander_error err;

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        assert_int_equal(format_guess("x.txt", texts[i], &guess, &err),
                         COLANDER_INVALID);
        assert_non_null(strstr(err.message, "--format"));
    }
}

static void
utf16_is_refused(void **state)
{
    static const struct colander_slice texts[] = {
        {(const uint8_t *)"\xff\xfe{\0}\0", 6},
        {(const uint8_t *)"\xfe\xff\0{\0}", 6},
        {(const uint8_t *)"{\0}\0", 4},
        {(const uint8_t *)"\0{\0}", 4},
    };
    struct format_guess guess;
    struct colander_error err;

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        assert_int_equal(format_guess("a.jsonl", texts[i], &guess, &err),
                         COLANDER_INVALID);
        assert_non_null(strstr(err.message, "iconv"));
        assert_int_equal(format_given(RECORDS_CSV, 0, texts[i], &guess, &err),
                         COLANDER_INVALID);
        assert_int_equal(
            format_given(RECORDS_MSGPACK, 0, texts[i], &guess, &err),
            COLANDER_OK);
    }
}

static void
a_byte_order_mark_is_skipped(void **state)
{
    struct format_guess guess;

    (void)state;
    assert_int_equal(format_guess("a.csv",
                                  SLICE("\xef\xbb\xbf"
                                        "a;b\n"),
                                  &guess, NULL),
                     COLANDER_OK);
    assert_int_equal(guess.skip, 3);
    assert_int_equal(guess.delimiter, ';');
    assert_int_equal(
        format_guess("a.csv", SLICE("a,b;c\td,e\n;;;"), &guess, NULL),
        COLANDER_OK);
    assert_int_equal(guess.skip, 0);
    assert_int_equal(guess.delimiter, ',');
}

static void
names_of_formats_are_read(void **state)
{
    static const char *const names[] = {"jsonl", "json", "csv", "tsv",
                                        "msgpack"};
    enum record_format format;
    char delimiter;

    (void)state;
    for (size_t i = 0; i < 5; i++) {
        assert_true(format_parse(names[i], &format, &delimiter));
        assert_string_equal(format_name(format, delimiter), names[i]);
    }
    assert_false(format_parse("xml", &format, &delimiter));
    assert_false(format_parse("", &format, &delimiter));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_tell_the_format),
        cmocka_unit_test(json_is_told_from_lines_of_it),
        cmocka_unit_test(other_bytes_tell_msgpack_and_csv),
        cmocka_unit_test(a_file_that_is_empty_is_fine),
        cmocka_unit_test(what_nothing_tells_is_asked_for),
        cmocka_unit_test(utf16_is_refused),
        cmocka_unit_test(a_byte_order_mark_is_skipped),
        cmocka_unit_test(names_of_formats_are_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

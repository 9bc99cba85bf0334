/*
 * Formats guessed by names and first bytes.
 *
 * SPDX-License-Identifier: MIT
 */
#include "loading/guess.h"
#include "support/cases.h"

#define SLICE(text) colander_slice_of(text, sizeof(text) - 1)
#define TEXT(text)                                                             \
    {                                                                          \
        (const uint8_t *)(text), sizeof(text) - 1                              \
    }

static void
assert_guess(const char *name, struct colander_slice text, const char *format)
{
    struct format_guess guess;

    OK(format_guess(name, text, &guess, why()));
    assert_string_equal(format_name(guess.format, guess.delimiter), format);
}

TEST(names_and_bytes_decide)
{
    static const struct {
        const char *name;
        struct colander_slice text;
        const char *format;
    } files[] = {
        /* names determine the format */
        {"a.jsonl", TEXT("[1]\n"), "jsonl"},
        {"dir.csv/a.NDJSON.gz", TEXT("a,b\n"), "jsonl"},
        {"a.csv", TEXT("{\"a\":1}\n"), "csv"},
        {"a.csv.zst", TEXT("one\n"), "csv"},
        {"a.tsv.zstd", TEXT("a,b\n"), "tsv"},
        {"a.tab", TEXT("a,b\n"), "tsv"},
        {"a.mp", TEXT("a,b\n"), "msgpack"},
        {"a.msgpack.gz", TEXT("\xc1"), "msgpack"},
        {"a.json", TEXT("a,b\n"), "json"},
        /* other bytes show msgpack and csv */
        {NULL,
         TEXT("\x81\xa1"
              "a\x01"),
         "msgpack"},
        {"x", TEXT("\x80"), "msgpack"},
        {"x", TEXT("\xde\x00\x10\xa1"), "msgpack"},
        {"x", TEXT("\xdf\x00\x00\x00\x10"), "msgpack"},
        {"x", TEXT("\xde\x80,b\n"), "csv"},
        {"x", TEXT("\xde\x80\xde\xa0,b\n"), "csv"},
        {"x", TEXT("a=b,c\n1,2\n"), "csv"},
        {"x", TEXT("a\tb\n"), "tsv"},
        {"x", TEXT("a;b;c,d\n"), "csv"},
        /* an empty file is fine */
        {NULL, TEXT(""), "json"},
        {NULL, TEXT("\xef\xbb\xbf"), "json"},
        {"a.csv", TEXT(""), "csv"},
        {NULL, TEXT(" \n\n"), "json"},
    };

    for (size_t i = 0; i < COUNT(files); i++)
        assert_guess(files[i].name, files[i].text, files[i].format);
}

TEST(json_is_distinguished_from_lines_of_it)
{
    static const char *const names[] = {NULL, "a.json", "-", "tweet.js",
                                        "a.txt.gz"};

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

TEST(what_cannot_be_guessed_is_asked_for)
{
    static const struct colander_slice texts[] = {
        TEXT("hello\nworld, you\n"),
        TEXT("\x89PNG\r\n\x1a\n,,,"),
        TEXT("a,b\0c\n"),
        TEXT("null"),
    };
    struct format_guess guess;

    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        FAILS(format_guess("x.txt", texts[i], &guess, why()), COLANDER_INVALID);
        assert_non_null(strstr(error_text(), "--format"));
    }
}

TEST(utf16_is_refused)
{
    static const struct colander_slice texts[] = {
        TEXT("\xff\xfe{\0}\0"),
        TEXT("\xfe\xff\0{\0}"),
        TEXT("{\0}\0"),
        TEXT("\0{\0}"),
    };
    struct format_guess guess;

    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        FAILS(format_guess("a.jsonl", texts[i], &guess, why()),
              COLANDER_INVALID);
        assert_non_null(strstr(error_text(), "iconv"));
        FAILS(format_given(RECORDS_CSV, 0, texts[i], &guess, why()),
              COLANDER_INVALID);
        OK(format_given(RECORDS_MSGPACK, 0, texts[i], &guess, why()));
    }
}

TEST(a_byte_order_mark_is_skipped)
{
    struct format_guess guess;

    OK(format_guess("a.csv",
                    SLICE("\xef\xbb\xbf"
                          "a;b\n"),
                    &guess, NULL));
    assert_int_equal(guess.skip, 3);
    assert_int_equal(guess.delimiter, ';');
    OK(format_guess("a.csv", SLICE("a,b;c\td,e\n;;;"), &guess, NULL));
    assert_int_equal(guess.skip, 0);
    assert_int_equal(guess.delimiter, ',');
}

TEST(names_of_formats_are_read)
{
    static const char *const names[] = {"jsonl", "json", "csv", "tsv",
                                        "msgpack"};
    enum record_format format;
    char delimiter;

    for (size_t i = 0; i < 5; i++) {
        assert_true(format_parse(names[i], &format, &delimiter));
        assert_string_equal(format_name(format, delimiter), names[i]);
    }
    assert_false(format_parse("xml", &format, &delimiter));
    assert_false(format_parse("", &format, &delimiter));
}

/*
 * Numbers as text, compared with what the C library reads and prints.
 *
 * COLANDER_SEED repeats a run, COLANDER_RUNS sets the number of doubles.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/json/numbers_inside.h"
#include "columns/numbers.h"
#include "support/cases.h"
#include "support/random.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Asserts the length of the number at the start of `text`, 0 if there is none,
 * and whether it is an integer. */
static void
assert_size(const char *text, enum colander_number_grammar grammar,
            size_t expected, bool is_whole)
{
    bool answer = !is_whole;
    size_t size =
        colander_number_size(colander_slice_text(text), grammar, &answer);

    if (size != expected || (size > 0 && answer != is_whole))
        fail_msg("'%s': %zu bytes, whole %d", text, size, answer);
}

TEST(a_number_ends_where_its_grammar_says)
{
    static const struct {
        const char *text;
        size_t json;
        size_t loose;
        bool is_whole; /* in JSON, or otherwise in the loose grammar */
    } golden[] = {
        {"0", 1, 1, true},      {"-0", 2, 2, true},
        {"17,", 2, 2, true},    {"-17]", 3, 3, true},
        {"2.5", 3, 3, false},   {"1e5", 3, 3, false},
        {"1E+5 ", 4, 4, false}, {"1.25e-07x", 8, 8, false},
        {"1e", 0, 0, false},    {"1e+", 0, 0, false},
        {"+5", 0, 2, true},     {"1.", 0, 2, false},
        {".5", 0, 2, false},    {".", 0, 0, false},
        {"-", 0, 0, false},     {"+-1", 0, 0, false},
        {"", 0, 0, false},      {"nan", 0, 0, false},
        {"inf", 0, 0, false},   {"0x10", 1, 1, true},
        {"e5", 0, 0, false},    {".e5", 0, 0, false},
        {"1.e5", 0, 4, false},  {" 1", 0, 0, false},
        {"-.5e1", 0, 5, false},
    };

    for (size_t i = 0; i < COUNT(golden); i++) {
        assert_size(golden[i].text, COLANDER_NUMBER_JSON, golden[i].json,
                    golden[i].is_whole);
        assert_size(golden[i].text, COLANDER_NUMBER_LOOSE, golden[i].loose,
                    golden[i].is_whole);
    }
    assert_size("007", COLANDER_NUMBER_JSON, 1, true);
    assert_size("007", COLANDER_NUMBER_LOOSE, 3, true);
    assert_size("00.5", COLANDER_NUMBER_JSON, 1, true);
    assert_size("00.5", COLANDER_NUMBER_LOOSE, 4, false);
}

TEST(integers_are_exact_to_64_bits)
{
    static const struct {
        const char *text;
        enum colander_type type; /* COLANDER_NULL: out of range */
        uint64_t bits;
    } golden[] = {
        {"0", COLANDER_INTEGER, 0},
        {"-0", COLANDER_INTEGER, 0},
        {"+007", COLANDER_INTEGER, 7},
        {"9223372036854775807", COLANDER_INTEGER, INT64_MAX},
        {"9223372036854775808", COLANDER_UNSIGNED, UINT64_C(1) << 63},
        {"18446744073709551615", COLANDER_UNSIGNED, UINT64_MAX},
        {"0000018446744073709551615", COLANDER_UNSIGNED, UINT64_MAX},
        {"18446744073709551616", COLANDER_NULL, 0},
        {"99999999999999999999", COLANDER_NULL, 0},
        {"184467440737095516150", COLANDER_NULL, 0},
        {"-9223372036854775808", COLANDER_INTEGER, UINT64_C(1) << 63},
        {"-9223372036854775809", COLANDER_NULL, 0},
        {"-18446744073709551615", COLANDER_NULL, 0},
    };

    for (size_t i = 0; i < COUNT(golden); i++) {
        struct colander_value value;
        bool fits = colander_number_integer(colander_slice_text(golden[i].text),
                                            &value);

        assert_int_equal(fits, golden[i].type != COLANDER_NULL);
        if (!fits)
            continue;
        assert_int_equal(value.type, golden[i].type);
        assert_int_equal(value.natural, golden[i].bits);
    }
}

static void
assert_double(const char *text)
{
    const double expected = strtod(text, NULL);
    struct colander_value value;
    bool is_read = colander_number_double(colander_slice_text(text), &value);

    if (is_read == (isinf(expected) != 0))
        fail_msg("'%s': read %d", text, is_read);
    if (is_read && (value.type != COLANDER_DOUBLE ||
                    memcmp(&value.number, &expected, sizeof(expected)) != 0))
        fail_msg("'%s': %a, not %a", text, value.number, expected);
}

TEST(doubles_are_the_nearest_and_too_large_ones_are_rejected)
{
    static const char *const texts[] = {
        "0",
        "-0",
        "-0.0e99999999999999999999",
        "0.1",
        "+.5",
        "1.",
        "18446744073709551616",
        "1e308",
        "1.7976931348623157e308",
        "1.7976931348623158e308",
        "1.7976931348623159e308",
        "-1e309",
        "1e99999999999999999999",
        "-1e-99999999999999999999",
        "1e-400",
        "-123456e-400",
        "4.9e-324",
        "2.5e-324",
        "2.4e-324",
        "2.2250738585072011e-308",
        "9007199254740993",
        "9007199254740992.99999999999999999999999999999999999",
        "9007199254740993.00000000000000000000000000000000001",
    };
    char text[1024];

    for (size_t i = 0; i < COUNT(texts); i++)
        assert_double(texts[i]);
    memset(text, '0', 900);
    text[0] = '1';
    strcpy(text + 900, "e-890");
    assert_double(text); /* long, but not large */
    strcpy(text + 900, ".0");
    assert_double(text); /* above all doubles, without an exponent */
    memset(text, '0', 900);
    text[1] = '.';
    strcpy(text + 900, "1");
    assert_double(text); /* 0, without an exponent */
    strcpy(text + 900, "1e890");
    assert_double(text);
}

/* The fewest digits with which the C library's text reads back the same. */
static size_t
count_digits(double number)
{
    char text[64];
    int size = 1;

    for (; size < 17; size++) {
        (void)snprintf(text, sizeof(text), "%.*e", size - 1, number);
        if (strtod(text, NULL) == number)
            break;
    }
    return (size_t)size;
}

/* `number` must not be negative. */
static void
assert_printed(double number)
{
    const bool has_exponent = number != 0 && (number < 1e-4 || number >= 1e17);
    char expected[64];
    char text[NUMBER_TEXT_MAX + 1];
    size_t count = 0;

    text[number_print(number, text)] = '\0';
    if (number == floor(number) && !has_exponent) {
        (void)snprintf(expected, sizeof(expected), "%.1f", number);
        assert_string_equal(text, expected);
        return;
    }
    for (const char *at = text; *at != '\0' && *at != 'e'; at++)
        count += *at >= (count > 0 ? '0' : '1') && *at <= '9';
    count -= strstr(text, ".0e") != NULL;
    if (strtod(text, NULL) != number || count > count_digits(number) ||
        strchr(text, '.') == NULL ||
        has_exponent != (strchr(text, 'e') != NULL))
        fail_msg("%a: %s", number, text);
}

TEST(doubles_are_printed_with_the_fewest_digits)
{
    uint64_t seed = random_seed("numbers");
    const size_t runs = random_runs(100000);

    for (int exponent = -1074; exponent < 1024; exponent++) {
        assert_printed(ldexp(1, exponent));
        assert_printed(nextafter(ldexp(1, exponent), 0));
    }
    for (size_t i = 0; i < runs; i++) {
        uint64_t bits = random_next(&seed);
        double number;
        const double near_one = (double)(bits >> 20) / 1000;

        memcpy(&number, &bits, sizeof(number));
        if (isfinite(number))
            assert_printed(fabs(number));
        assert_printed(near_one);
    }
}

TEST(a_double_keeps_the_digits_that_it_is_printed_with)
{
    static const struct {
        const char *text;
        bool keeps;
    } numbers[] = {
        {"1.10", true},
        {"1.5e5", true},
        {"150000", true},
        {"+001.50", true},
        {"0.30000000000000004", true},
        {"0.00", true},
        {"-0.0", true},
        {"5e-324", true},
        {"1.7976931348623157e308", true},
        {"123.456e-300", true},
        {"1000000000000000000000000", true},
        {"9007199254740993", false},
        {"0.10000000000000001", false},
        {"0.1234567890123456789", false},
        {"1e-400", false},
        {"4.9e-324", false},
    };

    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        const struct colander_slice text = colander_slice_text(numbers[i].text);
        struct colander_value value;

        assert_true(colander_number_double(text, &value));
        if (colander_number_keeps_digits(text, value.number) !=
            numbers[i].keeps)
            fail_msg("%s", numbers[i].text);
    }
}

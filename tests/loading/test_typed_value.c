/*
 * The values of texts, guessed and by type: known ones, and random ones against
 * the C library.
 *
 * SPDX-License-Identifier: MIT
 */
#include "loading/typed_value.h"
#include "support/cases.h"

#include <errno.h>
#include <locale.h>
#include <math.h>

#include "support/random.h"

/* Returns a value as a text that includes its type. */
static const char *
shown(const struct colander_value *value)
{
    static char text[256];

    switch (value->type) {
    case COLANDER_BOOLEAN:
        return value->boolean ? "true" : "false";
    case COLANDER_INTEGER:
        snprintf(text, sizeof(text), "integer %" PRId64, value->integer);
        break;
    case COLANDER_UNSIGNED:
        snprintf(text, sizeof(text), "unsigned %" PRIu64, value->natural);
        break;
    case COLANDER_DOUBLE:
        snprintf(text, sizeof(text), "double %.17g", value->number);
        break;
    case COLANDER_TIMESTAMP:
        snprintf(text, sizeof(text), "time %" PRId64 ".%09" PRIu32,
                 value->second, value->nanosecond);
        break;
    default:
        snprintf(text, sizeof(text), "string %.*s", (int)value->bytes.size,
                 (const char *)value->bytes.data);
    }
    return text;
}

struct expectation {
    const char *text;
    const char *value; /* NULL: it stays a string */
};

static void
check(const struct value_reading *reading, const struct expectation *expected)
{
    for (; expected->text != NULL; expected++) {
        char string[256];
        struct colander_value value;
        bool is_read = typed_value_read(
            reading, colander_slice_text(expected->text), &value);

        snprintf(string, sizeof(string), "string %s", expected->text);
        assert_string_equal(shown(&value),
                            expected->value == NULL ? string : expected->value);
        if (reading->type != VALUE_GUESSED)
            assert_int_equal(is_read, expected->value != NULL);
    }
}

TEST(numbers_of_json_are_guessed)
{
    static const struct expectation expected[] = {
        {"0", "integer 0"},
        {"-0", "integer 0"},
        {"5", "integer 5"},
        {"-17", "integer -17"},
        {"9223372036854775807", "integer 9223372036854775807"},
        {"9223372036854775808", "unsigned 9223372036854775808"},
        {"18446744073709551615", "unsigned 18446744073709551615"},
        {"-9223372036854775808", "integer -9223372036854775808"},
        {"2.5", "double 2.5"},
        {"-0.7", "double -0.69999999999999996"},
        {"-0.0", "double -0"},
        {"1.10", "double 1.1000000000000001"},
        {"1.5e5", "double 150000"},
        {"-1e5", "double -100000"},
        {"1E+5", "double 100000"},
        {"1e-5", "double 1.0000000000000001e-05"},
        {"0.0e99999999999999999999999", "double 0"},
        {"0.30000000000000004", "double 0.30000000000000004"},
        {"12345678901234567000.000", "double 1.2345678901234567e+19"},
        {"1.7976931348623157e308", "double 1.7976931348623157e+308"},
        {"5e-324", "double 4.9406564584124654e-324"},
        {"true", "true"},
        {"false", "false"},
        {NULL, NULL},
    };

    check(&(struct value_reading){.type = VALUE_GUESSED}, expected);
}

TEST(what_would_be_written_in_another_way_is_a_string)
{
    static const char *const texts[] = {
        "",
        " 5",
        "5 ",
        "007",
        "-01",
        "00",
        "00.5",
        "+5",
        "-",
        "+",
        ".",
        ".5",
        "-.5",
        "1.",
        "1.e5",
        "1e",
        "1e+",
        "e5",
        "1e5.5",
        "0x10",
        "1_000",
        "1,5",
        "1-2",
        "--1",
        "2020-02-29",
        "18446744073709551616",
        "99999999999999999999",
        "-9223372036854775809",
        "100000000000000000000000",
        "1e5",
        "12E3",
        "0e0",
        "1e-99999999999999999999999",
        "0.1234567890123456789",
        "0.10000000000000001",
        "100000000000000000000001.0",
        "1e999",
        "-1e309",
        "1.8e308",
        "1e99999999999999999999999",
        "NaN",
        "nan",
        "inf",
        "-inf",
        "Infinity",
        "TRUE",
        "True",
        "t",
        "truex",
        "fals",
        "null",
        "NA",
    };

    for (size_t i = 0; i < COUNT(texts); i++)
        check(&(struct value_reading){.type = VALUE_GUESSED},
              (struct expectation[]){{texts[i], NULL}, {NULL, NULL}});
}

TEST(a_zero_byte_is_not_an_end)
{
    struct colander_value value =
        typed_value_guess(colander_slice_of("5\0006", 3));

    assert_int_equal(value.type, COLANDER_STRING);
    value = typed_value_guess(colander_slice_of("true\0", 5));
    assert_int_equal(value.type, COLANDER_STRING);
}

TEST(a_string_stays_as_it_is)
{
    static const struct expectation expected[] = {
        {"007", "string 007"}, {"1e5", "string 1e5"}, {"true", "string true"},
        {"5", "string 5"},     {"", "string "},       {NULL, NULL},
    };

    check(&(struct value_reading){.type = VALUE_STRING}, expected);
}

TEST(an_integer_may_have_zeros_ahead)
{
    static const struct expectation expected[] = {
        {"007", "integer 7"},
        {"-007", "integer -7"},
        {"+5", "integer 5"},
        {"000000000000000000000000000005", "integer 5"},
        {"0018446744073709551615", "unsigned 18446744073709551615"},
        {"18446744073709551616", NULL},
        {"5.0", NULL},
        {"1e5", NULL},
        {"+-5", NULL},
        {"", NULL},
        {"+", NULL},
        {" 5", NULL},
        {"0x5", NULL},
        {"true", NULL},
        {NULL, NULL},
    };

    check(&(struct value_reading){.type = VALUE_INTEGER}, expected);
}

TEST(a_number_may_be_written_loosely)
{
    static const struct expectation expected[] = {
        {"5", "integer 5"},
        {"+1", "integer 1"},
        {"007", "integer 7"},
        {".5", "double 0.5"},
        {"-.5e1", "double -5"},
        {"1.", "double 1"},
        {"99999999999999999999", "double 1e+20"},
        {"inf", "double inf"},
        {"-Inf", "double -inf"},
        {"+INFINITY", "double inf"},
        {"NaN", "double nan"},
        {"-nan", "double nan"},
        {"1e999", NULL},
        {".", NULL},
        {"-.", NULL},
        {"e5", NULL},
        {"infinit", NULL},
        {"nano", NULL},
        {"+ 1", NULL},
        {"", NULL},
        {NULL, NULL},
    };

    check(&(struct value_reading){.type = VALUE_NUMBER}, expected);
}

TEST(booleans_are_words_of_any_case)
{
    static const struct expectation expected[] = {
        {"true", "true"}, {"TRUE", "true"},   {"t", "true"},  {"Yes", "true"},
        {"y", "true"},    {"1", "true"},      {"N", "false"}, {"no", "false"},
        {"F", "false"},   {"False", "false"}, {"0", "false"}, {"2", NULL},
        {"01", NULL},     {"on", NULL},       {"", NULL},     {"tru", NULL},
        {"truee", NULL},  {NULL, NULL},
    };

    check(&(struct value_reading){.type = VALUE_BOOLEAN}, expected);
}

TEST(times_have_a_format)
{
    static const struct expectation plain[] = {
        {"1970-01-02", "time 86400.000000000"},
        {"1970-01-01T00:00:00.5Z", "time 0.500000000"},
        {"5", NULL},
        {"", NULL},
        {NULL, NULL},
    };
    static const struct expectation either[] = {
        {"02.01.1970", "time 86400.000000000"},
        {"5", "time 5.000000000"},
        {"1970-01-02", NULL},
        {NULL, NULL},
    };

    check(&(struct value_reading){.type = VALUE_TIME}, plain);
    check(&(struct value_reading){.type = VALUE_TIME,
                                  .time_format = "%d.%m.%Y\nunix"},
          either);
}

/* -------------------------------------------------------------- random --- */

/* The same as the C library's value, which is exact. */
static void
check_double(const char *text)
{
    double expected = strtod(text, NULL);
    struct colander_value value = typed_value_guess(colander_slice_text(text));
    uint64_t expected_bits; /* -0.0 differs from 0.0 */

    if (isinf(expected) || strpbrk(text, "+-.") == NULL ||
        (expected == 0 && strcspn(text, "123456789") < strcspn(text, "eE"))) {
        assert_int_equal(value.type, COLANDER_STRING);
        return;
    }
    memcpy(&expected_bits, &expected, sizeof(expected));
    if (value.type != COLANDER_DOUBLE || value.natural != expected_bits)
        fail_msg("%s is %.17g, not %s", text, expected, shown(&value));
}

/* Texts guessed to be numbers are exactly the numbers of JSON, except those
 * that may be ids, and those that a double does not hold. */
TEST(random_texts_are_guessed_as_the_grammar_says)
{
    static const char alphabet[] = "01259-+.eE";
    uint64_t seed = random_seed("random_texts_are_guessed_as_the_grammar_says");
    uint64_t runs = random_runs(300000);

    for (uint64_t i = 0; i < runs; i++) {
        size_t size = random_below(&seed, 8);
        char text[16] = "";
        size_t digits, at = 0;
        bool is_number, has_point, has_exponent;
        struct colander_value value;

        for (size_t k = 0; k < size; k++)
            text[k] = alphabet[random_below(&seed, sizeof(alphabet) - 1)];
        at += text[at] == '-';
        digits = strspn(text + at, "0123456789");
        is_number = digits == 1 || (digits > 1 && text[at] != '0');
        at += digits;
        has_point = text[at] == '.';
        if (has_point) {
            digits = strspn(text + ++at, "0123456789");
            is_number = is_number && digits > 0;
            at += digits;
        }
        has_exponent = text[at] == 'e' || text[at] == 'E';
        if (has_exponent) {
            at++;
            at += text[at] == '-' || text[at] == '+';
            digits = strspn(text + at, "0123456789");
            is_number = is_number && digits > 0;
            at += digits;
        }
        is_number = is_number && text[at] == '\0';
        if (is_number && (has_point || has_exponent)) {
            check_double(text);
            continue;
        }
        value = typed_value_guess(colander_slice_text(text));
        assert_int_equal(value.type,
                         is_number ? COLANDER_INTEGER : COLANDER_STRING);
    }
}

/* The user's locale does not matter. */
TEST(a_point_is_a_point_in_every_locale)
{
    struct colander_value value;

    if (setlocale(LC_ALL, "de_DE.UTF-8") == NULL)
        (void)setlocale(LC_ALL, "");
    value = typed_value_guess(colander_slice_text("3.141592653589793"));
    assert_int_equal(value.type, COLANDER_DOUBLE);
    assert_true(value.number == 3.141592653589793);
    (void)setlocale(LC_ALL, "C");
}

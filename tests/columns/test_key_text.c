/*
 * Keys as text: a number is that number, or the text that is written like it.
 * Times are tested through the command line.
 *
 * SPDX-License-Identifier: MIT
 */
#include "support/store_fixture.h"

#include <stdio.h>

static void
put(struct colander_family *family, const char *row)
{
    OK(colander_family_put_json(family, row, NULL, NULL, why()));
}

/* Returns the key that `text` means, as JSON. */
static const char *
meaning(struct colander_family *family, const char *text,
        enum colander_key_use use)
{
    static char json[200];
    SCOPED_BUFFER key = COLANDER_BUFFER_EMPTY;
    SCOPED_BUFFER shown = COLANDER_BUFFER_EMPTY;
    size_t offset;

    OK(colander_family_read_key(family, text, use, &key, &offset, why()));
    OK(colander_json_append_key(&shown, colander_buffer_slice(&key), why()));
    snprintf(json, sizeof(json), "%.*s", (int)shown.size,
             (const char *)shown.data);
    return json;
}

#define MEANS(text, use, expected)                                             \
    assert_string_equal(meaning(family, text, COLANDER_KEY_##use), expected)

FIXTURE_TEST(a_number_is_the_text_if_only_that_has_a_row)
{
    SCOPED_FAMILY family = fixture_family(fixture, "ids");
    static const char *const texts[] = {
        "1e5",
        "100000",
        "10e4",
        "12e3",
        "12000",
        "7",
        "-0",
        "1.50",
        "1E+2",
        "-5",
        "18446744073709551615",
        NULL,
    };

    for (size_t i = 0; texts[i] != NULL; i++) {
        char row[100];

        snprintf(row, sizeof(row), "{\"_key\":\"%s\"}", texts[i]);
        put(family, row);
    }
    for (size_t i = 0; texts[i] != NULL; i++) {
        char expected[100];

        snprintf(expected, sizeof(expected), "\"%s\"", texts[i]);
        MEANS(texts[i], EXACT, expected);
        MEANS(texts[i], PREFIX, expected);
        MEANS(texts[i], FROM, expected);
        MEANS(texts[i], TO, expected);
        MEANS(expected, EXACT, expected);
    }
    MEANS("8", EXACT, "8"); /* no row has either */
    MEANS("8", FROM, "\"8\"");
}

FIXTURE_TEST(the_number_comes_first)
{
    SCOPED_FAMILY family = fixture_family(fixture, "both");

    put(family, "{\"_key\":\"7\"}");
    put(family, "{\"_key\":\"8\"}");
    put(family, "{\"_key\":7}");
    MEANS("7", EXACT, "7");
    MEANS("7.0", EXACT, "7");
    MEANS("\"7\"", EXACT, "\"7\"");
    MEANS("8", EXACT, "\"8\"");
    MEANS("8.0", EXACT, "8");
    MEANS("8", FROM, "8");
    MEANS("8", TO, "8");
}

FIXTURE_TEST(each_part_is_decided_by_the_parts_before)
{
    SCOPED_FAMILY family = fixture_family(fixture, "parts");

    put(family, "{\"_key\":[\"s\",\"1e5\",3]}");
    put(family, "{\"_key\":[\"n\",1e5,\"3\"]}");
    MEANS("[ \"s\" , 1e5\t,3 ]", EXACT, "[\"s\",\"1e5\",3]");
    MEANS("[\"n\",1e5,3]", EXACT, "[\"n\",100000,\"3\"]");
    MEANS("[\"n\",100000]", PREFIX, "[\"n\",100000]");
    MEANS("[\"s\",1e5]", PREFIX, "[\"s\",\"1e5\"]");
    MEANS("[\"s\",2]", FROM, "[\"s\",\"2\"]");
    MEANS("[\"n\",2]", FROM, "[\"n\",2]");
    MEANS("[\"n\",1e5,1]", TO, "[\"n\",100000,\"1\"]");
    MEANS("[\"\\\"],[\\\\\",1e5]", EXACT, "[\"\\\"],[\\\\\",100000]");
}

/* All numbers are of one type: also those below and beyond 64 bits. */
FIXTURE_TEST(a_bound_is_a_number_where_keys_have_numbers)
{
    static const char *const rows[] = {"{\"_key\":-1e30}", "{\"_key\":-7}",
                                       "{\"_key\":1.5}", "{\"_key\":1e30}"};

    for (size_t i = 0; i < COUNT(rows); i++) {
        char name[20];
        SCOPED_FAMILY family = NULL;

        snprintf(name, sizeof(name), "f%zu", i);
        family = fixture_family(fixture, name);
        put(family, "{\"_key\":\"5\"}");
        MEANS("5", FROM, "\"5\"");
        put(family, rows[i]);
        MEANS("5", FROM, "5");
        MEANS("\"5\"", FROM, "\"5\"");
    }
}

/* It would be above all of them, and find the rows of other keys. */
FIXTURE_TEST(a_bound_is_no_time_where_keys_have_numbers)
{
    static const char *const texts[] = {"[\"s\",\"2015-03-24\"]",
                                        "[\"s\",\"@now\"]"};
    SCOPED_FAMILY family = fixture_family(fixture, "f");
    SCOPED_BUFFER key = COLANDER_BUFFER_EMPTY;
    size_t offset;

    put(family, "{\"_key\":[\"a\",\"x\"]}");
    put(family, "{\"_key\":[\"s\",1600000000]}");
    put(family, "{\"_key\":[\"t\",\"x\"]}");
    for (size_t i = 0; i < COUNT(texts); i++) {
        FAILS(colander_family_read_key(family, texts[i], COLANDER_KEY_FROM,
                                       &key, &offset, why()),
              COLANDER_INVALID);
        FAILS(colander_family_read_key(family, texts[i], COLANDER_KEY_TO, &key,
                                       &offset, why()),
              COLANDER_INVALID);
        OK(colander_family_read_key(family, texts[i], COLANDER_KEY_EXACT, &key,
                                    &offset, why()));
    }
    MEANS("[\"a\",\"2015-03-24\"]", FROM, "[\"a\",\"2015-03-24\"]");
    MEANS("[\"b\",\"2015-03-24\"]", FROM, "[\"b\",\"2015-03-24\"]");
    MEANS("[\"s\",\"x\"]", FROM, "[\"s\",\"x\"]");
    put(family, "{\"_key\":[\"s\",\"x\"]}");
    MEANS("[\"s\",\"2015-03-24\"]", FROM, "[\"s\",\"2015-03-24\"]");
}

FIXTURE_TEST(a_value_is_read_as_it_is_written)
{
    static const struct {
        const char *text;
        const char *json;
    } cases[] = {
        {"5", "5"},
        {"\"5\"", "\"5\""},
        {"1e5", "100000.0"},
        {"true", "true"},
        {"null", "null"},
        {"Ann", "\"Ann\""},
        {"", "\"\""},
        {"007", "\"007\""},
        {"2015-03-24", "\"2015-03-24\""},
        {"@2015-03-24", "\"2015-03-24T00:00:00Z\""},
        {"@ann", "\"@ann\""},
    };
    SCOPED_BUFFER bytes = COLANDER_BUFFER_EMPTY;
    struct colander_value value;
    size_t offset;

    (void)fixture;
    for (size_t i = 0; i < COUNT(cases); i++) {
        SCOPED_BUFFER json = COLANDER_BUFFER_EMPTY;

        OK(colander_value_read(cases[i].text, &value, &bytes, &offset, why()));
        OK(colander_json_append_value(&json, &value, why()));
        ASSERT_SAME(colander_buffer_slice(&json),
                    colander_slice_text(cases[i].json));
    }
    FAILS(colander_value_read("[1]", &value, &bytes, &offset, why()),
          COLANDER_INVALID);
    FAILS(colander_value_read("\"\\q\"", &value, &bytes, &offset, why()),
          COLANDER_INVALID);
    assert_int_equal(offset, 1);
}

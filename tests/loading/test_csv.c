/*
 * Rows of CSV: told by their JSON, and against a parser that goes byte by byte.
 *
 * SPDX-License-Identifier: MIT
 */
#include "loading/csv.h"

#include "support/random.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define SLICE(text) colander_slice_of(text, sizeof(text) - 1)

static struct csv_header *
header_of(struct colander_slice names, const struct schema *schema)
{
    struct csv_header *header;
    struct colander_error err;

    if (csv_header_create(names, ',', schema, &header, &err) != COLANDER_OK)
        fail_msg("%s", err.message);
    return header;
}

/* The row of a record as JSON, with its key, "-" where it has none. */
static void
assert_row_of(struct colander_slice names, const struct schema *schema,
              struct colander_slice record, const char *json)
{
    struct csv_header *header = header_of(names, schema);
    struct csv_reader *reader = csv_reader_create(header);
    struct colander_buffer no_key = COLANDER_BUFFER_EMPTY;
    struct colander_buffer text = COLANDER_BUFFER_EMPTY;
    struct colander_slice key;
    struct colander_slice row;
    struct colander_error err;
    bool has_key;
    size_t at;

    assert_int_equal(colander_key_text("-", &no_key, NULL), COLANDER_OK);
    if (csv_reader_row(reader, record, &key, &has_key, &row, &at, &err) !=
        COLANDER_OK)
        fail_msg("%s", err.message);
    assert_int_equal(colander_row_check(row, NULL), COLANDER_OK);
    if (!has_key)
        key = colander_buffer_slice(&no_key);
    assert_int_equal(colander_json_append_row(&text, key, row, NULL),
                     COLANDER_OK);
    assert_int_equal(colander_buffer_append(&text, "", 1, NULL), COLANDER_OK);
    assert_string_equal((const char *)text.data, json);
    colander_buffer_release(&text);
    colander_buffer_release(&no_key);
    csv_reader_destroy(reader);
    csv_header_destroy(header);
}

#define ROW(names, record, json)                                               \
    assert_row_of(SLICE(names), NULL, SLICE(record), json)

static void
assert_refused(const char *names, struct colander_slice record, const char *why,
               size_t where)
{
    struct csv_header *header = header_of(colander_slice_text(names), NULL);
    struct csv_reader *reader = csv_reader_create(header);
    struct colander_slice key;
    struct colander_slice row;
    struct colander_error err;
    bool has_key;
    size_t at;

    assert_int_not_equal(
        csv_reader_row(reader, record, &key, &has_key, &row, &at, &err),
        COLANDER_OK);
    assert_string_equal(err.message, why);
    assert_int_equal(at, where);
    csv_reader_destroy(reader);
    csv_header_destroy(header);
}

static void
fields_become_columns(void **state)
{
    (void)state;
    ROW("a,b,c", "1,x,2.5", "{\"_key\":\"-\",\"a\":1,\"b\":\"x\",\"c\":2.5}");
    ROW("a,b", "true,007", "{\"_key\":\"-\",\"a\":true,\"b\":\"007\"}");
    ROW("a", "18446744073709551615",
        "{\"_key\":\"-\",\"a\":18446744073709551615}");
    ROW("a,b", "\"1\",\"x,\"\"y\"\"\n\"",
        "{\"_key\":\"-\",\"a\":1,\"b\":\"x,\\\"y\\\"\\n\"}");
    ROW("a", "5\" x", "{\"_key\":\"-\",\"a\":\"5\\\" x\"}");
    ROW("\"a,\"\"b\"\"\"", "1", "{\"_key\":\"-\",\"a,\\\"b\\\"\":1}");
}

static void
empty_fields_are_no_columns_but_for_quotes(void **state)
{
    (void)state;
    ROW("a,b,c", ",,", "{\"_key\":\"-\"}");
    ROW("a,b,c", ",\"\",", "{\"_key\":\"-\",\"b\":\"\"}");
}

static void
zero_bytes_and_letters_of_any_kind_are_text(void **state)
{
    (void)state;
    ROW("a,\xc3\xa9", "x\0y,\xf0\x9f\x98\x80",
        "{\"_key\":\"-\",\"a\":\"x\\u0000y\",\"\xc3\xa9\":"
        "\"\xf0\x9f\x98\x80\"}");
}

static void
a_column_may_be_the_key(void **state)
{
    (void)state;
    ROW("_key,a", "5,1", "{\"_key\":5,\"a\":1}");
    ROW("a,_key", "1,x y", "{\"_key\":\"x y\",\"a\":1}");
    ROW("_key", "\"[\"\"a\"\",1]\"", "{\"_key\":[\"a\",1]}");
    ROW("_key", "\"\"\"5\"\"\"", "{\"_key\":\"5\"}");
    ROW("_key", "[a", "{\"_key\":\"[a\"}");
    ROW("_key", "\"[1],\"\"b\"\":2\"", "{\"_key\":\"[1],\\\"b\\\":2\"}");
    ROW("_key,a", ",1", "{\"_key\":\"-\",\"a\":1}");
    ROW("_key", "null", "{\"_key\":\"null\"}");
}

static void
names_are_made_where_there_are_none(void **state)
{
    (void)state;
    ROW("a,a,,a,\"\"", "1,2,3,4,5",
        "{\"_key\":\"-\",\"a\":1,\"a_2\":2,\"column_3\":3,\"a_3\":4,"
        "\"column_5\":5}");
    ROW("a_2,a,a,column_5,", "1,2,3,4,5",
        "{\"_key\":\"-\",\"a_2\":1,\"a\":2,\"a_3\":3,\"column_5\":4,"
        "\"column_5_2\":5}");
}

static void
a_schema_says_how_texts_are_read(void **state)
{
    struct schema *schema = schema_create();
    struct value_reading reading = {VALUE_STRING, NULL};

    (void)state;
    assert_int_equal(schema_texts_add(&schema->nulls, "NA", NULL), 0);
    assert_int_equal(schema_texts_add(&schema->nulls, "-", NULL), 0);
    assert_int_equal(schema_add_column(schema, "s", &reading, NULL), 0);
    assert_row_of(SLICE("a,s,_key"), schema, SLICE("NA,5,-"),
                  "{\"_key\":\"-\",\"a\":null,\"s\":\"5\"}");
    assert_row_of(SLICE("a,s,b"), schema, SLICE("-,\"NA\",NAN"),
                  "{\"_key\":\"-\",\"a\":null,\"s\":\"NA\",\"b\":\"NAN\"}");
    schema->guesses = false;
    assert_row_of(SLICE("a,_key"), schema, SLICE("5,[1]"),
                  "{\"_key\":\"[1]\",\"a\":\"5\"}");
    assert_int_equal(schema_texts_add(&schema->nulls, "", NULL), 0);
    assert_row_of(SLICE("a,b,c"), schema, SLICE(",1,\"\""),
                  "{\"_key\":\"-\",\"a\":null,\"b\":\"1\",\"c\":\"\"}");
    schema_destroy(schema);
}

static void
records_that_are_none_are_refused_with_the_place(void **state)
{
    (void)state;
    assert_refused("a,b", SLICE("1,2,3"),
                   "the record has 3 fields, and the line of names 2", 4);
    assert_refused("a,b,c", SLICE("1,2"),
                   "the record has 2 fields, and the line of names 3", 3);
    assert_refused("a,b", SLICE("x,y\xff"),
                   "column 'b': byte 0xff is not UTF-8 there", 3);
    assert_refused("a,b", SLICE("\"\xed\xa0\x80\",y"),
                   "column 'a': byte 0xed is not UTF-8 there", 1);
    assert_refused("a,b", SLICE("1,\"y"), "a quote that opens is never closed",
                   2);
    assert_refused("a,b", SLICE("\"1\"y,2"),
                   "neither a delimiter nor the end of the line follows a "
                   "quote that closes",
                   3);
}

static void
a_row_that_is_too_large_is_refused(void **state)
{
    size_t size = COLANDER_ROW_SIZE_MAX + 10;
    char *text = malloc(size * 2);

    (void)state;
    memset(text, 'x', size * 2);
    assert_refused("a", colander_slice_of(text, size),
                   "the row has 16777234 bytes, more than 16777216", size);
    assert_refused("a", colander_slice_of(text, size * 2),
                   "the record has 33554452 bytes, more than 33554432", 0);
    free(text);
}

static void
assert_no_header(struct colander_slice names, enum colander_code code,
                 const char *why)
{
    struct csv_header *header;
    struct colander_error err;

    assert_int_equal(csv_header_create(names, ',', NULL, &header, &err), code);
    assert_null(header);
    if (strstr(err.message, why) == NULL)
        fail_msg("'%s' does not say '%s'", err.message, why);
}

static void
lines_that_are_no_names_are_refused(void **state)
{
    char *names = malloc(2000000);

    (void)state;
    assert_no_header(SLICE("a,\xff"), COLANDER_INVALID,
                     "column 2 is not UTF-8");
    assert_no_header(SLICE("_key,_key"), COLANDER_INVALID, "two columns");
    assert_no_header(SLICE("\"a\"b,c"), COLANDER_INVALID, "neither a delim");
    assert_no_header(SLICE("a,\"b"), COLANDER_INVALID, "never closed");
    memset(names, 'x', 1025);
    assert_no_header(colander_slice_of(names, 1025), COLANDER_INVALID, "1024");
    memset(names, ',', 999999);
    assert_no_header(colander_slice_of(names, 999999), COLANDER_LIMIT,
                     "1000000, and a row at most 100000 "
                     "(COLANDER_ROW_NAMES_MAX)");
    free(names);
}

/* As many names as may be, each the same, or one like the next. */
static void
a_hundred_thousand_columns_are_read(void **state)
{
    char *names = malloc(2000000);
    struct csv_header *header;
    struct csv_reader *reader;
    struct colander_slice key;
    struct colander_slice row;
    size_t size = 0;
    bool has_key;
    size_t at;

    (void)state;
    for (int i = 0; i < 50000; i++)
        size += (size_t)sprintf(names + size, "a_%d,", i);
    for (int i = 0; i < 50000; i++)
        size += (size_t)sprintf(names + size, "a,");
    header = header_of(colander_slice_of(names, size - 1), NULL);
    reader = csv_reader_create(header);
    memset(names, '1', 200000);
    for (size_t i = 1; i < 200000; i += 2)
        names[i] = ',';
    assert_int_equal(csv_reader_row(reader, colander_slice_of(names, 199999),
                                    &key, &has_key, &row, &at, NULL),
                     COLANDER_OK);
    assert_int_equal(colander_row_check(row, NULL), COLANDER_OK);
    csv_reader_destroy(reader);
    csv_header_destroy(header);
    free(names);
}

/* ----------------------------------------------------- against a parser --- */

#define COLUMNS 5

/* A record of random fields, and the row that it is. */
static struct colander_slice
random_record(uint64_t *random, char *record,
              struct colander_row_builder *builder)
{
    static const char *const texts[] = {"1",
                                        "0",
                                        "00",
                                        "-5",
                                        "1.5",
                                        "999999999999999999",
                                        "x",
                                        "",
                                        "1e3",
                                        "true",
                                        "18446744073709551616",
                                        "9999999999999999999",
                                        "\"",
                                        ",",
                                        "\n",
                                        "a\"b,c",
                                        "-",
                                        "\xc3\xa9",
                                        "1 ",
                                        "12345678901234567",
                                        "-0.7",
                                        "1000000000000000000",
                                        "a long text, longer than a word is"};
    size_t size = 0;

    for (size_t i = 0; i < COLUMNS; i++) {
        const char *text =
            texts[random_below(random, sizeof(texts) / sizeof(*texts))];
        bool is_quoted = random_below(random, 3) == 0 || *text == '"' ||
                         strpbrk(text, ",\n") != NULL;
        const char name[2] = {(char)('a' + i), 0};

        record[size++] = ',';
        if (is_quoted)
            record[size++] = '"';
        for (const char *at = text; *at != '\0'; at++) {
            if (*at == '"' && is_quoted)
                record[size++] = '"';
            record[size++] = *at;
        }
        if (is_quoted)
            record[size++] = '"';
        if (is_quoted || *text != '\0')
            colander_row_builder_add(
                builder, name, typed_value_guess(colander_slice_text(text)));
    }
    return colander_slice_of(record + 1, size - 1);
}

static void
rows_are_those_of_a_row_builder(void **state)
{
    struct colander_row_builder *builder = colander_row_builder_create();
    struct csv_header *header = header_of(SLICE("a,b,c,d,e"), NULL);
    struct csv_reader *reader = csv_reader_create(header);
    uint64_t random = random_seed("rows");

    (void)state;
    for (uint64_t run = random_runs(100000); run > 0; run--) {
        char text[1000];
        struct colander_slice record = random_record(&random, text, builder);
        struct colander_slice key;
        struct colander_slice row;
        struct colander_slice expected;
        bool has_key;
        size_t at;

        assert_int_equal(colander_row_builder_finish(builder, &expected, NULL),
                         COLANDER_OK);
        assert_int_equal(
            csv_reader_row(reader, record, &key, &has_key, &row, &at, NULL),
            COLANDER_OK);
        assert_false(has_key);
        if (!colander_slice_equal(row, expected))
            fail_msg("%.*s", (int)record.size, (const char *)record.data);
    }
    colander_row_builder_destroy(builder);
    csv_reader_destroy(reader);
    csv_header_destroy(header);
}

static void
the_most_frequent_delimiter_is_it(void **state)
{
    (void)state;
    assert_int_equal(csv_delimiter(SLICE("")), ',');
    assert_int_equal(csv_delimiter(SLICE("a b")), ',');
    assert_int_equal(csv_delimiter(SLICE("a;b")), ';');
    assert_int_equal(csv_delimiter(SLICE("\"a;b;c\",d")), ',');
    assert_int_equal(csv_delimiter(SLICE("a\tb,c\td")), '\t');
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_become_columns),
        cmocka_unit_test(empty_fields_are_no_columns_but_for_quotes),
        cmocka_unit_test(zero_bytes_and_letters_of_any_kind_are_text),
        cmocka_unit_test(a_column_may_be_the_key),
        cmocka_unit_test(names_are_made_where_there_are_none),
        cmocka_unit_test(a_schema_says_how_texts_are_read),
        cmocka_unit_test(records_that_are_none_are_refused_with_the_place),
        cmocka_unit_test(a_row_that_is_too_large_is_refused),
        cmocka_unit_test(lines_that_are_no_names_are_refused),
        cmocka_unit_test(a_hundred_thousand_columns_are_read),
        cmocka_unit_test(rows_are_those_of_a_row_builder),
        cmocka_unit_test(the_most_frequent_delimiter_is_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * Rows of CSV: compared as JSON, and with a parser that reads byte by byte.
 *
 * SPDX-License-Identifier: MIT
 */
#include "loading/rows.h"
#include "support/cases.h"

#include "support/random.h"
#include "support/scoped.h"

#define SLICE(text) colander_slice_of(text, sizeof(text) - 1)
#define TEXT(text)                                                             \
    {                                                                          \
        (const uint8_t *)(text), sizeof(text) - 1                              \
    }

static struct csv_header *
header_of(struct colander_slice names, const struct colander_schema *schema)
{
    struct csv_header *header;

    OK(csv_header_create(names, ',', schema, &header, why()));
    return header;
}

/* The row of a record as JSON, with its key, or "-" if it has none. */
static void
assert_row_of(struct colander_slice names, const struct colander_schema *schema,
              struct colander_slice record, const char *json)
{
    struct csv_header *header = header_of(names, schema);
    struct csv_reader reader = {.header = header};
    SCOPED_BUFFER no_key = COLANDER_BUFFER_EMPTY;
    SCOPED_BUFFER text = COLANDER_BUFFER_EMPTY;
    struct parsed_row parsed;

    OK(colander_key_text("-", &no_key, NULL));
    OK(csv_reader_row(&reader, record, &parsed, why()));
    OK(colander_row_check(parsed.row, NULL));
    if (!parsed.has_key)
        parsed.key = colander_buffer_slice(&no_key);
    OK(colander_json_append_row(&text, parsed.key, parsed.row, NULL));
    OK(colander_buffer_append(&text, "", 1, NULL));
    assert_string_equal((const char *)text.data, json);
    csv_reader_release(&reader);
    csv_header_destroy(header);
}

static void
assert_refused(const char *names, struct colander_slice record,
               const char *message, size_t where)
{
    struct csv_header *header = header_of(colander_slice_text(names), NULL);
    struct csv_reader reader = {.header = header};
    struct parsed_row parsed;

    assert_int_not_equal(csv_reader_row(&reader, record, &parsed, why()),
                         COLANDER_OK);
    assert_string_equal(error_text(), message);
    assert_int_equal(parsed.fault, where);
    csv_reader_release(&reader);
    csv_header_destroy(header);
}

static const struct {
    struct colander_slice names;
    struct colander_slice record;
    const char *json;
} rows[] = {
    /* fields become columns */
    {TEXT("a,b,c"), TEXT("1,x,2.5"),
     "{\"_key\":\"-\",\"a\":1,\"b\":\"x\",\"c\":2.5}"},
    {TEXT("a,b"), TEXT("true,007"),
     "{\"_key\":\"-\",\"a\":true,\"b\":\"007\"}"},
    {TEXT("a"), TEXT("18446744073709551615"),
     "{\"_key\":\"-\",\"a\":18446744073709551615}"},
    {TEXT("a,b"), TEXT("\"1\",\"x,\"\"y\"\"\n\""),
     "{\"_key\":\"-\",\"a\":1,\"b\":\"x,\\\"y\\\"\\n\"}"},
    {TEXT("a"), TEXT("5\" x"), "{\"_key\":\"-\",\"a\":\"5\\\" x\"}"},
    {TEXT("\"a,\"\"b\"\"\""), TEXT("1"), "{\"_key\":\"-\",\"a,\\\"b\\\"\":1}"},
    /* empty fields are not columns unless quoted */
    {TEXT("a,b,c"), TEXT(",,"), "{\"_key\":\"-\"}"},
    {TEXT("a,b,c"), TEXT(",\"\","), "{\"_key\":\"-\",\"b\":\"\"}"},
    /* zero bytes and any letters are text */
    {TEXT("a,\xc3\xa9"), TEXT("x\0y,\xf0\x9f\x98\x80"),
     "{\"_key\":\"-\",\"a\":\"x\\u0000y\",\"\xc3\xa9\":"
     "\"\xf0\x9f\x98\x80\"}"},
    /* a column may be the key */
    {TEXT("_key,a"), TEXT("5,1"), "{\"_key\":5,\"a\":1}"},
    {TEXT("a,_key"), TEXT("1,x y"), "{\"_key\":\"x y\",\"a\":1}"},
    {TEXT("_key"), TEXT("\"[\"\"a\"\",1]\""), "{\"_key\":[\"a\",1]}"},
    {TEXT("_key"), TEXT("\"\"\"5\"\"\""), "{\"_key\":\"5\"}"},
    {TEXT("_key"), TEXT("[a"), "{\"_key\":\"[a\"}"},
    {TEXT("_key"), TEXT("\"[1],\"\"b\"\":2\""),
     "{\"_key\":\"[1],\\\"b\\\":2\"}"},
    {TEXT("_key,a"), TEXT(",1"), "{\"_key\":\"-\",\"a\":1}"},
    {TEXT("_key"), TEXT("null"), "{\"_key\":\"null\"}"},
    /* missing names are generated */
    {TEXT("a,a,,a,\"\""), TEXT("1,2,3,4,5"),
     "{\"_key\":\"-\",\"a\":1,\"a_2\":2,\"column_3\":3,\"a_3\":4,"
     "\"column_5\":5}"},
    {TEXT("a_2,a,a,column_5,"), TEXT("1,2,3,4,5"),
     "{\"_key\":\"-\",\"a_2\":1,\"a\":2,\"a_3\":3,\"column_5\":4,"
     "\"column_5_2\":5}"},
};

TEST(records_become_rows)
{
    for (size_t i = 0; i < COUNT(rows); i++)
        assert_row_of(rows[i].names, NULL, rows[i].record, rows[i].json);
}

TEST(a_schema_says_how_texts_are_read)
{
    SCOPED_SCHEMA schema = schema_create();
    struct value_reading reading = {.type = VALUE_STRING};

    assert_int_equal(schema_texts_add(&schema->nulls, "NA", NULL), 0);
    assert_int_equal(schema_texts_add(&schema->nulls, "-", NULL), 0);
    assert_int_equal(schema_add_column(schema, "s", &reading, false, NULL), 0);
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
}

TEST(bad_records_are_refused_with_the_place)
{
    static const struct {
        const char *names;
        struct colander_slice record;
        const char *reason;
        size_t at;
    } refused[] = {
        {"a,b", TEXT("1,2,3"), "the record has 3 fields, but the header has 2",
         4},
        {"a,b,c", TEXT("1,2"), "the record has 2 fields, but the header has 3",
         3},
        {"a,b", TEXT("1"), "the record has 1 field, but the header has 2", 1},
        {"a,b", TEXT("x,y\xff"), "column 'b': byte 0xff is not UTF-8", 3},
        {"a,b", TEXT("\"\xed\xa0\x80\",y"),
         "column 'a': byte 0xed is not UTF-8", 1},
        {"a,b", TEXT("1,\"y"), "an opening quote is never closed", 2},
        {"a,b", TEXT("\"1\"y,2"),
         "neither a delimiter nor the end of the line follows a "
         "quote that closes",
         3},
    };

    for (size_t i = 0; i < COUNT(refused); i++)
        assert_refused(refused[i].names, refused[i].record, refused[i].reason,
                       refused[i].at);
}

TEST(a_row_that_is_too_large_is_refused)
{
    size_t size = COLANDER_ROW_SIZE_MAX + 10;
    SCOPED_MEMORY char *text = malloc(size * 2);

    memset(text, 'x', size * 2);
    assert_refused("a", colander_slice_of(text, size),
                   "the row has 16777234 bytes, more than 16777216", size);
    assert_refused("a", colander_slice_of(text, size * 2),
                   "the record has 33554452 bytes, more than 33554432", 0);
}

static void
assert_no_header(struct colander_slice names, enum colander_code code,
                 const char *message)
{
    struct csv_header *header;

    assert_int_equal(csv_header_create(names, ',', NULL, &header, why()), code);
    assert_null(header);
    if (strstr(error_text(), message) == NULL)
        fail_msg("'%s' does not say '%s'", error_text(), message);
}

TEST(lines_that_are_not_names_are_rejected)
{
    SCOPED_MEMORY char *names = malloc(2000000);

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
}

/* As many names as permitted, all equal, or each similar to the next. */
TEST(a_hundred_thousand_columns_are_read)
{
    SCOPED_MEMORY char *names = malloc(2000000);
    struct csv_header *header;
    struct csv_reader reader;
    struct parsed_row parsed;
    size_t size = 0;

    for (int i = 0; i < 50000; i++)
        size += (size_t)sprintf(names + size, "a_%d,", i);
    for (int i = 0; i < 50000; i++)
        size += (size_t)sprintf(names + size, "a,");
    header = header_of(colander_slice_of(names, size - 1), NULL);
    reader = (struct csv_reader){.header = header};
    memset(names, '1', 200000);
    for (size_t i = 1; i < 200000; i += 2)
        names[i] = ',';
    OK(csv_reader_row(&reader, colander_slice_of(names, 199999), &parsed,
                      NULL));
    OK(colander_row_check(parsed.row, NULL));
    csv_reader_release(&reader);
    csv_header_destroy(header);
}

/* ----------------------------------------------------- against a parser --- */

#define COLUMNS 5

/* A record of random fields, and its row. */
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

TEST(rows_are_those_of_a_row_builder)
{
    SCOPED_BUILDER builder = colander_row_builder_create();
    struct csv_header *header = header_of(SLICE("a,b,c,d,e"), NULL);
    struct csv_reader reader = {.header = header};
    uint64_t random = random_seed("rows");

    for (uint64_t run = random_runs(100000); run > 0; run--) {
        char text[1000];
        struct colander_slice record = random_record(&random, text, builder);
        struct parsed_row parsed;
        struct colander_slice expected;

        OK(colander_row_builder_finish(builder, &expected, NULL));
        OK(csv_reader_row(&reader, record, &parsed, NULL));
        assert_false(parsed.has_key);
        if (!colander_slice_equal(parsed.row, expected))
            fail_msg("%.*s", (int)record.size, (const char *)record.data);
    }
    csv_reader_release(&reader);
    csv_header_destroy(header);
}

TEST(the_most_frequent_delimiter_is_it)
{
    assert_int_equal(csv_delimiter(SLICE("")), ',');
    assert_int_equal(csv_delimiter(SLICE("a b")), ',');
    assert_int_equal(csv_delimiter(SLICE("a;b")), ';');
    assert_int_equal(csv_delimiter(SLICE("\"a;b;c\",d")), ',');
    assert_int_equal(csv_delimiter(SLICE("a\tb,c\td")), '\t');
}

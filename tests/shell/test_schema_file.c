/*
 * Schema files: those the program knows, what each field makes of a schema,
 * and every mistake with its place.
 *
 * SPDX-License-Identifier: MIT
 */
#include "schema_files.h"

static void
check_texts(const struct schema_texts *texts, const char *joined)
{
    char all[500] = "";

    for (size_t i = 0; i < texts->count; i++) {
        strcat(all, i == 0 ? "" : " ");
        strcat(all, texts->texts[i]);
    }
    assert_string_equal(all, joined);
}

/* A column, whose format has a bar for each line's end. */
static void
check_column(const struct schema *schema, const char *path,
             enum value_type type, const char *format)
{
    for (size_t i = 0; i < schema->column_count; i++) {
        const struct schema_column *column = &schema->columns[i];
        char lines[200] = "";

        if (strcmp(column->path, path) != 0)
            continue;
        assert_int_equal(column->reading.type, type);
        if (format == NULL) {
            assert_null(column->reading.time_format);
            return;
        }
        assert_non_null(column->reading.time_format);
        strcat(lines, column->reading.time_format);
        for (char *at = strchr(lines, '\n'); at != NULL; at = strchr(at, '\n'))
            *at = '|';
        assert_string_equal(lines, format);
        return;
    }
    fail_msg("no column %s", path);
}

/* ---------------------------------------------------- what it is to be --- */

static void
every_known_schema_reads(void **state)
{
    size_t count = 0;

    (void)state;
    for (; schema_file_known(count) != NULL; count++) {
        const char *name = schema_file_known(count);
        struct colander_error err;
        struct schema *schema;

        if (schema_file_read(name, &schema, &err) != COLANDER_OK)
            fail_msg("%s", err.message);
        assert_string_equal(schema->name, name);
        assert_true(schema->key.count > 0);
        schema_destroy(schema);
    }
    assert_true(count >= 3);
}

static void
an_empty_table_changes_nothing(void **state)
{
    struct schema *schema = read_fine("return {}");

    (void)state;
    assert_int_equal(schema->column_count, 0);
    assert_int_equal(schema->key.count, 0);
    assert_int_equal(schema->nulls.count, 0);
    assert_int_equal(schema->left_out.count, 0);
    assert_null(schema->record);
    assert_int_equal(schema->delimiter, 0);
    assert_true(schema->guesses);
    assert_true(schema->fp_rate == 0 && schema->bits_per_value == 0);
    assert_int_equal(schema->rows_per_segment, UINT32_MAX);
    schema_destroy(schema);
}

static void
every_field_is_read(void **state)
{
    struct schema *schema = read_fine(
        "-- a comment\n"
        "local id = 'id_str'\n"
        "return {\n"
        "    about = [[Tweets]],\n"
        "    record = 'data.tweet',\n"
        "    key = {'user.' .. id, id},\n"
        "    types = { id_str = 'string', ['user.id'] = 'integer',\n"
        "              n = 'number', b = 'boolean', t = 'time', g = 'guess' "
        "},\n"
        "    time = { column = 'at', format = 'unix_ms' },\n"
        "    null = {'NA', '', '-'},\n"
        "    delimiter = '\\t',\n"
        "    guess = false,\n"
        "    unfiltered = {'text', 'user.about'},\n"
        "    family = { fp_rate = 0.25, rows_per_segment = 16 },\n"
        "}\n");

    (void)state;
    assert_string_equal(schema->record, "data.tweet");
    check_texts(&schema->key, "user.id_str id_str");
    check_texts(&schema->nulls, "NA  -");
    check_texts(&schema->left_out, "text user.about");
    assert_int_equal(schema->column_count, 7);
    check_column(schema, "id_str", VALUE_STRING, NULL);
    check_column(schema, "user.id", VALUE_INTEGER, NULL);
    check_column(schema, "n", VALUE_NUMBER, NULL);
    check_column(schema, "b", VALUE_BOOLEAN, NULL);
    check_column(schema, "t", VALUE_TIME, NULL);
    check_column(schema, "g", VALUE_GUESSED, NULL);
    check_column(schema, "at", VALUE_TIME, "unix_ms");
    assert_int_equal(schema->delimiter, '\t');
    assert_false(schema->guesses);
    assert_true(schema->fp_rate == 0.25);
    assert_int_equal(schema->rows_per_segment, 16);
    schema_destroy(schema);
}

static void
one_text_goes_for_a_list(void **state)
{
    struct schema *schema = read_fine(
        "return { key = 'id', null = 'NA', unfiltered = 'text', "
        "time = 'at', family = { bits_per_value = 8, rows_per_segment = 0 } }");

    (void)state;
    check_texts(&schema->key, "id");
    check_texts(&schema->nulls, "NA");
    check_texts(&schema->left_out, "text");
    check_column(schema, "at", VALUE_TIME, NULL);
    assert_true(schema->bits_per_value == 8);
    assert_int_equal(schema->rows_per_segment, 0);
    schema_destroy(schema);
}

static void
times_have_columns_and_formats(void **state)
{
    struct schema *schema = read_fine(
        "return { time = {\n"
        "  'a',\n"
        "  { column = {'b', 'c.d'}, format = {'%d.%m.%Y', 'rfc3339'} },\n"
        "  { column = 'e', format = 'unix' },\n"
        "  { column = 'f' },\n"
        "} }");

    (void)state;
    assert_int_equal(schema->column_count, 5);
    check_column(schema, "a", VALUE_TIME, NULL);
    check_column(schema, "b", VALUE_TIME, "%d.%m.%Y|rfc3339");
    check_column(schema, "c.d", VALUE_TIME, "%d.%m.%Y|rfc3339");
    check_column(schema, "e", VALUE_TIME, "unix");
    check_column(schema, "f", VALUE_TIME, NULL);
    schema_destroy(schema);
}

/* A mark of its bytes at the beginning, and lines that end as they like. */
static void
a_file_may_come_from_any_editor(void **state)
{
    struct schema *schema =
        read_fine("\xEF\xBB\xBFreturn {\r\n  key = 'id',\r\n}\r\n");

    (void)state;
    check_texts(&schema->key, "id");
    schema_destroy(schema);
}

/* ------------------------------------------------------------ mistakes --- */

static void
unknown_fields_are_told_with_their_line(void **state)
{
    (void)state;
    check_refused("return {\n  -- typs = 1\n  typs = {},\n}",
                  ":3: typs: unknown field: did you mean 'types'?");
    check_refused("return {\n  colour = 1 }",
                  ":2: colour: unknown field (there are about, record, key, "
                  "types, time, null, delimiter, guess, unfiltered, family)");
    check_refused("return { [\"k\" .. \"eys\"] = 1 }",
                  ": keys: unknown field: did you mean 'key'?");
    check_refused("return { 'id' }", ": has a value without a name");
    check_refused("return { family = {\n fprate = 1 } }",
                  ":2: family.fprate: unknown field: did you mean 'fp_rate'?");
    check_refused("return { time = { columns = 'a' } }",
                  ":1: time.columns: unknown field: did you mean 'column'?");
    check_refused("return { x = function() end }",
                  ":1: x: unknown field (there are about, record, key, types, "
                  "time, null, delimiter, guess, unfiltered, family)");
}

static void
wrong_types_are_told_with_what_was_found(void **state)
{
    (void)state;
    check_refused("return { about = 5 }", ":1: about: must be a text, not 5");
    check_refused("return { key = 5 }",
                  ":1: key: must be a column or a list of columns, not 5");
    check_refused("return { key = {'a', {}} }",
                  ":1: key[2]: must be a column or a list of columns, not a "
                  "table");
    check_refused("return { key = {a = 'b'} }",
                  ":1: key: must be a column or a list of columns, and have no "
                  "other fields");
    check_refused("return { key = {'a', nil, 'b'} }",
                  ":1: key: must be a column or a list of columns, and have no "
                  "other fields");
    check_refused("return { null = true }",
                  ":1: null: must be a text or a list of texts, not true");
    check_refused("return { null = 1.5 }",
                  ":1: null: must be a text or a list of texts, not 1.5");
    check_refused("return { unfiltered = function() end }",
                  ":1: unfiltered: must be a column or a list of columns, not "
                  "a function");
    check_refused("return { types = 'string' }",
                  ":1: types: must be a table of columns and their types, { id "
                  "= \"string\" }, not \"string\"");
    check_refused("return { types = {'id'} }",
                  ":1: types: must name columns and their types, { id = "
                  "\"string\" }");
    check_refused("return { types = {\nid = 5 } }",
                  ":2: types[\"id\"]: must be the name of a type, not 5");
    check_refused("return { guess = 'no' }",
                  ":1: guess: must be true or false, not \"no\"");
    check_refused("return { record = {} }",
                  ":1: record: must be a column, not a table");
    check_refused("return { family = 1 }",
                  ":1: family: must be a table with fields, not 1");
    check_refused("return { time = 5 }",
                  ":1: time: must be a column or a list of columns, not 5");
    check_refused("return { time = {column = 'a', format = {5}} }",
                  ":1: time.format[1]: must be a text or a list of texts, not "
                  "5");
}

static void
unknown_types_are_told(void **state)
{
    (void)state;
    check_refused("return { types = {\n  a = 'string',\n  id = 'strin' } }",
                  ":3: types[\"id\"]: unknown type 'strin': did you mean "
                  "'string'?");
    check_refused("return { types = { ['a.b'] = 'varchar' } }",
                  ":1: types[\"a.b\"]: unknown type 'varchar' (there are "
                  "string, integer, number, boolean, time, guess)");
}

static void
paths_that_are_none_are_told(void **state)
{
    (void)state;
    check_refused("return { key = {\n'a',\n'b[0]'} }",
                  ":3: key[2]: path 'b[0]': '[' must be followed by ']' "
                  "(position 2)");
    check_refused("return { types = { ['a]'] = 'string' } }",
                  ":1: types[\"a]\"]: path 'a]': ']' without '[' (position 2)");
    check_refused("return { types = {\n['a\\\\'] = 'string' } }",
                  ":2: types[\"a\\\"]: path 'a\\': nothing behind '\\' "
                  "(position 2)");
    check_refused("return { unfiltered = 'a..b[' }",
                  ":1: unfiltered: path 'a..b[': '[' must be followed by ']' "
                  "(position 5)");
    check_refused("return { record = 'a]' }",
                  ":1: record: path 'a]': ']' without '[' (position 2)");
    check_refused("return { record = 'a[].b' }",
                  ":1: record: 'a[].b' may be many maps, a record is one");
    check_refused("return { key = 'tags[]' }",
                  ":1: key: 'tags[]' may be many values, a key has one");
    check_refused("return { key = 'a\\0b' }", ":1: key: has a zero byte in it");
    check_refused("return { types = { ['a\\0b'] = 'string' } }",
                  ":1: types: a column has a zero byte in its name");
}

static void
a_column_is_read_in_one_way(void **state)
{
    (void)state;
    check_refused("return {\ntypes = { ['a.b'] = 'string' },\n"
                  "time = { column = {'c',\n'a.b'} } }",
                  ":4: time.column[2]: column 'a.b' is there already");
    check_refused("return { time = {'a', 'a'} }",
                  ":1: time[2]: column 'a' is there already");
}

static void
formats_of_times_are_checked(void **state)
{
    (void)state;
    check_refused("return { time = {\n column = 'a',\n format = 'iso' } }",
                  ":2: time.column: time format 'iso' is none of rfc3339, "
                  "unix, unix_ms, unix_us, unix_ns, nor a pattern such as "
                  "'%Y-%m-%d'");
    check_refused("return { time = { column = 'a', format = '%Q' } }",
                  ":1: time.column: time format '%Q': %Q is not known");
    check_refused("return { time = { column = 'a', format = '%Y\\n%Y' } }",
                  ":1: time.format: is no format of times");
    check_refused("return { time = { column = 'a', format = '' } }",
                  ":1: time.format: is no format of times");
    check_refused("return { time = { format = 'unix' } }",
                  ":1: time: has no 'column'");
    check_refused("return { time = {} }", ":1: time: has no 'column'");
    check_refused("return { time = {{}} }", ":1: time[1]: has no 'column'");
}

static void
lists_have_limits(void **state)
{
    (void)state;
    check_refused("return { key = {} }", ":1: key: is empty");
    check_refused("return { null = {} }", ":1: null: is empty");
    check_refused("return { unfiltered = {} }", ":1: unfiltered: is empty");
    check_refused("local k = {} for i = 1, 17 do k[i] = 'c' .. i end "
                  "return { key = k }",
                  ":1: key: has 17 columns, over the limit of 16");
    check_refused("local k = {} for i = 1, 65 do k[i] = 'c' .. i end "
                  "return { unfiltered = k }",
                  ":1: unfiltered: has 65 columns, over the limit of 64");
}

static void
values_have_limits(void **state)
{
    static const char *const delimiters[] = {"",    ",,",  "\\\"",    "\\n",
                                             "\\r", "\\0", "\xC3\xA4"};

    (void)state;
    for (size_t i = 0; i < sizeof(delimiters) / sizeof(delimiters[0]); i++) {
        struct colander_error err;
        struct schema *schema;
        char text[100];

        snprintf(text, sizeof(text), "return { delimiter = \"%s\" }",
                 delimiters[i]);
        write_file(text, strlen(text));
        assert_int_equal(schema_file_read(SCHEMA_FILE, &schema, &err),
                         COLANDER_INVALID);
        assert_non_null(strstr(err.message, ":1: delimiter: "));
    }
    check_refused("return { delimiter = ';;' }",
                  ":1: delimiter: must be one character such as \",\" or "
                  "\"\\t\", no quote and no line end, not \";;\"");
    check_refused("return { family = { fp_rate = 1 } }",
                  ":1: family.fp_rate: must be a number above 1e-9 and below "
                  "1, not 1");
    check_refused("return { family = { fp_rate = -0.5 } }",
                  ":1: family.fp_rate: must be a number above 1e-9 and below "
                  "1, not -0.5");
    check_refused("return { family = { bits_per_value = 65 } }",
                  ":1: family.bits_per_value: must be a number above 0, 64 at "
                  "most, not 65");
    check_refused("return { family = { fp_rate = 0.5, bits_per_value = 5 } }",
                  ":1: family.bits_per_value: goes in place of fp_rate, not "
                  "with it");
    check_refused("return { family = { rows_per_segment = 5 } }",
                  ":1: family.rows_per_segment: must be 0 or a power of two up "
                  "to 65536, not 5");
    check_refused("return { family = { rows_per_segment = 131072 } }",
                  ":1: family.rows_per_segment: must be 0 or a power of two up "
                  "to 65536, not 131072");
    check_refused("return { family = { rows_per_segment = '16' } }",
                  ":1: family.rows_per_segment: must be 0 or a power of two up "
                  "to 65536, not \"16\"");
}

/* ---------------------------------------------------- what is no table --- */

static void
what_returns_no_table_is_refused(void **state)
{
    (void)state;
    check_refused("", ": returns nothing: a schema is 'return { ... }'");
    check_refused("local key = 'id'",
                  ": returns nothing: a schema is 'return { ... }'");
    check_refused("return 5", ": returns a number: a schema is 'return { ... "
                              "}'");
    check_refused("return function() return {} end",
                  ": returns a function: a schema is 'return { ... }'");
}

static void
what_is_no_lua_is_refused_with_its_line(void **state)
{
    (void)state;
    check_refused("return {\n  key = 'id\n}",
                  ":2: unfinished string near ''id'");
    check_refused("return {\n  key = 'id' 5 }",
                  ":2: '}' expected (to close '{' at line 1) near '5'");
    check_refused("{ \"key\": \"id\" }", ":1: unexpected symbol near '{'");
    check_refused("return { key = \xC3\xA4 }",
                  ":1: unexpected symbol near '<\\195>'");
}

/* --------------------------------------------------------------- names --- */

static void
what_is_not_there_is_told(void **state)
{
    struct colander_error err;
    struct schema *schema;

    (void)state;
    assert_int_equal(schema_file_read("twet", &schema, &err), COLANDER_INVALID);
    assert_non_null(strstr(err.message, "no schema is called 'twet': there "
                                        "are air-quality, sensor, tweet"));
    assert_int_equal(schema_file_read("", &schema, &err), COLANDER_INVALID);
    assert_int_equal(schema_file_read("./tweet", &schema, &err),
                     COLANDER_NOT_FOUND);
    assert_string_equal(
        err.message, "cannot read schema './tweet': No such file or directory");
    assert_int_equal(schema_file_read("tweet.lua", &schema, &err),
                     COLANDER_NOT_FOUND);
    assert_int_equal(schema_file_read("/", &schema, &err), COLANDER_IO);
    assert_string_equal(err.message, "cannot read schema '/': Is a directory");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_known_schema_reads),
        cmocka_unit_test(an_empty_table_changes_nothing),
        cmocka_unit_test(every_field_is_read),
        cmocka_unit_test(one_text_goes_for_a_list),
        cmocka_unit_test(times_have_columns_and_formats),
        cmocka_unit_test(a_file_may_come_from_any_editor),
        cmocka_unit_test(unknown_fields_are_told_with_their_line),
        cmocka_unit_test(wrong_types_are_told_with_what_was_found),
        cmocka_unit_test(unknown_types_are_told),
        cmocka_unit_test(paths_that_are_none_are_told),
        cmocka_unit_test(a_column_is_read_in_one_way),
        cmocka_unit_test(formats_of_times_are_checked),
        cmocka_unit_test(lists_have_limits),
        cmocka_unit_test(values_have_limits),
        cmocka_unit_test(what_returns_no_table_is_refused),
        cmocka_unit_test(what_is_no_lua_is_refused_with_its_line),
        cmocka_unit_test(what_is_not_there_is_told),
    };

    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}

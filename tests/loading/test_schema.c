/*
 * Schemas: what each field of a file does, every mistake with its place, and
 * files that are not schemas or are hostile.
 *
 * SPDX-License-Identifier: MIT
 */
#include "loading/schema.h"
#include "support/cases.h"
#include "support/scoped.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <lauxlib.h>
#include <lualib.h>

#define SCHEMA_FILE "./schema_file_test.lua"

static char folder[] = "/tmp/colander_schema_XXXXXX";

static int
enter_folder(void **state)
{
    return mkdtemp(folder) == NULL || chdir(folder) != 0 ? -1 : 0;
}

static int
leave_folder(void **state)
{
    unlink(SCHEMA_FILE);
    return chdir("/") != 0 || rmdir(folder) != 0 ? -1 : 0;
}

static void
write_file(const void *text, size_t size)
{
    FILE *file = fopen(SCHEMA_FILE, "w");

    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, size, file), size);
    ZERO(fclose(file));
}

/* Returns the schema in the text. */
static struct colander_schema *
read_fine(const char *text)
{
    struct colander_schema *schema;

    write_file(text, strlen(text));
    OK(colander_schema_open(SCHEMA_FILE, &schema, why()));
    assert_string_equal(schema->name, SCHEMA_FILE);
    return schema;
}

static void
check_refused_bytes(const void *text, size_t size, const char *message)
{
    struct colander_schema *schema;
    char expected[700];

    write_file(text, size);
    FAILS(colander_schema_open(SCHEMA_FILE, &schema, why()), COLANDER_INVALID);
    assert_null(schema);
    snprintf(expected, sizeof(expected), SCHEMA_FILE "%s", message);
    assert_string_equal(error_text(), expected);
    FAILS(colander_schema_open(SCHEMA_FILE, &schema, NULL), COLANDER_INVALID);
}

/* A mistake, which is reported after the name of the file. */
static void
check_refused(const char *text, const char *message)
{
    check_refused_bytes(text, strlen(text), message);
}

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

/* A column whose format has bars instead of line ends. */
static void
check_column(const struct colander_schema *schema, const char *path,
             enum value_type type, const char *format)
{
    const struct column_node *node = schema->columns;
    char text[200] = "";

    strcat(text, path);
    for (char *name = strtok(text, "."); name != NULL; name = strtok(NULL, "."))
        node = node == NULL
                   ? NULL
                   : column_node_child(node, colander_slice_text(name));
    if (node == NULL || node->reading == NULL)
        fail_msg("no column %s", path);
    assert_int_equal(node->reading->type, type);
    if (format == NULL) {
        assert_null(node->reading->time_format);
        return;
    }
    assert_non_null(node->reading->time_format);
    strcpy(text, node->reading->time_format);
    for (char *at = strchr(text, '\n'); at != NULL; at = strchr(at, '\n'))
        *at = '|';
    assert_string_equal(text, format);
}

static size_t
count_columns(const struct column_node *node)
{
    size_t count = 0;

    if (node == NULL)
        return 0;
    for (size_t i = 0; i < node->child_count; i++)
        count += count_columns(node->children[i]);
    return count + (node->reading != NULL) + count_columns(node->element);
}

/* -------------------------------------------------------------- fields --- */

TEST(every_known_schema_reads)
{
    size_t count = 0;

    for (; colander_schema_known(count) != NULL; count++) {
        const char *name = colander_schema_known(count);
        SCOPED_SCHEMA schema = NULL;

        OK(colander_schema_open(name, &schema, why()));
        assert_string_equal(schema->name, name);
        assert_true(schema->key.count > 0);
    }
    assert_true(count >= 3);
}

TEST(an_empty_table_changes_nothing)
{
    SCOPED_SCHEMA schema = read_fine("return {}");

    assert_int_equal(count_columns(schema->columns), 0);
    assert_int_equal(schema->key.count, 0);
    assert_int_equal(schema->nulls.count, 0);
    assert_int_equal(schema->unfiltered.count, 0);
    assert_null(schema->record);
    assert_int_equal(schema->delimiter, 0);
    assert_true(schema->guesses);
    assert_true(schema->fp_rate == 0 && schema->bits_per_value == 0);
    assert_int_equal(schema->rows_per_segment, UINT32_MAX);
}

TEST(every_field_is_read)
{
    SCOPED_SCHEMA schema = read_fine(
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

    assert_string_equal(schema->record, "data.tweet");
    check_texts(&schema->key, "user.id_str id_str");
    check_texts(&schema->nulls, "NA  -");
    check_texts(&schema->unfiltered, "text user.about");
    assert_int_equal(count_columns(schema->columns), 7);
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
}

TEST(one_text_is_accepted_for_a_list)
{
    SCOPED_SCHEMA schema = read_fine(
        "return { key = 'id', null = 'NA', unfiltered = 'text', "
        "time = 'at', family = { bits_per_value = 8, rows_per_segment = 0 } }");

    check_texts(&schema->key, "id");
    check_texts(&schema->nulls, "NA");
    check_texts(&schema->unfiltered, "text");
    check_column(schema, "at", VALUE_TIME, NULL);
    assert_true(schema->bits_per_value == 8);
    assert_int_equal(schema->rows_per_segment, 0);
}

/* Accepted for one release. */
TEST(unfiltered_has_two_old_spellings)
{
    struct colander_schema *schema = read_fine("return { noindex = 'text' }");

    check_texts(&schema->unfiltered, "text");
    colander_schema_close(schema);
    schema = read_fine("return { left_out = {'a', 'b'} }");
    check_texts(&schema->unfiltered, "a b");
    colander_schema_close(schema);
}

TEST(times_have_columns_and_formats)
{
    SCOPED_SCHEMA schema = read_fine(
        "return { time = {\n"
        "  'a',\n"
        "  { column = {'b', 'c.d'}, format = {'%d.%m.%Y', 'rfc3339'} },\n"
        "  { column = 'e', format = 'unix' },\n"
        "  { column = 'f' },\n"
        "} }");

    assert_int_equal(count_columns(schema->columns), 5);
    check_column(schema, "a", VALUE_TIME, NULL);
    check_column(schema, "b", VALUE_TIME, "%d.%m.%Y|rfc3339");
    check_column(schema, "c.d", VALUE_TIME, "%d.%m.%Y|rfc3339");
    check_column(schema, "e", VALUE_TIME, "unix");
    check_column(schema, "f", VALUE_TIME, NULL);
}

/* With a byte order mark, and with any line ends. */
TEST(a_file_may_come_from_any_editor)
{
    SCOPED_SCHEMA schema =
        read_fine("\xEF\xBB\xBFreturn {\r\n  key = 'id',\r\n}\r\n");

    check_texts(&schema->key, "id");
}

TEST(a_schema_has_its_text_key_and_time)
{
    static const char text[] = "\xEF\xBB\xBFreturn { key = { 'id', 'at' }, "
                               "time = 'at' }\n";
    SCOPED_SCHEMA schema = read_fine(text);
    SCOPED_SCHEMA known = NULL;
    SCOPED_SCHEMA empty = NULL;
    struct colander_schema *wrong;

    ASSERT_SAME(colander_schema_text(schema), colander_slice_text(text));
    assert_string_equal(colander_schema_key(schema, 0), "id");
    assert_string_equal(colander_schema_key(schema, 1), "at");
    assert_null(colander_schema_key(schema, 2));
    assert_string_equal(colander_schema_time(schema), "at");
    OK(colander_schema_open("sensor", &known, why()));
    assert_true(colander_schema_text(known).size > 100);
    OK(colander_schema_create(&empty, why()));
    assert_int_equal(colander_schema_text(empty).size, 0);
    assert_null(colander_schema_key(empty, 0));
    assert_null(colander_schema_time(empty));
    FAILS(colander_schema_open_text("here", colander_slice_text("retur"),
                                    &wrong, why()),
          COLANDER_INVALID);
    assert_non_null(strstr(error_text(), "here:1"));
    assert_null(wrong);
}

TEST(a_text_is_the_schema_of_its_file)
{
    SCOPED_SCHEMA schema = NULL;
    SCOPED_SCHEMA again = NULL;

    OK(colander_schema_open("sensor", &schema, why()));
    OK(colander_schema_open_text("copy", colander_schema_text(schema), &again,
                                 why()));
    assert_string_equal(again->name, "copy");
    assert_string_equal(again->time, schema->time);
    assert_int_equal(again->key.count, schema->key.count);
    assert_int_equal(again->nulls.count, schema->nulls.count);
    assert_int_equal(count_columns(again->columns),
                     count_columns(schema->columns));
}

TEST(names_of_csv_are_paths_of_one_name)
{
    static const char *const paths[] = {"id",        "PM2\\.5", "a.b",
                                        "n\\x00m[]", "n\\x00",  "w\\xfed"};
    static const struct {
        struct colander_slice name;
        int type; /* index of the path; -1: none */
    } names[] = {
#define NAME(text) {(const uint8_t *)(text), sizeof(text) - 1}
        {NAME("id"), 0},        {NAME("PM2.5"), 1}, {NAME("a.b"), -1},
        {NAME("a"), -1},        {NAME("i"), -1},    {NAME("idx"), -1},
        {NAME("n"), -1},        {NAME("n\0"), 4},   {NAME("n\0m"), -1},
        {NAME("w\xfe\x64"), 5},
    };
    SCOPED_SCHEMA schema = schema_create();

    for (size_t i = 0; i < 6; i++) {
        const struct value_reading reading = {.type = (enum value_type)i};

        OK(schema_add_column(schema, paths[i], &reading, false, why()));
    }
    for (size_t i = 0; i < COUNT(names); i++) {
        const struct value_reading *found =
            schema_csv_column(schema, names[i].name);

        assert_int_equal(found == NULL ? -1 : (int)found->type, names[i].type);
    }
}

/* ------------------------------------------------------------ mistakes --- */

#define TOO_LONG ":1: takes too long: a schema is data, not a program"
#define TOO_LARGE ": takes more than 8 MiB of memory"

static const struct {
    const char *text;
    const char *message;
} mistakes[] = {
    /* unknown fields, with their line */
    {"return {\n  -- typs = 1\n  typs = {},\n}",
     ":3: typs: unknown field (there are about, record, key, types, time, "
     "null, delimiter, guess, unfiltered, family)"},
    {"return { [\"k\" .. \"eys\"] = 1 }",
     ": keys: unknown field (there are about, record, key, types, time, null, "
     "delimiter, guess, unfiltered, family)"},
    {"return { 'id' }", ": has a value without a name"},
    {"return { family = {\n fprate = 1 } }",
     ":2: family.fprate: unknown field (there are fp_rate, bits_per_value, "
     "rows_per_segment)"},
    {"return { time = { columns = 'a' } }",
     ":1: time.columns: unknown field (there are format, column)"},
    /* wrong types, with what was found */
    {"return { about = 5 }", ":1: about: must be a text, not 5"},
    {"return { key = 5 }",
     ":1: key: must be a column or a list of columns, not 5"},
    {"return { key = {'a', {}} }",
     ":1: key[2]: must be a column or a list of columns, not a table"},
    {"return { key = {a = 'b'} }", ":1: key: must be a column or a list of "
                                   "columns, and have no other fields"},
    {"return { key = {'a', nil, 'b'} }",
     ":1: key: must be a column or a list of columns, and have no other "
     "fields"},
    {"return { null = true }",
     ":1: null: must be a text or a list of texts, not true"},
    {"return { null = 1.5 }",
     ":1: null: must be a text or a list of texts, not 1.5"},
    {"return { unfiltered = function() end }",
     ":1: unfiltered: must be a column or a list of columns, not a function"},
    {"return { types = 'string' }",
     ":1: types: must be a table of columns and their types, { id = \"string\" "
     "}, not \"string\""},
    {"return { types = {'id'} }",
     ":1: types: must name columns and their types, { id = \"string\" }"},
    {"return { types = {\nid = 5 } }",
     ":2: types[\"id\"]: must be the name of a type, not 5"},
    {"return { guess = 'no' }", ":1: guess: must be true or false, not \"no\""},
    {"return { record = {} }", ":1: record: must be a column, not a table"},
    {"return { family = 1 }", ":1: family: must be a table with fields, not 1"},
    {"return { time = 5 }",
     ":1: time: must be a column or a list of columns, not 5"},
    {"return { time = {column = 'a', format = {5}} }",
     ":1: time.format[1]: must be a text or a list of texts, not 5"},
    /* unknown types */
    {"return { types = {\n  a = 'string',\n  id = 'strin' } }",
     ":3: types[\"id\"]: unknown type 'strin' (there are string, integer, "
     "number, boolean, time, guess)"},
    {"return { types = { ['a.b'] = 'varchar' } }",
     ":1: types[\"a.b\"]: unknown type 'varchar' (there are string, integer, "
     "number, boolean, time, guess)"},
    /* paths that are not paths */
    {"return { key = {\n'a',\n'b[0]'} }",
     ":3: key[2]: path 'b[0]': '[' must be followed by ']' (a[] is any element "
     "of a) (position 2)"},
    {"return { types = { ['a]'] = 'string' } }",
     ":1: types[\"a]\"]: path 'a]': ']' without '[' (position 2)"},
    {"return { types = {\n['a\\\\'] = 'string' } }",
     ":2: types[\"a\\\"]: path 'a\\': nothing follows '\\' (position 2)"},
    {"return { unfiltered = 'a..b[' }",
     ":1: unfiltered: path 'a..b[': '[' must be followed by ']' (a[] is any "
     "element of a) (position 5)"},
    {"return { record = 'a]' }",
     ":1: record: path 'a]': ']' without '[' (position 2)"},
    {"return { record = 'a[].b' }",
     ":1: record: 'a[].b' may be many values, a record is one"},
    {"return { key = 'tags[]' }",
     ":1: key: 'tags[]' may be many values, a key has one"},
    {"return { key = 'a\\0b' }", ":1: key: contains a zero byte"},
    {"return { types = { ['a\\0b'] = 'string' } }",
     ":1: types[\"a\\x00b\"]: contains a zero byte"},
    /* columns that are listed twice */
    {"return {\ntypes = { ['a.b'] = 'string' },\n"
     "time = { column = {'c',\n'a.b'} } }",
     ":4: time.column[2]: column 'a.b' is listed twice"},
    {"return { time = {'a', 'a'} }", ":1: time[2]: column 'a' is listed twice"},
    {"return { key = {'a', 'b', 'a'} }", ":1: key[3]: 'a' is listed twice"},
    {"return {\nunfiltered = 'a',\nnoindex = {'b'} }",
     ":3: noindex: means the same as unfiltered: give one of them"},
    {"return { left_out = 'a', noindex = 'b' }",
     ":1: left_out: means the same as noindex: give one of them"},
    {"return { types = { ['a.b[].c'] = 'string' }, time = '\\\\a.\\\\x62[].c' "
     "}",
     ":1: time: column '\\a.\\x62[].c' is listed twice"},
    {"return { types = { [''] = 'string' }, time = '' }",
     ":1: time: column '' is listed twice"},
    /* formats of times */
    {"return { time = {\n column = 'a',\n format = 'iso' } }",
     ":2: time.column: time format 'iso' is not rfc3339, unix, unix_ms, "
     "unix_us, unix_ns, or a pattern such as '%Y-%m-%d'"},
    {"return { time = { column = 'a', format = '%Q' } }",
     ":1: time.column: time format '%Q': %Q is not known"},
    {"return { time = { column = 'a', format = '%Y\\n%Y' } }",
     ":1: time.format: is not a time format"},
    {"return { time = { column = 'a', format = '' } }",
     ":1: time.format: is not a time format"},
    {"return { time = { format = 'unix' } }", ":1: time: has no 'column'"},
    {"return { time = {} }", ":1: time: has no 'column'"},
    {"return { time = {{}} }", ":1: time[1]: has no 'column'"},
    /* limits of lists */
    {"return { key = {} }", ":1: key: is empty"},
    {"return { null = {} }", ":1: null: is empty"},
    {"return { unfiltered = {} }", ":1: unfiltered: is empty"},
    {"local k = {} for i = 1, 17 do k[i] = 'c' .. i end return { key = k }",
     ":1: key: has 17 columns, over the limit of 16"},
    {"local k = {} for i = 1, 65 do k[i] = 'c' .. i end return { unfiltered = "
     "k }",
     ":1: unfiltered: has 65 columns, over the limit of 64"},
    /* limits of values */
    {"return { delimiter = ';;' }",
     ":1: delimiter: must be one character such as \",\" or \"\\t\", neither a "
     "quote nor a line end, not \";;\""},
    {"return { family = { fp_rate = 1 } }",
     ":1: family.fp_rate: must be a number above 1e-9 and below 1, not 1"},
    {"return { family = { fp_rate = -0.5 } }",
     ":1: family.fp_rate: must be a number above 1e-9 and below 1, not -0.5"},
    {"return { family = { bits_per_value = 65 } }",
     ":1: family.bits_per_value: must be a number above 0, at most 64, not 65"},
    {"return { family = { fp_rate = 0.5, bits_per_value = 5 } }",
     ":1: family.bits_per_value: replaces fp_rate: give one of them"},
    {"return { family = { rows_per_segment = 5 } }",
     ":1: family.rows_per_segment: must be 0 or a power of two up to 65536, "
     "not 5"},
    {"return { family = { rows_per_segment = 131072 } }",
     ":1: family.rows_per_segment: must be 0 or a power of two up to 65536, "
     "not 131072"},
    {"return { family = { rows_per_segment = '16' } }",
     ":1: family.rows_per_segment: must be 0 or a power of two up to 65536, "
     "not \"16\""},
    /* not a table */
    {"", ": returns nothing: a schema is 'return { ... }'"},
    {"local key = 'id'", ": returns nothing: a schema is 'return { ... }'"},
    {"return 5", ": returns a number: a schema is 'return { ... }'"},
    {"return function() return {} end",
     ": returns a function: a schema is 'return { ... }'"},
    /* not Lua */
    {"return {\n  key = 'id\n}", ":2: unfinished string near ''id'"},
    {"return {\n  key = 'id' 5 }",
     ":2: '}' expected (to close '{' at line 1) near '5'"},
    {"{ \"key\": \"id\" }", ":1: unexpected symbol near '{'"},
    {"return { key = \xC3\xA4 }", ":1: unexpected symbol near '<\\195>'"},
    /* only the language is available */
    {"return {\n types = { id = string } }",
     ":2: 'string' is not known: texts need quotes, and there are no "
     "functions"},
    {"key = 'id'\nreturn {}", ":1: 'key' cannot be set: fields belong in "
                              "'return { }', and variables are 'local key'"},
    {"return { key = ('x'):rep(5) }",
     ":1: attempt to index a string value (constant 'x')"},
    {"local s = 'x'\nreturn { key = s.len }",
     ":2: attempt to index a string value (local 's')"},
    {"return { key = _ENV.x }",
     ":1: 'x' is not known: texts need quotes, and there are no functions"},
    /* endless loops */
    {"while true do end", TOO_LONG},
    {"::a:: goto a", TOO_LONG},
    {"local function f() return f() end return f()", TOO_LONG},
    {"for i = 1, 1e9 do end", TOO_LONG},
    {"local s = 'x' for i = 1, 21 do s = s .. s end while true do local t = s "
     ".. 'y' end",
     TOO_LONG},
    /* the checks are limited as well, and do not report their own lines */
    {"local t = {} for i = 1, 70000 do t[i] = 'a' end return { null = t }",
     ": takes too long: a schema is data, not a program"},
    /* too much memory */
    {"local s = 'x' for i = 1, 60 do s = s .. s end", TOO_LARGE},
    {"local t = {} for i = 1, 1e9 do t = {t} end", TOO_LARGE},
    {"local t = {} for i = 1, 1e9 do t[i] = i end", TOO_LARGE},
    {"local t = {} for i = 1, 1e9 do t['k' .. i] = i end", TOO_LARGE},
    {"local s = 'x' for i = 1, 19 do s = s .. s end local t = {} for i = 1, "
     "3000 do t[i] = s end return {null = t}",
     TOO_LARGE},
    /* tables that are deep or refer to themselves */
    {"local t = {} t.types = t return t",
     ":1: types[\"types\"]: must be the name of a type, not a table"},
    {"local t = {} t.key = {t} return t",
     ":1: key[1]: must be a column or a list of columns, not a table"},
    {"local t = {} t[1] = t return { time = t }",
     ":1: time[1]: has a value without a name"},
    {"local t = {} for i = 1, 10000 do t = {t} end return { key = t }",
     ":1: key[1]: must be a column or a list of columns, not a table"},
    {"local t = {} t.family = t return t",
     ":1: family.family: unknown field (there are fp_rate, bits_per_value, "
     "rows_per_segment)"},
};

TEST(mistakes_are_reported_with_their_place)
{
    for (size_t i = 0; i < COUNT(mistakes); i++)
        check_refused(mistakes[i].text, mistakes[i].message);
}

TEST(delimiters_are_one_character)
{
    static const char *const delimiters[] = {"",    ",,",  "\\\"",    "\\n",
                                             "\\r", "\\0", "\xC3\xA4"};

    for (size_t i = 0; i < COUNT(delimiters); i++) {
        struct colander_schema *schema;
        char text[100];

        snprintf(text, sizeof(text), "return { delimiter = \"%s\" }",
                 delimiters[i]);
        write_file(text, strlen(text));
        FAILS(colander_schema_open(SCHEMA_FILE, &schema, why()),
              COLANDER_INVALID);
        assert_non_null(strstr(error_text(), ":1: delimiter: "));
    }
}

TEST(no_library_is_there)
{
    static const char *const names[] = {
        "print", "require",  "os",           "io", "string",    "load",
        "pcall", "colander", "setmetatable", "_G", "coroutine", "debug"};

    for (size_t i = 0; i < COUNT(names); i++) {
        char text[100], message[200];

        snprintf(text, sizeof(text), "local x = %s", names[i]);
        snprintf(message, sizeof(message),
                 ":1: '%s' is not known: texts need quotes, and there "
                 "are no functions",
                 names[i]);
        check_refused(text, message);
    }
}

TEST(what_was_taken_from_the_environment_is_nothing)
{
    SCOPED_SCHEMA schema = read_fine("_ENV = {} x = 5 return { null = y }");

    assert_int_equal(schema->nulls.count, 0);
}

/* Lua does not check the time limit while it searches a text. */
TEST(a_long_name_is_not_searched_for)
{
    static char text[330100];
    char *at = text + sprintf(text, "local q = [[");
    char quotes[101];
    char message[300];

    memset(quotes, '"', 100);
    quotes[100] = '\0';
    (void)snprintf(message, sizeof(message),
                   ": %s: unknown field (there are about, record, key, types, "
                   "time, null, delimiter, guess, unfiltered, family)",
                   quotes);
    memset(at, '"', 330000);
    (void)sprintf(at + 330000, "]] return {[q .. 'x'] = 1}");
    check_refused(text, message);
}

TEST(deep_calls_and_brackets_end)
{
    static char text[300000];
    struct colander_schema *schema;

    check_refused("local function f() return 1 + f() end return f()",
                  ": takes more than 8 MiB of memory");
    strcpy(text, "return ");
    memset(text + strlen(text), '{', 200000);
    write_file(text, strlen(text));
    FAILS(colander_schema_open(SCHEMA_FILE, &schema, why()), COLANDER_INVALID);
    memset(text + strlen("return "), '(', 200000);
    write_file(text, strlen(text));
    FAILS(colander_schema_open(SCHEMA_FILE, &schema, why()), COLANDER_INVALID);
}

static int
append_dump(lua_State *L, const void *bytes, size_t size, void *context)
{
    (void)L;
    return colander_buffer_append(context, bytes, size, NULL) != COLANDER_OK;
}

TEST(bytecode_is_refused)
{
    SCOPED_BUFFER bytes = COLANDER_BUFFER_EMPTY;
    lua_State *L = luaL_newstate();

    assert_non_null(L);
    assert_int_equal(luaL_loadstring(L, "return {}"), LUA_OK);
    assert_int_equal(lua_dump(L, append_dump, &bytes, 0), 0);
    lua_close(L);
    check_refused_bytes(bytes.data, bytes.size,
                        ": is compiled Lua, a schema is text");
}

TEST(any_bytes_are_refused_as_text)
{
    static const char zeros[] = "return {}\0\0";
    static char text[1 << 12];
    struct colander_schema *schema;

    check_refused_bytes(zeros, sizeof(zeros) - 1, ":1: <eof> expected");
    check_refused("return { key = '\x1b[31m' .. nil }",
                  ":1: attempt to concatenate a nil value");
    check_refused("return { ['\x1b[31m'] = 1 }",
                  ":1: \\x1b[31m: unknown field (there are about, record, key, "
                  "types, time, null, delimiter, guess, unfiltered, family)");
    /* a message is never larger than its buffer */
    snprintf(text, sizeof(text),
             "return { types = { ['%02000d'] = '%02000d' }}", 1, 1);
    write_file(text, strlen(text));
    FAILS(colander_schema_open(SCHEMA_FILE, &schema, why()), COLANDER_INVALID);
    assert_true(strlen(error_text()) < sizeof(why()->message));
}

TEST(large_files_are_refused)
{
    static char text[(1 << 20) + 1];
    struct colander_schema *schema;

    memset(text, ' ', sizeof(text));
    memcpy(text, "return {}", 9);
    write_file(text, sizeof(text) - 1);
    OK(colander_schema_open(SCHEMA_FILE, &schema, why()));
    colander_schema_close(schema);
    write_file(text, sizeof(text));
    FAILS(colander_schema_open(SCHEMA_FILE, &schema, why()), COLANDER_INVALID);
    assert_string_equal(error_text(),
                        "schema '" SCHEMA_FILE "' is larger than 1 MiB");
    FAILS(colander_schema_open("/dev/zero", &schema, why()), COLANDER_INVALID);
}

TEST(missing_schemas_are_reported)
{
    struct colander_schema *schema;

    FAILS(colander_schema_open("twet", &schema, why()), COLANDER_INVALID);
    assert_non_null(strstr(error_text(), "no schema is called 'twet': there "
                                         "are air-quality, sensor, tweet"));
    FAILS(colander_schema_open("", &schema, why()), COLANDER_INVALID);
    FAILS(colander_schema_open("./tweet", &schema, why()), COLANDER_NOT_FOUND);
    assert_string_equal(
        error_text(),
        "cannot read schema './tweet': No such file or directory");
    FAILS(colander_schema_open("tweet.lua", &schema, why()),
          COLANDER_NOT_FOUND);
    FAILS(colander_schema_open("/", &schema, why()), COLANDER_IO);
    assert_string_equal(error_text(), "cannot read schema '/': Is a directory");
}

int
main(void)
{
    return tests_run(enter_folder, leave_folder);
}

/*
 * Rows converted by a schema: known ones, and random ones against a model that
 * rebuilds each row one path at a time.
 *
 * SPDX-License-Identifier: MIT
 */
#include "loading/conversion.h"
#include "support/cases.h"

#include <math.h>

#include "support/random.h"
#include "support/scoped.h"

struct typed_path {
    const char *path; /* NULL ends a list */
    struct value_reading reading;
};

static struct colander_schema *
schema_of(const struct typed_path *columns)
{
    struct colander_schema *schema = schema_create();

    assert_non_null(schema);
    for (; columns->path != NULL; columns++)
        OK(schema_add_column(schema, columns->path, &columns->reading, false,
                             why()));
    return schema;
}

/* Converts a row of JSON and compares the result as JSON, with timestamps as
 * strings. */
static void
check(struct colander_schema *schema, const char *json, const char *expected)
{
    struct colander_json_reader *reader = colander_json_reader_create();
    SCOPED_BUFFER shown = COLANDER_BUFFER_EMPTY;
    struct conversion conversion = {0};
    struct colander_slice key, row, converted;
    struct colander_value value = colander_null();
    bool has_key;

    OK(colander_json_reader_row(reader, colander_slice_text(json), &key,
                                &has_key, &row, why()));
    OK(conversion_row(&conversion, schema, row, &converted, why()));
    OK(colander_row_check(converted, why()));
    value.type = COLANDER_MAP;
    value.bytes = converted;
    OK(colander_json_append_value(&shown, &value, why()));
    OK(colander_buffer_append(&shown, "", 1, why()));
    assert_string_equal((char *)shown.data, expected);
    if (strcmp(json, expected) == 0)
        assert_ptr_equal(converted.data, row.data);
    conversion_release(&conversion);
    colander_json_reader_destroy(reader);
}

TEST(a_schema_without_columns_converts_nothing)
{
    SCOPED_SCHEMA schema = schema_create();

    assert_false(conversion_is_needed(schema));
}

TEST(strings_are_read_as_their_type)
{
    SCOPED_SCHEMA schema = schema_of((struct typed_path[]){
        {"i", {.type = VALUE_INTEGER}},
        {"n", {.type = VALUE_NUMBER}},
        {"b", {.type = VALUE_BOOLEAN}},
        {"t", {.type = VALUE_TIME, .time_format = "%a %b %d %H:%M:%S %z %Y"}},
        {"g", {.type = VALUE_GUESSED}},
        {NULL, {.type = VALUE_STRING}},
    });

    check(schema,
          "{\"i\":\"007\",\"x\":\"5\",\"n\":\".5\",\"b\":\"Yes\",\"g\":\"5\","
          "\"t\":\"Wed Aug 27 13:08:45 +0000 2008\"}",
          "{\"i\":7,\"x\":\"5\",\"n\":0.5,\"b\":true,\"g\":\"5\","
          "\"t\":\"2008-08-27T13:08:45Z\"}");
    check(schema, "{\"t\":\"yesterday\",\"b\":\"perhaps\",\"i\":\"\"}",
          "{\"t\":\"yesterday\",\"b\":\"perhaps\",\"i\":\"\"}");
    check(schema, "{\"i\":null,\"n\":{},\"b\":[\"yes\"],\"t\":{\"t\":\"5\"}}",
          "{\"i\":null,\"n\":{},\"b\":[\"yes\"],\"t\":{\"t\":\"5\"}}");
    check(schema, "{}", "{}");
}

TEST(numbers_and_booleans_are_read_as_their_text)
{
    SCOPED_SCHEMA schema = schema_of((struct typed_path[]){
        {"s", {.type = VALUE_STRING}},
        {"i", {.type = VALUE_INTEGER}},
        {"n", {.type = VALUE_NUMBER}},
        {"b", {.type = VALUE_BOOLEAN}},
        {"u", {.type = VALUE_TIME, .time_format = "unix"}},
        {"d", {.type = VALUE_TIME, .time_format = "%Y%m%d"}},
        {"m", {.type = VALUE_TIME, .time_format = "unix_ms"}},
        {NULL, {.type = VALUE_STRING}},
    });

    check(schema, "{\"s\":18446744073709551615,\"i\":5.0,\"n\":5,\"b\":1}",
          "{\"s\":\"18446744073709551615\",\"i\":5,\"n\":5,\"b\":true}");
    check(schema, "{\"s\":1.50,\"i\":5.5,\"n\":5.0,\"b\":0.0}",
          "{\"s\":\"1.5\",\"i\":5.5,\"n\":5.0,\"b\":false}");
    check(schema, "{\"s\":true,\"i\":true,\"n\":false,\"b\":2,\"u\":true}",
          "{\"s\":\"true\",\"i\":true,\"n\":false,\"b\":2,\"u\":true}");
    check(schema, "{\"u\":86400,\"d\":20200229,\"m\":1600000000123}",
          "{\"u\":\"1970-01-02T00:00:00Z\",\"d\":\"2020-02-29T00:00:00Z\","
          "\"m\":\"2020-09-13T12:26:40.123Z\"}");
    check(schema, "{\"u\":1600000000.25,\"d\":20200230,\"m\":-0.5}",
          "{\"u\":\"2020-09-13T12:26:40.250Z\",\"d\":20200230,"
          "\"m\":\"1969-12-31T23:59:59.999500Z\"}");
    check(schema, "{\"u\":1e300,\"i\":1e19,\"s\":-0.0}",
          "{\"u\":1.0e+300,\"i\":1.0e+19,\"s\":\"-0.0\"}");
}

TEST(paths_lead_into_maps_and_arrays)
{
    SCOPED_SCHEMA schema = schema_of((struct typed_path[]){
        {"user.id", {.type = VALUE_STRING}},
        {"tags[]", {.type = VALUE_STRING}},
        {"tags[].id", {.type = VALUE_STRING}},
        {"m[][]", {.type = VALUE_INTEGER}},
        {"a\\.b", {.type = VALUE_INTEGER}},
        {"", {.type = VALUE_INTEGER}},
        {NULL, {.type = VALUE_STRING}},
    });

    check(schema,
          "{\"user\":{\"a\":1,\"id\":5,\"z\":[1]},\"id\":5,\"a\":{"
          "\"b\":\"1\"},\"a.b\":\"1\",\"\":\"2\"}",
          "{\"user\":{\"a\":1,\"id\":\"5\",\"z\":[1]},\"id\":5,\"a\":{\"b\":"
          "\"1\"},\"a.b\":1,\"\":2}");
    check(schema,
          "{\"tags\":[1,{\"id\":2,\"x\":3},[4],null],\"m\":[[\"1\"],"
          "\"2\",[],[[\"3\"]],[\"4\",\"x\"]]}",
          "{\"tags\":[\"1\",{\"id\":\"2\",\"x\":3},[4],null],\"m\":[[1],\"2\","
          "[],[[\"3\"]],[4,\"x\"]]}");
    check(schema, "{\"user\":[{\"id\":5}],\"tags\":{\"id\":5},\"m\":5}",
          "{\"user\":[{\"id\":5}],\"tags\":{\"id\":5},\"m\":5}");
}

TEST(the_record_may_be_a_map_inside)
{
    SCOPED_SCHEMA schema = schema_of((struct typed_path[]){
        {"id", {.type = VALUE_STRING}}, {NULL, {.type = VALUE_STRING}}});

    schema->record = strdup("data.tweet");
    check(schema, "{\"data\":{\"x\":1,\"tweet\":{\"id\":5}},\"id\":6}",
          "{\"id\":\"5\"}");
    check(schema, "{\"data\":{\"tweet\":{}},\"id\":6}", "{}");
    check(schema, "{\"data\":{\"tweet\":[{\"id\":5}]},\"id\":6}",
          "{\"data\":{\"tweet\":[{\"id\":5}]},\"id\":\"6\"}");
    check(schema, "{\"id\":6}", "{\"id\":\"6\"}");
}

/* Encoded as by other programs: long names, wide numbers. */
TEST(every_encoding_is_converted_in_place)
{
    static const char row[] = "\xdf\0\0\0\3\xd9\1a\xd1\0\5\xda\0\1b\xd9\1"
                              "7\xa1z\xdd\0\0\0\1\xcd\0\2";
    SCOPED_SCHEMA schema = schema_of((struct typed_path[]){
        {"a", {.type = VALUE_STRING}},
        {"b", {.type = VALUE_INTEGER}},
        {"z[]", {.type = VALUE_STRING}},
        {NULL, {.type = VALUE_STRING}},
    });
    struct conversion conversion = {0};
    struct colander_slice converted;

    OK(conversion_row(&conversion, schema,
                      colander_slice_of(row, sizeof(row) - 1), &converted,
                      why()));
    assert_int_equal(converted.size, 24);
    assert_memory_equal(converted.data,
                        "\xdf\0\0\0\3\xd9\1a\xa1"
                        "5\xda\0\1b\7\xa1z\xdd\0\0\0\1\xa1"
                        "2",
                        24);
    conversion_release(&conversion);
}

/* ----------------------------------------------------------- the model --- */

static const char *const names[] = {"a", "b", "c.d", ""};

#define NAME_COUNT 4
#define DEPTH_MAX 4

static struct colander_value
random_scalar(uint64_t *seed)
{
    static const char *const texts[] = {
        "5",   "007",        "1e5", "yes",        "1",
        "1.0", "2020-02-29", "",    "1600000000", "x"};

    switch (random_below(seed, 8)) {
    case 0:
        return colander_null();
    case 1:
        return colander_boolean(random_below(seed, 2) == 0);
    case 2:
        return colander_integer((int64_t)random_next(seed) >>
                                random_below(seed, 64));
    case 3:
        return colander_unsigned(random_next(seed));
    case 4:
        return colander_double((double)random_below(seed, 10) / 4);
    case 5:
        return random_below(seed, 9) == 0 ? colander_double((double)NAN)
                                          : colander_timestamp(5, 0);
    default:
        return colander_text(texts[random_below(seed, 10)]);
    }
}

static void
add_random(struct colander_row_builder *builder, uint64_t *seed, int depth,
           bool is_map)
{
    for (size_t i = 0; i < NAME_COUNT; i++) {
        const char *name = is_map ? names[i] : NULL;
        uint64_t choice = random_below(seed, depth < DEPTH_MAX ? 8 : 4);

        if (choice < 2)
            continue;
        if (choice < 5) {
            colander_row_builder_add(builder, name, random_scalar(seed));
            continue;
        }
        if (choice < 7)
            colander_row_builder_begin_map(builder, name);
        else
            colander_row_builder_begin_array(builder, name);
        add_random(builder, seed, depth + 1, choice < 7);
        colander_row_builder_end(builder);
    }
}

#define COLUMN_COUNT 12 /* of a random schema */

struct model_column {
    char path[64];
    struct value_reading reading;
};

static void
random_path(uint64_t *seed, char *path)
{
    static const char *const steps[] = {"a", "b", "c\\.d", ""};
    uint64_t count = 1 + random_below(seed, DEPTH_MAX);

    *path = '\0';
    for (uint64_t i = 0; i < count; i++) {
        if (i > 0 && random_below(seed, 3) == 0) {
            strcat(path, "[]");
            continue;
        }
        if (i > 0)
            strcat(path, ".");
        strcat(path, steps[random_below(seed, NAME_COUNT)]);
    }
}

static bool
reads_as(const struct value_reading *reading, const struct colander_value *from,
         char *text, struct colander_value *to)
{
    bool wants_text = reading->type == VALUE_STRING;

    switch (from->type) {
    case COLANDER_BOOLEAN:
        if (!wants_text)
            return false;
        strcpy(text, from->boolean ? "true" : "false");
        break;
    case COLANDER_INTEGER:
        sprintf(text, "%" PRId64, from->integer);
        break;
    case COLANDER_UNSIGNED:
        sprintf(text, "%" PRIu64, from->natural);
        break;
    case COLANDER_DOUBLE: /* quarters, or NaN */
        if (isnan(from->number))
            return false;
        sprintf(text, "%g", from->number);
        if (wants_text && strchr(text, '.') == NULL)
            strcat(text, ".0");
        break;
    case COLANDER_STRING:
        return !wants_text && typed_value_read(reading, from->bytes, to);
    default:
        return false;
    }
    if (reading->type == VALUE_NUMBER ||
        (reading->type == VALUE_INTEGER && from->type != COLANDER_DOUBLE))
        return false;
    return typed_value_read(reading, colander_slice_text(text), to);
}

/* Puts what the model makes of a container at `path`, of `size` bytes. */
static void
add_model(struct colander_row_builder *builder,
          const struct model_column columns[COLUMN_COUNT],
          struct colander_slice container, char *path, size_t size)
{
    struct colander_members members;
    struct colander_slice name;
    struct colander_value value;
    bool is_member;

    OK(colander_members_init(&members, container, NULL));
    for (;;) {
        char text[64], c_name[8] = "";
        const char *added = members.is_map ? c_name : NULL;
        size_t below = size;

        OK(colander_members_next(&members, &is_member, &name, &value, NULL));
        if (!is_member)
            return;
        if (members.is_map) {
            memcpy(c_name, name.data, name.size);
            below +=
                (size_t)sprintf(path + size, ".%s",
                                strcmp(c_name, "c.d") == 0 ? "c\\.d" : c_name);
        } else {
            below += (size_t)sprintf(path + size, "[]");
        }
        if (value.type == COLANDER_MAP || value.type == COLANDER_ARRAY) {
            if (value.type == COLANDER_MAP)
                colander_row_builder_begin_map(builder, added);
            else
                colander_row_builder_begin_array(builder, added);
            add_model(builder, columns, value.bytes, path, below);
            colander_row_builder_end(builder);
            continue;
        }
        for (size_t i = 0; i < COLUMN_COUNT; i++) {
            struct colander_value converted;

            /* the path of a top-level column has an extra dot */
            if (strcmp(columns[i].path, path + 1) == 0 &&
                reads_as(&columns[i].reading, &value, text, &converted)) {
                value = converted;
                break;
            }
        }
        colander_row_builder_add(builder, added, value);
    }
}

static struct colander_schema *
random_schema(uint64_t *seed, struct model_column columns[COLUMN_COUNT])
{
    static const struct value_reading readings[] = {
        {.type = VALUE_STRING}, {.type = VALUE_INTEGER},
        {.type = VALUE_NUMBER}, {.type = VALUE_BOOLEAN},
        {.type = VALUE_TIME},   {.type = VALUE_TIME, .time_format = "unix"},
    };
    struct colander_schema *schema = schema_create();

    for (size_t i = 0; i < COLUMN_COUNT;) {
        columns[i].reading = readings[random_below(seed, 6)];
        random_path(seed, columns[i].path);
        i += schema_add_column(schema, columns[i].path, &columns[i].reading,
                               false, NULL) == COLANDER_OK;
    }
    return schema;
}

TEST(random_rows_are_converted_as_one_path_at_a_time_would)
{
    uint64_t seed =
        random_seed("random_rows_are_converted_as_one_path_at_a_time_would");
    uint64_t runs = random_runs(300);
    SCOPED_BUILDER builder = colander_row_builder_create();
    SCOPED_BUILDER model = colander_row_builder_create();
    uint64_t change_count = 0;

    for (uint64_t i = 0; i < runs; i++) {
        struct model_column columns[COLUMN_COUNT];
        SCOPED_SCHEMA schema = random_schema(&seed, columns);
        struct conversion conversion = {0};

        for (int k = 0; k < 50; k++) {
            struct colander_slice row, converted, expected;
            char path[256] = "";

            add_random(builder, &seed, 1, true);
            OK(colander_row_builder_finish(builder, &row, why()));
            add_model(model, columns, row, path, 0);
            OK(colander_row_builder_finish(model, &expected, why()));
            OK(conversion_row(&conversion, schema, row, &converted, why()));
            assert_true(colander_slice_equal(converted, expected));
            assert_true(converted.data != row.data ||
                        converted.size == row.size);
            change_count += converted.data != row.data;
        }
        conversion_release(&conversion);
    }
    assert_true(change_count > runs * 10);
}

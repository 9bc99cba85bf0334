/*
 * Schemas in memory: what they take and what they refuse.
 *
 * SPDX-License-Identifier: MIT
 */
#include "loading/schema.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define ASSERT_OK(call, err)                                                   \
    do {                                                                       \
        if ((call) != COLANDER_OK)                                             \
            fail_msg("%s", (err).message);                                     \
    } while (0)

static const struct value_reading string_reading = {VALUE_STRING, NULL};

static void
add_refused(struct schema *schema, const char *path,
            const struct value_reading *reading, const char *message)
{
    struct colander_error err;
    size_t count = schema->column_count;

    assert_int_equal(schema_add_column(schema, path, reading, &err),
                     COLANDER_INVALID);
    assert_string_equal(err.message, message);
    assert_int_equal(schema_add_column(schema, path, reading, NULL),
                     COLANDER_INVALID);
    assert_int_equal(schema->column_count, count);
}

static void
an_empty_schema_changes_nothing(void **state)
{
    struct schema *schema = schema_create();

    (void)state;
    assert_non_null(schema);
    assert_true(schema->guesses);
    assert_int_equal(schema->rows_per_segment, UINT32_MAX);
    assert_null(schema_csv_column(schema, colander_slice_text("id")));
    schema_destroy(schema);
    schema_destroy(NULL);
}

static void
what_is_given_is_copied(void **state)
{
    struct schema *schema = schema_create();
    struct colander_error err;
    char path[] = "at", format[] = "unix", null[] = "NA";
    struct value_reading reading = {VALUE_TIME, format};

    (void)state;
    ASSERT_OK(schema_add_column(schema, path, &reading, &err), err);
    ASSERT_OK(schema_texts_add(&schema->nulls, null, &err), err);
    ASSERT_OK(schema_texts_add(&schema->nulls, "", &err), err);
    memset(path, 'x', sizeof(path) - 1);
    memset(format, 'x', sizeof(format) - 1);
    memset(null, 'x', sizeof(null) - 1);
    assert_string_equal(schema->columns[0].path, "at");
    assert_string_equal(schema->columns[0].reading.time_format, "unix");
    assert_string_equal(schema->nulls.texts[0], "NA");
    assert_string_equal(schema->nulls.texts[1], "");
    assert_int_equal(schema->nulls.count, 2);
    schema_destroy(schema);
}

static void
a_column_is_there_once_however_it_is_written(void **state)
{
    struct schema *schema = schema_create();
    struct colander_error err;

    (void)state;
    ASSERT_OK(schema_add_column(schema, "a.b[].c", &string_reading, &err), err);
    ASSERT_OK(schema_add_column(schema, "a\\.b", &string_reading, &err), err);
    ASSERT_OK(schema_add_column(schema, "a.b[]", &string_reading, &err), err);
    ASSERT_OK(schema_add_column(schema, "", &string_reading, &err), err);
    add_refused(schema, "\\a.\\x62[].c", &string_reading,
                "column 'a.b[].c' is there already");
    add_refused(schema, "a\\x2eb", &string_reading,
                "column 'a\\.b' is there already");
    add_refused(schema, "", &string_reading, "column '' is there already");
    assert_int_equal(schema->column_count, 4);
    schema_destroy(schema);
}

static void
what_is_no_path_is_refused_with_the_place(void **state)
{
    struct schema *schema = schema_create();
    struct colander_error err;

    (void)state;
    add_refused(schema, "a[0]", &string_reading,
                "path 'a[0]': '[' must be followed by ']' (position 2)");
    add_refused(schema, "a\\", &string_reading,
                "path 'a\\': nothing behind '\\' (position 2)");
    assert_int_equal(schema_check_path("a]", &err), COLANDER_INVALID);
    assert_int_equal(schema_check_path("a]", NULL), COLANDER_INVALID);
    ASSERT_OK(schema_check_path("a[][].b", &err), err);
    schema_destroy(schema);
}

static void
what_is_no_time_format_is_refused(void **state)
{
    struct schema *schema = schema_create();
    const struct value_reading iso = {VALUE_TIME, "iso"};

    (void)state;
    add_refused(schema, "a", &iso,
                "time format 'iso' is none of rfc3339, unix, unix_ms, unix_us, "
                "unix_ns, nor a pattern such as '%Y-%m-%d'");
    schema_destroy(schema);
}

static void
names_of_csv_are_paths_of_one_name(void **state)
{
    struct schema *schema = schema_create();
    struct colander_error err;
    const struct value_reading *found;

    (void)state;
    ASSERT_OK(schema_add_column(schema, "id", &string_reading, &err), err);
    ASSERT_OK(schema_add_column(schema, "PM2\\.5", &string_reading, &err), err);
    ASSERT_OK(schema_add_column(schema, "a.b", &string_reading, &err), err);
    ASSERT_OK(schema_add_column(schema, "n\\x00m[]", &string_reading, &err),
              err);
    ASSERT_OK(schema_add_column(schema, "n\\x00", &string_reading, &err), err);
    ASSERT_OK(schema_add_column(schema, "w\\xfed", &string_reading, &err), err);
    found = schema_csv_column(schema, colander_slice_text("id"));
    assert_ptr_equal(found, &schema->columns[0].reading);
    found = schema_csv_column(schema, colander_slice_text("PM2.5"));
    assert_ptr_equal(found, &schema->columns[1].reading);
    assert_null(schema_csv_column(schema, colander_slice_text("a.b")));
    assert_null(schema_csv_column(schema, colander_slice_text("a")));
    assert_null(schema_csv_column(schema, colander_slice_text("i")));
    assert_null(schema_csv_column(schema, colander_slice_text("idx")));
    assert_null(schema_csv_column(schema, colander_slice_text("n")));
    found = schema_csv_column(schema, colander_slice_of("n\0", 2));
    assert_ptr_equal(found, &schema->columns[4].reading);
    assert_null(schema_csv_column(schema, colander_slice_of("n\0m", 3)));
    found = schema_csv_column(schema, colander_slice_of("w\xfe\x64", 3));
    assert_ptr_equal(found, &schema->columns[5].reading);
    schema_destroy(schema);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_schema_changes_nothing),
        cmocka_unit_test(what_is_given_is_copied),
        cmocka_unit_test(a_column_is_there_once_however_it_is_written),
        cmocka_unit_test(what_is_no_path_is_refused_with_the_place),
        cmocka_unit_test(what_is_no_time_format_is_refused),
        cmocka_unit_test(names_of_csv_are_paths_of_one_name),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

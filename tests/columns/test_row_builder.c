/*
 * Rows built column by column.
 *
 * SPDX-License-Identifier: MIT
 */
#include "rows.h"
#include "support/cases.h"
#include "support/scoped.h"

/* The names of 64 nested maps. */
#define PATH_8 "m.m.m.m.m.m.m.m"
#define PATH_32 PATH_8 "." PATH_8 "." PATH_8 "." PATH_8
#define PATH_64 PATH_32 "." PATH_32

static void
assert_built(struct colander_row_builder *builder,
             struct colander_slice expected)
{
    struct colander_slice row;

    OK(colander_row_builder_finish(builder, &row, why()));
    ASSERT_SAME(row, expected);
}

/* Asserts the error, and that the builder is empty after it. */
static void
assert_mistake(struct colander_row_builder *builder, enum colander_code code,
               const char *message)
{
    struct colander_slice row;
    struct colander_error err;

    assert_int_equal(colander_row_builder_finish(builder, &row, &err), code);
    assert_int_equal(err.code, code);
    assert_string_equal(err.message, message);
    assert_int_equal(row.size, 0);
    assert_built(builder, BYTES("\x80"));
}

static int
create(void **state)
{
    *state = colander_row_builder_create();
    return *state == NULL;
}

static int
destroy(void **state)
{
    colander_row_builder_destroy(*state);
    return 0;
}

#define PREPARED_TEST(name)                                                    \
    TEST_WITH(struct colander_row_builder *builder, name, create, destroy)

PREPARED_TEST(builder_writes_each_value_in_its_shortest_form)
{
    static const struct {
        int64_t integer;
        const char *bytes;
        size_t size;
    } integers[] = {
        {0, "\x00", 1},
        {127, "\x7f", 1},
        {128, "\xcc\x80", 2},
        {256, "\xcd\x01\x00", 3},
        {65536, "\xce\x00\x01\x00\x00", 5},
        {INT64_MAX, "\xcf\x7f\xff\xff\xff\xff\xff\xff\xff", 9},
        {-32, "\xe0", 1},
        {-33, "\xd0\xdf", 2},
        {-129, "\xd1\xff\x7f", 3},
        {-32769, "\xd2\xff\xff\x7f\xff", 5},
        {INT64_MIN, "\xd3\x80\x00\x00\x00\x00\x00\x00\x00", 9},
    };
    SCOPED_BUFFER expected = COLANDER_BUFFER_EMPTY;

    for (size_t i = 0; i < COUNT(integers); i++) {
        colander_row_builder_add(builder, "i",
                                 colander_integer(integers[i].integer));
        colander_buffer_clear(&expected);
        put_bytes(&expected, "\x81\xa1i", 3);
        put_bytes(&expected, integers[i].bytes, integers[i].size);
        assert_built(builder, colander_buffer_slice(&expected));
    }
    colander_row_builder_add(builder, "n", colander_null());
    colander_row_builder_add(builder, "t", colander_boolean(true));
    colander_row_builder_add(builder, "f", colander_boolean(false));
    colander_row_builder_add(builder, "u", colander_unsigned(UINT64_MAX));
    colander_row_builder_add(builder, "d", colander_double(1.5));
    colander_row_builder_add(builder, "s", colander_text("\xc3\xbc"));
    colander_row_builder_add(builder, "b", colander_binary(BYTES("\xff")));
    assert_built(
        builder,
        BYTES(
            "\x87\xa1n\xc0\xa1t\xc3\241f\xc2\xa1u\xcf\xff\xff\xff\xff\xff\xff"
            "\xff\xff"
            "\241d\xcb\x3f\xf8\0\0\0\0\0\0\xa1s\xa2\xc3\xbc\241b\xc4\x01\xff"));
}

PREPARED_TEST(builder_writes_timestamps_and_extensions)
{
    struct colander_value extension = colander_binary(BYTES("xyz"));

    extension.type = COLANDER_EXTENSION;
    extension.extension_type = 5;
    colander_row_builder_add(builder, "a", colander_timestamp(1, 0));
    colander_row_builder_add(builder, "b", colander_timestamp(1, 2));
    colander_row_builder_add(builder, "c", colander_timestamp(-1, 2));
    colander_row_builder_add(builder, "d", extension);
    assert_built(builder,
                 BYTES("\x84\241a\xd6\xff\0\0\0\x01\241b\xd7\xff\0\0\0\x08\0\0"
                       "\0\x01\241c\xc7\x0c\xff\0\0\0\x02"
                       "\xff\xff\xff\xff\xff\xff\xff\xff\241d\xc7\x03\x05xyz"));
}

PREPARED_TEST(builder_nests_maps_and_arrays)
{
    struct colander_value map = colander_string(BYTES("\x81\xa1x\x01"));

    map.type = COLANDER_MAP;
    colander_row_builder_begin_map(builder, "m");
    colander_row_builder_begin_array(builder, "a");
    colander_row_builder_add(builder, NULL, colander_integer(1));
    colander_row_builder_begin_map(builder, NULL);
    colander_row_builder_end(builder);
    colander_row_builder_add(builder, NULL, map);
    colander_row_builder_end(builder);
    colander_row_builder_end(builder);
    colander_row_builder_add_named(builder, BYTES("a\0b"), colander_integer(2));
    colander_row_builder_begin_array(builder, "");
    colander_row_builder_end(builder);
    colander_row_builder_begin_map_named(builder, BYTES("\0m"));
    colander_row_builder_end(builder);
    colander_row_builder_begin_array_named(builder, BYTES("\0a"));
    colander_row_builder_end(builder);
    assert_built(builder,
                 BYTES("\x85\xa1m\x81\241a\x93\x01\x80\x81\xa1x\x01\243"
                       "a\0b\x02\xa0\x90\xa2\0m\x80\xa2\0"
                       "a\x90"));
}

PREPARED_TEST(builder_starts_a_new_row_after_finish)
{
    colander_row_builder_add(builder, "a", colander_integer(1));
    assert_built(builder, BYTES("\x81\241a\x01"));
    colander_row_builder_add(builder, "b", colander_integer(2));
    assert_built(builder, BYTES("\x81\241b\x02"));
    colander_row_builder_begin_array(builder, "c");
    colander_row_builder_end(builder);
    assert_built(builder, BYTES("\x81\241c\x90"));
    colander_row_builder_end(builder);
    assert_mistake(builder, COLANDER_INVALID, "an end without a begin");
}

/* A row whose columns are all optional may be empty. */
PREPARED_TEST(builder_returns_a_row_without_columns_if_none_was_added)
{
    assert_built(builder, BYTES("\x80"));
    colander_row_builder_add(builder, "a", colander_integer(1));
    assert_built(builder, BYTES("\x81\241a\x01"));
    assert_built(builder, BYTES("\x80"));
}

PREPARED_TEST(builder_grows_heads_as_the_count_needs)
{
    static const unsigned counts[] = {15, 16, 65535, 65536};
    struct colander_members members, elements;
    struct colander_slice row, name;
    struct colander_value value;
    char text[16];
    bool is_member;

    for (size_t i = 0; i < COUNT(counts); i++) {
        unsigned count = counts[i];

        colander_row_builder_begin_array(builder, "array");
        for (unsigned j = 0; j < count; j++)
            colander_row_builder_add(builder, NULL, colander_integer(j));
        colander_row_builder_end(builder);
        for (unsigned j = 1; j < count; j++) {
            snprintf(text, sizeof(text), "%u", j);
            colander_row_builder_add(builder, text, colander_integer(j));
        }
        OK(colander_row_builder_finish(builder, &row, why()));
        OK(colander_members_init(&members, row, why()));
        assert_int_equal(members.left, count);
        OK(colander_members_next(&members, &is_member, &name, &value, why()));
        OK(colander_members_init(&elements, value.bytes, why()));
        assert_int_equal(elements.left, count);
        assert_int_equal(row.data[0],
                         count < 16 ? 0x80 | count : 0xdeu + (count > 65535));
        assert_int_equal(value.bytes.data[0],
                         count < 16 ? 0x90 | count : 0xdcu + (count > 65535));
        while (elements.left > 0) {
            unsigned expected = count - elements.left;

            OK(colander_members_next(&elements, &is_member, &name, &value,
                                     why()));
            assert_int_equal(value.integer, expected);
        }
    }
}

PREPARED_TEST(builder_reports_members_in_the_wrong_place)
{
    colander_row_builder_add(builder, NULL, colander_integer(1));
    assert_mistake(builder, COLANDER_INVALID, "no name for a member of a map");
    colander_row_builder_begin_array(builder, "a");
    colander_row_builder_add(builder, "x", colander_integer(1));
    assert_mistake(builder, COLANDER_INVALID,
                   "a name for an element of an array");
    colander_row_builder_begin_array(builder, "a");
    colander_row_builder_begin_map(builder, "x");
    assert_mistake(builder, COLANDER_INVALID,
                   "a name for an element of an array");
}

PREPARED_TEST(builder_reports_begins_and_ends_that_do_not_match)
{
    colander_row_builder_end(builder);
    assert_mistake(builder, COLANDER_INVALID, "an end without a begin");
    colander_row_builder_begin_map(builder, "m");
    colander_row_builder_begin_map(builder, "m");
    assert_mistake(builder, COLANDER_INVALID, "2 begins without an end");
}

PREPARED_TEST(builder_reports_only_the_first_mistake)
{
    colander_row_builder_add(builder, "a", colander_timestamp(1, 1000000000));
    colander_row_builder_end(builder);
    colander_row_builder_add(builder, NULL, colander_null());
    assert_mistake(builder, COLANDER_INVALID,
                   "column 'a': timestamp has 1000000000 nanoseconds");
}

PREPARED_TEST(builder_reports_the_whole_path_of_a_mistake)
{
    struct colander_value extension = colander_binary(BYTES("xyz"));
    char name[COLANDER_NAME_SIZE_MAX + 2];
    char message[400];

    extension.type = COLANDER_EXTENSION;
    extension.extension_type = -1;
    colander_row_builder_begin_map(builder, "a.b");
    colander_row_builder_add(builder, "x", colander_integer(1));
    colander_row_builder_begin_array(builder, "");
    colander_row_builder_add(builder, NULL, colander_integer(1));
    for (int i = 0; i < 20; i++) { /* a longer head for the inner map */
        colander_row_builder_begin_map(builder, NULL);
        for (char key[] = "a"; *key < 'r'; ++*key)
            colander_row_builder_add(builder, key, colander_null());
        colander_row_builder_end(builder);
    }
    colander_row_builder_begin_map(builder, NULL);
    colander_row_builder_add(builder, "t", extension);
    assert_mistake(builder, COLANDER_INVALID,
                   "column 'a\\.b.[].t': extension type -1 is a timestamp");

    /* part of a long name of 3-byte characters is shown */
    for (size_t i = 0; i + 3 < sizeof(name); i += 3)
        memcpy(name + i, "\xe2\x82\xac", 4);
    colander_row_builder_begin_map(builder, "ab");
    colander_row_builder_add(builder, name, extension);
    snprintf(message, sizeof(message),
             "column 'ab.%.297s...': extension type -1 is a timestamp", name);
    assert_mistake(builder, COLANDER_INVALID, message);
}

PREPARED_TEST(builder_keeps_to_the_rules_of_the_row_check)
{
    colander_row_builder_add(builder, "a", colander_integer(1));
    colander_row_builder_add(builder, "a", colander_integer(2));
    assert_mistake(builder, COLANDER_INVALID, "column 'a': name appears twice");
    colander_row_builder_add(builder, "_key", colander_integer(1));
    assert_mistake(builder, COLANDER_INVALID,
                   "column '_key': the name is reserved for the key");
    colander_row_builder_add(builder, "a", colander_text("\xff"));
    assert_mistake(builder, COLANDER_INVALID,
                   "column 'a': string is not UTF-8 (store other bytes as "
                   "binary)");
}

PREPARED_TEST(builder_rejects_invalid_encoded_values)
{
    struct colander_value value = colander_string(BYTES("\x92\x01"));

    value.type = COLANDER_ARRAY;
    colander_row_builder_add(builder, "a", value);
    assert_mistake(builder, COLANDER_INVALID,
                   "column 'a': encoded value ends in the middle of a value");
    value.bytes = BYTES("\x80");
    colander_row_builder_add(builder, "a", value);
    assert_mistake(builder, COLANDER_INVALID,
                   "column 'a': encoded value is not one array");
    value.bytes = BYTES("\x90\x90");
    colander_row_builder_add(builder, "a", value);
    assert_mistake(builder, COLANDER_INVALID,
                   "column 'a': encoded value is not one array");
    value.type = COLANDER_EXTENSION;
    value.extension_type = -1;
    colander_row_builder_add(builder, "a", value);
    assert_mistake(builder, COLANDER_INVALID,
                   "column 'a': extension type -1 is a timestamp");
}

PREPARED_TEST(builder_refuses_one_level_too_many)
{
    struct colander_slice row;

    for (int levels = COLANDER_ROW_DEPTH_MAX - 1;
         levels <= COLANDER_ROW_DEPTH_MAX; levels++) {
        for (int i = 0; i < levels; i++)
            colander_row_builder_begin_map(builder, "m");
        for (int i = 0; i < levels; i++)
            colander_row_builder_end(builder);
        if (levels < COLANDER_ROW_DEPTH_MAX)
            OK(colander_row_builder_finish(builder, &row, why()));
    }
    assert_mistake(builder, COLANDER_LIMIT,
                   "column '" PATH_64 "': row has more than 64 levels");
}

PREPARED_TEST(builder_refuses_a_row_that_is_too_large)
{
    static uint8_t bytes[COLANDER_ROW_SIZE_MAX / 8];
    struct colander_slice part = colander_slice_of(bytes, sizeof(bytes));
    char name[2] = "a";

    for (; *name < 'i'; ++*name)
        colander_row_builder_add(builder, name, colander_binary(part));
    assert_mistake(builder, COLANDER_LIMIT,
                   "column 'h': row has more than 16777216 bytes");
    part.size = (size_t)COLANDER_ROW_SIZE_MAX + 1;
    colander_row_builder_add(builder, "a", colander_text(""));
    colander_row_builder_add(builder, "b", colander_string(part));
    assert_mistake(builder, COLANDER_LIMIT,
                   "column 'b': string of 16777217 bytes, 16777216 at most");
}

PREPARED_TEST(builder_refuses_containers_that_are_too_many)
{
    colander_row_builder_begin_array(builder, "a");
    for (unsigned i = 0; i < COLANDER_ROW_SIZE_MAX; i++) {
        colander_row_builder_begin_array(builder, NULL);
        colander_row_builder_end(builder);
    }
    assert_mistake(builder, COLANDER_LIMIT,
                   "column 'a[]': row has more than 16777216 bytes");
}

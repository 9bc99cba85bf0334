/*
 * The row check and the members of containers.
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

static enum colander_code
check(struct colander_slice row, struct colander_error *err)
{
    struct colander_slice copy = exact_copy(row);
    enum colander_code code = colander_row_check(copy, err);

    exact_free(copy);
    return code;
}

static void
assert_fine(struct colander_slice row)
{
    OK(check(row, why()));
}

static void
assert_refused(struct colander_slice row, enum colander_code code,
               const char *message)
{
    struct colander_error err;

    assert_int_equal(check(row, &err), code);
    assert_int_equal(err.code, code);
    assert_string_equal(err.message, message);
}

static void
assert_invalid(struct colander_slice row, const char *message)
{
    assert_refused(row, COLANDER_INVALID, message);
}

TEST(check_accepts_rows_of_every_encoding)
{
    uint64_t seed = random_seed("check_accepts_rows_of_every_encoding");
    SCOPED_BUFFER row = COLANDER_BUFFER_EMPTY;

    for (int i = 0; i < 20000; i++) {
        random_row(&row, &seed);
        assert_fine(colander_buffer_slice(&row));
    }
    assert_fine(BYTES("\x80"));
    assert_fine(BYTES("\xdf\0\0\0\0"));
}

TEST(check_finds_a_row_cut_off_at_every_byte)
{
    uint64_t seed = random_seed("check_finds_a_row_cut_off_at_every_byte");
    SCOPED_BUFFER row = COLANDER_BUFFER_EMPTY;

    for (int i = 0; i < 300; i++) {
        random_row(&row, &seed);
        for (size_t size = 0; size < row.size; size++)
            FAILS(check(colander_slice_of(row.data, size), why()),
                  COLANDER_INVALID);
    }
}

TEST(check_reports_what_is_not_a_row)
{
    assert_invalid(BYTES(""), "row ends in the middle of a value");
    assert_invalid(BYTES("\x91\x01"), "row is not a map but of type array");
    assert_invalid(BYTES("\xa1x"), "row is not a map but of type string");
    assert_invalid(BYTES("\x80\x80"), "row has 1 bytes after its end");
    assert_invalid(BYTES("\x81\x01\x01"),
                   "row has a name that is not a string");
    assert_invalid(BYTES("\x81\xc4\x01x\x01"),
                   "row has a name that is not a string");
    assert_invalid(BYTES("\x82\xa1x\x81\xa1y\x91\x81\x01\x01"),
                   "column 'x.y[]': row has a name that is not a string");
    assert_invalid(BYTES("\x82\xa1x\x81\241a\x82\xa1y\x01\xa2z"),
                   "column 'x.a': row ends in the middle of a value");
    assert_invalid(BYTES("\x81\xa1x\xc1"),
                   "column 'x': row has bytes that are not a value");
    assert_invalid(BYTES("\x81\xa1x\xdf\xff\xff\xff\xff"),
                   "column 'x': row ends in the middle of a value");
    assert_invalid(BYTES("\x81\xa1x\xdd\xff\xff\xff\xff\x01"),
                   "column 'x': row ends in the middle of a value");
}

TEST(check_refuses_an_impossible_timestamp)
{
    assert_fine(BYTES("\x81\xa1t\xc7\x0c\xff\x3b\x9a\xc9\xff"
                      "\xff\xff\xff\xff\xff\xff\xff\xff"));
    assert_invalid(BYTES("\x81\xa1t\xc7\x0c\xff\x3b\x9a\xca\x00"
                         "\0\0\0\0\0\0\0\0"),
                   "column 't': row has bytes that are not a value");
    assert_invalid(BYTES("\x81\xa1t\xd7\xff\xff\xff\xff\xff\0\0\0\0"),
                   "column 't': row has bytes that are not a value");
    assert_invalid(BYTES("\x81\xa1t\xd5\xff\0\0"),
                   "column 't': row has bytes that are not a value");
}

TEST(check_reports_where_a_string_is_not_utf8)
{
    assert_invalid(BYTES("\x81\xa4user\x81\xa4name\xa2\xc3("),
                   "column 'user.name': string is not UTF-8 (store other "
                   "bytes as binary)");
    assert_invalid(BYTES("\x81\243a.b\x92\x01\x91\xa1\xff"),
                   "column 'a\\.b[][]': string is not UTF-8 (store other "
                   "bytes as binary)");
    assert_invalid(BYTES("\x81\241a\x81\xa1\xff\x01"),
                   "column 'a.\\xff': name is not UTF-8");
}

TEST(check_refuses_the_key_column_at_the_top_only)
{
    assert_invalid(BYTES("\x81\xa4_key\x01"),
                   "column '_key': the name is reserved for the key");
    assert_invalid(BYTES("\x81\xd9\x04_key\x01"),
                   "column '_key': the name is reserved for the key");
    assert_fine(BYTES("\x82\xa5_keys\x01\xa1u\x81\xa4_key\x01"));
}

TEST(check_reports_the_name_that_appears_twice)
{
    assert_invalid(BYTES("\x82\241a\x01\xd9\001a\x02"),
                   "column 'a': name appears twice");
    assert_invalid(BYTES("\x81\241a\x82\241b\x01\241b\x02"),
                   "column 'a.b': name appears twice");
    assert_invalid(BYTES("\x81\241a\x82\xa0\x01\xa0\x02"),
                   "column 'a.': name appears twice");
    /* the same names in two maps, nested and side by side */
    OK(check(BYTES("\x82\241a\x81\241a\x01\241b\x92\x81\241a\x01\x81\241a\x01"),
             why()));
}

/* Nested maps named "m", the innermost with "x" `count` times. */
static void
nested_row(struct colander_buffer *row, unsigned levels, unsigned count)
{
    colander_buffer_clear(row);
    for (unsigned i = 1; i < levels; i++)
        put_bytes(row, "\x81\xa1m", 3);
    put_byte(row, 0x80 | count);
    while (count-- > 0)
        put_bytes(row, "\xa1x\x01", 3);
}

TEST(check_finds_a_name_twice_at_each_depth)
{
    SCOPED_BUFFER row = COLANDER_BUFFER_EMPTY;

    for (unsigned levels = 1; levels <= COLANDER_ROW_DEPTH_MAX; levels++) {
        nested_row(&row, levels, 1);
        assert_fine(colander_buffer_slice(&row));
        nested_row(&row, levels, 2);
        FAILS(check(colander_buffer_slice(&row), why()), COLANDER_INVALID);
        assert_non_null(strstr(error_text(), "x': name appears twice"));
    }
}

TEST(check_refuses_one_level_too_many)
{
    SCOPED_BUFFER row = COLANDER_BUFFER_EMPTY;

    nested_row(&row, COLANDER_ROW_DEPTH_MAX, 0);
    assert_fine(colander_buffer_slice(&row));
    nested_row(&row, COLANDER_ROW_DEPTH_MAX + 1, 0);
    assert_refused(colander_buffer_slice(&row), COLANDER_LIMIT,
                   "column '" PATH_64 "': row has more than 64 levels");
    colander_buffer_clear(&row);
    put_bytes(&row, "\x81\xa1m", 3);
    for (int i = 0; i < 1000000; i++)
        put_byte(&row, 0x91);
    FAILS(check(colander_buffer_slice(&row), why()), COLANDER_LIMIT);
    assert_non_null(strstr(error_text(), "column 'm[][]"));
    assert_non_null(strstr(error_text(), "[]': row has more than 64 levels"));
}

TEST(check_refuses_one_byte_too_many)
{
    SCOPED_BUFFER row = COLANDER_BUFFER_EMPTY;

    put_bytes(&row, "\x81\xa1x\xc6", 4);
    put_number(&row, COLANDER_ROW_SIZE_MAX - 8, 4);
    while (row.size < COLANDER_ROW_SIZE_MAX)
        put_byte(&row, 0);
    assert_fine(colander_buffer_slice(&row));
    put_byte(&row, 0);
    assert_refused(colander_buffer_slice(&row), COLANDER_LIMIT,
                   "row has 16777217 bytes, 16777216 at most");
}

TEST(check_refuses_a_name_one_byte_too_long)
{
    SCOPED_BUFFER row = COLANDER_BUFFER_EMPTY;
    char name[COLANDER_NAME_SIZE_MAX + 1];

    memset(name, 'n', sizeof(name));
    for (size_t size = COLANDER_NAME_SIZE_MAX; size <= sizeof(name); size++) {
        colander_buffer_clear(&row);
        put_bytes(&row, "\x81\xda", 2);
        put_number(&row, size, 2);
        put_bytes(&row, name, size);
        put_byte(&row, 1);
        if (size == COLANDER_NAME_SIZE_MAX)
            assert_fine(colander_buffer_slice(&row));
    }
    FAILS(check(colander_buffer_slice(&row), why()), COLANDER_LIMIT);
    assert_non_null(
        strstr(error_text(), "nnn...': name has 1025 bytes, 1024 at most"));
}

/* A row of `count` names in maps of `width`. */
static void
wide_row(struct colander_buffer *row, unsigned count, unsigned width)
{
    char name[16];

    colander_buffer_clear(row);
    put_byte(row, 0xdf);
    put_number(row, (count + width) / (width + 1), 4);
    for (unsigned i = 0; i < count; i++) {
        unsigned left = count - i - 1;

        put_byte(row, 0xa7);
        snprintf(name, sizeof(name), "n%06u", i);
        put_bytes(row, name, 7);
        if (i % (width + 1) == 0) {
            put_byte(row, 0xdf);
            put_number(row, left < width ? left : width, 4);
        } else {
            put_byte(row, 1);
        }
    }
}

TEST(check_refuses_one_name_too_many)
{
    static const unsigned widths[] = {0, 1, 7, 40, COLANDER_ROW_NAMES_MAX};
    SCOPED_BUFFER row = COLANDER_BUFFER_EMPTY;

    for (size_t i = 0; i < COUNT(widths); i++) {
        wide_row(&row, COLANDER_ROW_NAMES_MAX, widths[i]);
        assert_fine(colander_buffer_slice(&row));
        wide_row(&row, COLANDER_ROW_NAMES_MAX + 1, widths[i]);
        FAILS(check(colander_buffer_slice(&row), why()), COLANDER_LIMIT);
        assert_non_null(
            strstr(error_text(), "n100000': row has more than 100000 names"));
    }
}

TEST(check_finds_one_name_twice_among_a_hundred_thousand)
{
    uint64_t seed = random_seed("one_name_twice_among_a_hundred_thousand");
    SCOPED_BUFFER row = COLANDER_BUFFER_EMPTY;

    wide_row(&row, COLANDER_ROW_NAMES_MAX, 0);
    for (int i = 0; i < 20; i++) {
        size_t from = random_below(&seed, COLANDER_ROW_NAMES_MAX);
        size_t to = random_below(&seed, COLANDER_ROW_NAMES_MAX);
        uint8_t *name = row.data + 5 + to * 13 + 1;
        char message[64];
        uint8_t kept[7];

        if (from == to)
            continue;
        memcpy(kept, name, 7);
        memcpy(name, row.data + 5 + from * 13 + 1, 7);
        snprintf(message, sizeof(message), "column '%.7s': name appears twice",
                 (const char *)name);
        assert_invalid(colander_buffer_slice(&row), message);
        memcpy(name, kept, 7);
    }
}

TEST(check_cuts_a_long_path_between_characters)
{
    char message[400] = "column 'a";
    SCOPED_BUFFER row = COLANDER_BUFFER_EMPTY;

    put_bytes(&row, "\x81\xda\x03\350a", 5);
    while (row.size < 4 + 1000)
        put_bytes(&row, "\xe2\x82\xac", 3);
    put_byte(&row, 0xc1);
    for (int i = 0; i < 99; i++) /* the 100th ends after 300 bytes */
        strcat(message, "\xe2\x82\xac");
    strcat(message, "...': row has bytes that are not a value");
    assert_invalid(colander_buffer_slice(&row), message);
}

/* ------------------------------------------------------------- members --- */

static struct colander_members
members_of(struct colander_slice container)
{
    struct colander_members members;

    OK(colander_members_init(&members, container, why()));
    return members;
}

/* Moves to the next member, which must exist. */
static struct colander_value
next_member(struct colander_members *members, struct colander_slice *name)
{
    struct colander_value value;
    bool is_member;

    OK(colander_members_next(members, &is_member, name, &value, why()));
    assert_true(is_member);
    return value;
}

TEST(members_return_integers_by_their_sign)
{
    static const struct {
        const char *bytes;
        size_t size;
        int64_t integer;
    } cases[] = {
        {"\x91\x7f", 2, 127},
        {"\x91\xe0", 2, -32},
        {"\x91\xcc\xff", 3, 255},
        {"\x91\xcd\xff\xfe", 4, 65534},
        {"\x91\xce\xff\xff\xff\xfe", 6, 4294967294},
        {"\x91\xcf\x7f\xff\xff\xff\xff\xff\xff\xff", 10, INT64_MAX},
        {"\x91\xd0\x80", 3, -128},
        {"\x91\xd1\x80\x00", 4, -32768},
        {"\x91\xd2\x80\x00\x00\x00", 6, INT32_MIN},
        {"\x91\xd3\x80\x00\x00\x00\x00\x00\x00\x00", 10, INT64_MIN},
    };
    struct colander_members members;
    struct colander_slice name;
    struct colander_value value;

    for (size_t i = 0; i < COUNT(cases); i++) {
        members = members_of(colander_slice_of(cases[i].bytes, cases[i].size));
        value = next_member(&members, &name);
        assert_int_equal(value.type, COLANDER_INTEGER);
        assert_true(value.integer == cases[i].integer);
    }
    members = members_of(BYTES("\x91\xcf\x80\0\0\0\0\0\0\0"));
    value = next_member(&members, &name);
    assert_int_equal(value.type, COLANDER_UNSIGNED);
    assert_true(value.natural == UINT64_C(1) << 63);
}

TEST(members_return_timestamps_of_all_encodings)
{
    static const int64_t seconds[] = {4294967295, 0x3ffffffff, -1};
    static const uint32_t nanoseconds[] = {0, 999999999, 5};
    struct colander_members members =
        members_of(BYTES("\x93\xd6\xff\xff\xff\xff\xff"
                         "\xd7\xff\xee\x6b\x27\xff\xff\xff\xff\xff"
                         "\xc7\x0c\xff\0\0\0\x05"
                         "\xff\xff\xff\xff\xff\xff\xff\xff"));
    struct colander_slice name;

    for (int i = 0; i < 3; i++) {
        const struct colander_value value = next_member(&members, &name);

        assert_int_equal(value.type, COLANDER_TIMESTAMP);
        assert_true(value.second == seconds[i]);
        assert_int_equal(value.nanosecond, nanoseconds[i]);
    }
}

TEST(members_return_names_and_whole_containers)
{
    struct colander_members members =
        members_of(BYTES("\x82\241a\x92\x01\x80\241b\xca\x3f\x00\x00\x00"));
    struct colander_slice name;
    struct colander_value value;
    bool is_member;

    assert_true(members.is_map);
    value = next_member(&members, &name);
    ASSERT_SAME(name, BYTES("a"));
    assert_int_equal(value.type, COLANDER_ARRAY);
    ASSERT_SAME(value.bytes, BYTES("\x92\x01\x80"));
    value = next_member(&members, &name);
    assert_int_equal(value.type, COLANDER_DOUBLE);
    assert_true(value.number == 0.5);
    OK(colander_members_next(&members, &is_member, &name, &value, NULL));
    assert_false(is_member);
}

TEST(members_report_corrupt_unless_a_container)
{
    struct colander_members members;
    struct colander_slice name;
    struct colander_value value;
    bool is_member;

    FAILS(colander_members_init(&members, BYTES("\x01"), why()),
          COLANDER_CORRUPT);
    FAILS(colander_members_init(&members, BYTES(""), why()), COLANDER_CORRUPT);
    /* the count exceeds the bytes: all of it, or half as many again */
    FAILS(colander_members_init(&members, BYTES("\x82\xa1x\x01"), why()),
          COLANDER_CORRUPT);
    FAILS(colander_members_init(&members, BYTES("\xde\0\x02\xa1x\x01"), why()),
          COLANDER_CORRUPT);
    members = members_of(BYTES("\x81\x01\x01"));
    FAILS(colander_members_next(&members, &is_member, &name, &value, why()),
          COLANDER_CORRUPT);
    assert_string_equal(error_text(),
                        "container has a name that is not a string");
}

TEST(members_refuse_a_value_that_is_too_deep)
{
    SCOPED_BUFFER row = COLANDER_BUFFER_EMPTY;
    struct colander_members members;
    struct colander_slice name;
    struct colander_value value;
    bool is_member;

    put_bytes(&row, "\x81\xa1m", 3);
    for (int i = 0; i < COLANDER_ROW_DEPTH_MAX; i++)
        put_byte(&row, 0x91);
    put_byte(&row, 1);
    members = members_of(colander_buffer_slice(&row));
    value = next_member(&members, &name);
    assert_int_equal(value.bytes.size, row.size - 3);
    row.data[row.size - 1] = 0x91;
    put_byte(&row, 1);
    members = members_of(colander_buffer_slice(&row));
    FAILS(colander_members_next(&members, &is_member, &name, &value, why()),
          COLANDER_CORRUPT);
    assert_string_equal(error_text(), "container has more than 64 levels");
    assert_false(is_member);
}

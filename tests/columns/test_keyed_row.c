/*
 * Rows that contain their key, as msgpack-c reads them.
 *
 * SPDX-License-Identifier: MIT
 */
#include "rows.h"
#include "support/cases.h"
#include "support/scoped.h"

/* Returns what `parts` and `row` are combined to. */
static void
append(struct colander_buffer *out, const struct colander_value *parts,
       size_t count, struct colander_slice row)
{
    SCOPED_BUFFER key = COLANDER_BUFFER_EMPTY;

    OK(colander_key_encode(parts, count, &key, why()));
    OK(colander_row_append_keyed(out, colander_buffer_slice(&key), row, why()));
}

static void
assert_keyed(const struct colander_value *parts, size_t count,
             struct colander_slice row, struct colander_slice wanted)
{
    SCOPED_BUFFER out = COLANDER_BUFFER_EMPTY;

    append(&out, parts, count, row);
    ASSERT_SAME(colander_buffer_slice(&out), wanted);
}

TEST(the_key_is_the_first_column_with_its_own_type)
{
    const struct colander_slice bytes = BYTES("\x00\xff");
    const struct colander_value parts[] = {
        colander_text("id"), colander_integer(-1), colander_boolean(true)};
    struct colander_value part;

    assert_keyed(parts, 1, BYTES("\x81\xa1x\x01"),
                 BYTES("\x82\xa4_key\xa2id\xa1x\x01"));
    assert_keyed(parts, 3, BYTES("\x80"),
                 BYTES("\x81\xa4_key\x93\xa2id\xff\xc3"));
    part = colander_binary(bytes);
    assert_keyed(&part, 1, BYTES("\x80"),
                 BYTES("\x81\xa4_key\xc4\x02\x00\xff"));
    part = colander_timestamp(1600000000, 0);
    assert_keyed(&part, 1, BYTES("\x80"),
                 BYTES("\x81\xa4_key\xd6\xff\x5f\x5e\x10\x00"));
    part = colander_unsigned(UINT64_MAX);
    assert_keyed(&part, 1, BYTES("\x80"),
                 BYTES("\x81\xa4_key\xcf\xff\xff\xff\xff\xff\xff\xff\xff"));
    part = colander_double(5.5);
    assert_keyed(&part, 1, BYTES("\x80"),
                 BYTES("\x81\xa4_key\xcb\x40\x16\x00\x00\x00\x00\x00\x00"));
    part = colander_binary(bytes);
    part.type = COLANDER_EXTENSION;
    part.extension_type = 5;
    assert_keyed(&part, 1, BYTES("\x80"),
                 BYTES("\x81\xa4_key\xd5\x05\x00\xff"));
}

/* Columns stay as they were encoded, even in forms that no builder creates. */
TEST(columns_are_the_bytes_that_are_stored)
{
    const struct colander_value part = colander_integer(7);

    assert_keyed(&part, 1,
                 BYTES("\xdf\x00\x00\x00\x01\xd9\x01x\xd3\x00\x00\x00"
                       "\x00\x00\x00\x00\x01"),
                 BYTES("\x82\xa4_key\x07\xd9\x01x\xd3\x00\x00\x00\x00\x00\x00"
                       "\x00\x01"));
}

/* The head grows if the key is one column too many for it. */
TEST(a_row_of_any_size_has_room_for_its_key)
{
    static const uint32_t counts[] = {0, 1, 14, 15, 16, 65534, 65535, 65536};

    for (size_t i = 0; i < COUNT(counts); i++) {
        const struct colander_value part = colander_unsigned(i);
        SCOPED_BUFFER row = COLANDER_BUFFER_EMPTY;
        SCOPED_BUFFER out = COLANDER_BUFFER_EMPTY;
        msgpack_unpacked unpacked;
        size_t end = 0;

        put_byte(&row, 0xdf);
        put_number(&row, counts[i], 4);
        for (uint32_t k = 0; k < counts[i]; k++) {
            put_byte(&row, 0xa4);
            put_number(&row, k, 4);
            put_byte(&row, 0xc0);
        }
        append(&out, &part, 1, colander_buffer_slice(&row));
        msgpack_unpacked_init(&unpacked);
        assert_int_equal(msgpack_unpack_next(&unpacked, (const char *)out.data,
                                             out.size, &end),
                         MSGPACK_UNPACK_SUCCESS);
        assert_int_equal(end, out.size);
        assert_int_equal(unpacked.data.via.map.size, counts[i] + 1);
        msgpack_unpacked_destroy(&unpacked);
    }
}

/* Appended to one buffer, as a file of rows is read. */
TEST(a_stream_of_rows_is_read_by_msgpack_c)
{
    SCOPED_BUFFER out = COLANDER_BUFFER_EMPTY;
    SCOPED_BUFFER row = COLANDER_BUFFER_EMPTY;
    msgpack_unpacked unpacked;
    size_t at = 0;

    msgpack_unpacked_init(&unpacked);
    for (int64_t i = 0; i < 500; i++) {
        const struct colander_value parts[] = {colander_text("part"),
                                               colander_integer(i)};
        const msgpack_object_kv *columns;

        random_row(&row, random_state());
        append(&out, parts, 2, colander_buffer_slice(&row));
        assert_int_equal(msgpack_unpack_next(&unpacked, (const char *)out.data,
                                             out.size, &at),
                         MSGPACK_UNPACK_SUCCESS);
        assert_int_equal(at, out.size);
        columns = unpacked.data.via.map.ptr;
        assert_memory_equal(columns[0].key.via.str.ptr, "_key", 4);
        assert_int_equal(columns[0].val.via.array.ptr[1].via.i64, i);
    }
    msgpack_unpacked_destroy(&unpacked);
}

static void
assert_corrupt(struct colander_slice key, struct colander_slice row)
{
    SCOPED_BUFFER out = COLANDER_BUFFER_EMPTY;
    struct colander_error err;

    put_byte(&out, 'x');
    FAILS(colander_row_append_keyed(&out, key, row, &err), COLANDER_CORRUPT);
    assert_int_equal(err.code, COLANDER_CORRUPT);
    assert_int_equal(out.size, 1);
}

TEST(damage_is_corrupt_and_appends_nothing)
{
    const struct colander_slice key = BYTES("\x09");

    assert_corrupt(BYTES(""), BYTES("\x80"));
    assert_corrupt(BYTES("\x30"), BYTES("\x80"));
    assert_corrupt(key, BYTES(""));
    assert_corrupt(key, BYTES("\x05"));
    assert_corrupt(key, BYTES("\x81\xa1x"));
    assert_corrupt(key, BYTES("\x80\x80"));
}

/*
 * Numbers encoded as bytes, and the reader that checks bounds.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/bytes.h"
#include "support/cases.h"

static const uint8_t counted[] = {1, 2, 3, 4, 5, 6, 7, 8};

TEST(fixed_sizes_have_their_byte_order)
{
    uint8_t bytes[9] = {0};

    assert_int_equal(bytes_get_le16(counted), 0x0201);
    assert_int_equal(bytes_get_le32(counted), 0x04030201);
    assert_int_equal(bytes_get_le64(counted), 0x0807060504030201);
    assert_int_equal(bytes_get_be16(counted), 0x0102);
    assert_int_equal(bytes_get_be32(counted), 0x01020304);
    assert_int_equal(bytes_get_be64(counted), 0x0102030405060708);
    bytes_put_le64(bytes + 1, 0x0807060504030201); /* not aligned */
    assert_memory_equal(bytes + 1, counted, 8);
    bytes_put_be64(bytes + 1, 0x0102030405060708);
    assert_memory_equal(bytes + 1, counted, 8);
}

TEST(any_size_agrees_with_fixed_sizes)
{
    uint8_t bytes[9];

    for (size_t size = 0; size <= 8; size++) {
        memset(bytes, 0xee, sizeof(bytes));
        bytes_put_le(bytes, bytes_get_le64(counted), size);
        assert_memory_equal(bytes, counted, size);
        assert_int_equal(bytes[size], 0xee);
        assert_int_equal(bytes_get_le(bytes, size),
                         bytes_get_le(counted, size));
        bytes_put_be(bytes, bytes_get_be(counted, size), size);
        assert_memory_equal(bytes, counted, size);
    }
    assert_int_equal(bytes_get_le(counted, 8), bytes_get_le64(counted));
    assert_int_equal(bytes_get_be(counted, 8), bytes_get_be64(counted));
    assert_int_equal(bytes_get_le(counted, 3), 0x030201);
    assert_int_equal(bytes_get_be(counted, 3), 0x010203);
}

TEST(varints_are_read_as_written)
{
    static const uint64_t numbers[] = {
        0, 1, 127, 128, 300, UINT32_MAX, UINT64_C(1) << 63, UINT64_MAX};
    uint8_t bytes[BYTES_VARINT_MAX];

    for (size_t i = 0; i < COUNT(numbers); i++) {
        const size_t size =
            (size_t)(bytes_put_varint(bytes, numbers[i]) - bytes);
        struct bytes_reader reader =
            bytes_reader_of(colander_slice_of(bytes, size));

        assert_int_equal(bytes_read_varint(&reader), numbers[i]);
        assert_false(reader.is_bad || bytes_reader_has_more(&reader));
        reader = bytes_reader_of(colander_slice_of(bytes, size - 1));
        assert_int_equal(bytes_read_varint(&reader), 0);
        assert_true(reader.is_bad);
    }
    bytes_put_varint(bytes, 300);
    assert_memory_equal(bytes, "\xac\x02", 2);
}

TEST(varints_above_64_bits_are_bad)
{
    static const uint8_t tenth_too_large[] = {0xff, 0xff, 0xff, 0xff, 0xff,
                                              0xff, 0xff, 0xff, 0xff, 2};
    static const uint8_t eleven[] = {0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
                                     0x80, 0x80, 0x80, 0x80, 0};
    struct bytes_reader reader = bytes_reader_of(
        colander_slice_of(tenth_too_large, sizeof(tenth_too_large)));

    assert_int_equal(bytes_read_varint(&reader), 0);
    assert_true(reader.is_bad);
    reader = bytes_reader_of(colander_slice_of(eleven, sizeof(eleven)));
    assert_int_equal(bytes_read_varint(&reader), 0);
    assert_true(reader.is_bad);
}

TEST(reader_stays_bad_after_a_missing_byte)
{
    struct bytes_reader reader =
        bytes_reader_of(colander_slice_of(counted, sizeof(counted)));

    assert_int_equal(bytes_read_le(&reader, 2), 0x0201);
    assert_int_equal(bytes_read_text(&reader).size, 3); /* of the length 3 */
    assert_int_equal(reader.left.size, 2);
    assert_int_equal(bytes_read(&reader, UINT64_MAX).size, 0);
    assert_true(reader.is_bad);
    assert_false(bytes_reader_has_more(&reader));
    assert_int_equal(bytes_read_le(&reader, 1), 0);
}

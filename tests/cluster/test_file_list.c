/*
 * The list of a backup: its bytes, and what is refused.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cluster/file_list.h"
#include "support/cases.h"

#include <xxhash.h>

static void
add(struct file_list *list, const char *name, uint64_t size)
{
    struct listed_file file = {
        .name = (char *)(uintptr_t)name, .content.size = size, .id = size + 1};

    for (size_t i = 0; i < CONTENT_HASH_SIZE; i++) {
        file.content.hash[i] = (uint8_t)i;
        file.end[i] = (uint8_t)(0xf0 + i);
    }
    OK(file_list_add(list, &file, why()));
}

static struct colander_buffer
encode(void)
{
    struct file_list list = {NULL, 0, 0};
    struct colander_buffer bytes = COLANDER_BUFFER_EMPTY;

    add(&list, "rocksdb/000012.sst", 300);
    add(&list, "COLANDER", 7);
    file_list_sort(&list);
    OK(file_list_encode(&list, &bytes, why()));
    file_list_release(&list);
    return bytes;
}

TEST(a_list_has_these_bytes)
{
    static const uint8_t wanted[] =
        "COLLIST1\x02"
        "\x08"
        "COLANDER\x07"
        "\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f"
        "\xf0\xf1\xf2\xf3\xf4\xf5\xf6\xf7\xf8\xf9\xfa\xfb\xfc\xfd\xfe\xff"
        "\x08\x00\x00\x00\x00\x00\x00\x00"
        "\x12"
        "rocksdb/000012.sst\xac\x02"
        "\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f"
        "\xf0\xf1\xf2\xf3\xf4\xf5\xf6\xf7\xf8\xf9\xfa\xfb\xfc\xfd\xfe\xff"
        "\x2d\x01\x00\x00\x00\x00\x00\x00";
    const size_t size = sizeof(wanted) - 1;
    struct colander_buffer bytes = encode();
    XXH128_canonical_t sum;

    assert_int_equal(bytes.size, size + sizeof(sum));
    assert_memory_equal(bytes.data, wanted, size);
    XXH128_canonicalFromHash(&sum, XXH3_128bits(wanted, size));
    assert_memory_equal(bytes.data + size, &sum, sizeof(sum));
    colander_buffer_release(&bytes);
}

TEST(what_was_encoded_is_read_again)
{
    struct colander_buffer bytes = encode();
    const struct listed_file *file;
    struct file_list list;

    OK(file_list_decode(&list, colander_buffer_slice(&bytes), why()));
    assert_int_equal(list.count, 2);
    assert_int_equal(file_list_size(&list), 307);
    file = file_list_find(&list, "rocksdb/000012.sst");
    assert_non_null(file);
    assert_int_equal(file->content.size, 300);
    assert_int_equal(file->id, 301);
    assert_string_equal(content_object(&file->content, file->id).text,
                        "files/000102030405060708090a0b0c0d0e0f-300-"
                        "000000000000012d");
    assert_null(file_list_find(&list, "rocksdb/000013.sst"));
    file_list_release(&list);
    colander_buffer_release(&bytes);
}

TEST(a_list_that_was_cut_or_changed_is_corrupt)
{
    struct colander_buffer bytes = encode();
    struct file_list list;

    for (size_t i = 0; i < bytes.size; i++) {
        FAILS(file_list_decode(&list, colander_slice_of(bytes.data, i), why()),
              COLANDER_CORRUPT);
        bytes.data[i] ^= 0x10;
        FAILS(file_list_decode(&list, colander_buffer_slice(&bytes), why()),
              i == 7 ? COLANDER_TOO_NEW : COLANDER_CORRUPT);
        bytes.data[i] ^= 0x10;
        assert_int_equal(list.count, 0);
    }
    colander_buffer_release(&bytes);
}

/* Puts the right checksum after what was changed. */
static enum colander_code
decode_changed(struct colander_buffer *bytes, size_t at, uint8_t byte)
{
    const size_t size = bytes->size - sizeof(XXH128_canonical_t);
    struct file_list list;
    XXH128_canonical_t sum;
    enum colander_code code;

    bytes->data[at] = byte;
    XXH128_canonicalFromHash(&sum, XXH3_128bits(bytes->data, size));
    memcpy(bytes->data + size, &sum, sizeof(sum));
    code = file_list_decode(&list, colander_buffer_slice(bytes), why());
    file_list_release(&list);
    return code;
}

TEST(names_out_of_order_and_wrong_counts_are_corrupt)
{
    struct colander_buffer bytes = encode();

    FAILS(decode_changed(&bytes, 8, 3), COLANDER_CORRUPT); /* the count */
    FAILS(decode_changed(&bytes, 8, 1), COLANDER_CORRUPT);
    OK(decode_changed(&bytes, 8, 2));
    FAILS(decode_changed(&bytes, 10, 'z'), COLANDER_CORRUPT); /* zOLANDER */
    FAILS(decode_changed(&bytes, 10, '\0'), COLANDER_CORRUPT);
    OK(decode_changed(&bytes, 10, 'C'));
    FAILS(decode_changed(&bytes, 9, 0x7f), COLANDER_CORRUPT); /* too long */
    colander_buffer_release(&bytes);
}

int
main(void)
{
    return tests_run(NULL, NULL);
}

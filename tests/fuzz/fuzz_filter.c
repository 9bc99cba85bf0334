/*
 * Any bytes as the content of a filter file with valid checksums: directory,
 * locator, order, keys. Nothing crashes or reads past the end, and no row
 * outside of the part is returned.
 *
 * The first byte selects the kind.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filters/files/filter_directory.h"
#include "filters/order.h"
#include "filters/row_keys.h"
#include "fuzz/fuzz.h"

/* The bytes are valid, or reported as damaged; there is no other error. */
static void
expect_read(enum colander_code code)
{
    expect(code == COLANDER_OK || code == COLANDER_CORRUPT);
}

static void
expect_rows(const struct row_ranges *ranges, uint32_t row_count)
{
    for (size_t i = 0; i < ranges->count; i++) {
        expect(ranges->ranges[i].first < ranges->ranges[i].end);
        expect(ranges->ranges[i].end <= row_count);
    }
}

/* ------------------------------------------------------------ directory --- */

/* Opens a file with zeros for blocks, as many as the first byte says, and the
 * rest as its directory. */
static void
open_file(struct colander_slice bytes)
{
    static int fd = -1;
    uint8_t blocks[FILTER_BEGINNING_SIZE + 255] = {0};
    uint8_t footer[FILTER_FOOTER_SIZE] = {0};
    const size_t offset = FILTER_BEGINNING_SIZE + bytes.data[0];
    const struct colander_slice directory =
        colander_slice_of(bytes.data + 1, bytes.size - 1);
    struct filter_file *file;
    char path[32];

    bytes_put_le(footer, offset, 8);
    bytes_put_le(footer + 8, directory.size, 8);
    bytes_put_le(footer + 16, filter_checksum(directory, 0, offset), 8);
    bytes_put_le(footer + 28, FILTER_FILE_VERSION, 4);
    memcpy(footer + 32, FILTER_FILE_MAGIC, FILTER_MAGIC_SIZE);
    (void)fuzz_file(&fd, blocks, offset, path);
    expect(pwrite(fd, directory.data, directory.size, (off_t)offset) ==
               (ssize_t)directory.size &&
           pwrite(fd, footer, sizeof(footer),
                  (off_t)(offset + directory.size)) == sizeof(footer));
    if (filter_file_open(path, NULL, &file, NULL) != COLANDER_OK)
        return;
    for (uint32_t i = 0; i < file->part_count; i++)
        expect(filter_part_is_valid(&file->parts[i]));
    expect_read(filter_file_check(file, NULL));
    filter_file_unref(file);
}

/* --------------------------------------------------------------- blocks --- */

static void
count_hash(void *context, uint64_t hash)
{
    size_t *count = context;

    (void)hash;
    ++*count;
}

/* The first bytes are the shape, and what is looked up. */
static void
look_up(struct colander_slice bytes)
{
    const size_t head = 16;
    struct locator_shape shape = {0};
    struct row_ranges ranges = ROW_RANGES_EMPTY;
    struct locator_answer answer = {0, 0};
    struct colander_slice block;
    const uint8_t *at = bytes.data;
    size_t count = 0;
    uint64_t hash;

    if (bytes.size < head)
        return;
    shape.row_count = 1 + (uint32_t)bytes_get_le(at, 3);
    shape.fine = UINT32_C(1) << at[3] % 21;
    shape.coarse = UINT32_C(1) << at[4] % 21;
    shape.hash_bits = at[5];
    shape.group_bits = at[6];
    hash = bytes_get_le(at + 8, 8);
    if (!locator_shape_is_sound(&shape))
        return;
    block = colander_slice_of(at + head, bytes.size - head);
    for (uint32_t first = 0; first < 2; first++) {
        row_ranges_clear(&ranges);
        if (locator_find(&shape, block, first, hash, at[7] % 16, &ranges,
                         &answer, NULL) == COLANDER_OK)
            expect_rows(&ranges, shape.row_count);
        row_ranges_clear(&ranges);
        if (locator_find(&shape, block, first, hash, LOCATOR_TAG_ANY, &ranges,
                         &answer, NULL) == COLANDER_OK) {
            row_ranges_order(&ranges);
            expect_rows(&ranges, shape.row_count);
        }
        expect_read(
            locator_hashes(&shape, block, first, count_hash, &count, NULL));
    }
    row_ranges_release(&ranges);
}

/* Takes the block for one of groups, too. */
static void
look_at_lists(const struct order_answer *answer, struct colander_slice block,
              uint32_t row_count, struct row_ranges *ranges)
{
    for (uint32_t i = answer->first_value; i < answer->end_value; i++)
        (void)order_hash(answer, i);
    for (uint32_t i = answer->first_group;
         i < answer->end_group && i < answer->first_group + 1000; i++) {
        if (order_group(answer, i, block, ORDER_GROUP_PLACE, row_count, ranges,
                        NULL) != COLANDER_OK)
            row_ranges_clear(ranges);
    }
}

static void
look_at_order(struct colander_slice bytes)
{
    const struct colander_value low = colander_integer(1);
    const struct colander_value text = colander_text("ab");
    const struct order_span spans[] = {order_span_of(&low, NULL),
                                       order_span_of_prefix(&text)};
    struct row_ranges ranges = ROW_RANGES_EMPTY;
    struct order_answer answer;
    struct colander_slice block;
    uint32_t row_count;
    uint64_t path;

    if (bytes.size < 10)
        return;
    row_count = 1 + (uint32_t)bytes_get_le(bytes.data, 2);
    path = bytes_get_le(bytes.data + 2, 8);
    block = colander_slice_of(bytes.data + 10, bytes.size - 10);
    for (size_t i = 0; i < 2; i++) {
        row_ranges_clear(&ranges);
        if (order_find(block, path, &spans[i], &answer, NULL) != COLANDER_OK)
            continue;
        if (answer.where == ORDER_LISTS)
            look_at_lists(&answer, block, row_count, &ranges);
        expect_rows(&ranges, row_count);
    }
    row_ranges_release(&ranges);
}

static void
read_keys(struct colander_slice block)
{
    struct row_keys_reader reader = ROW_KEYS_READER_EMPTY;
    uint32_t index;

    if (row_keys_open(&reader, block, NULL) == COLANDER_OK) {
        for (uint32_t i = 0; i < reader.count; i++) {
            if (row_keys_get(&reader, i, NULL) != COLANDER_OK)
                i += ROW_KEYS_RESTART - 1;
        }
        if (row_keys_search(&reader, colander_slice_text("m"), &index, NULL) ==
            COLANDER_OK)
            expect(index <= reader.count);
    }
    row_keys_reader_release(&reader);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct colander_slice bytes =
        colander_slice_of(data + 1, size > 0 ? size - 1 : 0);

    if (size < 2)
        return 0;
    switch (data[0] % 4) {
    case 0:
        open_file(bytes);
        break;
    case 1:
        look_up(bytes);
        break;
    case 2:
        look_at_order(bytes);
        break;
    default:
        read_keys(bytes);
    }
    return 0;
}

/*
 * Orders: their bytes, and damaged ones.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filters/order/order_code.h"
#include "filters/order_model.h"

#include <xxhash.h>

/* ---------------------------------------------------------------- bytes --- */

#define ODD_HASH UINT64_C(0x9e3779b97f4a7c15)

/* The example of filters/FORMAT.md. */
ORDER_TEST(bytes_of_a_block_do_not_change)
{
    static const uint8_t golden[] = {
        0x02, 0x02, 0x00, 0x12, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x1b,
        0x00, 0x00, 0x00, 0x45, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x75,
        0x00, 0x00, 0x00, 0x31, 0x00, 0x46, 0x00, 0x00, 0x00, 0x07, 0x00, 0x00,
        0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
        0x00, 0x00, 0x00, 0x00, 0x80, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x18,
        0xc0, 0x80, 0x0a, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xbf, 0x0a, 0x00,
        0x7f, 0xb9, 0x79, 0x37, 0x9e, 0xc0, 0x0a, 0x00, 0xfe, 0x72, 0xf3, 0x6e,
        0x3c, 0xc0, 0x0a, 0x00, 0x7d, 0x2c, 0x6d, 0xa6, 0xda, 0xc0, 0x0a, 0x00,
        0xfd, 0xe5, 0xe6, 0xdd, 0x78, 0xc0, 0x0a, 0x00, 0x7c, 0x9f, 0x60, 0x15,
        0x17, 0xc0, 0x0a, 0x00, 0xfb, 0x58, 0xda, 0x4c, 0xb5, 0x31, 0x04, 0x46,
        0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00,
        0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x30, 0x30, 0x00,
        0x00, 0x00, 0x00, 0x00, 0x00, 0x39, 0x36, 0x69, 0x64, 0x2d, 0x30, 0x30,
        0x46, 0x00, 0x01, 0x00, 0x04, 0x00, 0x0d, 0x34, 0x00,
    };
    const struct order_sink sink = {NULL, count_listed, take_block};
    const struct colander_buffer *block = model.blocks;

    (void)state;
    clear_model();
    for (uint32_t row = 0; row < 70; row++) {
        const struct colander_value number = colander_integer(row / 10);
        struct colander_value text;
        char name[8];

        (void)snprintf(name, sizeof(name), "id-%03u", row % 1000);
        text = colander_text(name);
        order_builder_value(model.builder, 0x10, &number,
                            locator_entry((row / 10) * ODD_HASH, 0, row));
        order_builder_value(model.builder, 0x40, &text,
                            locator_entry(row * ODD_HASH, 0, row));
    }
    OK(order_builder_finish(model.builder, 70, 1000, &sink, NULL));
    assert_int_equal(model.block_count, 2);
    assert_int_equal(block[0].size + block[1].size, sizeof(golden));
    assert_memory_equal(block[0].data, golden, block[0].size);
    assert_memory_equal(block[1].data, golden + block[0].size, block[1].size);
}

/* A text in upper case is as long in symbols as in bytes. One at the beginning
 * does not decide about all. */
ORDER_TEST(texts_are_coded_as_most_of_the_first_ones)
{
    const struct order_sink sink = {NULL, count_listed, take_block};
    const struct colander_value last = colander_text("~ highest");
    const struct order_value high = order_value_of(&last);

    (void)state;
    for (uint32_t upper = 0; upper <= 16; upper += 4) {
        struct order_column_view column;
        enum order_reason reason;

        clear_model();
        for (uint32_t row = 0; row < 200; row++) {
            struct colander_value text;
            char name[16];

            (void)snprintf(name, sizeof(name),
                           row < upper ? "%c UPPER CASE" : "%c lower case",
                           (int)(row < upper ? 'A' : 'a') + (int)row % 26);
            text = row == 6 ? last : colander_text(row % 3 == 1 ? "" : name);
            order_builder_value(model.builder, 0x40, &text,
                                locator_entry(row * ODD_HASH, 0, row));
        }
        OK(order_builder_finish(model.builder, 200, 1000, &sink, NULL));
        OK(order_look(colander_buffer_slice(&model.blocks[0]), 0x40,
                      COLANDER_STRING, &column, &reason, NULL));
        assert_int_equal(column.is_coded, upper < 12);
        assert_int_equal(column.high,
                         order_rank(&high, column.beginning, column.has_zeros,
                                    column.is_coded));
    }
}

/* That of groups. */
ORDER_TEST(bytes_of_a_group_do_not_change)
{
    static const uint8_t golden[] = {0x01, 0x00, 0x04, 0x00, 0x10, 0x13,
                                     0xc0, 0x83, 0x83, 0x02, 0xa6, 0x07};
    static const uint8_t group[] = {0x40, 0x04, 0x00};
    static const uint32_t rows[] = {10, 11};
    const struct order_answer answer = {
        .where = ORDER_LISTS,
        .column = {.type = COLANDER_INTEGER,
                   .width = 1,
                   .grain = 3,
                   .low = UINT64_C(0x40) << 56,
                   .high = UINT64_C(0x7f) << 56,
                   .first_group = 9,
                   .groups = {group, 1, 3, 1}},
        .end_group = 1,
        .low = UINT64_C(0x60) << 56,
        .high = UINT64_C(0x70) << 56,
    };
    const struct colander_slice block =
        colander_slice_of(golden, sizeof(golden));
    struct row_ranges ranges = ROW_RANGES_EMPTY;

    (void)state;
    assert_int_equal(order_group_place(&answer, 0), ORDER_GROUP_PLACE + 9);
    assert_false(
        order_has_group(block, ORDER_GROUP_PLACE + 9, ORDER_GROUP_PLACE + 10));
    OK(order_group(&answer, 0, block, ORDER_GROUP_PLACE + 9, 501, &ranges,
                   NULL));
    assert_int_equal(row_ranges_rows(&ranges), COUNT(rows));
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct row_ranges one = ROW_RANGES_EMPTY;

        OK(row_ranges_add(&one, rows[i], rows[i] + 1, NULL));
        OK(row_ranges_intersect(&one, &ranges, NULL));
        assert_int_equal(row_ranges_rows(&one), 1);
        row_ranges_release(&one);
    }
    assert_int_equal(order_group(&answer, 0, block, ORDER_GROUP_PLACE + 9, 500,
                                 &ranges, NULL),
                     COLANDER_CORRUPT);
    row_ranges_release(&ranges);
}

/* Reads one with cuts, whose fractions have `grain` bits. */
static void
read_cuts(const uint8_t *golden, size_t size, uint8_t grain, uint64_t low,
          uint64_t high, uint32_t row, uint32_t rows)
{
    static const uint8_t group[] = {0x40, 0x04, 0x00};
    const struct order_answer answer = {
        .where = ORDER_LISTS,
        .column = {.type = COLANDER_INTEGER,
                   .width = 1,
                   .grain = grain,
                   .low = UINT64_C(0x40) << 56,
                   .high = UINT64_C(0x7f) << 56,
                   .groups = {group, 1, 3, 1}},
        .end_group = 1,
        .low = low << 56,
        .high = high << 56,
    };
    struct row_ranges ranges = ROW_RANGES_EMPTY;

    OK(order_group(&answer, 0, colander_slice_of(golden, size),
                   ORDER_GROUP_PLACE, 501, &ranges, NULL));
    assert_int_equal(ranges.count, 1);
    assert_int_equal(ranges.ranges[0].first, row);
    assert_int_equal(row_ranges_rows(&ranges), rows);
    row_ranges_release(&ranges);
}

ORDER_TEST(bytes_of_a_group_with_cuts_do_not_change)
{
    /* Cuts at pieces 16, 32, 48, 64, 80, 96 and 160, and rows 3, 10, 11 and
     * 500, of which 10 and 11 are between 64 and 80, and 11 is in its last
     * part. A step has four pieces. */
    static const uint8_t three[] = {0x01, 0x00, 0x04, 0x00, 0x43, 0x80, 0xc0,
                                    0x00, 0x41, 0x81, 0x81, 0x12, 0x13, 0xc0,
                                    0x83, 0x03, 0x02, 0xa6, 0x07};
    static const uint8_t five[] = {0x01, 0x00, 0x04, 0x00, 0x43, 0x80, 0xc0,
                                   0x00, 0x41, 0x81, 0x81, 0x12, 0x13, 0x00,
                                   0x8f, 0x38, 0x98, 0x80, 0xe9, 0x07};

    (void)state;
    read_cuts(three, sizeof(three), 3, 0x50, 0x52, 10, 2);
    read_cuts(five, sizeof(five), 5, 0x50, 0x52, 10, 1);
    read_cuts(five, sizeof(five), 5, 0x50, 0x54, 10, 2);
    read_cuts(five, sizeof(five), 5, 0x54, 0x7f, 500, 1);
}

/* Files hold ranks that are made of them. */
ORDER_TEST(symbols_of_texts_do_not_change)
{
    const struct colander_slice words = colander_slice_text("the quick bro");
    uint64_t ranks[256];

    (void)state;
    for (unsigned i = 0; i < COUNT(ranks); i++) {
        const uint8_t byte = (uint8_t)i;

        ranks[i] = order_word(colander_slice_of(&byte, 1), 0, true, NULL);
        assert_true(i == 0 || ranks[i] > ranks[i - 1]);
    }
    assert_int_equal(XXH3_64bits(ranks, sizeof(ranks)),
                     UINT64_C(0x8bed365c05947fa));
    assert_int_equal(order_word(words, 0, true, NULL),
                     UINT64_C(0xc3120d72d3bc1300));
    assert_int_equal(order_word(words, 0, false, NULL),
                     UINT64_C(0x7468652071756900));
}

/* --------------------------------------------------------------- damage --- */

/* Reads groups of blocks that are damaged too. */
static void
read_lists(const struct order_answer *answer, struct row_ranges *ranges)
{
    for (uint32_t i = answer->first_value; i < answer->end_value; i++)
        (void)order_hash(answer, i);
    for (uint32_t i = answer->first_group; i < answer->end_group; i++) {
        const struct colander_buffer *whole =
            &model.blocks[below(model.block_count)];
        const size_t size = 1 + below(whole->size);
        uint8_t *copy = malloc(size); /* of this size, for sanitizers */

        assert_non_null(copy);
        memcpy(copy, whole->data, size);
        copy[below(size)] ^= (uint8_t)below(256);
        if (order_group(answer, i, colander_slice_of(copy, size),
                        order_group_place(answer, i) - (uint32_t)below(20),
                        2000, ranges, NULL) != COLANDER_OK)
            row_ranges_clear(ranges);
        free(copy);
    }
}

/* Whatever the bytes are, nothing beyond them is read, and no row beyond the
 * part is found. */
ORDER_TEST(damaged_blocks_answer_or_are_corrupt)
{
    (void)state;
    (void)random_seed("damage");
    clear_model();
    fill_bytes();
    for (uint32_t row = 0; row < 2000; row++)
        for (size_t column = 0; column < KINDS; column++)
            add(column, row, value_for(column == 0 ? 1 : column, row));
    finish(2000);
    for (uint64_t i = 0; i < random_runs(3000); i++) {
        const struct colander_buffer *whole =
            &model.blocks[below(model.block_count)];
        const struct colander_value low = colander_integer(0);
        const struct colander_value text = colander_text("2016");
        const struct order_span spans[] = {order_span_of(&low, NULL),
                                           order_span_of_prefix(&text)};
        const size_t size = 1 + below(whole->size);
        uint8_t *copy = malloc(size); /* of this size, for sanitizers */

        assert_non_null(copy);
        memcpy(copy, whole->data, size);
        copy[below(size < 200 || below(2) == 0 ? size : 200)] ^=
            (uint8_t)(1 + below(255));
        for (size_t k = 0; k < 2 * KINDS; k++) {
            struct row_ranges ranges = ROW_RANGES_EMPTY;
            struct order_answer answer;

            if (order_find(colander_slice_of(copy, size), path_of(k / 2),
                           &spans[k % 2], &answer, NULL) != COLANDER_OK)
                continue;
            if (answer.where == ORDER_LISTS)
                read_lists(&answer, &ranges);
            for (size_t n = 0; n < ranges.count; n++)
                assert_true(ranges.ranges[n].end <= 2000);
            row_ranges_release(&ranges);
        }
        free(copy);
    }
}

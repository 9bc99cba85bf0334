/*
 * Orders: their bytes, and damaged ones.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filters/order_model.h"

/* ---------------------------------------------------------------- bytes --- */

/* The example of filters/FORMAT.md. */
ORDER_TEST(bytes_of_a_block_do_not_change)
{
    static const uint8_t golden[] = {
        0x00, 0x02, 0x00, 0x12, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x1b,
        0x00, 0x00, 0x00, 0x45, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x50,
        0x00, 0x00, 0x00, 0x11, 0x38, 0x00, 0x58, 0x02, 0x00, 0x00, 0x00, 0x00,
        0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
        0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x80, 0x00, 0x00,
        0x00, 0x00, 0x00, 0xb8, 0x82, 0xc0, 0x00, 0x00, 0x00, 0x00, 0x00, 0x98,
        0xc1, 0xbf, 0x00, 0xae, 0xae, 0xbe, 0xbe, 0xc1, 0x21, 0x3b, 0x03, 0x58,
        0x02, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
        0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x04, 0x00, 0x00, 0x00, 0x00,
        0x30, 0x30, 0x30, 0x04, 0x00, 0x00, 0x00, 0x00, 0x39, 0x39, 0x35, 0x04,
        0x00, 0x00, 0x00, 0x00, 0x30, 0x30, 0x30, 0x69, 0x64, 0x2d, 0x00, 0x00,
        0xa0, 0x40, 0xa0, 0x40, 0x20, 0xa0, 0x20, 0xa0, 0x21, 0xa1,
    };
    const struct order_sink sink = {NULL, count_listed, take_block};
    const struct colander_buffer *block = &model.blocks[0];

    (void)state;
    clear_model();
    for (uint32_t row = 0; row < 600; row++) {
        const struct colander_value number = colander_integer(row);
        struct colander_value text;
        char name[8];

        (void)snprintf(name, sizeof(name), "id-%03u", row % 1000);
        text = colander_text(name);
        order_builder_value(model.builder, 0x10, &number, row);
        order_builder_value(model.builder, 0x40, &text, row);
    }
    OK(order_builder_finish(model.builder, 600, 0, &sink, NULL));
    assert_int_equal(model.block_count, 1);
    assert_int_equal(block->size, sizeof(golden));
    assert_memory_equal(block->data, golden, sizeof(golden));
}

/* That of groups. */
ORDER_TEST(bytes_of_a_group_do_not_change)
{
    static const uint8_t golden[] = {0x01, 0x00, 0x04, 0x00, 0x03,
                                     0xe6, 0xf0, 0x18, 0x00, 0xa6};
    static const uint8_t step[] = {0x40};
    static const uint32_t rows[] = {3, 10, 11, 500};
    const struct order_answer answer = {.where = ORDER_LISTS,
                                        .end_group = 1,
                                        .group_count = 1,
                                        .group_start = 9,
                                        .groups = step,
                                        .width = 1};
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

            if (order_find(colander_slice_of(copy, size), 2000, path_of(k / 2),
                           &spans[k % 2], &answer, NULL) != COLANDER_OK)
                continue;
            if (answer.where == ORDER_RUNS)
                OK(order_runs(&answer, 2000, &ranges, NULL));
            if (answer.where == ORDER_LISTS)
                read_lists(&answer, &ranges);
            for (size_t n = 0; n < ranges.count; n++)
                assert_true(ranges.ranges[n].end <= 2000);
            row_ranges_release(&ranges);
        }
        free(copy);
    }
}

/*
 * Orders while memory is short: each allocation in turn fails, and no row of a
 * range is lost.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filters/order_model.h"

#include "support/failing_memory.h"

#define ROWS 1500
#define COLUMNS 20

/* Returns NO_MEMORY if there is no order. */
static enum colander_code
build(long allocations)
{
    const struct order_sink sink = {NULL, count_listed, take_block};
    enum colander_code code;

    allocation_failed = false;
    for (uint32_t row = 0; row < ROWS; row++) {
        for (size_t column = 0; column < COLUMNS; column++) {
            struct colander_value value;
            uint64_t entry;

            if (row % COLUMNS != column && column > 2)
                continue;
            value = column % 2 == 0
                        ? colander_integer(row * INT64_C(7919) % 1000)
                        : any_bytes(COLANDER_STRING);
            entry = note(column, row, value);
            allocations_left = allocations;
            order_builder_value(model.builder, path_of(column), &value, entry);
            allocations = allocations_left;
            allocations_left = -1;
        }
    }
    model.row_count = ROWS;
    OK(entry_list_sort(&model.entries, NULL));
    allocations_left = allocations;
    code = order_builder_finish(model.builder, ROWS, UINT64_MAX, &sink, NULL);
    allocations_left = -1;
    return code;
}

/* Types take turns, as those of a column do. */
ORDER_TEST(ends_without_memory_are_an_error)
{
    enum colander_code code = COLANDER_NO_MEMORY;

    (void)state;
    (void)random_seed("memory");
    fill_bytes();
    OK(build(-1));
    for (long allocations = 0; code != COLANDER_OK; allocations++) {
        struct order_ends ends = {.wanted = 30};
        struct colander_value bound;
        uint32_t first;

        code = COLANDER_OK;
        allocations_left = allocations;
        for (unsigned i = 0; i < 4 && code == COLANDER_OK; i++) {
            const uint64_t path_hash = path_of(i % 2);

            ends.type = i % 2 == 0 ? COLANDER_INTEGER : COLANDER_STRING;
            ends.count = ends.total = 0;
            code =
                order_ends_add(&ends, block_of(order_place(path_hash), &first),
                               path_hash, NULL);
        }
        allocations_left = -1;
        if (code == COLANDER_OK)
            assert_true(order_ends_bound(&ends, &bound));
        else
            assert_int_equal(code, COLANDER_NO_MEMORY);
        order_ends_release(&ends);
        assert_true(allocations > 0 || code != COLANDER_OK);
    }
}

ORDER_TEST(a_column_that_is_not_complete_may_be_anywhere)
{
    bool is_complete = false;

    (void)state;
    (void)random_seed("memory");
    for (long allocations = 0; !is_complete; allocations++) {
        enum colander_code code;

        clear_model();
        order_builder_destroy(model.builder);
        model.builder = order_builder_create();
        assert_non_null(model.builder);
        fill_bytes();
        code = build(allocations);
        is_complete = !allocation_failed;
        if (code != COLANDER_OK) {
            assert_int_equal(code, COLANDER_NO_MEMORY);
            continue;
        }
        for (size_t column = 0; column < COLUMNS; column++) {
            const struct items *items = &model.columns[column];

            for (size_t i = 0; i < items->count; i += items->count - 1)
                (void)count_between(column, items->items[i].value,
                                    items->items[i].value);
        }
    }
}

/*
 * Zones: damaged blocks.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filters/zone_model.h"

/* A block in memory of just its size, so that reading past it is seen. */
static uint8_t *
exact_copy(const uint8_t *from, size_t size)
{
    uint8_t *copy = malloc(size > 0 ? size : 1);

    assert_non_null(copy);
    if (size > 0)
        memcpy(copy, from, size);
    return copy;
}

/* What is cut off is missed, not taken for no rows. */
static void
truncated_blocks_answer_rightly_or_are_corrupt(void **unused)
{
    struct zones_builder *builder = zones_builder_create();
    struct row_ranges ranges = ROW_RANGES_EMPTY;

    (void)unused;
    random_state = random_seed(__func__);
    fill_bytes();
    make_model(builder, 5000);
    for (size_t size = 0; size < model.block.size; size++) {
        uint8_t *copy = exact_copy(model.block.data, size);

        for (size_t i = 0; i < 20; i++) {
            struct ask ask = any_ask();
            struct zone_span span = span_of(&ask);
            enum colander_code code =
                find(colander_slice_of(copy, size), ask.kind,
                     ask.is_exists ? NULL : &span, &ranges);

            if (code == COLANDER_OK)
                check_ask(&ask, &ranges);
            else
                assert_int_equal(code, COLANDER_CORRUPT);
            assert_proper(&ranges, model.row_count);
        }
        free(copy);
    }
    row_ranges_release(&ranges);
    zones_builder_destroy(builder);
    release_model();
}

static void
flipped_blocks_answer_or_are_corrupt(void **unused)
{
    struct zones_builder *builder = zones_builder_create();
    struct row_ranges ranges = ROW_RANGES_EMPTY;
    uint8_t *copy;

    (void)unused;
    random_state = random_seed(__func__);
    fill_bytes();
    make_model(builder, 3000);
    copy = exact_copy(model.block.data, model.block.size);
    for (uint64_t run = 0; run < random_runs(100000); run++) {
        struct ask ask = any_ask();
        struct zone_span span = span_of(&ask);
        enum colander_code code;

        copy[below(model.block.size)] ^= (uint8_t)(1u << below(8));
        code = find(colander_slice_of(copy, model.block.size), ask.kind,
                    ask.is_exists ? NULL : &span, &ranges);
        assert_true(code == COLANDER_OK || code == COLANDER_CORRUPT);
        assert_proper(&ranges, model.row_count);
        if (below(3) != 0)
            memcpy(copy, model.block.data, model.block.size);
    }
    free(copy);
    row_ranges_release(&ranges);
    zones_builder_destroy(builder);
    release_model();
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(truncated_blocks_answer_rightly_or_are_corrupt),
        cmocka_unit_test(flipped_blocks_answer_or_are_corrupt),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

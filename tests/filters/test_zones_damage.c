/*
 * Zones: damaged blocks.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filters/zone_model.h"
#include "support/cases.h"
#include "support/scoped.h"

/* A block in memory of exact size, so that an overrun is detected. */
static uint8_t *
exact_copy(const uint8_t *from, size_t size)
{
    uint8_t *copy = malloc(size > 0 ? size : 1);

    assert_non_null(copy);
    if (size > 0)
        memcpy(copy, from, size);
    return copy;
}

/* What is cut off is noticed as missing, not taken for no rows. */
MODEL_TEST(truncated_blocks_answer_rightly_or_are_corrupt)
{
    make_model(5000);
    for (size_t size = 0; size < model.block.size; size++) {
        SCOPED_MEMORY uint8_t *copy = exact_copy(model.block.data, size);

        for (size_t i = 0; i < 20; i++) {
            struct ask ask = any_ask();
            enum colander_code code =
                find_ask(colander_slice_of(copy, size), &ask);

            if (code == COLANDER_OK)
                check_ask(&ask);
            else
                assert_int_equal(code, COLANDER_CORRUPT);
            assert_proper(model.row_count);
        }
    }
}

MODEL_TEST(flipped_blocks_answer_or_are_corrupt)
{
    SCOPED_MEMORY uint8_t *copy = NULL;

    make_model(3000);
    copy = exact_copy(model.block.data, model.block.size);
    for (uint64_t run = 0; run < random_runs(100000); run++) {
        struct ask ask = any_ask();
        enum colander_code code;

        copy[below(model.block.size)] ^= (uint8_t)(1u << below(8));
        code = find_ask(colander_slice_of(copy, model.block.size), &ask);
        assert_true(code == COLANDER_OK || code == COLANDER_CORRUPT);
        assert_proper(model.row_count);
        if (below(3) != 0)
            memcpy(copy, model.block.data, model.block.size);
    }
}

/*
 * Row ranges, compared with an array that has a flag for each row.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filters/row_ranges.h"
#include "support/cases.h"

#include "support/cases.h"
#include "support/random.h"
#include "support/scoped.h"

#define SCOPED_RANGES SCOPED(row_ranges_release) struct row_ranges

#define ROWS 70 /* few, so that runs often meet, touch and split */

struct model {
    bool has[ROWS];
};

/* Asserts that `ranges` equals the model, in runs that are ascending, apart and
 * not empty: for a set of rows there is only one such list. */
static void
assert_ranges_are(const struct row_ranges *ranges, const struct model *model)
{
    size_t run = 0;
    uint64_t rows = 0;

    for (uint32_t row = 0; row < ROWS; row++) {
        bool begins = model->has[row] && (row == 0 || !model->has[row - 1]);
        bool ends =
            model->has[row] && (row + 1 == ROWS || !model->has[row + 1]);

        if (begins) {
            assert_true(run < ranges->count);
            assert_int_equal(ranges->ranges[run].first, row);
        }
        if (ends)
            assert_int_equal(ranges->ranges[run++].end, row + 1);
        rows += model->has[row];
    }
    assert_int_equal(run, ranges->count);
    assert_int_equal(row_ranges_rows(ranges), rows);
}

static void
add(struct row_ranges *ranges, struct model *model, uint32_t first,
    uint32_t end)
{
    OK(row_ranges_add(ranges, first, end, NULL));
    for (uint32_t row = first; row < end; row++)
        model->has[row] = true;
}

/* Fills both with the same random rows, by adding runs as permitted. */
static void
fill(struct row_ranges *ranges, struct model *model, uint64_t *random)
{
    uint32_t longest = 1 + (uint32_t)random_below(random, 12);
    uint32_t widest = 1 + (uint32_t)random_below(random, 20);
    uint32_t first = (uint32_t)random_below(random, widest);

    row_ranges_clear(ranges);
    memset(model, 0, sizeof(*model));
    while (first < ROWS && random_below(random, 30) != 0) {
        uint32_t end = first + (uint32_t)random_below(random, longest + 1);

        add(ranges, model, first, end < ROWS ? end : ROWS);
        first += (uint32_t)random_below(random, widest);
    }
}

/* Leaves no free space after the runs, so that the array must grow. */
static void
tighten(struct row_ranges *ranges)
{
    struct row_range *runs = NULL;

    if (ranges->count > 0) {
        runs = malloc(ranges->count * sizeof(*runs));
        assert_non_null(runs);
        memcpy(runs, ranges->ranges, ranges->count * sizeof(*runs));
    }
    free(ranges->ranges);
    ranges->ranges = runs;
    ranges->capacity = ranges->count;
}

TEST(added_runs_that_overlap_or_touch_are_one)
{
    struct row_ranges ranges = ROW_RANGES_EMPTY;
    struct model model = {{false}};

    assert_ranges_are(&ranges, &model);
    add(&ranges, &model, 3, 3);
    assert_int_equal(ranges.count, 0);
    add(&ranges, &model, 3, 5);
    add(&ranges, &model, 5, 6);
    add(&ranges, &model, 5, 9);
    add(&ranges, &model, 6, 7);
    assert_int_equal(ranges.count, 1);
    add(&ranges, &model, 10, 11);
    assert_int_equal(ranges.count, 2);
    assert_ranges_are(&ranges, &model);
    row_ranges_release(&ranges);
    assert_int_equal(ranges.count, 0);
    assert_int_equal(row_ranges_rows(&ranges), 0);
    row_ranges_release(&ranges);
}

TEST(the_highest_row_is_a_row_like_any_other)
{
    SCOPED_RANGES ranges = ROW_RANGES_EMPTY;
    SCOPED_RANGES all = ROW_RANGES_EMPTY;

    OK(row_ranges_add(&all, 0, UINT32_MAX, NULL));
    OK(row_ranges_add(&ranges, UINT32_MAX - 1, UINT32_MAX, NULL));
    OK(row_ranges_intersect(&ranges, &all, NULL));
    assert_int_equal(row_ranges_rows(&ranges), 1);
    OK(row_ranges_add(&ranges, 0, UINT32_MAX, NULL));
    row_ranges_order(&ranges);
    assert_int_equal(row_ranges_rows(&ranges), UINT32_MAX);
    assert_int_equal(ranges.count, 1);
    row_ranges_clip(&ranges, UINT32_MAX - 3, UINT32_MAX);
    assert_int_equal(row_ranges_rows(&ranges), 3);
}

TEST(a_set_with_itself_does_not_change)
{
    SCOPED_RANGES ranges = ROW_RANGES_EMPTY;
    struct model model = {{false}};

    add(&ranges, &model, 1, 4);
    add(&ranges, &model, 6, 7);
    row_ranges_order(&ranges);
    assert_ranges_are(&ranges, &model);
    OK(row_ranges_intersect(&ranges, &ranges, NULL));
    assert_ranges_are(&ranges, &model);
}

TEST(operations_do_what_they_do_to_single_rows)
{
    SCOPED_RANGES ranges = ROW_RANGES_EMPTY;
    SCOPED_RANGES other = ROW_RANGES_EMPTY;
    struct model model;
    struct model its;
    uint64_t random = random_seed("row_ranges");

    for (uint64_t run = 0; run < random_runs(20000); run++) {
        uint64_t operation = random_below(&random, 3);
        uint32_t first = (uint32_t)random_below(&random, ROWS);
        uint32_t end = (uint32_t)random_below(&random, ROWS);

        fill(&ranges, &model, &random);
        assert_ranges_are(&ranges, &model);
        fill(&other, &its, &random);
        if (random_below(&random, 2) == 0)
            tighten(&ranges);
        if (operation == 0) {
            for (size_t i = 0; i < other.count; i++)
                OK(row_ranges_add(&ranges, other.ranges[i].first,
                                  other.ranges[i].end, NULL));
            row_ranges_order(&ranges);
            for (uint32_t row = 0; row < ROWS; row++)
                model.has[row] |= its.has[row];
        } else if (operation == 1) {
            OK(row_ranges_intersect(&ranges, &other, NULL));
            for (uint32_t row = 0; row < ROWS; row++)
                model.has[row] &= its.has[row];
        } else {
            row_ranges_clip(&ranges, first, end);
            for (uint32_t row = 0; row < ROWS; row++)
                model.has[row] &= row >= first && row < end;
        }
        assert_ranges_are(&ranges, &model);
        assert_ranges_are(&other, &its);
    }
}

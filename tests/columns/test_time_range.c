/*
 * The first and last time in a column: those of a scan, whatever the order of
 * the rows, and what else is in the column.
 *
 * SPDX-License-Identifier: MIT
 */
#include "support/random.h"
#include "support/store_fixture.h"

#define ROWS 6000

/* The times of some shapes of families, by number of the row. */
static int64_t
time_of(unsigned shape, int64_t number, uint64_t *random)
{
    switch (shape) {
    case 0:
        return number; /* ascending with the keys */
    case 1:
        return -number;
    case 2:
        return (int64_t)random_below(random, 100000) - 50000;
    case 3: /* many series, one after the other */
        return number % 50;
    default: /* both ends are in the middle */
        return (number < ROWS / 2 ? 1 : -1) * number;
    }
}

/* Puts rows. Returns whether any has a time; sets the first and the last. */
static bool
put_times(struct store_fixture *fixture, struct colander_family *family,
          unsigned shape, uint64_t *random, struct colander_value ends[2])
{
    bool has_time = false;

    for (int64_t i = 0; i < ROWS; i++) {
        const uint32_t nanosecond = (uint32_t)random_below(random, 2);
        struct colander_value value =
            colander_timestamp(time_of(shape, i, random), nanosecond);

        if (random_below(random, 10) == 0)
            value = random_below(random, 2) == 0 ? colander_integer(1 << 30)
                                                 : colander_text("2999-01-01");
        if (shape == 5)
            value = colander_integer(i);
        if (value.type == COLANDER_TIMESTAMP) {
            if (!has_time || colander_value_compare(&value, &ends[0]) < 0)
                ends[0] = value;
            if (!has_time || colander_value_compare(&value, &ends[1]) > 0)
                ends[1] = value;
            has_time = true;
        }
        put_at(family, i, fixture_row(fixture, "at", value));
    }
    return has_time;
}

FIXTURE_TEST(the_range_is_that_of_a_scan)
{
    uint64_t random = random_seed(__func__);

    for (unsigned shape = 0; shape < 6; shape++) {
        struct colander_value ends[2], first, last;
        struct colander_family *family;
        char name[20];
        bool has_time, found;

        snprintf(name, sizeof(name), "shape%u", shape);
        family = kept_family(fixture, name);
        has_time = put_times(fixture, family, shape, &random, ends);
        if (random_below(&random, 2) == 0)
            OK(colander_family_flush(family, NULL));
        OK(colander_family_time_range(family, "at", &first, &last, &found,
                                      NULL));
        assert_int_equal(found, has_time);
        if (!found)
            continue;
        assert_int_equal(colander_value_compare(&first, &ends[0]), 0);
        assert_int_equal(colander_value_compare(&last, &ends[1]), 0);
    }
}

/* Of several times in a row each counts. */
FIXTURE_TEST(elements_of_arrays_are_times)
{
    struct colander_family *family = kept_family(fixture, "rows");
    struct colander_value first, last;
    struct colander_slice row;
    bool found;

    OK(colander_family_time_range(family, "t[]", &first, &last, &found, NULL));
    assert_false(found); /* no family */
    colander_row_builder_begin_array(fixture->builder, "t");
    for (int64_t i = 0; i < 9; i++)
        colander_row_builder_add(fixture->builder, NULL,
                                 colander_timestamp(i * 7 % 9, 0));
    colander_row_builder_end(fixture->builder);
    OK(colander_row_builder_finish(fixture->builder, &row, NULL));
    put_at(family, 1, row);
    OK(colander_family_time_range(family, "t[]", &first, &last, &found, NULL));
    assert_true(found && first.second == 0 && last.second == 8);
    FAILS(colander_family_time_range(family, "t[", &first, &last, &found, NULL),
          COLANDER_INVALID);
}

/*
 * Measured false-positive rates, if the true rate is known.
 *
 * SPDX-License-Identifier: MIT
 */
#include "support/cases.h"
#include "support/filter_files.h"

#define FILES 8
#define VALUES 2000 /* of each file, all different */

/* A family of `FILES` files with these options. */
static struct colander_family *
make_family(struct store_fixture *fixture,
            const struct colander_filter_options *options)
{
    struct colander_family *family = kept_family(fixture, "rows");

    OK(colander_family_set_filters(family, options, NULL));
    for (unsigned i = 0; i < FILES * VALUES; i++) {
        char key[20];

        snprintf(key, sizeof(key), "k%08u", i);
        OK(put_text(fixture, family, key, "number", colander_integer(i), NULL));
        if ((i + 1) % VALUES == 0)
            OK(colander_family_flush(family, NULL));
    }
    return family;
}

static struct colander_filter_measure
measure(struct colander_family *family, uint64_t value_count)
{
    struct colander_filter_measure measure;

    OK(colander_family_measure_filters(family, value_count, &measure, NULL));
    assert_true(measure.false_positive_count <=
                measure.part_count * measure.value_count);
    assert_true(measure.disk_probe_count <= measure.false_positive_count);
    assert_true(measure.disk_false_positive_count <= measure.disk_probe_count);
    return measure;
}

static struct colander_filter_options
defaults(void)
{
    struct colander_filter_options options = usual_filters();

    return options;
}

FIXTURE_TEST(the_rate_asked_for_is_kept)
{
    struct colander_filter_options options = defaults();
    struct colander_filter_measure measured;
    struct colander_family *family;

    options.fp_rate = 0.05;
    family = make_family(fixture, &options);
    measured = measure(family, 5000);
    assert_int_equal(measured.value_count, 5000);
    assert_int_equal(measured.part_count, filter_stats(family).part_count);
    /* 0.05 is an upper bound: sizes are powers of two */
    assert_in_range(measured.false_positive_count, measured.part_count,
                    measured.part_count * 5000 * 6 / 100);
    assert_int_equal(measured.disk_probe_count, measured.false_positive_count);
    /* with so few values the locator's 32 bits leave none */
    assert_true(measured.disk_false_positive_count <= 2);
}

FIXTURE_TEST(the_same_store_has_the_same_figures)
{
    struct colander_filter_options options = defaults();
    struct colander_family *family = make_family(fixture, &options);
    const struct colander_filter_measure first = measure(family, 3000);
    const struct colander_filter_measure second = measure(family, 3000);

    assert_memory_equal(&first, &second, sizeof(first));
}

/* 512 bits with thousands of values are nearly all 1. */
FIXTURE_TEST(filters_that_are_full_match_everything)
{
    struct colander_filter_options options = defaults();
    struct colander_filter_measure measured;
    struct colander_family *family;

    options.filter_bits = 512;
    family = make_family(fixture, &options);
    measured = measure(family, 1000);
    assert_true(measured.part_count >= 1);
    assert_in_range(measured.false_positive_count, measured.part_count * 900,
                    measured.part_count * 1000);
    assert_true(measured.disk_false_positive_count <= 2);

    /* It limits how many filters on disk it asks. */
    measured = measure(family, 30000);
    assert_int_equal(measured.disk_probe_count,
                     measured.false_positive_count <
                             COLANDER_MEASURE_DISK_PROBES_MAX
                         ? measured.false_positive_count
                         : COLANDER_MEASURE_DISK_PROBES_MAX);
}

/* Without locators the file has only the presence that is in memory. */
FIXTURE_TEST(filters_without_locators_keep_every_false_positive)
{
    struct colander_filter_options options = defaults();
    struct colander_filter_measure measured;
    struct colander_family *family;

    options.rows_per_segment = 0;
    options.fp_rate = 0.05;
    family = make_family(fixture, &options);
    measured = measure(family, 5000);
    assert_true(measured.false_positive_count > 0);
    assert_int_equal(measured.disk_false_positive_count,
                     measured.disk_probe_count);
}

FIXTURE_TEST(both_hierarchies_have_the_same_figures)
{
    struct colander_filter_options options = defaults();
    struct colander_family *family = make_family(fixture, &options);
    const struct colander_filter_measure slices = measure(family, 3000);
    struct colander_filter_measure tree;

    options.hierarchy = COLANDER_HIERARCHY_TREE;
    OK(colander_family_set_filters(family, &options, NULL));
    tree = measure(family, 3000);
    assert_memory_equal(&slices, &tree, sizeof(tree));
}

/* Finds by unindexed columns scan, but others do not change. */
FIXTURE_TEST(unindexed_columns_change_nothing_else)
{
    static const char *const left_out[] = {"text"};
    struct colander_filter_options options = defaults();
    struct colander_family *family;
    struct colander_filter_measure measured;

    options.unfiltered = left_out;
    options.unfiltered_count = 1;
    family = make_family(fixture, &options);
    measured = measure(family, 3000);
    assert_true(measured.part_count >= 1);
    assert_true(measured.disk_false_positive_count <= 2);
}

FIXTURE_TEST(nothing_is_asked_without_a_filter)
{
    struct colander_filter_options options = defaults();
    struct colander_family *family = kept_family(fixture, "none");
    struct colander_filter_measure measured = measure(family, 1000);

    assert_int_equal(measured.part_count, 0);
    assert_int_equal(measured.false_positive_count, 0);
    options.is_on = false;
    family = make_family(fixture, &options);
    measured = measure(family, 1000);
    assert_int_equal(measured.part_count, 0);
    assert_int_equal(measured.false_positive_count, 0);
}

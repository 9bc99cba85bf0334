/*
 * Zones: ranks keep the order of values.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filters/zone_values.h"

static int
sign(int order)
{
    return (order > 0) - (order < 0);
}

static int
rank_order(struct zone_rank a, struct zone_rank b)
{
    return (int)zone_rank_is_below(b, a) - (int)zone_rank_is_below(a, b);
}

static void
ranks_never_stand_against_the_order_of_values(void **unused)
{
    (void)unused;
    random_state = random_seed(__func__);
    fill_bytes();
    for (uint64_t run = 0; run < random_runs(300000); run++) {
        struct colander_value a = any_scalar();
        struct colander_value b = below(2) == 0 ? any_number() : any_scalar();
        int order = sign(colander_value_compare(&a, &b));
        int ranks = rank_order(zone_rank_of(&a), zone_rank_of(&b));

        assert_true(ranks == 0 || ranks == order);
        assert_int_equal(rank_order(zone_rank_least(&a), zone_rank_of(&a)) <= 0,
                         1);
        assert_int_equal(
            rank_order(zone_rank_largest(&a), zone_rank_of(&a)) >= 0, 1);
    }
}

/* So that a rank says something. */
static void
ranks_tell_values_apart_that_differ_early(void **unused)
{
    const struct colander_value ascending[] = {
        colander_null(),
        colander_boolean(false),
        colander_boolean(true),
        colander_double(-INFINITY),
        colander_integer(INT64_MIN),
        colander_integer(-(INT64_C(1) << 53)),
        colander_integer(-(INT64_C(1) << 53) + 1),
        colander_integer(-1),
        colander_double(-5e-324),
        colander_double(-0.0),
        colander_double(5e-324),
        colander_integer(1),
        colander_double(1.5),
        colander_integer(2),
        colander_unsigned(UINT64_MAX),
        colander_double(INFINITY),
        colander_double(NAN),
        colander_text(""),
        colander_text("a"),
        colander_text("ab"),
        colander_text("abcdefg"),
        colander_text("abcdefgh"),
        colander_text("abcdefgi"),
        colander_binary(colander_slice_text("")),
        colander_binary(colander_slice_text("a")),
        colander_timestamp(-1, 999),
        colander_timestamp(0, 0),
        colander_timestamp(1, 0),
    };

    (void)unused;
    for (size_t i = 1; i < COUNT(ascending); i++)
        assert_true(zone_rank_is_below(zone_rank_of(&ascending[i - 1]),
                                       zone_rank_of(&ascending[i])));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_never_stand_against_the_order_of_values),
        cmocka_unit_test(ranks_tell_values_apart_that_differ_early),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

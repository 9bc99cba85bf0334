/*
 * Zones: points keep the order of values. For strings see test_zones_strings.c.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filters/zones/zones_code.h"
#include "support/cases.h"

#include "filters/zone_values.h"

static int
sign(int order)
{
    return (order > 0) - (order < 0);
}

static int
point_order(struct zones_point a, struct zones_point b)
{
    return (int)zones_point_is_below(b, a) - (int)zones_point_is_below(a, b);
}

/* The point of a rank without bytes. */
static struct zones_point
point_of(struct zone_rank rank)
{
    struct zones_point point = {rank.type, rank.prefix};

    return point;
}

TEST(points_never_contradict_the_order_of_values)
{
    fill_bytes();
    for (uint64_t run = 0; run < random_runs(300000); run++) {
        struct colander_value a = any_scalar();
        struct colander_value b = below(2) == 0 ? any_number() : any_scalar();
        int order = sign(colander_value_compare(&a, &b));
        struct zones_point point = zones_point_of(&a);
        int points = point_order(point, zones_point_of(&b));

        assert_true(points == 0 || points == order);
        assert_true(point_order(point_of(zone_rank_least(&a)), point) <= 0);
        assert_true(point_order(point_of(zone_rank_largest(&a)), point) >= 0);
        if (!zones_is_text(a.type))
            assert_int_equal(point_order(point_of(zone_rank_of(&a)), point), 0);
    }
}

/* Otherwise a point would be useless. */
TEST(points_distinguish_values_that_differ_early)
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
        colander_binary(colander_slice_text("")),
        colander_timestamp(-1, 999),
        colander_timestamp(0, 0),
        colander_timestamp(1, 0),
    };

    for (size_t i = 1; i < COUNT(ascending); i++)
        assert_true(zones_point_is_below(zones_point_of(&ascending[i - 1]),
                                         zones_point_of(&ascending[i])));
}

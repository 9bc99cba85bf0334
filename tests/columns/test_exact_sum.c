/*
 * Averages, rounded once: of equal numbers each is that number, and others are
 * compared with those of whole numbers.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/groups/exact_sum.h"

#include "support/cases.h"
#include "support/random.h"

#include <float.h>
#include <math.h>

static double
average_of(const struct colander_value *numbers, size_t count)
{
    struct exact_sum sum = {.count = 0};
    struct colander_value average;
    size_t bytes = 0;

    for (size_t i = 0; i < count; i++)
        OK(exact_sum_add(&sum, &numbers[i], &bytes, NULL));
    average = exact_sum_average(&sum);
    exact_sum_release(&sum);
    assert_int_equal(average.type, COLANDER_DOUBLE);
    return average.number;
}

static void
assert_average(double expected, const struct colander_value *numbers,
               size_t count)
{
    const double average = average_of(numbers, count);

    if (average != expected)
        fail_msg("the average is %a, not %a", average, expected);
}

TEST(known_averages)
{
    const double third = 1.0 / 3;
    const struct colander_value decimals[] = {
        colander_double(36.5), colander_double(17.1), colander_double(47.8)};
    const struct colander_value one[] = {
        colander_integer(1), colander_integer(0), colander_integer(0)};
    /* halves of the least double: to the even one */
    const struct colander_value least[] = {colander_double(DBL_TRUE_MIN),
                                           colander_double(0)};
    const struct colander_value more[] = {colander_double(3 * DBL_TRUE_MIN),
                                          colander_double(0)};
    const struct colander_value most[] = {colander_unsigned(UINT64_MAX),
                                          colander_unsigned(UINT64_MAX)};

    assert_average(33.8, decimals, 3);
    assert_average(third, one, 3);
    assert_average(0, least, 2);
    assert_average(2 * DBL_TRUE_MIN, more, 2);
    assert_average((double)UINT64_MAX, most, 2);
}

/* Returns a double of any finite bits. */
static double
random_double(uint64_t *random)
{
    double number;

    do {
        const uint64_t bits = random_next(random);

        memcpy(&number, &bits, sizeof(number));
    } while (!isfinite(number));
    return number;
}

TEST(averages_of_equal_numbers)
{
    uint64_t random = random_seed("equal");

    for (unsigned round = 0; round < 2000; round++) {
        const size_t count = 1 + random_below(&random, 40);
        struct colander_value numbers[40];
        double number = random_double(&random);

        if (round % 3 == 0) /* or less than the least normal one */
            number = ldexp(number, -1100);
        for (size_t i = 0; i < count; i++)
            numbers[i] = colander_double(number);
        assert_average(number, numbers, count);
    }
}

/* A sum below 2^53 and a count are exact doubles, so their quotient is rounded
 * once. Numbers are scaled by a power of two. */
TEST(averages_of_small_numbers)
{
    uint64_t random = random_seed("small");

    for (unsigned round = 0; round < 2000; round++) {
        const size_t count = 1 + random_below(&random, 40);
        const int scale = (int)random_below(&random, 1800) - 900;
        struct colander_value numbers[40];
        int64_t sum = 0;

        for (size_t i = 0; i < count; i++) {
            const int64_t number =
                (int64_t)(random_next(&random) >> 18) - (INT64_C(1) << 45);

            sum += number;
            numbers[i] = colander_double(ldexp((double)number, scale));
        }
        assert_average(ldexp((double)sum / (double)count, scale), numbers,
                       count);
    }
}

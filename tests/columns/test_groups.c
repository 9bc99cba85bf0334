/*
 * Groups beyond what SQLite can say (test_groups_sqlite.c): buckets of time
 * zones against the system's clock, sums in any order, estimates, threads,
 * gaps, limits, cancellation.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/groups.h"
#include "columns/groups/bucket.h"
#include "columns/groups/calendar.h"
#include "columns/groups/exact_sum.h"
#include "columns/groups/quantiles.h"
#include "columns/groups/value_set.h"

#include "support/random.h"
#include "support/store_fixture.h"

#include <math.h>
#include <time.h>

/* -------------------------------------------------------------- buckets --- */

static const char *const zones[] = {
    "UTC",
    "Europe/Berlin",
    "America/New_York",
    "Asia/Kolkata",
    "Australia/Sydney",
    "America/Sao_Paulo",
    "Asia/Kathmandu",
    "Pacific/Apia",
    "Europe/Dublin",
    "Africa/Casablanca",
    "Australia/Lord_Howe",
};

/* The parts of a time on the clocks of the zone in TZ. */
static struct tm
clock_at(int64_t second)
{
    const time_t time = (time_t)second;
    struct tm parts;

    assert_non_null(localtime_r(&time, &parts));
    return parts;
}

static bool
is_same_day(const struct tm *a, const struct tm *b)
{
    return a->tm_year == b->tm_year && a->tm_yday == b->tm_yday;
}

static void
set_zone(const char *name)
{
    ZERO(setenv("TZ", name, 1));
    tzset();
}

/* Asserts that a bucket has a time, and joins the next one. */
static struct bucket_span
checked_span(const struct bucket *bucket, int64_t second)
{
    const struct bucket_span span = bucket_of(bucket, second);
    const struct bucket_span next = bucket_of(bucket, span.until);
    const struct bucket_span first = bucket_of(bucket, span.from);

    assert_true(span.from <= second && second < span.until);
    assert_int_equal(next.from, span.until);
    assert_int_equal(first.from, span.from);
    assert_int_equal(first.until, span.until);
    return span;
}

static void
check_days(const struct bucket *bucket, int64_t second)
{
    const struct bucket_span span = checked_span(bucket, second);
    const struct tm now = clock_at(second);
    const struct tm from = clock_at(span.from);
    const struct tm last = clock_at(span.until - 1);
    const struct tm before = clock_at(span.from - 1);
    const struct tm after = clock_at(span.until);

    assert_true(is_same_day(&now, &from) && is_same_day(&now, &last));
    assert_false(is_same_day(&now, &before) || is_same_day(&now, &after));
}

static void
check_months(const struct bucket *bucket, int64_t second)
{
    const struct bucket_span span = checked_span(bucket, second);
    const struct tm now = clock_at(second);
    const struct tm from = clock_at(span.from);
    const struct tm last = clock_at(span.until - 1);

    assert_int_equal(from.tm_mday, 1);
    assert_int_equal(from.tm_mon, now.tm_mon);
    assert_int_equal(last.tm_mon, now.tm_mon);
    assert_int_not_equal(clock_at(span.from - 1).tm_mon, now.tm_mon);
    assert_int_not_equal(clock_at(span.until).tm_mon, now.tm_mon);
}

/* An hour has one offset, and begins with it or at a full hour. */
static void
check_hours(const struct bucket *bucket, int64_t second)
{
    const struct bucket_span span = checked_span(bucket, second);
    const struct tm now = clock_at(second);
    const struct tm from = clock_at(span.from);

    assert_int_equal(from.tm_hour, now.tm_hour);
    assert_int_equal(from.tm_gmtoff, now.tm_gmtoff);
    if (from.tm_min != 0)
        assert_int_not_equal(clock_at(span.from - 1).tm_gmtoff, now.tm_gmtoff);
    assert_true(span.until - span.from <= 3600);
}

/* Whether clocks were set back over the start of a day near `second`: then a
 * day may not be one interval. */
static bool
is_odd(int64_t second)
{
    for (int64_t at = second - 2 * CALENDAR_DAY; at < second + 2 * CALENDAR_DAY;
         at += 900) {
        const struct tm a = clock_at(at);
        const struct tm b = clock_at(at + 900);

        if (!is_same_day(&a, &b) && a.tm_gmtoff > b.tm_gmtoff)
            return true;
        if (a.tm_gmtoff > b.tm_gmtoff && a.tm_hour < b.tm_hour)
            return true;
    }
    return false;
}

TEST(buckets_of_a_zone_are_those_of_the_systems_clock)
{
    uint64_t random = random_seed(__func__);
    const uint64_t runs = random_runs(1500);

    for (size_t i = 0; i < COUNT(zones); i++) {
        struct bucket day, month, hour;

        OK(bucket_parse(&day, "1d", zones[i], why()));
        OK(bucket_parse(&month, "1mo", zones[i], why()));
        OK(bucket_parse(&hour, "1h", zones[i], why()));
        set_zone(zones[i]);
        for (uint64_t run = 0; run < runs; run++) {
            /* from 1950 on, half of the times beyond what the file lists */
            int64_t second =
                (int64_t)random_below(&random, 2838240000) - 631152000;

            if (run % 2 == 0)
                second += (int64_t)random_below(&random, 100) * 31556952;
            check_hours(&hour, second);
            if (is_odd(second))
                continue;
            check_days(&day, second);
            check_months(&month, second);
        }
        bucket_release(&day);
        bucket_release(&month);
        bucket_release(&hour);
    }
    set_zone("UTC");
}

/* Every quarter of an hour around changes of clocks. */
TEST(days_around_changes_of_clocks_are_those_of_the_systems_clock)
{
    static const struct {
        const char *zone;
        int64_t second; /* of a change */
        int minutes;    /* of that day */
    } changes[] = {
        {"Europe/Berlin", 1774746000, 1380},       /* 2026-03-29 */
        {"Europe/Berlin", 1792890000, 1500},       /* 2026-10-25 */
        {"America/New_York", 1772953200, 1380},    /* 2026-03-08 */
        {"America/Sao_Paulo", 1541300400, 1380},   /* 2018-11-04, at midnight */
        {"Australia/Lord_Howe", 1775314800, 1470}, /* 2026-04-05 */
        {"Europe/Berlin", 4898538000, 1380},       /* 2125-03-25 */
    };

    for (size_t i = 0; i < COUNT(changes); i++) {
        const int64_t second = changes[i].second;
        struct bucket day;
        struct bucket hour;
        struct bucket_span span;

        OK(bucket_parse(&day, "1d", changes[i].zone, why()));
        OK(bucket_parse(&hour, "1h", changes[i].zone, why()));
        set_zone(changes[i].zone);
        assert_int_not_equal(clock_at(second - 1).tm_gmtoff,
                             clock_at(second).tm_gmtoff);
        span = bucket_of(&day, second);
        assert_int_equal(span.until - span.from, changes[i].minutes * 60);
        for (int64_t at = second - 2 * CALENDAR_DAY;
             at < second + 2 * CALENDAR_DAY; at += 900) {
            check_days(&day, at);
            check_hours(&hour, at);
        }
        bucket_release(&day);
        bucket_release(&hour);
    }
    set_zone("UTC");
}

TEST(sizes_of_buckets_are_multiples_of_units)
{
    struct bucket bucket;
    struct bucket_span span;

    OK(bucket_parse(&bucket, "1w", NULL, why()));
    span = bucket_of(&bucket, 1774746000); /* Sunday, 29 March 2026 */
    assert_int_equal(span.from, 1774224000);
    assert_int_equal(span.until - span.from, 7 * CALENDAR_DAY);
    OK(bucket_parse(&bucket, "3mo", NULL, why()));
    span = bucket_of(&bucket, 1774746000);
    assert_int_equal(span.from, 1767225600);
    OK(bucket_parse(&bucket, "1y", NULL, why()));
    span = bucket_of(&bucket, 951782400); /* 29 February 2000 */
    assert_int_equal(span.until - span.from, 366 * CALENDAR_DAY);
    OK(bucket_parse(&bucket, "15m", NULL, why()));
    span = bucket_of(&bucket, -1);
    assert_int_equal(span.from, -900);
    for (size_t i = 0; i < 8; i++) {
        static const char *const wrong[] = {"",    "0h", "1",    "1x",
                                            "-1h", "mo", "1.5h", "2000y"};

        FAILS(bucket_parse(&bucket, wrong[i], NULL, why()), COLANDER_INVALID);
    }
    FAILS(bucket_parse(&bucket, "1d", "../passwd", why()), COLANDER_INVALID);
    FAILS(bucket_parse(&bucket, "1d", "/etc/passwd", why()), COLANDER_INVALID);
    FAILS(bucket_parse(&bucket, "1d", "", why()), COLANDER_INVALID);
}

/* Zone data that is cut off anywhere, or has other bytes, is an error or a
 * zone; it never reads beyond its end. */
TEST(damaged_zone_data_is_refused_or_read)
{
    uint64_t random = random_seed(__func__);
    FILE *file = fopen("/usr/share/zoneinfo/Europe/Berlin", "rb");
    uint8_t bytes[8192];
    struct zone *zone;
    size_t size;

    assert_non_null(file);
    size = fread(bytes, 1, sizeof(bytes), file);
    ZERO(fclose(file));
    for (size_t i = 0; i < size; i++) {
        SCOPED_MEMORY uint8_t *part = malloc(i + 1);

        memcpy(part, bytes, i);
        if (zone_read(colander_slice_of(part, i), &zone, NULL) == COLANDER_OK)
            assert_true(i + 40 > size);
        zone_close(zone);
    }
    for (uint64_t run = random_runs(20000); run > 0; run--) {
        uint8_t *at = &bytes[random_below(&random, size)];
        const uint8_t before = *at;

        *at = (uint8_t)random_below(&random, 256);
        if (zone_read(colander_slice_of(bytes, size), &zone, NULL) ==
            COLANDER_OK)
            (void)zone_instant(zone, (int64_t)random_below(&random, 1 << 30));
        zone_close(zone);
        *at = before;
    }
}

/* ----------------------------------------------------------------- sums --- */

static double
sum_of(const double *numbers, size_t count, uint64_t *random)
{
    struct exact_sum sums[3];
    size_t bytes = 0;
    double number;

    memset(sums, 0, sizeof(sums));
    for (size_t i = 0; i < count; i++) {
        const struct colander_value value = colander_double(numbers[i]);

        OK(exact_sum_add(&sums[random_below(random, 3)], &value, &bytes,
                         why()));
    }
    OK(exact_sum_merge(&sums[0], &sums[2], &bytes, why()));
    OK(exact_sum_merge(&sums[0], &sums[1], &bytes, why()));
    number = exact_sum_value(&sums[0]).number;
    for (size_t i = 0; i < 3; i++)
        exact_sum_release(&sums[i]);
    return number;
}

static void
shuffle(double *numbers, size_t count, uint64_t *random)
{
    for (size_t i = count; i > 1; i--) {
        const size_t other = random_below(random, i);
        const double number = numbers[i - 1];

        numbers[i - 1] = numbers[other];
        numbers[other] = number;
    }
}

static uint64_t
bits_of(double number)
{
    uint64_t bits;

    memcpy(&bits, &number, sizeof(bits));
    return bits;
}

/* Numbers of any size, and their opposites: what is left is one of them. */
TEST(sums_of_doubles_are_exact_in_any_order)
{
    uint64_t random = random_seed(__func__);
    double numbers[101];

    for (uint64_t run = random_runs(3000); run > 0; run--) {
        const double rest = ldexp((double)random_next(&random),
                                  (int)random_below(&random, 2000) - 1063);

        for (size_t i = 0; i < 100; i += 2) {
            uint64_t bits = random_next(&random);

            if ((bits >> 52 & 0x7ff) == 0x7ff)
                bits ^= UINT64_C(1) << 62;
            memcpy(&numbers[i], &bits, sizeof(bits));
            numbers[i + 1] = -numbers[i];
        }
        numbers[100] = rest;
        shuffle(numbers, COUNT(numbers), &random);
        assert_true(bits_of(sum_of(numbers, COUNT(numbers), &random)) ==
                    bits_of(rest));
    }
}

/* Against sums that have enough bits, as all numbers are of about one size. */
TEST(sums_of_doubles_are_rounded_once)
{
    uint64_t random = random_seed(__func__);

    for (uint64_t run = random_runs(20000); run > 0; run--) {
        const int exponent = (int)random_below(&random, 1900) - 1000;
        const size_t count = 1 + random_below(&random, 20);
        __int128 exact = 0;
        double numbers[20];

        for (size_t i = 0; i < count; i++) {
            const int64_t part = (int64_t)random_next(&random) >> 11;
            const int shift = (int)random_below(&random, 40);

            numbers[i] = ldexp((double)part, exponent + shift);
            exact += (__int128)part * ((__int128)1 << shift);
        }
        /* the conversion rounds to the nearest, the even one of two */
        assert_true(bits_of(sum_of(numbers, count, &random) + 0.0) ==
                    bits_of(ldexp((double)exact, exponent)));
    }
}

TEST(sums_of_integers_have_no_overflow_in_between)
{
    const struct colander_value steps[] = {
        colander_integer(INT64_MAX),   colander_unsigned(UINT64_MAX),
        colander_integer(INT64_MIN),   colander_integer(-5),
        colander_unsigned(UINT64_MAX),
    };
    struct exact_sum sum;
    struct colander_value value;
    size_t bytes = 0;

    memset(&sum, 0, sizeof(sum));
    for (size_t i = 0; i < 4; i++)
        OK(exact_sum_add(&sum, &steps[i], &bytes, why()));
    value = exact_sum_value(&sum);
    assert_int_equal(value.type, COLANDER_UNSIGNED);
    assert_true(value.natural == UINT64_MAX - 6);
    OK(exact_sum_add(&sum, &steps[4], &bytes, why()));
    value = exact_sum_value(&sum);
    assert_int_equal(value.type, COLANDER_DOUBLE);
    assert_true(value.number == 36893488147419103232.0);
    assert_int_equal(bytes, 0);
}

TEST(a_billion_additions_are_carried)
{
    const struct colander_value large = colander_double(1.9999999999);
    struct exact_sum sum, other;
    size_t bytes = 0;

    memset(&sum, 0, sizeof(sum));
    OK(exact_sum_add(&sum, &large, &bytes, why()));
    for (int i = 0; i < 70; i++) { /* doubles the number of additions */
        memset(&other, 0, sizeof(other));
        OK(exact_sum_merge(&other, &sum, &bytes, why()));
        OK(exact_sum_merge(&sum, &other, &bytes, why()));
        exact_sum_release(&other);
    }
    assert_true(exact_sum_value(&sum).number == ldexp(1.9999999999, 70));
    exact_sum_release(&sum);
}

/* ------------------------------------------------------------ estimates --- */

static int
compare_doubles(const void *a, const void *b)
{
    const double left = *(const double *)a;
    const double right = *(const double *)b;

    return (left > right) - (left < right);
}

TEST(quantiles_are_within_one_percent)
{
    static const double parts[] = {0, 0.01, 0.25, 0.5, 0.75, 0.95, 0.999, 1};
    uint64_t random = random_seed(__func__);
    static double numbers[2000];

    for (uint64_t run = random_runs(60); run > 0; run--) {
        struct quantiles all[2];
        size_t bytes = 0;
        const size_t count = 1 + random_below(&random, COUNT(numbers));
        const unsigned shape = (unsigned)random_below(&random, 3);

        memset(all, 0, sizeof(all));
        for (size_t i = 0; i < count; i++) {
            const double part = (double)random_below(&random, 1000000) / 1e6;
            struct colander_value value;

            numbers[i] = shape == 0   ? part - 0.5
                         : shape == 1 ? exp(part * 600 - 300)
                                      : floor(part * 50) - 25;
            value = colander_double(numbers[i]);
            OK(quantiles_add(&all[i % 2], &value, &bytes, why()));
        }
        OK(quantiles_merge(&all[0], &all[1], &bytes, why()));
        qsort(numbers, count, sizeof(numbers[0]), compare_doubles);
        for (size_t i = 0; i < COUNT(parts); i++) {
            const double exact =
                numbers[(size_t)(parts[i] * (double)(count - 1))];
            const double found = quantiles_value(&all[0], parts[i]).number;

            assert_true(fabs(found - exact) <= 0.010001 * fabs(exact));
        }
        quantiles_release(&all[0]);
        quantiles_release(&all[1]);
    }
}

/* In 95 of 100 cases the error is at most 2 %. The hashes are those of the
 * numbers from 1 on, so that the result is always the same. */
TEST(approx_distinct_is_within_two_percent)
{
    static const uint64_t counts[] = {10, 1024, 1025, 3000, 20000, 100000};
    size_t far_count = 0;
    size_t case_count = 0;

    for (uint64_t i = 0; i < 20; i++) {
        for (size_t j = 0; j < COUNT(counts); j++) {
            struct value_estimate parts[2];
            size_t bytes = 0;
            double error;

            memset(parts, 0, sizeof(parts));
            for (uint64_t k = 0; k < 2 * counts[j]; k++) {
                const struct colander_value value =
                    colander_integer((int64_t)(i * 1000000 + k % counts[j]));

                OK(value_estimate_add(&parts[k * 7 % 3 % 2],
                                      any_value_hash(&value), &bytes, why()));
            }
            OK(value_estimate_merge(&parts[1], &parts[0], &bytes, why()));
            error = (double)value_estimate_count(&parts[1]) - (double)counts[j];
            if (counts[j] <= 1024)
                assert_true(error == 0);
            far_count += fabs(error) > 0.02 * (double)counts[j];
            case_count++;
            value_estimate_release(&parts[0]);
            value_estimate_release(&parts[1]);
        }
    }
    assert_true(far_count * 20 <= case_count);
}

/* ------------------------------------------------------------ groupings --- */

static struct colander_grouping
usual_grouping(void)
{
    struct colander_grouping grouping;

    colander_grouping_init(&grouping);
    return grouping;
}

/* Groups all rows of a family. Returns the groups as lines of JSON. */
static void
group_as_text(struct colander_family *family,
              const struct colander_grouping *grouping, uint32_t thread_count,
              struct colander_buffer *text)
{
    struct colander_query query = usual_query();
    struct colander_groups *groups;
    struct colander_value columns = colander_null();
    bool is_group = true;

    columns.type = COLANDER_MAP;
    query.thread_count = thread_count;
    OK(colander_groups_create(grouping, &groups, why()));
    OK(colander_family_group(family, &query, groups, NULL, why()));
    colander_buffer_clear(text);
    for (;;) {
        OK(colander_groups_next(groups, &is_group, &columns.bytes, why()));
        if (!is_group)
            break;
        OK(colander_json_append_value(text, &columns, why()));
        OK(colander_buffer_append(text, "\n", 1, NULL));
    }
    OK(colander_buffer_append(text, "", 1, NULL));
    colander_groups_destroy(groups);
}

static void
put_json(struct colander_family *family, const char *json)
{
    OK(colander_family_put_json(family, json, NULL, NULL, why()));
}

#define MANY 90000 /* enough for four threads */

static void
put_many(struct store_fixture *fixture, struct colander_family *family,
         uint64_t *random)
{
    struct colander_batch *batch;

    OK(colander_batch_create(fixture->store, &batch, why()));
    for (int64_t i = 0; i < MANY; i++) {
        const struct colander_value part = colander_integer(i);
        struct colander_key key;
        struct colander_slice row;
        const uint64_t kind = random_below(random, 4);

        colander_row_builder_add(
            fixture->builder, "g",
            kind == 0 ? colander_double((double)random_below(random, 9))
                      : colander_integer((int64_t)random_below(random, 9)));
        colander_row_builder_add(
            fixture->builder, "t",
            colander_double(ldexp((double)random_next(random),
                                  (int)random_below(random, 100) - 100)));
        colander_row_builder_add(
            fixture->builder, "at",
            colander_timestamp((int64_t)random_below(random, 5000), 0));
        OK(colander_row_builder_finish(fixture->builder, &row, why()));
        OK(colander_batch_put(batch, family, colander_key_of(&key, &part, 1),
                              row, why()));
        if (i % 5000 == 4999)
            OK(colander_batch_commit(batch, NULL, why()));
    }
    colander_batch_destroy(batch);
    OK(colander_family_flush(family, why()));
}

FIXTURE_TEST(groups_are_the_same_with_any_number_of_threads)
{
    const struct colander_group_key keys[] = {{"g", "g", NULL, NULL}};
    const struct colander_measure measures[] = {
        {"n", COLANDER_COUNT, NULL, 0},
        {"s", COLANDER_SUM, "t", 0},
        {"a", COLANDER_AVG, "t", 0},
        {"p", COLANDER_QUANTILE, "t", 0.9},
        {"d", COLANDER_DISTINCT, "at", 0},
        {"e", COLANDER_APPROX_DISTINCT, "t", 0},
        {"f", COLANDER_FIRST, "t", 0},
        {"l", COLANDER_LAST, "t", 0},
    };
    uint64_t random = random_seed(__func__);
    struct colander_family *family = kept_family(fixture, "r");
    struct colander_grouping grouping = usual_grouping();
    SCOPED_BUFFER one = COLANDER_BUFFER_EMPTY;
    SCOPED_BUFFER many = COLANDER_BUFFER_EMPTY;

    grouping.keys = keys;
    grouping.key_count = COUNT(keys);
    grouping.measures = measures;
    grouping.measure_count = COUNT(measures);
    grouping.time_path = "at";
    put_many(fixture, family, &random);
    group_as_text(family, &grouping, 1, &one);
    for (uint32_t threads = 2; threads < 5; threads++) {
        group_as_text(family, &grouping, threads, &many);
        assert_string_equal((char *)one.data, (char *)many.data);
    }
    /* of equal numbers the integer is shown */
    assert_true(strncmp((char *)one.data, "{\"g\":0,\"n\":", 11) == 0);
}

static bool is_stopped;

static bool
stop(void)
{
    return is_stopped;
}

FIXTURE_TEST(a_grouping_that_is_cancelled_or_too_large_fails)
{
    const struct colander_group_key keys[] = {{"t", "t", NULL, NULL}};
    uint64_t random = random_seed(__func__);
    struct colander_family *family = kept_family(fixture, "r");
    struct colander_grouping grouping = usual_grouping();
    struct colander_query query = usual_query();
    struct colander_groups *groups;

    grouping.keys = keys;
    grouping.key_count = COUNT(keys);
    put_many(fixture, family, &random);
    for (uint32_t threads = 1; threads < 5; threads += 3) {
        query.thread_count = threads;
        is_stopped = true;
        grouping.is_cancelled = stop;
        grouping.size_max = SIZE_MAX;
        OK(colander_groups_create(&grouping, &groups, why()));
        FAILS(colander_family_group(family, &query, groups, NULL, why()),
              COLANDER_CANCELLED);
        colander_groups_destroy(groups);
        is_stopped = false;
        grouping.size_max = 1 << 20;
        OK(colander_groups_create(&grouping, &groups, why()));
        FAILS(colander_family_group(family, &query, groups, NULL, why()),
              COLANDER_LIMIT);
        assert_non_null(strstr(error_text(), "take more than 1048576 bytes"));
        colander_groups_destroy(groups);
    }
}

FIXTURE_TEST(gaps_are_filled_for_each_value_of_the_other_keys)
{
    struct colander_group_key keys[] = {
        {"at", "at", "1d", "Europe/Berlin"},
        {"s", "s", NULL, NULL},
    };
    const struct colander_measure measures[] = {
        {"n", COLANDER_COUNT, NULL, 0},
        {"t", COLANDER_SUM, "t", 0},
    };
    struct colander_family *family = kept_family(fixture, "r");
    struct colander_grouping grouping = usual_grouping();
    SCOPED_BUFFER text = COLANDER_BUFFER_EMPTY;

    put_json(family, "{\"at\":\"2026-03-28T12:00:00Z\",\"s\":1,\"t\":2}");
    put_json(family, "{\"at\":\"2026-03-30T22:30:00Z\",\"s\":1,\"t\":3}");
    put_json(family, "{\"at\":\"2026-03-29T22:00:00Z\",\"s\":1.0,\"t\":\"x\"}");
    put_json(family, "{\"at\":\"2026-03-28T23:00:00Z\",\"s\":null,\"t\":9}");
    put_json(family, "{\"at\":null,\"s\":1,\"t\":1}");
    put_json(family, "{\"at\":5,\"t\":1}");
    grouping.keys = keys;
    grouping.key_count = COUNT(keys);
    grouping.measures = measures;
    grouping.measure_count = COUNT(measures);
    grouping.fill = COLANDER_FILL_PREVIOUS;
    group_as_text(family, &grouping, 0, &text);
    assert_string_equal(
        (char *)text.data,
        "{\"n\":1,\"t\":1}\n"
        "{\"at\":null,\"s\":1,\"n\":1,\"t\":1}\n"
        "{\"at\":\"2026-03-27T23:00:00Z\",\"s\":null,\"n\":null,\"t\":null}\n"
        "{\"at\":\"2026-03-27T23:00:00Z\",\"s\":1,\"n\":1,\"t\":2}\n"
        "{\"at\":\"2026-03-28T23:00:00Z\",\"s\":null,\"n\":1,\"t\":9}\n"
        "{\"at\":\"2026-03-28T23:00:00Z\",\"s\":1.0,\"n\":1,\"t\":2}\n"
        "{\"at\":\"2026-03-29T22:00:00Z\",\"s\":null,\"n\":1,\"t\":9}\n"
        "{\"at\":\"2026-03-29T22:00:00Z\",\"s\":1.0,\"n\":1,\"t\":null}\n"
        "{\"at\":\"2026-03-30T22:00:00Z\",\"s\":null,\"n\":1,\"t\":9}\n"
        "{\"at\":\"2026-03-30T22:00:00Z\",\"s\":1,\"n\":1,\"t\":3}\n");
    grouping.fill = COLANDER_FILL_ZERO;
    grouping.order = "t";
    grouping.is_descending = true;
    grouping.limit = 3;
    group_as_text(family, &grouping, 0, &text);
    assert_string_equal(
        (char *)text.data,
        "{\"at\":\"2026-03-28T23:00:00Z\",\"s\":null,\"n\":1,\"t\":9}\n"
        "{\"at\":\"2026-03-30T22:00:00Z\",\"s\":1,\"n\":1,\"t\":3}\n"
        "{\"at\":\"2026-03-27T23:00:00Z\",\"s\":1,\"n\":1,\"t\":2}\n");
}

FIXTURE_TEST(values_of_other_types_are_counted)
{
    const struct colander_group_key keys[] = {{"at", "at", "1h", NULL}};
    const struct colander_measure measures[] = {
        {"a", COLANDER_AVG, "t", 0},
        {"m", COLANDER_MAX, "t", 0},
        {"n", COLANDER_COUNT, "t", 0},
        {"d", COLANDER_DISTINCT, "t", 0},
    };
    struct colander_family *family = kept_family(fixture, "r");
    struct colander_grouping grouping = usual_grouping();
    struct colander_groups *groups;
    SCOPED_BUFFER text = COLANDER_BUFFER_EMPTY;

    put_json(family, "{\"t\":1}");
    put_json(family, "{\"t\":2.0}");
    put_json(family, "{\"t\":2,\"at\":\"noon\"}");
    put_json(family, "{\"t\":\"x\",\"at\":7}");
    put_json(family, "{\"t\":[1,2]}");
    put_json(family, "{\"t\":[1,2]}");
    put_json(family, "{\"t\":null}");
    put_json(family, "{}");
    grouping.measures = measures;
    grouping.measure_count = COUNT(measures);
    group_as_text(family, &grouping, 0, &text);
    assert_string_equal((char *)text.data,
                        "{\"a\":1.6666666666666667,\"m\":\"x\",\"n\":6,"
                        "\"d\":4}\n");
    grouping.keys = keys;
    grouping.key_count = 1;
    OK(colander_groups_create(&grouping, &groups, why()));
    OK(colander_family_group(family, NULL, groups, NULL, why()));
    assert_int_equal(colander_groups_count(groups), 1);
    assert_int_equal(colander_groups_left_out(groups, "at"), 2);
    assert_int_equal(colander_groups_left_out(groups, "a"), 3);
    assert_int_equal(colander_groups_left_out(groups, "m"), 2);
    assert_int_equal(colander_groups_left_out(groups, "n"), 0);
    colander_groups_destroy(groups);
}

TEST(groupings_that_make_no_sense_are_refused)
{
    const struct colander_group_key both[] = {{"k", "k[]", NULL, NULL},
                                              {"l", "l[].m", NULL, NULL}};
    struct colander_group_key key = {"k", "k", NULL, NULL};
    struct colander_measure measure = {"n", COLANDER_COUNT, NULL, 0};
    struct colander_grouping grouping = usual_grouping();
    struct colander_groups *groups;
    struct colander_groups *other;
    struct colander_slice row;
    bool is_group;

    grouping.keys = &key;
    grouping.key_count = 1;
    grouping.measures = &measure;
    grouping.measure_count = 1;
    key.name = "n";
    FAILS(colander_groups_create(&grouping, &groups, why()), COLANDER_INVALID);
    assert_string_equal(error_text(), "two columns are called 'n'");
    key.name = "k";
    key.zone = "UTC";
    FAILS(colander_groups_create(&grouping, &groups, why()), COLANDER_INVALID);
    key.zone = NULL;
    measure.aggregate = COLANDER_SUM;
    measure.path = "k[]";
    FAILS(colander_groups_create(&grouping, &groups, why()), COLANDER_INVALID);
    assert_string_equal(error_text(),
                        "'k[]' leads to several values of a row: only one key, "
                        "and no measure, can have a path with []");
    measure.path = NULL;
    grouping.keys = both;
    grouping.key_count = 2;
    FAILS(colander_groups_create(&grouping, &groups, why()), COLANDER_INVALID);
    grouping.keys = &key;
    grouping.key_count = 1;
    grouping.time_path = "k[]";
    FAILS(colander_groups_create(&grouping, &groups, why()), COLANDER_INVALID);
    grouping.time_path = NULL;
    measure.aggregate = COLANDER_FIRST;
    FAILS(colander_groups_create(&grouping, &groups, why()), COLANDER_INVALID);
    measure.aggregate = COLANDER_QUANTILE;
    measure.quantile = NAN;
    FAILS(colander_groups_create(&grouping, &groups, why()), COLANDER_INVALID);
    measure.aggregate = COLANDER_COUNT;
    grouping.order = "x";
    FAILS(colander_groups_create(&grouping, &groups, why()), COLANDER_INVALID);
    grouping.order = NULL;
    grouping.fill = COLANDER_FILL_ZERO;
    FAILS(colander_groups_create(&grouping, &groups, why()), COLANDER_INVALID);
    grouping.fill = COLANDER_FILL_NOTHING;
    OK(colander_groups_create(&grouping, &groups, why()));
    key.bucket = "1h";
    OK(colander_groups_create(&grouping, &other, why()));
    FAILS(colander_groups_merge(groups, other, why()), COLANDER_INVALID);
    OK(colander_groups_next(groups, &is_group, &row, why()));
    assert_false(is_group);
    FAILS(colander_groups_merge(groups, other, why()), COLANDER_INVALID);
    colander_groups_destroy(groups);
    colander_groups_destroy(other);
}

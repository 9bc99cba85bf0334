/*
 * Times as text: what is read, which instants a date or a beginning means, and
 * how predicates compare them.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/columns.h"
#include "columns/words/times.h"
#include "support/cases.h"
#include "support/random.h"
#include "support/scoped.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define YEAR_0 INT64_C(-62167219200)
#define YEAR_10000 INT64_C(253402300800)

static struct colander_slice
slice(const char *text)
{
    return colander_slice_text(text);
}

/* ------------------------------------------------------------- reading --- */

static const struct {
    const char *text;
    int64_t first;
    int64_t last;
    uint32_t first_nanosecond;
    uint32_t last_nanosecond;
} times[] = {
#define INSTANT(text, second, nanosecond)                                      \
    {                                                                          \
        text, second, second, nanosecond, nanosecond                           \
    }
    INSTANT("2020-09-13T12:26:40Z", 1600000000, 0),
    INSTANT("2020-09-13t12:26:40z", 1600000000, 0),
    INSTANT("2020-09-13 12:26:40", 1600000000, 0),
    INSTANT("2020-09-13 14:26:40 +0200", 1600000000, 0),
    INSTANT("2020-09-13T14:26:40+02:00", 1600000000, 0),
    INSTANT("2020-09-13T14:26:40+02", 1600000000, 0),
    INSTANT("2020-09-12T13:26:40-23:00", 1600000000, 0),
    INSTANT("2020-09-13T12:26", 1599999960, 0),
    INSTANT("2020-09-13T12:26Z", 1599999960, 0),
    INSTANT("2020-09-13T12:26:40.5Z", 1600000000, 500000000),
    INSTANT("2020-09-13T12:26:40,000000001Z", 1600000000, 1),
    INSTANT("2020-09-13T12:26:40.99999999900000Z", 1600000000, 999999999),
    INSTANT("2016-12-31T23:59:60Z", 1483228800, 0),
    INSTANT("2016-12-31T23:59:60.5Z", 1483228800, 500000000),
    INSTANT("0001-01-01T00:00:00Z", -62135596800, 0),
    INSTANT("0000-01-01T00:00:00Z", YEAR_0, 0),
    INSTANT("9999-12-31T23:59:59.999999999Z", YEAR_10000 - 1, 999999999),
    INSTANT("9999-12-31T23:59:60Z", YEAR_10000, 0),
    INSTANT("0000-01-01T00:00+00:01", YEAR_0 - 60, 0),
    INSTANT("@2020-09-13T12:26:40Z", 1600000000, 0),
    {"2020-09-13", 1599955200, 1600041599, 0, 999999999},
    {"@2020-09-13", 1599955200, 1600041599, 0, 999999999},
    {"2020-02-29", 1582934400, 1583020799, 0, 999999999},
    {"2020-02", 1580515200, 1583020799, 0, 999999999},
    {"0001-01", -62135596800, -62132918401, 0, 999999999},
    {"9999-12-31", YEAR_10000 - 86400, YEAR_10000 - 1, 0, 999999999},
    {"9999-12", YEAR_10000 - 31 * 86400, YEAR_10000 - 1, 0, 999999999},
};

static bool
is_time(const struct colander_value *value, int64_t second, uint32_t nanosecond)
{
    return value->type == COLANDER_TIMESTAMP && value->second == second &&
           value->nanosecond == nanosecond;
}

TEST(a_time_means_its_instants)
{
    for (size_t i = 0; i < COUNT(times); i++) {
        struct colander_times read;

        if (!colander_times_read(slice(times[i].text), &read) ||
            !is_time(&read.first, times[i].first, times[i].first_nanosecond) ||
            !is_time(&read.last, times[i].last, times[i].last_nanosecond))
            fail_msg("'%s' is wrong", times[i].text);
    }
}

TEST(other_texts_are_no_times)
{
    static const char *const texts[] = {
        "",
        "@",
        "now",
        "@ann",
        "@nowhere",
        "@now-",
        "@now-7",
        "@now-7x",
        "@now7d",
        "@now--7d",
        "@@now",
        "2015",
        "2015-",
        "2015-3",
        "2015-13",
        "2015-00",
        "201503",
        "2015-03-",
        "2015-03-00",
        "2015-03-32",
        "2015-02-29",
        "1900-02-29",
        "2015-3-24",
        "20150324",
        "15-03-24",
        "2015-03-24T",
        "2015-03-24T10",
        "2015-03-24T10:",
        "2015-03-24T24:00",
        "2015-03-24T10:60",
        "2015-03-24T10:00:61Z",
        "2015-03-24T10:00:00.",
        "2015-03-24T10:00:00.Z",
        "2015-03-24T10:00:00.0000000001Z",
        "2015-03-24T10:00:00+24:00",
        "2015-03-24T10:00:00+1",
        "2015-03-24T10:00:00ZZ",
        "2015-03-24T10:00:00 ",
        " 2015-03-24",
        "2015-03-24 ",
        "+2015-03-24",
        "2015-03-24T10:00:00Z\n",
    };

    for (size_t i = 0; i < COUNT(texts); i++) {
        struct colander_times read;

        if (colander_times_read(slice(texts[i]), &read))
            fail_msg("'%s' is a time", texts[i]);
    }
}

TEST(a_duration_is_a_number_of_seconds)
{
    static const struct {
        const char *text;
        int64_t seconds; /* -1: it is not one */
    } cases[] = {
        {"0s", 0},
        {"1s", 1},
        {"90m", 5400},
        {"1h30m", 5400},
        {"7d", 604800},
        {"1w", 604800},
        {"1d1d", 172800},
        {"9223372036854775807s", INT64_MAX},
        {"9223372036854775808s", -1},
        {"9223372036854775807s1s", -1},
        {"153722867280912931m", -1},
        {"", -1},
        {"7", -1},
        {"d", -1},
        {"7dd", -1},
        {"7y", -1},
        {"-7d", -1},
        {"7 d", -1},
        {"1.5h", -1},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        int64_t seconds;
        bool is = colander_duration_read(slice(cases[i].text), &seconds);

        if (is != (cases[i].seconds >= 0) ||
            (is && seconds != cases[i].seconds))
            fail_msg("'%s' is wrong", cases[i].text);
    }
}

/* time() may be some milliseconds late. */
static int64_t
now_second(void)
{
    struct timespec now;

    ZERO(clock_gettime(CLOCK_REALTIME, &now));
    return now.tv_sec;
}

TEST(now_is_the_clock)
{
    const int64_t before = now_second();
    struct colander_times now;
    struct colander_times then;
    struct colander_times later;

    assert_true(colander_times_read(slice("@now-7d"), &then));
    assert_true(colander_times_read(slice("@now"), &now));
    assert_true(colander_times_read(slice("@now+1h30m"), &later));
    assert_true(now.first.second >= before && now.first.second <= now_second());
    assert_true(now.first.second - then.first.second >= 604800);
    assert_true(then.first.second >= before - 604800);
    assert_true(later.first.second >= before + 5400);
    assert_false(
        colander_times_read(slice("@now+9223372036854775807s"), &later));
}

/* ----------------------------------------------------------- beginnings --- */

static uint64_t
chance(uint64_t below)
{
    return random_below(random_state(), below);
}

/* In the years that have four digits, often near another time. */
static struct colander_value
random_time(void)
{
    static const int64_t seconds[] = {YEAR_0,     -62135596800,  -1,
                                      0,          1583020799,    1583020800,
                                      1600000000, YEAR_10000 - 1};
    static const uint32_t nanoseconds[] = {0, 1, 500000000, 999999999};
    int64_t second = YEAR_0 + (int64_t)chance(YEAR_10000 - YEAR_0);

    if (chance(2) == 0)
        second = seconds[chance(COUNT(seconds))];
    return colander_timestamp(second, chance(2) == 0
                                          ? nanoseconds[chance(4)]
                                          : (uint32_t)chance(1000000000));
}

/* The time with all nine digits, in UTC; written by the C library. */
static void
write_whole(const struct colander_value *value, char text[64])
{
    const time_t second = value->second;
    struct tm time;

    assert_non_null(gmtime_r(&second, &time));
    snprintf(text, 64, "%04d-%02d-%02dT%02d:%02d:%02d.%09u",
             time.tm_year + 1900, time.tm_mon + 1, time.tm_mday, time.tm_hour,
             time.tm_min, time.tm_sec, value->nanosecond);
}

static bool
is_within(const struct colander_value *value, const struct colander_times *in)
{
    return colander_value_compare(value, &in->first) >= 0 &&
           colander_value_compare(value, &in->last) <= 0;
}

TEST(a_beginning_means_the_times_that_are_written_so)
{
    for (uint64_t run = random_runs(20000); run > 0; run--) {
        const struct colander_value one = random_time();
        const struct colander_value other = random_time();
        struct colander_times read;
        char begun[64];
        char whole[64];
        size_t size;

        write_whole(&one, begun);
        write_whole(&other, whole);
        size = 4 + chance(strlen(begun) - 3);
        begun[size] = '\0';
        if (!times_read_prefix(slice(begun), &read) || !is_within(&one, &read))
            fail_msg("'%s' does not mean its time", begun);
        if (is_within(&other, &read) != (strncmp(whole, begun, size) == 0))
            fail_msg("'%s' is wrong about '%s'", begun, whole);
    }
}

TEST(a_beginning_that_no_time_has_is_a_text)
{
    static const char *const texts[] = {
        "",
        "2",
        "201",
        "201x",
        "2015x",
        "2015-1x",
        "2015-2",
        "2015-13",
        "2015-02-3",
        "2015-04-31",
        "2015-03-24T3",
        "2015-03-24T10:6",
        "2015-03-24T10:00:00.0000000001",
    };
    struct colander_times read;

    for (size_t i = 0; i < COUNT(texts); i++) {
        if (times_read_prefix(slice(texts[i]), &read))
            fail_msg("'%s' begins a time", texts[i]);
    }
    assert_true(times_read_prefix(slice("2020-09-13T14:26:40+02:00"), &read));
    assert_true(is_time(&read.first, 1600000000, 0));
    assert_true(is_time(&read.last, 1600000000, 0));
}

/* ---------------------------------------------------------- predicates --- */

/* A row whose column "at" is the value, and "list" an array of both. */
static struct colander_slice
row_of(struct colander_row_builder *builder, struct colander_value a,
       struct colander_value b)
{
    struct colander_slice row;

    colander_row_builder_add(builder, "at", a);
    colander_row_builder_begin_array(builder, "list");
    colander_row_builder_add(builder, NULL, a);
    colander_row_builder_add(builder, NULL, b);
    colander_row_builder_end(builder);
    OK(colander_row_builder_finish(builder, &row, NULL));
    return row;
}

static bool
meets(struct colander_slice row, const char *format, const char *text)
{
    SCOPED_PREDICATE predicate = NULL;
    char condition[200];
    bool is_match;

    snprintf(condition, sizeof(condition), format, text);
    predicate = colander_where_text(condition, why());
    if (predicate == NULL)
        fail_msg("'%s': %s", condition, error_text());
    OK(colander_predicate_evaluate(predicate, row, &is_match, NULL, NULL));
    return is_match;
}

/* A time, date or month as text. */
static void
random_text(char text[64])
{
    static const size_t sizes[] = {7, 10, 16, 19, 29};
    const struct colander_value time = random_time();

    write_whole(&time, text);
    text[sizes[chance(COUNT(sizes))]] = '\0';
}

TEST(every_time_is_before_in_or_after_every_text)
{
    SCOPED_BUILDER builder = colander_row_builder_create();

    for (uint64_t run = random_runs(2000); run > 0; run--) {
        const struct colander_value time = random_time();
        struct colander_slice row = row_of(builder, time, colander_null());
        struct colander_times read;
        char text[64];
        bool is_in;
        bool is_before;

        random_text(text);
        assert_true(colander_times_read(slice(text), &read));
        is_in = is_within(&time, &read);
        is_before = colander_value_compare(&time, &read.first) < 0;
        assert_int_equal(meets(row, "at=%s", text), is_in);
        assert_int_equal(meets(row, "at=\"%s\"", text), is_in);
        assert_int_equal(meets(row, "at=@%s", text), is_in);
        assert_int_equal(meets(row, "at=[1,\"%s\"]", text), is_in);
        assert_int_equal(meets(row, "at!=%s", text), !is_in);
        assert_int_equal(meets(row, "at<%s", text), is_before);
        assert_int_equal(meets(row, "at<=%s", text), is_before || is_in);
        assert_int_equal(meets(row, "at>%s", text), !is_before && !is_in);
        assert_int_equal(meets(row, "at>=@%s", text), !is_before);
    }
}

TEST(texts_are_compared_as_texts)
{
    static const char *const conditions[] = {
        "at=2015-03-24",  "at~2015-03", "at>=2015-03-24",      "at<2015-03-25",
        "at<=2015-03-24", "at>2015-03", "at=[\"2015-03-24\"]", "at!=2015-03-25",
    };
    static const char *const others[] = {
        "at=2015-03",      "at!=2015-03-24", "at<2015-03-24",
        "at>2015-03-24",   "at=@2015-03-24", "at<@now",
        "at>=@2015-03-24", "at~@2015",       "at=[\"@2015-03-24\"]",
    };
    SCOPED_BUILDER builder = colander_row_builder_create();
    struct colander_slice row =
        row_of(builder, colander_text("2015-03-24"), colander_null());

    for (size_t i = 0; i < COUNT(conditions); i++) {
        if (!meets(row, "%s", conditions[i]))
            fail_msg("'%s' does not match the text", conditions[i]);
    }
    for (size_t i = 0; i < COUNT(others); i++) {
        if (meets(row, "%s", others[i]))
            fail_msg("'%s' matches the text", others[i]);
    }
    row = row_of(builder, colander_text("@ann"), colander_null());
    assert_true(meets(row, "%s", "at=@ann"));
    assert_true(meets(row, "%s", "at~@an"));
    row = row_of(builder, colander_text("@now-7"), colander_null());
    assert_true(meets(row, "%s", "at=\"@now-7\""));
}

TEST(a_time_after_an_at_in_quotes_is_a_text)
{
    static const char *const texts[] = {"@now", "@now-7d", "@2015-03-24"};
    SCOPED_BUILDER builder = colander_row_builder_create();
    SCOPED_BUFFER bytes = COLANDER_BUFFER_EMPTY;

    for (size_t i = 0; i < COUNT(texts); i++) {
        const struct colander_value noon = colander_timestamp(1427198400, 0);
        SCOPED_PREDICATE any = NULL;
        struct colander_slice row;
        struct colander_value value;
        char quoted[20];
        size_t offset;
        bool is_match;

        snprintf(quoted, sizeof(quoted), "\"%s\"", texts[i]);
        row = row_of(builder, colander_text(texts[i]), colander_null());
        assert_true(meets(row, "at=%s", quoted));
        assert_true(meets(row, "at>=%s", quoted));
        assert_false(meets(row, "at!=%s", quoted));
        any = colander_where_any_text(quoted, &offset, why());
        assert_non_null(any);
        OK(colander_predicate_evaluate(any, row, &is_match, NULL, NULL));
        assert_true(is_match);
        row = row_of(builder, noon, colander_null());
        assert_false(meets(row, "at=%s", quoted));
        assert_false(meets(row, "at<=%s", quoted));
        OK(colander_value_read(quoted, &value, &bytes, &offset, NULL));
        assert_int_equal(value.type, COLANDER_STRING);
        assert_true(colander_slice_equal(value.bytes, slice(texts[i])));
    }
}

/* One element has to differ from the text and from the times. */
TEST(elements_differ_from_all_that_a_text_means)
{
    const struct colander_value noon = colander_timestamp(1427198400, 0);
    const struct colander_value text = colander_text("2015-03-24");
    SCOPED_BUILDER builder = colander_row_builder_create();

    assert_false(
        meets(row_of(builder, noon, text), "list[]!=%s", "2015-03-24"));
    assert_true(meets(row_of(builder, noon, colander_integer(5)), "list[]!=%s",
                      "2015-03-24"));
    assert_true(
        meets(row_of(builder, noon, text), "list[]!=@%s", "2015-03-24"));
    assert_true(
        meets(row_of(builder, noon, text), "list[]!=%s", "2015-03-24T12:00Z"));
}

TEST(a_time_in_any_column_is_found)
{
    const struct colander_value noon = colander_timestamp(1427198400, 0);
    SCOPED_BUILDER builder = colander_row_builder_create();
    static const struct {
        const char *text;
        bool expected;
    } cases[] = {
        {"2015-03-24", true},  {"2015-03-24T12:00Z", true}, {"2015-03", true},
        {"2015-03-25", false}, {"@2015-03-24", true},       {"x", true},
        {"@2015-02", false},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct colander_slice row = row_of(builder, colander_text("x"), noon);
        SCOPED_PREDICATE predicate = NULL;
        size_t offset;
        bool is_match;

        predicate = colander_where_any_text(cases[i].text, &offset, why());
        assert_non_null(predicate);
        OK(colander_predicate_evaluate(predicate, row, &is_match, NULL, NULL));
        if (is_match != cases[i].expected)
            fail_msg("--any %s is wrong", cases[i].text);
    }
}

TEST(a_wrong_time_after_an_at_is_reported)
{
    static const char *const conditions[] = {"at=@2026-13-01", "at<@now-7",
                                             "at>=@now+x", "at!=@2026-11-01T"};

    for (size_t i = 0; i < COUNT(conditions); i++) {
        struct colander_fault fault;

        assert_null(colander_where_words(&conditions[i], 1, &fault, why()));
        assert_string_equal(
            error_text(),
            "expected a time such as @2026-11-01T10:00+02:00 or @now-7d (a "
            "text that begins so needs double quotes)");
        assert_int_equal(fault.offset, strcspn(conditions[i], "@"));
    }
}

TEST(an_operator_needs_its_values)
{
    const struct colander_value value = colander_integer(1);

    assert_null(colander_where_written("a", COLANDER_OPERATOR_BETWEEN, &value,
                                       1, why()));
    assert_null(
        colander_where_written("a", COLANDER_OPERATOR_ANY, &value, 1, why()));
    assert_null(
        colander_where_written(NULL, COLANDER_OPERATOR_EQ, &value, 1, why()));
    assert_null(
        colander_where_written("a", COLANDER_OPERATOR_EQ, &value, 0, why()));
}

/*
 * Times as text: known ones, invalid ones, and random ones against timegm and
 * strftime.
 *
 * SPDX-License-Identifier: MIT
 */
#include "loading/times.h"
#include "support/cases.h"

#include <stddef.h>

#include "support/random.h"
#include "support/scoped.h"

#define NO_TIME "none"
#define TWITTER "%a %b %d %H:%M:%S %z %Y"

/* Returns the time as "seconds.nanoseconds". */
static void
check(const char *format, const char *text, const char *expected)
{
    char shown[64] = NO_TIME;
    int64_t second;
    uint32_t nanosecond;

    if (times_read(format, colander_slice_text(text), &second, &nanosecond))
        snprintf(shown, sizeof(shown), "%" PRId64 ".%09" PRIu32, second,
                 nanosecond);
    if (strcmp(shown, expected) != 0)
        fail_msg("'%s' as %s is %s, not %s", text,
                 format == NULL ? "rfc3339" : format, shown, expected);
}

static void
check_format(const char *format, const char *message)
{
    if (message == NULL) {
        OK(times_check_format(format, why()));
        return;
    }
    FAILS(times_check_format(format, why()), COLANDER_INVALID);
    assert_string_equal(error_text(), message);
    FAILS(times_check_format(format, NULL), COLANDER_INVALID);
}

TEST(rfc3339_is_read_as_people_write_it)
{
    static const char *const same[] = {
        "2020-02-29T12:30:00Z",
        "2020-02-29t12:30:00z",
        "2020-02-29 12:30:00",
        "2020-02-29T12:30:00",
        "2020-02-29T12:30",
        "2020-02-29 12:30Z",
        "2020-02-29T12:30:00 Z",
        "2020-02-29 12:30:00 +0000",
        "2020-02-29T13:30:00+01:00",
        "2020-02-29T13:30:00+01",
        "2020-02-29T18:00:00+0530",
        "2020-02-28T23:30:00-13:00",
        "2020-02-29T12:30:00.000Z",
        "2020-02-29T12:30:00,0",
        "2020-02-29T12:29:60Z",
        "2020-02-29T12:30:00-00:00",
        "2020-02-29T12:30:00.00000000000000Z",
    };

    for (size_t i = 0; i < COUNT(same); i++) {
        check(NULL, same[i], "1582979400.000000000");
        check("rfc3339", same[i], "1582979400.000000000");
    }
    check(NULL, "2020-02-29", "1582934400.000000000");
    check(NULL, "1970-01-01T00:00:00.123456789Z", "0.123456789");
    check(NULL, "1969-12-31T23:59:59.5Z", "-1.500000000");
    check(NULL, "0000-01-01", "-62167219200.000000000");
    check(NULL, "9999-12-31T23:59:59.999999999Z", "253402300799.999999999");
}

TEST(anything_but_rfc3339_is_rejected)
{
    static const char *const texts[] = {
        "",
        "2020",
        "2020-02",
        "2020-2-29",
        "2020-02-29T",
        "2020-02-29 ",
        " 2020-02-29",
        "2020-02-29T12",
        "2020-02-29T12:30:00Z ",
        "2020-02-29T12:30:00ZZ",
        "2020-02-29T12:30:",
        "2020-02-29T12:30:0",
        "2020-02-29T12:30:00.",
        "2020-02-29T12:30:00.Z",
        "2020-02-29T12:30:00.1234567891Z",
        "2020-02-29T12:30:00+1",
        "2020-02-29T12:30:00+1:00",
        "2020-02-29T12:30:00+01:0",
        "2020-02-29T12:30:00+24:00",
        "2020-02-29T12:30:00+01:60",
        "2020-02-29T12:30:00  Z",
        "2020-02-29T24:00:00",
        "2020-02-29T12:60:00",
        "2020-02-29T12:30:61",
        "2020-00-10",
        "2020-13-10",
        "2020-01-00",
        "2020-01-32",
        "2020-04-31",
        "2020-02-30",
        "2019-02-29",
        "1900-02-29",
        "12020-02-29",
        "-020-02-29",
        "2020/02/29",
        "1600000000",
    };

    for (size_t i = 0; i < COUNT(texts); i++)
        check(NULL, texts[i], NO_TIME);
}

static const struct {
    const char *format;
    const char *text;
    const char *time;
} known[] = {
    /* counts since 1970 have units */
    {"unix", "0", "0.000000000"},
    {"unix", "-0", "0.000000000"},
    {"unix", "1600000000", "1600000000.000000000"},
    {"unix", "1600000000.25", "1600000000.250000000"},
    {"unix", "-0.25", "-1.750000000"},
    {"unix", "-1", "-1.000000000"},
    {"unix", "9223372036854775807", "9223372036854775807.000000000"},
    {"unix_ms", "1600000000123", "1600000000.123000000"},
    {"unix_ms", "1600000000123.4567", "1600000000.123456700"},
    {"unix_ms", "-1", "-1.999000000"},
    {"unix_us", "1600000000123456", "1600000000.123456000"},
    {"unix_us", "1.001", "0.000001001"},
    {"unix_ns", "1600000000123456789", "1600000000.123456789"},
    {"unix_ns", "-1", "-1.999999999"},
    {"unix_ns", "5.000", "0.000000005"},
    /* anything but a count is rejected */
    {"unix", "", NO_TIME},
    {"unix", "-", NO_TIME},
    {"unix", "+5", NO_TIME},
    {"unix", ".5", NO_TIME},
    {"unix", "5.", NO_TIME},
    {"unix", "5e3", NO_TIME},
    {"unix", " 5", NO_TIME},
    {"unix", "5 ", NO_TIME},
    {"unix", "9223372036854775808", NO_TIME},
    {"unix", "99999999999999999999999", NO_TIME},
    {"unix", "1.1234567891", NO_TIME},
    {"unix_ms", "1.0000001", NO_TIME},
    {"unix_ns", "1.5", NO_TIME},
    {"unix", "2020-02-29", NO_TIME},
    /* patterns read exactly their fields */
    {TWITTER, "Wed Aug 27 13:08:45 +0000 2008", "1219842525.000000000"},
    {TWITTER, "WED aug 27 15:08:45 +0200 2008", "1219842525.000000000"},
    {"%d/%b/%Y:%H:%M:%S %z", "10/Oct/2000:13:55:36 -0700",
     "971211336.000000000"},
    {"%A, %d %B %Y %T %Z", "Sunday, 06 November 1994 08:49:37 GMT",
     "784111777.000000000"},
    {"%a %b %e %T %Y", "Sun Nov  6 08:49:37 1994", "784111777.000000000"},
    {"%Y%m%d%H%M%S", "19941106084937", "784111777.000000000"},
    {"%F %T.%f", "1994-11-06 08:49:37.25", "784111777.250000000"},
    {"%m/%d/%Y %I:%M:%S %p", "11/6/1994 8:49:37 AM", "784111777.000000000"},
    {"%D %R", "11/06/94 8:49", "784111740.000000000"},
    {"%Y-%j", "2020-60", "1582934400.000000000"},
    {"%d.%m.%y", "29.02.20", "1582934400.000000000"},
    {"%y", "69", "-31536000.000000000"},
    {"%y", "68", "3092601600.000000000"},
    {"%Y", "1970", "0.000000000"},
    {"%m/%Y", "2/1970", "2678400.000000000"},
    {"100%% %Y", "100% 1970", "0.000000000"},
    {"%Y %I%p", "1970 12am", "0.000000000"},
    {"%Y %I%p", "1970 12PM", "43200.000000000"},
    {"%Y %p %l", "1970 pm  1", "46800.000000000"},
    {"%Y %k:%M", "1970  1:02", "3720.000000000"},
    {"%Y\xC3\xA4%m",
     "1970\xC3\xA4"
     "1",
     "0.000000000"},
    {"%Y %B", "1970 mar", "5097600.000000000"},
    {"%Y %b", "1970 MARCH", "5097600.000000000"},
    /* other texts are rejected */
    {TWITTER, "Wed Aug 27 13:08:45 2008", NO_TIME},
    {TWITTER, "Wed Aug 27 13:08:45 +0000 2008 ", NO_TIME},
    {TWITTER, " Wed Aug 27 13:08:45 +0000 2008", NO_TIME},
    {TWITTER, "Wed Aug 27 13:08:45 +0000 08", NO_TIME},
    {TWITTER, "Wednes Aug 27 13:08:45 +0000 2008", NO_TIME},
    {TWITTER, "Wed Agu 27 13:08:45 +0000 2008", NO_TIME},
    {TWITTER, "", NO_TIME},
    {"%F", "2020-02-30", NO_TIME},
    {"%Y-%j", "2019-366", NO_TIME},
    {"%Y-%j", "2020-367", NO_TIME},
    {"%Y-%j", "2020-0", NO_TIME},
    {"%Y-%m", "2020-0", NO_TIME},
    {"%Y %H", "2020 24", NO_TIME},
    {"%Y %I %p", "2020 13 PM", NO_TIME},
    {"%Y %I %p", "2020 0 AM", NO_TIME},
    {"%Y %I %p", "2020 1 XM", NO_TIME},
    {"%Y %Z", "2020 CET", NO_TIME},
    {"%Y%m", "2020", NO_TIME},
    {"%Y", "20200", NO_TIME},
    {"100%% %Y", "100 1970", NO_TIME},
    /* the first format that matches is used */
    {TWITTER "\nrfc3339\nunix", "Thu Jan 01 00:00:05 +0000 1970",
     "5.000000000"},
    {TWITTER "\nrfc3339\nunix", "1970-01-01 00:00:05", "5.000000000"},
    {TWITTER "\nrfc3339\nunix", "5", "5.000000000"},
    {TWITTER "\nrfc3339\nunix", "5.", NO_TIME},
    {"%m/%d/%Y\n%d/%m/%Y", "3/2/1970", "5184000.000000000"},
    {"%m/%d/%Y\n%d/%m/%Y", "13/2/1970", "3715200.000000000"},
};

TEST(known_texts_are_read_by_their_format)
{
    for (size_t i = 0; i < COUNT(known); i++)
        check(known[i].format, known[i].text, known[i].time);
}

TEST(formats_are_checked)
{
    static const struct {
        const char *format;
        const char *message; /* NULL: it is valid */
    } formats[] = {
        {"rfc3339", NULL},
        {"unix\nunix_ms\nunix_us\nunix_ns", NULL},
        {TWITTER, NULL},
        {"%Y", NULL},
        {"%j of %y, %I %p", NULL},
        {"%F %T.%f %z\nrfc3339", NULL},
        {"", "time format '' is not rfc3339, unix, unix_ms, "
             "unix_us, unix_ns, or a pattern such as '%Y-%m-%d'"},
        {"rfc3339\niso", "time format 'iso' is not rfc3339, unix, unix_ms, "
                         "unix_us, unix_ns, or a pattern such as '%Y-%m-%d'"},
        {"%Y %Q", "time format '%Y %Q': %Q is not known"},
        {"%Y %\x01", "time format '%Y %\x01': % is followed by an unknown "
                     "byte"},
        {"%Y %", "time format '%Y %' ends with half a conversion: a "
                 "percent sign is %%"},
        {"%m-%d", "time format '%m-%d' has no year (%Y)"},
        {"%H:%M %T %Y", "time format '%H:%M %T %Y' has an hour twice"},
        {"%Y %y", "time format '%Y %y' has a year twice"},
        {"%Y %d", "time format '%Y %d' has a day without a month"},
        {"%Y %m %j",
         "time format '%Y %m %j' has a day of the year and a month"},
        {"%Y %M", "time format '%Y %M' has a minute without an hour"},
        {"%Y %R.%f", "time format '%Y %R.%f' has a fraction without a second"},
        {"%Y %I", "time format '%Y %I' has an hour of 12 (%I) without "
                  "AM or PM (%p)"},
        {"%Y %H %p", "time format '%Y %H %p' has AM or PM (%p) without "
                     "an hour of 12 (%I)"},
    };

    for (size_t i = 0; i < COUNT(formats); i++)
        check_format(formats[i].format, formats[i].message);
}

/* -------------------------------------------------------------- random --- */

/* A second in the years 0 to 9999. */
static time_t
random_second(uint64_t *seed)
{
    const uint64_t all = UINT64_C(253402300800) + UINT64_C(62167219200);

    return (time_t)random_below(seed, all) - 62167219200;
}

TEST(random_seconds_read_as_they_are_written)
{
    static const char *const formats[] = {
        "%Y-%m-%dT%H:%M:%SZ",      "%Y-%m-%d %H:%M:%S", "%a %b %e %T %Y",
        "%A %d %B %Y %I:%M:%S %p", "%Y %j %T",          "%D %R:%S",
    };
    uint64_t seed = random_seed("random_seconds_read_as_they_are_written");
    uint64_t runs = random_runs(100000);

    for (uint64_t i = 0; i < runs; i++) {
        size_t index = random_below(&seed, 6);
        time_t expected = random_second(&seed);
        char text[128];
        struct tm fields;
        int64_t second;
        uint32_t nanosecond;

        if (index == 5) /* two digits of a year */
            expected = (time_t)random_below(&seed, 3000000000);
        assert_non_null(gmtime_r(&expected, &fields));
        if (index < 2) /* four digits, always */
            snprintf(text, sizeof(text), "%04d-%02d-%02d%c%02d:%02d:%02d%s",
                     fields.tm_year + 1900, fields.tm_mon + 1, fields.tm_mday,
                     index == 0 ? 'T' : ' ', fields.tm_hour, fields.tm_min,
                     fields.tm_sec, index == 0 ? "Z" : "");
        else if (fields.tm_year < -900)
            continue;
        else
            assert_true(strftime(text, sizeof(text), formats[index], &fields));
        if (!times_read(formats[index], colander_slice_text(text), &second,
                        &nanosecond) ||
            second != expected)
            fail_msg("'%s' as %s is not %lld", text, formats[index],
                     (long long)expected);
        if (index < 2 && (!times_read(NULL, colander_slice_text(text), &second,
                                      &nanosecond) ||
                          second != expected))
            fail_msg("'%s' is not %lld", text, (long long)expected);
    }
}

/* Fields with any values: invalid dates are rejected, which timegm would
 * convert to other dates. */
TEST(random_fields_are_read_if_there_is_such_a_day)
{
    uint64_t seed = random_seed("random_fields_read_where_there_is_such_a_day");
    uint64_t runs = random_runs(100000);

    for (uint64_t i = 0; i < runs; i++) {
        struct tm fields = {.tm_year = (int)random_below(&seed, 10000) - 1900,
                            .tm_mon = (int)random_below(&seed, 14) - 1,
                            .tm_mday = (int)random_below(&seed, 33),
                            .tm_hour = (int)random_below(&seed, 25),
                            .tm_min = (int)random_below(&seed, 61),
                            .tm_sec = (int)random_below(&seed, 60)};
        int zone = (int)random_below(&seed, 2880) - 1440;
        struct tm same = fields;
        int64_t expected = timegm(&same) - zone * 60;
        bool is_fine = same.tm_mon == fields.tm_mon &&
                       same.tm_mday == fields.tm_mday &&
                       same.tm_hour == fields.tm_hour &&
                       same.tm_min == fields.tm_min && abs(zone) < 1440;
        char text[128], shown[64] = NO_TIME;

        snprintf(text, sizeof(text), "%04d-%02d-%02dT%02d:%02d:%02d%c%02d:%02d",
                 fields.tm_year + 1900, fields.tm_mon + 1, fields.tm_mday,
                 fields.tm_hour, fields.tm_min, fields.tm_sec,
                 zone < 0 ? '-' : '+', abs(zone) / 60, abs(zone) % 60);
        if (is_fine)
            snprintf(shown, sizeof(shown), "%" PRId64 ".000000000", expected);
        check(NULL, text, shown);
    }
}

/* Nothing is read past the end of a text or a pattern. */
TEST(random_bytes_are_read_safely)
{
    static const char *const formats[] = {NULL, "unix", "unix_ns", TWITTER,
                                          "%A %p%I:%M:%S.%f %z %j%y"};
    static const char alphabet[] = "0123456789-:+TZ .wedaugpm";
    uint64_t seed = random_seed("random_bytes_are_read_safely");
    uint64_t runs = random_runs(200000);

    for (uint64_t i = 0; i < runs; i++) {
        size_t size = random_below(&seed, 20);
        SCOPED_MEMORY char *text =
            malloc(size + 1); /* so that a sanitizer detects its end */
        int64_t second;
        uint32_t nanosecond;

        assert_non_null(text);
        for (size_t k = 0; k < size; k++)
            text[k] = alphabet[random_below(&seed, sizeof(alphabet) - 1)];
        text = realloc(text, size > 0 ? size : 1);
        assert_non_null(text);
        if (times_read(formats[random_below(&seed, 5)],
                       colander_slice_of(text, size), &second, &nanosecond))
            assert_true(nanosecond < 1000000000);
    }
}

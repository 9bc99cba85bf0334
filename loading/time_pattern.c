/*
 * Time patterns: see time_pattern.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "loading/time_pattern.h"

/* A time as it is read. */
struct reading {
    struct time_scanner *scanner;
    struct civil_time *time;
    int32_t half; /* of the day: 1 behind noon; -1: it is not told */
};

/* --------------------------------------------------------------- parts --- */

static bool
scan_year(struct reading *reading)
{
    return time_scan_number(reading->scanner, 4, 4, &reading->time->year);
}

static bool
scan_short_year(struct reading *reading)
{
    int32_t *year = &reading->time->year;

    if (!time_scan_number(reading->scanner, 2, 2, year))
        return false;
    *year += *year < 69 ? 2000 : 1900;
    return true;
}

static bool
scan_month(struct reading *reading)
{
    return time_scan_number(reading->scanner, 1, 2, &reading->time->month);
}

static bool
scan_month_name(struct reading *reading)
{
    static const char *const names[] = {
        "jan",     "feb",      "mar",       "apr",     "may",      "jun",
        "jul",     "aug",      "sep",       "oct",     "nov",      "dec",
        "january", "february", "march",     "april",   "may",      "june",
        "july",    "august",   "september", "october", "november", "december",
    };
    int32_t index;

    if (!time_scan_word(reading->scanner, names, 24, &index))
        return false;
    reading->time->month = index % 12 + 1;
    return true;
}

static bool
scan_weekday(struct reading *reading)
{
    static const char *const names[] = {
        "mon",      "tue",    "wed",      "thu",     "fri",
        "sat",      "sun",    "monday",   "tuesday", "wednesday",
        "thursday", "friday", "saturday", "sunday",
    };
    int32_t index;

    return time_scan_word(reading->scanner, names, 14, &index);
}

static void
skip_blanks(struct time_scanner *scanner)
{
    while (scanner->at < scanner->end &&
           (*scanner->at == ' ' || *scanner->at == '\t'))
        scanner->at++;
}

static bool
scan_day(struct reading *reading)
{
    skip_blanks(reading->scanner);
    return time_scan_number(reading->scanner, 1, 2, &reading->time->day);
}

static bool
scan_year_day(struct reading *reading)
{
    int32_t *day = &reading->time->year_day;

    return time_scan_number(reading->scanner, 1, 3, day) && *day > 0;
}

static bool
scan_hour(struct reading *reading)
{
    skip_blanks(reading->scanner);
    return time_scan_number(reading->scanner, 1, 2, &reading->time->hour);
}

static bool
scan_hour_of_half(struct reading *reading)
{
    return scan_hour(reading) && reading->time->hour >= 1 &&
           reading->time->hour <= 12;
}

static bool
scan_half(struct reading *reading)
{
    static const char *const names[] = {"am", "pm"};

    return time_scan_word(reading->scanner, names, 2, &reading->half);
}

static bool
scan_minute(struct reading *reading)
{
    return time_scan_number(reading->scanner, 1, 2, &reading->time->minute);
}

static bool
scan_second(struct reading *reading)
{
    return time_scan_number(reading->scanner, 1, 2, &reading->time->second);
}

static bool
scan_fraction(struct reading *reading)
{
    return time_scan_fraction(reading->scanner, &reading->time->nanosecond);
}

static bool
scan_zone(struct reading *reading)
{
    return time_scan_zone(reading->scanner, &reading->time->zone);
}

static bool
scan_zone_name(struct reading *reading)
{
    static const char *const names[] = {"z", "ut", "utc", "gmt"};
    int32_t index;

    return time_scan_word(reading->scanner, names, 4, &index);
}

static bool
scan_percent(struct reading *reading)
{
    return time_scan_byte(reading->scanner, '%');
}

/* --------------------------------------------------------- conversions --- */

/* What a conversion tells. */
enum {
    YEAR = 1 << 0,
    MONTH = 1 << 1,
    DAY = 1 << 2,
    YEAR_DAY = 1 << 3,
    WEEKDAY = 1 << 4,
    HOUR = 1 << 5,
    HOUR_OF_HALF = 1 << 6, /* with HOUR */
    HALF = 1 << 7,
    MINUTE = 1 << 8,
    SECOND = 1 << 9,
    FRACTION = 1 << 10,
    ZONE = 1 << 11,
};

static const struct conversion {
    char letter;
    unsigned parts;
    bool (*scan)(struct reading *reading);
    const char *stands_for; /* a pattern; then there is no function */
} conversions[] = {
    {'Y', YEAR, scan_year, NULL},
    {'y', YEAR, scan_short_year, NULL},
    {'m', MONTH, scan_month, NULL},
    {'b', MONTH, scan_month_name, NULL},
    {'B', MONTH, scan_month_name, NULL},
    {'h', MONTH, scan_month_name, NULL},
    {'d', DAY, scan_day, NULL},
    {'e', DAY, scan_day, NULL},
    {'j', YEAR_DAY, scan_year_day, NULL},
    {'a', WEEKDAY, scan_weekday, NULL},
    {'A', WEEKDAY, scan_weekday, NULL},
    {'H', HOUR, scan_hour, NULL},
    {'k', HOUR, scan_hour, NULL},
    {'I', HOUR | HOUR_OF_HALF, scan_hour_of_half, NULL},
    {'l', HOUR | HOUR_OF_HALF, scan_hour_of_half, NULL},
    {'p', HALF, scan_half, NULL},
    {'M', MINUTE, scan_minute, NULL},
    {'S', SECOND, scan_second, NULL},
    {'f', FRACTION, scan_fraction, NULL},
    {'z', ZONE, scan_zone, NULL},
    {'Z', ZONE, scan_zone_name, NULL},
    {'F', YEAR | MONTH | DAY, NULL, "%Y-%m-%d"},
    {'D', YEAR | MONTH | DAY, NULL, "%m/%d/%y"},
    {'T', HOUR | MINUTE | SECOND, NULL, "%H:%M:%S"},
    {'R', HOUR | MINUTE, NULL, "%H:%M"},
    {'%', 0, scan_percent, NULL},
};

#define CONVERSION_COUNT (sizeof(conversions) / sizeof(conversions[0]))

static const struct conversion *
find_conversion(uint8_t letter)
{
    for (size_t i = 0; i < CONVERSION_COUNT; i++) {
        if ((uint8_t)conversions[i].letter == letter)
            return &conversions[i];
    }
    return NULL;
}

/* ------------------------------------------------------------- reading --- */

static bool
scan_pattern(struct colander_slice pattern, struct reading *reading)
{
    for (size_t i = 0; i < pattern.size; i++) {
        uint8_t byte = pattern.data[i];
        const struct conversion *conversion;

        if (byte == ' ') {
            if (!time_scan_byte(reading->scanner, ' ') &&
                !time_scan_byte(reading->scanner, '\t'))
                return false;
            skip_blanks(reading->scanner);
            continue;
        }
        if (byte != '%') {
            if (!time_scan_byte(reading->scanner, byte))
                return false;
            continue;
        }
        conversion =
            ++i < pattern.size ? find_conversion(pattern.data[i]) : NULL;
        if (conversion == NULL)
            return false;
        /* one that stands for others stands for none such */
        if (conversion->stands_for != NULL
                ? !scan_pattern(colander_slice_text(conversion->stands_for),
                                reading)
                : !conversion->scan(reading))
            return false;
    }
    return true;
}

bool
time_pattern_read(struct colander_slice pattern, struct time_scanner *scanner,
                  struct civil_time *time)
{
    struct reading reading = {scanner, time, -1};

    if (!scan_pattern(pattern, &reading))
        return false;
    if (reading.half >= 0)
        time->hour = time->hour % 12 + reading.half * 12;
    return true;
}

/* ------------------------------------------------------------ checking --- */

static const struct {
    unsigned part;
    const char *name;
} part_names[] = {
    {YEAR, "a year"},        {MONTH, "a month"},
    {DAY, "a day"},          {YEAR_DAY, "a day of the year"},
    {HOUR, "an hour"},       {WEEKDAY, "a day of the week"},
    {HALF, "AM or PM (%p)"}, {MINUTE, "a minute"},
    {SECOND, "a second"},    {FRACTION, "a fraction"},
    {ZONE, "a zone"},        {HOUR_OF_HALF, "an hour of 12 (%I)"},
};

static const char *
part_name(unsigned parts)
{
    for (size_t i = 0; i < sizeof(part_names) / sizeof(part_names[0]); i++) {
        if ((parts & part_names[i].part) != 0)
            return part_names[i].name;
    }
    return "nothing";
}

/* What makes no sense without the other. */
static const struct {
    unsigned part;
    unsigned needs;
} needs[] = {
    {DAY, MONTH},       {MINUTE, HOUR},       {SECOND, MINUTE},
    {FRACTION, SECOND}, {HALF, HOUR_OF_HALF}, {HOUR_OF_HALF, HALF},
};

static int
shown_size(struct colander_slice pattern)
{
    return pattern.size < 200 ? (int)pattern.size : 200;
}

static enum colander_code
check_parts(struct colander_slice pattern, unsigned parts,
            struct colander_error *err)
{
    if ((parts & YEAR) == 0)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "time format '%.*s' has no year (%%Y)",
                             shown_size(pattern), (const char *)pattern.data);
    if ((parts & YEAR_DAY) != 0 && (parts & (MONTH | DAY)) != 0)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "time format '%.*s' has a day of the year and %s",
                             shown_size(pattern), (const char *)pattern.data,
                             part_name(parts & (MONTH | DAY)));
    for (size_t i = 0; i < sizeof(needs) / sizeof(needs[0]); i++) {
        if ((parts & needs[i].part) != 0 && (parts & needs[i].needs) == 0)
            return COLANDER_FAIL(
                err, COLANDER_INVALID, "time format '%.*s' has %s without %s",
                shown_size(pattern), (const char *)pattern.data,
                part_name(needs[i].part), part_name(needs[i].needs));
    }
    return COLANDER_OK;
}

/* A conversion that is none: one that shows, as it is. */
static enum colander_code
fail_unknown(struct colander_slice pattern, uint8_t letter,
             struct colander_error *err)
{
    if (letter > ' ' && letter < 0x7f)
        return COLANDER_FAIL(
            err, COLANDER_INVALID, "time format '%.*s': %%%c is not known",
            shown_size(pattern), (const char *)pattern.data, letter);
    return COLANDER_FAIL(err, COLANDER_INVALID,
                         "time format '%.*s': %% is followed by what is not "
                         "known",
                         shown_size(pattern), (const char *)pattern.data);
}

/* The parts that all conversions tell, none of them twice. */
static enum colander_code
gather_parts(struct colander_slice pattern, unsigned *parts,
             struct colander_error *err)
{
    for (size_t i = 0; i < pattern.size; i++) {
        const struct conversion *conversion;

        if (pattern.data[i] != '%')
            continue;
        if (++i == pattern.size)
            return COLANDER_FAIL(
                err, COLANDER_INVALID,
                "time format '%.*s' ends with half a conversion: a percent "
                "sign is %%%%",
                shown_size(pattern), (const char *)pattern.data);
        conversion = find_conversion(pattern.data[i]);
        if (conversion == NULL)
            return fail_unknown(pattern, pattern.data[i], err);
        if ((*parts & conversion->parts) != 0)
            return COLANDER_FAIL(
                err, COLANDER_INVALID, "time format '%.*s' has %s twice",
                shown_size(pattern), (const char *)pattern.data,
                part_name(*parts & conversion->parts));
        *parts |= conversion->parts;
    }
    return COLANDER_OK;
}

enum colander_code
time_pattern_check(struct colander_slice pattern, struct colander_error *err)
{
    unsigned parts = 0;
    enum colander_code code = gather_parts(pattern, &parts, err);

    return code == COLANDER_OK ? check_parts(pattern, parts, err) : code;
}

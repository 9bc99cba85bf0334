/* SPDX-License-Identifier: MIT */
#include "loading/time_pattern.h"

/* A time being read. */
struct reading {
    struct time_scanner *scanner;
    struct civil_time *time;
    int32_t half; /* of the day: 1 after noon; -1: unknown */
};

/* ------------------------------------------------------------- reading --- */

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

static bool
scan_zone_name(struct reading *reading)
{
    static const char *const names[] = {"z", "ut", "utc", "gmt"};
    int32_t index;

    return time_scan_word(reading->scanner, names, 4, &index);
}

static void
skip_blanks(struct time_scanner *scanner)
{
    while (scanner->at < scanner->end &&
           (*scanner->at == ' ' || *scanner->at == '\t'))
        scanner->at++;
}

/* A number of one or two digits, after blanks. */
static bool
scan_padded(struct reading *reading, int32_t *number)
{
    skip_blanks(reading->scanner);
    return time_scan_number(reading->scanner, 1, 2, number);
}

static bool scan_pattern(struct colander_slice pattern,
                         struct reading *reading);

static bool
scan_conversion(uint8_t letter, struct reading *reading)
{
    static const char *const halves[] = {"am", "pm"};
    struct time_scanner *scanner = reading->scanner;
    struct civil_time *time = reading->time;

    switch (letter) {
    case 'Y':
        return time_scan_number(scanner, 4, 4, &time->year);
    case 'y':
        return scan_short_year(reading);
    case 'm':
        return time_scan_number(scanner, 1, 2, &time->month);
    case 'b':
    case 'B':
    case 'h':
        return scan_month_name(reading);
    case 'd':
    case 'e':
        return scan_padded(reading, &time->day);
    case 'j':
        return time_scan_number(scanner, 1, 3, &time->year_day) &&
               time->year_day > 0;
    case 'a':
    case 'A':
        return scan_weekday(reading);
    case 'H':
    case 'k':
        return scan_padded(reading, &time->hour);
    case 'I':
    case 'l':
        return scan_padded(reading, &time->hour) && time->hour >= 1 &&
               time->hour <= 12;
    case 'p':
        return time_scan_word(scanner, halves, 2, &reading->half);
    case 'M':
        return time_scan_number(scanner, 1, 2, &time->minute);
    case 'S':
        return time_scan_number(scanner, 1, 2, &time->second);
    case 'f':
        return time_scan_fraction(scanner, &time->nanosecond);
    case 'z':
        return time_scan_zone(scanner, &time->zone);
    case 'Z':
        return scan_zone_name(reading);
    case 'F':
        return scan_pattern(colander_slice_text("%Y-%m-%d"), reading);
    case 'D':
        return scan_pattern(colander_slice_text("%m/%d/%y"), reading);
    case 'T':
        return scan_pattern(colander_slice_text("%H:%M:%S"), reading);
    case 'R':
        return scan_pattern(colander_slice_text("%H:%M"), reading);
    default:
        return letter == '%' && time_scan_byte(scanner, '%');
    }
}

/* Recursive: the pattern that a conversion stands for has no such one. */
static bool
scan_pattern(struct colander_slice pattern, struct reading *reading)
{
    struct time_scanner *scanner = reading->scanner;
    bool fits = true;

    for (size_t i = 0; i < pattern.size && fits; i++) {
        uint8_t byte = pattern.data[i];

        if (byte == ' ') {
            fits =
                time_scan_byte(scanner, ' ') || time_scan_byte(scanner, '\t');
            skip_blanks(scanner);
        } else if (byte != '%') {
            fits = time_scan_byte(scanner, byte);
        } else {
            fits =
                ++i < pattern.size && scan_conversion(pattern.data[i], reading);
        }
    }
    return fits;
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

/* What a conversion reads. */
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

static const struct {
    const char *letters;
    unsigned parts;
} conversions[] = {
    {"Yy", YEAR},
    {"mbBh", MONTH},
    {"de", DAY},
    {"j", YEAR_DAY},
    {"aA", WEEKDAY},
    {"Hk", HOUR},
    {"Il", HOUR | HOUR_OF_HALF},
    {"p", HALF},
    {"M", MINUTE},
    {"S", SECOND},
    {"f", FRACTION},
    {"zZ", ZONE},
    {"FD", YEAR | MONTH | DAY},
    {"T", HOUR | MINUTE | SECOND},
    {"R", HOUR | MINUTE},
    {"%", 0},
};

/* The name of each part, and what it needs. */
static const struct {
    unsigned part;
    const char *name;
    unsigned needs;
} parts[] = {
    {YEAR, "a year", 0},
    {MONTH, "a month", 0},
    {DAY, "a day", MONTH},
    {YEAR_DAY, "a day of the year", 0},
    {HOUR, "an hour", 0},
    {WEEKDAY, "a day of the week", 0},
    {HALF, "AM or PM (%p)", HOUR_OF_HALF},
    {MINUTE, "a minute", HOUR},
    {SECOND, "a second", MINUTE},
    {FRACTION, "a fraction", SECOND},
    {ZONE, "a zone", 0},
    {HOUR_OF_HALF, "an hour of 12 (%I)", HALF},
};

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

/* Returns false if the conversion is unknown. */
static bool
find_parts(uint8_t letter, unsigned *read)
{
    for (size_t i = 0; i < COUNT(conversions); i++) {
        if (letter != '\0' && strchr(conversions[i].letters, letter) != NULL) {
            *read = conversions[i].parts;
            return true;
        }
    }
    return false;
}

static const char *
part_name(unsigned wanted)
{
    size_t i = 0;

    while (i + 1 < COUNT(parts) && (wanted & parts[i].part) == 0)
        i++;
    return parts[i].name;
}

/* Fails with the pattern, a text, a part or conversion, and more text. */
static enum colander_code
fail(struct colander_slice pattern, const char *text, const char *part,
     const char *joint, const char *end, struct colander_error *err)
{
    return COLANDER_FAIL(err, COLANDER_INVALID, "time format '%.*s'%s%s%s%s",
                         pattern.size < 200 ? (int)pattern.size : 200,
                         (const char *)pattern.data, text, part, joint, end);
}

static enum colander_code
check_parts(struct colander_slice pattern, unsigned found,
            struct colander_error *err)
{
    if ((found & YEAR) == 0)
        return fail(pattern, " has no year (%Y)", "", "", "", err);
    if ((found & YEAR_DAY) != 0 && (found & (MONTH | DAY)) != 0)
        return fail(pattern, " has a day of the year and ",
                    part_name(found & (MONTH | DAY)), "", "", err);
    for (size_t i = 0; i < COUNT(parts); i++) {
        const unsigned needed = parts[i].needs;

        if ((found & parts[i].part) != 0 && needed != 0 &&
            (found & needed) == 0)
            return fail(pattern, " has ", parts[i].name, " without ",
                        part_name(needed), err);
    }
    return COLANDER_OK;
}

static enum colander_code
fail_unknown(struct colander_slice pattern, uint8_t letter,
             struct colander_error *err)
{
    const char conversion[] = {'%', (char)letter, '\0'};

    if (letter > ' ' && letter < 0x7f)
        return fail(pattern, ": ", conversion, " is not known", "", err);
    return fail(pattern, ": % is followed by an unknown byte", "", "", "", err);
}

enum colander_code
time_pattern_check(struct colander_slice pattern, struct colander_error *err)
{
    unsigned found = 0;

    for (size_t i = 0; i < pattern.size; i++) {
        unsigned read;

        if (pattern.data[i] != '%')
            continue;
        if (++i == pattern.size)
            return fail(pattern, " ends with half a conversion: a percent ",
                        "sign is %%", "", "", err);
        if (!find_parts(pattern.data[i], &read))
            return fail_unknown(pattern, pattern.data[i], err);
        if ((found & read) != 0)
            return fail(pattern, " has ", part_name(found & read), " twice", "",
                        err);
        found |= read;
    }
    return check_parts(pattern, found, err);
}

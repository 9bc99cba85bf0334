/* SPDX-License-Identifier: MIT */
#include "loading/time_pattern.h"

#include <stddef.h>

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

/* A time being read. */
struct reading {
    struct time_scanner *scanner;
    struct civil_time *time;
    int32_t half; /* of the day: 1 after noon; -1: unknown */
};

/* --------------------------------------------------------- conversions --- */

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

/* By letter, with what is read as a plain number. Without parts there is
 * none. */
static const struct letter {
    const char *pattern; /* that it stands for; NULL: none */
    size_t member;       /* of the time, for a number of */
    unsigned parts;
    uint8_t least; /* digits (0: it is no number) */
    uint8_t most;
    bool is_padded; /* blanks may precede it */
} conversions[UINT8_MAX + 1] = {
#define NUMBER(member) NULL, offsetof(struct civil_time, member)
    ['Y'] = {NUMBER(year), YEAR, 4, 4, false},
    ['y'] = {.parts = YEAR},
    ['m'] = {NUMBER(month), MONTH, 1, 2, false},
    ['b'] = {.parts = MONTH},
    ['B'] = {.parts = MONTH},
    ['h'] = {.parts = MONTH},
    ['d'] = {NUMBER(day), DAY, 1, 2, true},
    ['e'] = {NUMBER(day), DAY, 1, 2, true},
    ['j'] = {.parts = YEAR_DAY},
    ['a'] = {.parts = WEEKDAY},
    ['A'] = {.parts = WEEKDAY},
    ['H'] = {NUMBER(hour), HOUR, 1, 2, true},
    ['k'] = {NUMBER(hour), HOUR, 1, 2, true},
    ['I'] = {.parts = HOUR | HOUR_OF_HALF},
    ['l'] = {.parts = HOUR | HOUR_OF_HALF},
    ['p'] = {.parts = HALF},
    ['M'] = {NUMBER(minute), MINUTE, 1, 2, false},
    ['S'] = {NUMBER(second), SECOND, 1, 2, false},
    ['f'] = {.parts = FRACTION},
    ['z'] = {.parts = ZONE},
    ['Z'] = {.parts = ZONE},
    ['F'] = {.parts = YEAR | MONTH | DAY, .pattern = "%Y-%m-%d"},
    ['D'] = {.parts = YEAR | MONTH | DAY, .pattern = "%m/%d/%y"},
    ['T'] = {.parts = HOUR | MINUTE | SECOND, .pattern = "%H:%M:%S"},
    ['R'] = {.parts = HOUR | MINUTE, .pattern = "%H:%M"},
#undef NUMBER
};

/* ------------------------------------------------------------- reading --- */

static const char *const months[] = {
    "jan",     "feb",      "mar",       "apr",     "may",      "jun",
    "jul",     "aug",      "sep",       "oct",     "nov",      "dec",
    "january", "february", "march",     "april",   "may",      "june",
    "july",    "august",   "september", "october", "november", "december",
};
static const char *const weekdays[] = {
    "mon",      "tue",    "wed",      "thu",     "fri",
    "sat",      "sun",    "monday",   "tuesday", "wednesday",
    "thursday", "friday", "saturday", "sunday",
};
static const char *const halves[] = {"am", "pm"};
static const char *const zones[] = {"z", "ut", "utc", "gmt"};

static void
skip_blanks(struct time_scanner *scanner)
{
    while (scanner->at < scanner->end &&
           (*scanner->at == ' ' || *scanner->at == '\t'))
        scanner->at++;
}

static bool scan_pattern(struct colander_slice pattern,
                         struct reading *reading);

static bool
scan_conversion(uint8_t letter, struct reading *reading)
{
    const struct letter *conversion = &conversions[letter];
    struct time_scanner *scanner = reading->scanner;
    struct civil_time *time = reading->time;
    int32_t index = 0;

    if (conversion->least > 0) {
        if (conversion->is_padded)
            skip_blanks(scanner);
        return time_scan_number(
            scanner, conversion->least, conversion->most,
            (int32_t *)((uint8_t *)time + conversion->member));
    }
    if (conversion->pattern != NULL)
        return scan_pattern(colander_slice_text(conversion->pattern), reading);
    switch (letter) {
    case 'y':
        if (!time_scan_number(scanner, 2, 2, &time->year))
            return false;
        time->year += time->year < 69 ? 2000 : 1900;
        return true;
    case 'b':
    case 'B':
    case 'h':
        if (!time_scan_word(scanner, months, COUNT(months), &index))
            return false;
        time->month = index % 12 + 1;
        return true;
    case 'j':
        return time_scan_number(scanner, 1, 3, &time->year_day) &&
               time->year_day > 0;
    case 'a':
    case 'A':
        return time_scan_word(scanner, weekdays, COUNT(weekdays), &index);
    case 'I':
    case 'l':
        skip_blanks(scanner);
        return time_scan_number(scanner, 1, 2, &time->hour) &&
               time->hour >= 1 && time->hour <= 12;
    case 'p':
        return time_scan_word(scanner, halves, COUNT(halves), &reading->half);
    case 'f':
        return time_scan_fraction(scanner, &time->nanosecond);
    case 'z':
        return time_scan_zone(scanner, &time->zone);
    case 'Z':
        return time_scan_word(scanner, zones, COUNT(zones), &index);
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

/* The name of each part, and what it needs. */
static const struct {
    const char *name;
    unsigned part;
    unsigned needs;
} parts[] = {
    {"a year", YEAR, 0},
    {"a month", MONTH, 0},
    {"a day", DAY, MONTH},
    {"a day of the year", YEAR_DAY, 0},
    {"an hour", HOUR, 0},
    {"a day of the week", WEEKDAY, 0},
    {"AM or PM (%p)", HALF, HOUR_OF_HALF},
    {"a minute", MINUTE, HOUR},
    {"a second", SECOND, MINUTE},
    {"a fraction", FRACTION, SECOND},
    {"a zone", ZONE, 0},
    {"an hour of 12 (%I)", HOUR_OF_HALF, HALF},
};

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
        read = conversions[pattern.data[i]].parts;
        if (read == 0 && pattern.data[i] != '%')
            return fail_unknown(pattern, pattern.data[i], err);
        if ((found & read) != 0)
            return fail(pattern, " has ", part_name(found & read), " twice", "",
                        err);
        found |= read;
    }
    return check_parts(pattern, found, err);
}

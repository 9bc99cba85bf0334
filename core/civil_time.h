/*
 * Civil time: an instant as year, month, day and so on, and its number of
 * seconds; and a scanner for texts of times. Knows the Gregorian calendar, but
 * not time zones by name. Columns reads times in conditions with it, and
 * loading those in files.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_CORE_CIVIL_TIME_H
#define COLANDER_CORE_CIVIL_TIME_H

#include "core/core.h"

struct civil_time {
    int32_t year;        /* 0 to 9999 */
    int32_t month;       /* 1 to 12 */
    int32_t day;         /* of the month, 1 to 31 */
    int32_t year_day;    /* 1 to 366, instead of month and day; or 0 */
    int32_t hour;        /* 0 to 23 */
    int32_t minute;      /* 0 to 59 */
    int32_t second;      /* 0 to 60 */
    uint32_t nanosecond; /* below 10^9 */
    int32_t zone;        /* seconds that its clocks are ahead of UTC */
};

/* Midnight of 1 January, year 0, UTC. */
#define CIVIL_TIME_FIRST                                                       \
    {                                                                          \
        .month = 1, .day = 1                                                   \
    }

static inline bool
civil_year_is_leap(int32_t year)
{
    return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

static inline int32_t
civil_month_size(int32_t year, int32_t month)
{
    static const uint8_t sizes[] = {31, 28, 31, 30, 31, 30,
                                    31, 31, 30, 31, 30, 31};

    return sizes[month - 1] + (month == 2 && civil_year_is_leap(year));
}

/* Days from 1 January 1970. Years begin in March here, so that the day that is
 * not always there is the last. */
static inline int64_t
civil_day_number(int32_t year, int32_t month, int32_t day)
{
    const int64_t days_of_era = 146097; /* of 400 years */
    int64_t march_year = (int64_t)year - (month <= 2);
    int64_t era = (march_year >= 0 ? march_year : march_year - 399) / 400;
    int64_t of_era = march_year - era * 400;
    int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;

    return era * days_of_era + of_era * 365 + of_era / 4 - of_era / 100 +
           of_year - 719468;
}

/* Computes seconds since 1970. Returns false if a field is out of range or the
 * day does not exist. */
static inline bool
civil_time_second(const struct civil_time *time, int64_t *second)
{
    int64_t day;

    if (time->year < 0 || time->year > 9999 || time->hour < 0 ||
        time->hour > 23 || time->minute < 0 || time->minute > 59 ||
        time->second < 0 || time->second > 60)
        return false;
    if (time->year_day != 0) {
        if (time->year_day < 0 ||
            time->year_day > 365 + civil_year_is_leap(time->year))
            return false;
        day = civil_day_number(time->year, 1, 1) + time->year_day - 1;
    } else {
        if (time->month < 1 || time->month > 12 || time->day < 1 ||
            time->day > civil_month_size(time->year, time->month))
            return false;
        day = civil_day_number(time->year, time->month, time->day);
    }
    *second = day * 86400 + time->hour * 3600 + time->minute * 60 +
              time->second - time->zone;
    return true;
}

/* ------------------------------------------------------------ scanning --- */

/* The rest of a text. */
struct time_scanner {
    const uint8_t *at;
    const uint8_t *end;
};

/* These read from the front. They return false if it does not match. */

static inline bool
time_scan_is_digit(const struct time_scanner *scanner)
{
    return scanner->at < scanner->end && (uint8_t)(*scanner->at - '0') <= 9;
}

static inline bool
time_scan_byte(struct time_scanner *scanner, uint8_t byte)
{
    if (scanner->at == scanner->end || *scanner->at != byte)
        return false;
    scanner->at++;
    return true;
}

/* A number of `least` to `most` digits. */
static inline bool
time_scan_number(struct time_scanner *scanner, int least, int most,
                 int32_t *number)
{
    int32_t read = 0;
    int count = 0;

    for (; count < most && time_scan_is_digit(scanner); count++)
        read = read * 10 + (*scanner->at++ - '0');
    *number = read;
    return count >= least;
}

/* 1 to 9 digits of a fraction, then any zeros. */
static inline bool
time_scan_fraction(struct time_scanner *scanner, uint32_t *nanosecond)
{
    uint32_t read = 0;
    int count = 0;

    if (!time_scan_is_digit(scanner))
        return false;
    for (; count < 9; count++) {
        read *= 10;
        if (time_scan_is_digit(scanner))
            read += (uint32_t)(*scanner->at++ - '0');
    }
    while (scanner->at < scanner->end && *scanner->at == '0')
        scanner->at++;
    *nanosecond = read;
    return !time_scan_is_digit(scanner);
}

/* Z, +0100, +01:00 or +01. */
static inline bool
time_scan_zone(struct time_scanner *scanner, int32_t *zone)
{
    int32_t hours;
    int32_t minutes = 0;
    bool is_behind;

    *zone = 0;
    if (time_scan_byte(scanner, 'Z') || time_scan_byte(scanner, 'z'))
        return true;
    is_behind = time_scan_byte(scanner, '-');
    if (!is_behind && !time_scan_byte(scanner, '+'))
        return false;
    if (!time_scan_number(scanner, 2, 2, &hours))
        return false;
    if (time_scan_byte(scanner, ':') || time_scan_is_digit(scanner)) {
        if (!time_scan_number(scanner, 2, 2, &minutes))
            return false;
    }
    *zone = (hours * 60 + minutes) * (is_behind ? -60 : 60);
    return hours <= 23 && minutes <= 59;
}

/* Bytes of `word` that the text begins with, if it does. */
static inline size_t
time_scan_word_size(const struct time_scanner *scanner, const char *word)
{
    size_t left = (size_t)(scanner->end - scanner->at);
    size_t size = 0;

    for (; word[size] != '\0'; size++) {
        uint8_t byte = size < left ? scanner->at[size] : 0;

        if (byte >= 'A' && byte <= 'Z')
            byte = (uint8_t)(byte - 'A' + 'a');
        if (byte != (uint8_t)word[size])
            return 0;
    }
    return size;
}

/* The longest of `count` words that matches, in any case. */
static inline bool
time_scan_word(struct time_scanner *scanner, const char *const *words,
               int32_t count, int32_t *index)
{
    size_t longest = 0;

    for (int32_t i = 0; i < count; i++) {
        size_t size = time_scan_word_size(scanner, words[i]);

        if (size > longest) {
            longest = size;
            *index = i;
        }
    }
    scanner->at += longest;
    return longest > 0;
}

/* The rest after the date. */
static inline bool
time_scan_clock(struct time_scanner *scanner, struct civil_time *time)
{
    if (!time_scan_number(scanner, 2, 2, &time->hour) ||
        !time_scan_byte(scanner, ':') ||
        !time_scan_number(scanner, 2, 2, &time->minute))
        return false;
    if (time_scan_byte(scanner, ':')) {
        if (!time_scan_number(scanner, 2, 2, &time->second))
            return false;
        if ((time_scan_byte(scanner, '.') || time_scan_byte(scanner, ',')) &&
            !time_scan_fraction(scanner, &time->nanosecond))
            return false;
    }
    if (scanner->at == scanner->end)
        return true;
    (void)time_scan_byte(scanner, ' ');
    return time_scan_zone(scanner, &time->zone);
}

/* A time as in RFC 3339, up to the end: also with a blank instead of the T or
 * before the zone, a zone as time_scan_zone reads it or none (UTC), a comma
 * instead of the point, without seconds; a date is its midnight. */
static inline bool
time_scan_rfc3339(struct time_scanner *scanner, struct civil_time *time)
{
    if (!time_scan_number(scanner, 4, 4, &time->year) ||
        !time_scan_byte(scanner, '-') ||
        !time_scan_number(scanner, 2, 2, &time->month) ||
        !time_scan_byte(scanner, '-') ||
        !time_scan_number(scanner, 2, 2, &time->day))
        return false;
    if (scanner->at == scanner->end)
        return true;
    if (!time_scan_byte(scanner, 'T') && !time_scan_byte(scanner, 't') &&
        !time_scan_byte(scanner, ' '))
        return false;
    return time_scan_clock(scanner, time);
}

#endif

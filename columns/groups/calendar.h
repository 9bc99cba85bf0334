/*
 * The Gregorian calendar, from numbers of days to dates. core/civil_time.h has
 * the other direction.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_COLUMNS_GROUPS_CALENDAR_H
#define COLANDER_COLUMNS_GROUPS_CALENDAR_H

#include "core/civil_time.h"

#define CALENDAR_DAY 86400                  /* seconds */
#define CALENDAR_CYCLE_DAYS INT64_C(146097) /* of 400 years */

struct calendar_date {
    int32_t year;
    int32_t month; /* 1 to 12 */
    int32_t day;   /* 1 to 31 */
};

/* Divides, and rounds down. */
static inline int64_t
calendar_floor(int64_t number, int64_t divisor)
{
    return number / divisor - (number % divisor < 0);
}

/* Returns the date of a day since 1 January 1970. Years begin in March here. */
static inline struct calendar_date
calendar_date(int64_t day_number)
{
    const int64_t day = day_number + 719468;
    const int64_t era = calendar_floor(day, CALENDAR_CYCLE_DAYS);
    const int64_t of_era = day - era * CALENDAR_CYCLE_DAYS;
    const int64_t year = (of_era - of_era / 1460 + of_era / 36524 -
                          of_era / (CALENDAR_CYCLE_DAYS - 1)) /
                         365;
    const int64_t of_year = of_era - (365 * year + year / 4 - year / 100);
    const int64_t month = (5 * of_year + 2) / 153;
    struct calendar_date date;

    date.day = (int32_t)(of_year - (153 * month + 2) / 5 + 1);
    date.month = (int32_t)(month < 10 ? month + 3 : month - 9);
    date.year = (int32_t)(year + era * 400 + (date.month <= 2));
    return date;
}

/* Returns the date of a second. */
static inline struct calendar_date
calendar_date_of(int64_t second)
{
    return calendar_date(calendar_floor(second, CALENDAR_DAY));
}

/* Returns the day of the week, from Sunday (0) to Saturday. */
static inline int32_t
calendar_weekday(int64_t day_number)
{
    const int64_t day = (day_number + 4) % 7;

    return (int32_t)(day < 0 ? day + 7 : day);
}

#endif

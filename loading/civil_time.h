/*
 * Civil time: an instant as year, month, day and so on, and its number of
 * seconds; and a scanner for texts of times. Knows the Gregorian calendar, but
 * not time zones.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef LOADING_CIVIL_TIME_H
#define LOADING_CIVIL_TIME_H

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

/* Computes seconds since 1970. Returns false if a field is out of range or the
 * day does not exist. */
bool civil_time_second(const struct civil_time *time, int64_t *second);

/* The rest of a text. */
struct time_scanner {
    const uint8_t *at;
    const uint8_t *end;
};

/* These read from the front. They return false if it does not match. */

bool time_scan_byte(struct time_scanner *scanner, uint8_t byte);

/* A number of `least` to `most` digits. */
bool time_scan_number(struct time_scanner *scanner, int least, int most,
                      int32_t *number);

/* 1 to 9 digits of a fraction, then any zeros. */
bool time_scan_fraction(struct time_scanner *scanner, uint32_t *nanosecond);

/* Z, +0100, +01:00 or +01. */
bool time_scan_zone(struct time_scanner *scanner, int32_t *zone);

/* The longest of `count` words that matches, in any case. */
bool time_scan_word(struct time_scanner *scanner, const char *const *words,
                    int32_t count, int32_t *index);

#endif

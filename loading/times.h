/*
 * Times: instants as text. All times without a zone are UTC, whatever the zone
 * and the locale of the machine.
 *
 * A format is one of
 *
 *     rfc3339   2020-02-29T12:30:00.25+01:00: also with a blank for the T or
 *               before the zone, a zone as Z, +0100, +01 or none, a comma for
 *               the point, without seconds, and a date alone, its midnight
 *     unix      seconds since 1970, as an integer or with a point
 *     unix_ms   milliseconds, unix_us microseconds, unix_ns nanoseconds
 *
 * or a pattern, which has a % in it:
 *
 *     %Y  year, four digits          %a %A  day of the week, short or full, in
 *     %y  two: 69 to 99 are 19..            English; read, and not compared
 *     %m  month, 1 to 12             %p     AM or PM, with %I
 *     %b %B %h  its name, short or   %z     zone: Z, +0100, +01:00 or +01
 *         full, in English           %Z     zone by name: UTC, GMT, UT or Z
 *     %d %e  day of the month        %F     %Y-%m-%d
 *     %j  day of the year, 1 to 366  %D     %m/%d/%y
 *     %H %k  hour, 0 to 23           %T     %H:%M:%S
 *     %I %l  hour, 1 to 12           %R     %H:%M
 *     %M  minute                     %%     the percent sign
 *     %S  second                     %f     a fraction of it: 1 to 9 digits
 *
 * Numbers but years have at most as many digits as their largest; a zero ahead
 * may be missing. A blank stands for one or more; any other character is
 * itself. Of what a pattern does not have, the month and the day are the first
 * and the time is midnight. Names are read in any case.
 *
 * Several formats may stand one on a line: the first that fits is taken.
 *
 * A text fits as a whole, without blanks around. No date or hour that does not
 * exist fits (30 February, 24:00). Second 60 is the second behind: leap seconds
 * have no number of their own. Digits below nanoseconds may only be zeros.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef LOADING_TIMES_H
#define LOADING_TIMES_H

#include "core/core.h"

/* `format` NULL: rfc3339. False when `text` does not fit. */
bool times_read(const char *format, struct colander_slice text, int64_t *second,
                uint32_t *nanosecond);

/* INVALID when `format` is none of the above, or says no year, one thing twice,
 * or half of one: a day without its month, %I without %p. */
COLANDER_CHECKED enum colander_code
times_check_format(const char *format, struct colander_error *err);

#endif

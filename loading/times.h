/*
 * Times: instants as text. Times without a zone are UTC, whatever the zone and
 * locale of the machine.
 *
 * A format is one of
 *
 *     rfc3339   2020-02-29T12:30:00.25+01:00; also with a blank instead of the
 *               T or before the zone, a zone as Z, +0100, +01 or none, a comma
 *               instead of the point, without seconds; a date is its midnight
 *     unix      seconds since 1970, as an integer or with a point
 *     unix_ms   milliseconds, unix_us microseconds, unix_ns nanoseconds
 *
 * or a pattern with conversions:
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
 * Numbers have at most as many digits as their largest value; leading zeros are
 * optional, except in years. A blank matches one or more blanks, any other
 * character itself. A month or day that is not in the pattern is the first, a
 * missing time is midnight. Names are read in any case.
 *
 * Several formats, one per line, are tried in order.
 *
 * A format must match the whole text. Dates and hours that do not exist do not
 * match (30 February, 24:00). Second 60 is the second that follows. Digits
 * after nanoseconds must be zeros.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef LOADING_TIMES_H
#define LOADING_TIMES_H

#include "core/core.h"

/* Reads `text`. NULL is rfc3339. Returns false if no format matches. */
bool times_read(const char *format, struct colander_slice text, int64_t *second,
                uint32_t *nanosecond);

/* Fails with INVALID if `format` is not one of the above, has no year, has
 * something twice, or lacks a part: a day without month, %I without %p. */
COLANDER_CHECKED enum colander_code
times_check_format(const char *format, struct colander_error *err);

#endif

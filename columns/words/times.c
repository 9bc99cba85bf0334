/* See times.h and columns/words.h. SPDX-License-Identifier: MIT */
#include "columns/words/times.h"

#include "columns/value.h"
#include "core/civil_time.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

/* ---------------------------------------------------------- beginnings --- */

#define FIELD_COUNT 6

/* The numbers of a time before its fraction, and the byte before each. */
static const struct field {
    uint8_t before;
    int8_t width;
    int32_t least;
    int32_t most;
} fields[FIELD_COUNT] = {
    {0, 4, 0, 9999}, {'-', 2, 1, 12}, {'-', 2, 1, 31},
    {'T', 2, 0, 23}, {':', 2, 0, 59}, {':', 2, 0, 59},
};

/* A time whose last digits may be unknown: the smallest and largest digits. */
struct outline {
    int32_t low[FIELD_COUNT];
    int32_t high[FIELD_COUNT];
    uint32_t low_nanosecond;
    uint32_t high_nanosecond;
};

static bool
scan_before(struct time_scanner *scanner, uint8_t before)
{
    if (before == 'T' &&
        (time_scan_byte(scanner, 't') || time_scan_byte(scanner, ' ')))
        return true;
    return before == 0 || time_scan_byte(scanner, before);
}

/* Reads a number of `width` digits. Those after the end of the text are 0 in
 * *low and 9 in *high. */
static bool
scan_digits(struct time_scanner *scanner, int width, int32_t *low,
            int32_t *high)
{
    *low = 0;
    *high = 0;
    for (int i = 0; i < width; i++) {
        const bool is_known = scanner->at < scanner->end;
        int32_t digit = 0;

        if (is_known && !time_scan_number(scanner, 1, 1, &digit))
            return false;
        *low = *low * 10 + digit;
        *high = *high * 10 + (is_known ? digit : 9);
    }
    return true;
}

static bool
scan_outline(struct time_scanner *scanner, struct outline *outline)
{
    int32_t low;
    int32_t high;

    for (int i = 0; i < FIELD_COUNT; i++) {
        if (scanner->at < scanner->end &&
            !scan_before(scanner, fields[i].before))
            return false;
        if (!scan_digits(scanner, fields[i].width, &outline->low[i],
                         &outline->high[i]))
            return false;
    }
    if (scanner->at < scanner->end && !time_scan_byte(scanner, '.') &&
        !time_scan_byte(scanner, ','))
        return false;
    if (!scan_digits(scanner, 9, &low, &high))
        return false;
    outline->low_nanosecond = (uint32_t)low;
    outline->high_nanosecond = (uint32_t)high;
    return scanner->at == scanner->end;
}

/* Narrows unknown digits to what the calendar allows. Returns false if there is
 * no such time. */
static bool
outline_settle(struct outline *outline)
{
    for (int i = 0; i < FIELD_COUNT; i++) {
        int32_t most = fields[i].most;

        if (i == 2) /* the day; digits of it are known only if its month is */
            most = civil_month_size(outline->high[0], outline->high[1]);
        if (outline->low[i] < fields[i].least)
            outline->low[i] = fields[i].least;
        if (outline->high[i] > most)
            outline->high[i] = most;
        if (outline->low[i] > outline->high[i])
            return false;
    }
    return true;
}

static bool
set_end(struct colander_value *end, const int32_t *numbers, uint32_t nanosecond)
{
    const struct civil_time time = {.year = numbers[0],
                                    .month = numbers[1],
                                    .day = numbers[2],
                                    .hour = numbers[3],
                                    .minute = numbers[4],
                                    .second = numbers[5]};
    int64_t second;

    if (!civil_time_second(&time, &second))
        return false;
    *end = colander_timestamp(second, nanosecond);
    return true;
}

static bool
read_beginning(struct colander_slice text, struct colander_times *times)
{
    struct time_scanner scanner = {text.data, text.data + text.size};
    struct outline outline;

    return scan_outline(&scanner, &outline) && outline_settle(&outline) &&
           set_end(&times->first, outline.low, outline.low_nanosecond) &&
           set_end(&times->last, outline.high, outline.high_nanosecond);
}

/* --------------------------------------------------------------- times --- */

#define YEAR_SIZE 4
#define MONTH_SIZE 7 /* 2015-03 */
#define DATE_SIZE 10 /* 2015-03-24 */

static bool
read_instant(struct colander_slice text, struct colander_times *times)
{
    struct time_scanner scanner = {text.data, text.data + text.size};
    struct civil_time time = CIVIL_TIME_FIRST;
    int64_t second;

    if (!time_scan_rfc3339(&scanner, &time) || scanner.at != scanner.end ||
        !civil_time_second(&time, &second))
        return false;
    times->first = colander_timestamp(second, time.nanosecond);
    times->last = times->first;
    return true;
}

bool
times_read_plain(struct colander_slice text, struct colander_times *times)
{
    if (text.size == MONTH_SIZE || text.size == DATE_SIZE)
        return read_beginning(text, times);
    return text.size > DATE_SIZE && read_instant(text, times);
}

bool
times_read_prefix(struct colander_slice text, struct colander_times *times)
{
    return text.size >= YEAR_SIZE &&
           (read_beginning(text, times) || read_instant(text, times));
}

/* Removes `lead` from the front of *text, if it is there. */
static bool
take(struct colander_slice *text, const char *lead)
{
    const size_t size = strlen(lead);

    if (text->size < size || memcmp(text->data, lead, size) != 0)
        return false;
    text->data += size;
    text->size -= size;
    return true;
}

/* Reads what follows "@now". */
static bool
read_now(struct colander_slice text, struct colander_times *times)
{
    const bool is_before = take(&text, "-");
    const bool is_after = !is_before && take(&text, "+");
    struct timespec now;
    int64_t seconds = 0;
    int64_t second;

    if ((is_before || is_after) ? !colander_duration_read(text, &seconds)
                                : text.size > 0)
        return false;
    (void)clock_gettime(CLOCK_REALTIME, &now); /* cannot fail on Linux */
    if (__builtin_add_overflow((int64_t)now.tv_sec,
                               is_before ? -seconds : seconds, &second))
        return false;
    times->first = colander_timestamp(second, (uint32_t)now.tv_nsec);
    times->last = times->first;
    return true;
}

bool
colander_times_read(struct colander_slice text, struct colander_times *times)
{
    if (take(&text, "@") && take(&text, "now"))
        return read_now(text, times);
    return times_read_plain(text, times);
}

/* ----------------------------------------------------------- durations --- */

/* Returns the seconds of a unit, or 0. */
static int64_t
unit_seconds(uint8_t unit)
{
    switch (unit) {
    case 's':
        return 1;
    case 'm':
        return 60;
    case 'h':
        return 3600;
    case 'd':
        return 86400;
    case 'w':
        return 604800;
    default:
        return 0;
    }
}

bool
colander_duration_read(struct colander_slice text, int64_t *seconds)
{
    bool has_digits = false;
    int64_t number = 0;

    *seconds = 0;
    for (size_t i = 0; i < text.size; i++) {
        const uint8_t byte = text.data[i];
        const int64_t unit = unit_seconds(byte);

        if (byte >= '0' && byte <= '9') {
            if (__builtin_mul_overflow(number, 10, &number) ||
                __builtin_add_overflow(number, byte - '0', &number))
                return false;
            has_digits = true;
            continue;
        }
        if (!has_digits || unit == 0 ||
            __builtin_mul_overflow(number, unit, &number) ||
            __builtin_add_overflow(*seconds, number, seconds))
            return false;
        number = 0;
        has_digits = false;
    }
    return text.size > 0 && !has_digits;
}

bool
colander_moment_read(const char *text, struct colander_value *value)
{
    struct colander_times times;
    char moment[64];
    int64_t seconds;

    *value = colander_text(text);
    if (colander_duration_read(value->bytes, &seconds)) {
        (void)snprintf(moment, sizeof(moment), "@now-%" PRId64 "s", seconds);
        text = moment;
    }
    if (!colander_times_read(colander_slice_text(text), &times))
        return false;
    if (text[0] == '@') /* only times, where a text may be one */
        *value = times.first;
    return true;
}

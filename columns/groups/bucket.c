/* See bucket.h. SPDX-License-Identifier: MIT */
#include "columns/groups/bucket.h"
#include "columns/groups/calendar.h"

#define HOUR 3600
#define MONDAY 4 /* the day 5 January 1970, from 0 */
#define SIZE_YEARS_MAX 1000

/* Reads the number before a unit of the calendar. */
static bool
read_months(const char *text, int64_t *months)
{
    const size_t digits = strspn(text, "0123456789");
    const char *unit = text + digits;
    int64_t number = 0;

    if (digits == 0 || digits > 6)
        return false;
    for (size_t i = 0; i < digits; i++)
        number = number * 10 + (text[i] - '0');
    if (strcmp(unit, "y") == 0)
        number *= 12;
    else if (strcmp(unit, "mo") != 0)
        return false;
    *months = number;
    return true;
}

enum colander_code
bucket_parse(struct bucket *bucket, const char *size, const char *zone,
             struct colander_error *err)
{
    const int64_t days_max = INT64_C(366) * SIZE_YEARS_MAX;

    memset(bucket, 0, sizeof(*bucket));
    if (read_months(size, &bucket->size)) {
        bucket->unit = BUCKET_MONTHS;
    } else if (colander_duration_read(colander_slice_text(size),
                                      &bucket->size)) {
        bucket->unit = BUCKET_SECONDS;
        if (bucket->size % CALENDAR_DAY == 0) {
            bucket->unit = BUCKET_DAYS;
            bucket->size /= CALENDAR_DAY;
        }
    }
    if (bucket->size <= 0 || bucket->size > days_max * CALENDAR_DAY ||
        (bucket->unit == BUCKET_DAYS && bucket->size > days_max) ||
        (bucket->unit == BUCKET_MONTHS && bucket->size > 12 * SIZE_YEARS_MAX))
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "'%.100s' is not the size of a bucket, such as "
                             "15m, 1h, 7d, 1mo or 1y",
                             size);
    return zone == NULL ? COLANDER_OK : zone_open(zone, &bucket->zone, err);
}

/* The first second of the bucket number `by` after the one of `local`, on the
 * clocks of the zone. */
static int64_t
local_start(const struct bucket *bucket, int64_t local, int64_t by)
{
    const int64_t size = bucket->size;
    struct calendar_date date;
    int64_t number;

    switch (bucket->unit) {
    case BUCKET_DAYS:
        number = calendar_floor(local, CALENDAR_DAY) - MONDAY;
        number = (calendar_floor(number, size) + by) * size + MONDAY;
        return number * CALENDAR_DAY;
    case BUCKET_MONTHS:
        date = calendar_date_of(local);
        number = (int64_t)date.year * 12 + date.month - 1;
        number = (calendar_floor(number, size) + by) * size;
        date.year = (int32_t)calendar_floor(number, 12);
        date.month = (int32_t)(number - (int64_t)date.year * 12 + 1);
        return civil_day_number(date.year, date.month, 1) * CALENDAR_DAY;
    case BUCKET_SECONDS:
        break;
    }
    return (calendar_floor(local, size) + by) * size;
}

struct bucket_span
bucket_of(const struct bucket *bucket, int64_t second)
{
    const struct zone_period period = zone_period(bucket->zone, second);
    const int64_t local = second + period.offset;
    int64_t start = local_start(bucket, local, 0);
    int64_t next = local_start(bucket, local, 1);
    struct bucket_span span = {start - period.offset, next - period.offset};

    if (bucket->zone == NULL)
        return span;
    if (bucket->unit == BUCKET_SECONDS && bucket->size <= HOUR) {
        if (span.from < period.from)
            span.from = period.from;
        if (span.until > period.until)
            span.until = period.until;
        return span;
    }
    span.from = zone_instant(bucket->zone, start);
    span.until = zone_instant(bucket->zone, next);
    while (span.until <= second) { /* clocks that were set back show it again */
        span.from = span.until;
        next = local_start(bucket, next, 1);
        span.until = zone_instant(bucket->zone, next);
    }
    return span;
}

void
bucket_read_time(struct colander_value *value)
{
    struct colander_times times;

    if (value->type == COLANDER_STRING && value->bytes.size > 0 &&
        value->bytes.data[0] >= '0' && value->bytes.data[0] <= '9' &&
        colander_times_read(value->bytes, &times))
        *value = times.first;
}

bool
bucket_has(const struct colander_value *value)
{
    return value->type == COLANDER_TIMESTAMP &&
           value->second >= civil_day_number(1, 1, 1) * CALENDAR_DAY &&
           value->second < civil_day_number(10000, 1, 1) * CALENDAR_DAY;
}

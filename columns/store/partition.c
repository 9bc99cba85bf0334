/* See partitions.h. SPDX-License-Identifier: MIT */
#include "columns/partitions.h"
#include "core/civil_time.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define YEAR_MIN 1970
#define YEAR_MAX 2199

static const struct unit {
    const char *name;
    const char *place;  /* in a pattern */
    const char *format; /* of a time, for strftime */
    int64_t seconds;    /* 0: a month */
} units[] = {
    {"hour", "{hour}", "%Y-%m-%dT%H", 3600},
    {"day", "{day}", "%Y-%m-%d", 86400},
    {"month", "{month}", "%Y-%m", 0},
};

#define UNIT_COUNT (sizeof(units) / sizeof(units[0]))
#define TIME_SIZE_MAX 32

/* A pattern, taken apart. */
struct pattern {
    const struct unit *unit;
    size_t before_size; /* bytes before the place */
    const char *after;
};

/* Returns whether the name is a pattern: it has one place. */
static bool
read_pattern(const char *name, struct pattern *pattern)
{
    pattern->unit = NULL;
    for (size_t i = 0; i < UNIT_COUNT; i++) {
        const char *place = units[i].place;
        const char *at = strstr(name, place);

        if (at == NULL)
            continue;
        if (pattern->unit != NULL || strstr(at + 1, place) != NULL)
            return false;
        pattern->unit = &units[i];
        pattern->before_size = (size_t)(at - name);
        pattern->after = at + strlen(place);
    }
    return pattern->unit != NULL;
}

const char *
colander_partition_unit(const char *name)
{
    struct pattern pattern;

    return read_pattern(name, &pattern) ? pattern.unit->name : NULL;
}

/* ---------------------------------------------------------------- times --- */

enum colander_code
colander_partition_check(int64_t second, struct colander_error *err)
{
    if (second >= 0 && second < civil_day_number(YEAR_MAX + 1, 1, 1) * 86400)
        return COLANDER_OK;
    return COLANDER_FAIL(err, COLANDER_INVALID,
                         "the time is not of a year from %d to %d", YEAR_MIN,
                         YEAR_MAX);
}

/* Appends the time that begins the interval of `second`. */
static enum colander_code
append_time(const struct unit *unit, int64_t second,
            struct colander_buffer *name, struct colander_error *err)
{
    const time_t seconds = (time_t)second;
    char text[TIME_SIZE_MAX];
    struct tm time;
    enum colander_code code = colander_partition_check(second, err);

    if (code != COLANDER_OK || gmtime_r(&seconds, &time) == NULL)
        return code;
    return colander_buffer_append(
        name, text, strftime(text, sizeof(text), unit->format, &time), err);
}

enum colander_code
colander_partition_family(const char *pattern, int64_t second,
                          struct colander_buffer *name,
                          struct colander_error *err)
{
    struct pattern parts;
    enum colander_code code;

    if (!read_pattern(pattern, &parts))
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "'%s' has no {hour}, {day} or {month}", pattern);
    colander_buffer_clear(name);
    code = colander_buffer_append(name, pattern, parts.before_size, err);
    if (code == COLANDER_OK)
        code = append_time(parts.unit, second, name, err);
    if (code == COLANDER_OK)
        code = colander_buffer_append(name, parts.after,
                                      strlen(parts.after) + 1, err);
    return code;
}

/* Reads the time that begins `text`, as append_time has written it. */
static bool
read_time(const struct unit *unit, const char *text, size_t size,
          struct civil_time *time)
{
    struct time_scanner scanner = {(const uint8_t *)text,
                                   (const uint8_t *)text + size};
    const struct civil_time first = CIVIL_TIME_FIRST;

    *time = first;
    return time_scan_number(&scanner, 4, 4, &time->year) &&
           time_scan_byte(&scanner, '-') &&
           time_scan_number(&scanner, 2, 2, &time->month) &&
           (unit->seconds == 0 ||
            (time_scan_byte(&scanner, '-') &&
             time_scan_number(&scanner, 2, 2, &time->day))) &&
           (unit->seconds != 3600 ||
            (time_scan_byte(&scanner, 'T') &&
             time_scan_number(&scanner, 2, 2, &time->hour))) &&
           scanner.at == scanner.end && time->year >= YEAR_MIN &&
           time->year <= YEAR_MAX;
}

bool
colander_partition_times(const char *pattern, const char *name, int64_t *from,
                         int64_t *until)
{
    const size_t size = strlen(name);
    struct civil_time time;
    struct pattern parts;
    size_t after_size;

    if (!read_pattern(pattern, &parts))
        return false;
    after_size = strlen(parts.after);
    if (size < parts.before_size + after_size ||
        memcmp(name, pattern, parts.before_size) != 0 ||
        strcmp(name + size - after_size, parts.after) != 0 ||
        !read_time(parts.unit, name + parts.before_size,
                   size - parts.before_size - after_size, &time) ||
        !civil_time_second(&time, from))
        return false;
    *until = *from + parts.unit->seconds;
    if (parts.unit->seconds > 0)
        return true;
    time.year += time.month == 12;
    time.month = time.month % 12 + 1;
    return civil_time_second(&time, until);
}

/* ---------------------------------------------------------------- names --- */

bool
colander_name_selects(const char *name)
{
    return strchr(name, '*') != NULL || colander_partition_unit(name) != NULL;
}

bool
colander_name_is_like(const char *name, const char *text)
{
    const char *star = NULL; /* the last one so far, */
    const char *rest = NULL; /* and what follows those bytes that it is */

    while (*name != '\0') {
        if (*text == '*') {
            star = text++;
            rest = name;
        } else if (*text == *name) {
            text++;
            name++;
        } else if (star != NULL) {
            text = star + 1;
            name = ++rest;
        } else {
            return false;
        }
    }
    while (*text == '*')
        text++;
    return *text == '\0';
}

void
colander_names_select(struct colander_names *names, const char *selector)
{
    const bool is_pattern = colander_partition_unit(selector) != NULL;
    size_t kept = 0;

    for (size_t i = 0; i < names->count; i++) {
        char *name = names->names[i];
        int64_t from, until;

        if (colander_partition_unit(name) == NULL &&
            (is_pattern
                 ? colander_partition_times(selector, name, &from, &until)
                 : colander_name_is_like(name, selector)))
            names->names[kept++] = name;
        else
            free(name);
    }
    names->count = kept;
}

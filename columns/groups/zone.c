/* See zone.h. SPDX-License-Identifier: MIT */
#include "columns/groups/zone.h"
#include "columns/groups/calendar.h"
#include "core/array.h"
#include "core/bytes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define DIRECTORY "/usr/share/zoneinfo"
#define LOCAL "/etc/localtime"
#define FILE_SIZE_MAX ((size_t)1 << 20)

#define HEAD_SIZE 44
#define YEARS_OF_CYCLE 400

/* Clocks change to `offset` at an instant. */
struct change {
    int64_t second;
    int32_t offset;
};

struct zone {
    struct change *changes;
    size_t count;
    size_t capacity;
    int32_t first;   /* the offset before all changes */
    bool has_cycle;  /* changes repeat every 400 years, */
    int64_t repeats; /* from here on */
};

/* ------------------------------------------------------------ the rule --- */

/* A day and time of each year at which clocks change. */
struct rule_day {
    char kind; /* 'M': month, week, weekday; 'J': day without 29 February; or
                * 'D': day from 0 */
    int32_t month;
    int32_t week; /* 5: the last */
    int32_t day;
    int32_t second; /* of the local day; may be outside of it */
};

struct rule {
    int32_t standard; /* offsets */
    int32_t summer;
    bool has_summer;
    struct rule_day begin; /* of summer time */
    struct rule_day end;
};

struct rule_scanner {
    const char *at;
    bool is_bad;
};

static bool
scan_byte(struct rule_scanner *scanner, char byte)
{
    if (*scanner->at != byte)
        return false;
    scanner->at++;
    return true;
}

static int32_t
scan_number(struct rule_scanner *scanner, int32_t max)
{
    int32_t number = 0;

    scanner->is_bad |= *scanner->at < '0' || *scanner->at > '9';
    for (; *scanner->at >= '0' && *scanner->at <= '9' && number <= max;
         scanner->at++)
        number = number * 10 + (*scanner->at - '0');
    scanner->is_bad |= number > max;
    return number;
}

/* The name of a zone: letters, or anything in < and >. */
static void
scan_name(struct rule_scanner *scanner)
{
    const char *start = scanner->at;

    if (scan_byte(scanner, '<')) {
        while (*scanner->at != '\0' && *scanner->at != '>')
            scanner->at++;
        scanner->is_bad |= !scan_byte(scanner, '>');
        return;
    }
    while ((*scanner->at >= 'A' && *scanner->at <= 'Z') ||
           (*scanner->at >= 'a' && *scanner->at <= 'z'))
        scanner->at++;
    scanner->is_bad |= scanner->at == start;
}

/* [+-]hh[:mm[:ss]], in seconds. */
static int32_t
scan_clock(struct rule_scanner *scanner)
{
    const bool is_negative = scan_byte(scanner, '-');
    int32_t seconds;

    if (!is_negative)
        (void)scan_byte(scanner, '+');
    seconds = scan_number(scanner, 167) * 3600;
    if (scan_byte(scanner, ':'))
        seconds += scan_number(scanner, 59) * 60;
    if (scan_byte(scanner, ':'))
        seconds += scan_number(scanner, 59);
    return is_negative ? -seconds : seconds;
}

static void
scan_day(struct rule_scanner *scanner, struct rule_day *day)
{
    scanner->is_bad |= !scan_byte(scanner, ',');
    day->kind = 'D';
    if (scan_byte(scanner, 'M')) {
        day->kind = 'M';
        day->month = scan_number(scanner, 12);
        scanner->is_bad |= !scan_byte(scanner, '.') || day->month == 0;
        day->week = scan_number(scanner, 5);
        scanner->is_bad |= !scan_byte(scanner, '.') || day->week == 0;
        day->day = scan_number(scanner, 6);
    } else {
        if (scan_byte(scanner, 'J'))
            day->kind = 'J';
        day->day = scan_number(scanner, 365);
    }
    day->second = scan_byte(scanner, '/') ? scan_clock(scanner) : 2 * 3600;
}

/* Reads a rule as in the variable TZ: "CET-1CEST,M3.5.0,M10.5.0/3". */
static bool
scan_rule(const char *text, struct rule *rule)
{
    struct rule_scanner scanner = {text, false};

    memset(rule, 0, sizeof(*rule));
    scan_name(&scanner);
    rule->standard = -scan_clock(&scanner);
    if (*scanner.at != '\0') {
        rule->has_summer = true;
        scan_name(&scanner);
        rule->summer = rule->standard + 3600;
        if (*scanner.at != ',')
            rule->summer = -scan_clock(&scanner);
        scan_day(&scanner, &rule->begin);
        scan_day(&scanner, &rule->end);
    }
    return !scanner.is_bad && *scanner.at == '\0';
}

/* Returns the local second at which clocks change in a year. */
static int64_t
rule_second(const struct rule_day *day, int32_t year)
{
    int64_t number = civil_day_number(year, 1, 1) + day->day;
    int32_t from_first;

    if (day->kind == 'J')
        number += -1 + (civil_year_is_leap(year) && day->day >= 60);
    if (day->kind == 'M') {
        number = civil_day_number(year, day->month, 1);
        from_first = day->day - calendar_weekday(number);
        if (from_first < 0)
            from_first += 7;
        from_first += 7 * (day->week - 1);
        while (from_first >= civil_month_size(year, day->month))
            from_first -= 7;
        number += from_first;
    }
    return number * CALENDAR_DAY + day->second;
}

/* -------------------------------------------------------------- changes --- */

static enum colander_code
add_change(struct zone *zone, int64_t second, int32_t offset,
           struct colander_error *err)
{
    const struct change *last =
        zone->count == 0 ? NULL : &zone->changes[zone->count - 1];
    enum colander_code code;

    if ((last != NULL && last->second >= second) || /* the file knows better */
        offset == (last == NULL ? zone->first : last->offset))
        return COLANDER_OK;
    code = array_reserve(&zone->changes, zone->count, &zone->capacity, 1, err);
    if (code == COLANDER_OK) {
        zone->changes[zone->count].second = second;
        zone->changes[zone->count++].offset = offset;
    }
    return code;
}

/* Adds the changes of a rule after those of the file. */
static enum colander_code
add_rule(struct zone *zone, const struct rule *rule, struct colander_error *err)
{
    int32_t year = 1970;
    int32_t last;
    enum colander_code code = COLANDER_OK;

    if (!rule->has_summer && zone->count == 0)
        zone->first = rule->standard;
    if (!rule->has_summer)
        return COLANDER_OK;
    if (zone->count > 0) {
        const int64_t second = zone->changes[zone->count - 1].second;

        if (second >= civil_day_number(10000, 1, 1) * CALENDAR_DAY)
            return COLANDER_OK; /* no time of interest is after it */
        if (second > civil_day_number(year, 1, 1) * CALENDAR_DAY)
            year = calendar_date_of(second).year;
    }
    last = year + YEARS_OF_CYCLE + 1;
    for (; year <= last && code == COLANDER_OK; year++) {
        const int64_t begin = rule_second(&rule->begin, year) - rule->standard;
        const int64_t end = rule_second(&rule->end, year) - rule->summer;

        if (begin < end)
            code = add_change(zone, begin, rule->summer, err);
        if (code == COLANDER_OK)
            code = add_change(zone, end, rule->standard, err);
        if (code == COLANDER_OK && begin >= end)
            code = add_change(zone, begin, rule->summer, err);
    }
    zone->has_cycle = true;
    zone->repeats =
        civil_day_number(last - YEARS_OF_CYCLE, 1, 1) * CALENDAR_DAY;
    return code;
}

/* ----------------------------------------------------------------- file --- */

/* The counts of a block of the file, in their order. */
enum {
    UTC_COUNT,
    STANDARD_COUNT,
    LEAP_COUNT,
    TIME_COUNT,
    TYPE_COUNT,
    NAME_SIZE
};

static bool
read_counts(struct bytes_reader *reader, uint32_t *counts, uint8_t *version)
{
    const struct colander_slice head = bytes_read(reader, HEAD_SIZE);

    if (head.data == NULL || memcmp(head.data, "TZif", 4) != 0)
        return false;
    *version = head.data[4];
    for (size_t i = 0; i <= NAME_SIZE; i++)
        counts[i] = (uint32_t)bytes_get_be(head.data + 20 + 4 * i, 4);
    return true;
}

/* Reads the changes of a block whose times have `size` bytes. */
static enum colander_code
read_block(struct bytes_reader *reader, struct zone *zone,
           const uint32_t *counts, size_t size, struct colander_error *err)
{
    const uint64_t time_count = counts[TIME_COUNT];
    const struct colander_slice times = bytes_read(reader, time_count * size);
    const struct colander_slice kinds = bytes_read(reader, time_count);
    const struct colander_slice types =
        bytes_read(reader, (uint64_t)counts[TYPE_COUNT] * 6);
    enum colander_code code = COLANDER_OK;

    (void)bytes_read(reader, (uint64_t)counts[NAME_SIZE] +
                                 (uint64_t)counts[LEAP_COUNT] * (size + 4) +
                                 counts[STANDARD_COUNT] + counts[UTC_COUNT]);
    if (reader->is_bad || types.size == 0)
        return COLANDER_FAIL(err, COLANDER_INVALID, "its zone data is cut off");
    zone->count = 0;
    zone->first = (int32_t)bytes_get_be(types.data, 4);
    for (size_t i = 0; i < time_count && code == COLANDER_OK; i++) {
        const uint64_t bits = bytes_get_be(times.data + i * size, size);
        const int64_t second = size == 4 ? (int32_t)bits : (int64_t)bits;

        if (kinds.data[i] >= counts[TYPE_COUNT])
            return COLANDER_FAIL(err, COLANDER_INVALID,
                                 "its zone data is damaged");
        code = add_change(
            zone, second,
            (int32_t)bytes_get_be(types.data + (size_t)6 * kinds.data[i], 4),
            err);
    }
    return code;
}

/* Reads the rule between the last two line ends of the file. */
static enum colander_code
read_rule(struct bytes_reader *reader, struct zone *zone,
          struct colander_error *err)
{
    char text[128];
    struct rule rule;
    const struct colander_slice left = reader->left;

    if (left.size < 3) /* no rule: the last offset holds */
        return COLANDER_OK;
    if (left.size > sizeof(text) || left.data[0] != '\n' ||
        left.data[left.size - 1] != '\n')
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "the rule of its zone data is cut off");
    memcpy(text, left.data + 1, left.size - 2);
    text[left.size - 2] = '\0';
    if (!scan_rule(text, &rule))
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "unknown rule '%s' in its zone data", text);
    return add_rule(zone, &rule, err);
}

enum colander_code
zone_read(struct colander_slice file, struct zone **zone,
          struct colander_error *err)
{
    struct bytes_reader reader = bytes_reader_of(file);
    struct zone *created = calloc(1, sizeof(*created));
    uint32_t counts[NAME_SIZE + 1];
    uint8_t version = 0;
    enum colander_code code = COLANDER_OK;

    *zone = NULL;
    if (created == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory for a time zone");
    if (!read_counts(&reader, counts, &version))
        code = COLANDER_FAIL(err, COLANDER_INVALID, "it has no zone data");
    if (code == COLANDER_OK)
        code = read_block(&reader, created, counts, 4, err);
    if (code == COLANDER_OK && version >= '2') { /* again, with 64 bits */
        if (read_counts(&reader, counts, &version))
            code = read_block(&reader, created, counts, 8, err);
        else
            code = COLANDER_FAIL(err, COLANDER_INVALID,
                                 "its zone data is cut off");
        if (code == COLANDER_OK)
            code = read_rule(&reader, created, err);
    }
    if (code != COLANDER_OK) {
        zone_close(created);
        return code;
    }
    *zone = created;
    return COLANDER_OK;
}

/* ----------------------------------------------------------------- life --- */

/* Whether the name is that of a file below the directory. */
static bool
is_name(const char *name)
{
    const size_t allowed = strspn(name, "abcdefghijklmnopqrstuvwxyz"
                                        "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                        "0123456789_+-/");

    return name[0] != '\0' && name[0] != '/' && name[allowed] == '\0' &&
           allowed < 200;
}

/* Reads a whole file that is not large. */
static enum colander_code
read_file(const char *path, struct colander_buffer *file,
          struct colander_error *err)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    enum colander_code code = COLANDER_OK;
    ssize_t size = 1;

    if (fd < 0)
        return COLANDER_FAIL(err, COLANDER_INVALID, "cannot read '%s': %s",
                             path, strerror(errno));
    while (code == COLANDER_OK && size > 0 && file->size < FILE_SIZE_MAX) {
        char part[4096];

        size = read(fd, part, sizeof(part));
        if (size < 0)
            code = COLANDER_FAIL(err, COLANDER_INVALID, "cannot read '%s': %s",
                                 path, strerror(errno));
        else
            code = colander_buffer_append(file, part, (size_t)size, err);
    }
    (void)close(fd);
    return code;
}

enum colander_code
zone_open(const char *name, struct zone **zone, struct colander_error *err)
{
    struct colander_buffer file = COLANDER_BUFFER_EMPTY;
    const char *local = getenv("TZ");
    bool is_local = strcmp(name, "local") == 0;
    char path[256];
    enum colander_code code;

    *zone = NULL;
    if (is_local && local != NULL && strchr(local, '/') != local &&
        strncmp(local, ":/", 2) != 0) {
        name = *local == '\0' ? "UTC" : local + (*local == ':');
        is_local = false;
    }
    if (!is_name(name))
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "'%.100s' is not the name of a time zone, such as "
                             "Europe/Berlin",
                             name);
    (void)snprintf(path, sizeof(path), "%s/%s", DIRECTORY, name);
    code = read_file(is_local ? LOCAL : path, &file, err);
    if (code == COLANDER_OK)
        code = zone_read(colander_buffer_slice(&file), zone, err);
    if (code == COLANDER_INVALID)
        colander_error_context(err, "time zone '%.100s'", name);
    colander_buffer_release(&file);
    return code;
}

void
zone_close(struct zone *zone)
{
    if (zone == NULL)
        return;
    free(zone->changes);
    free(zone);
}

/* -------------------------------------------------------------- answers --- */

/* Returns the number of changes at or before `second`. */
static size_t
changes_until(const struct zone *zone, int64_t second)
{
    size_t place;

    array_search(place, zone->count, zone->changes[place].second <= second);
    return place;
}

struct zone_period
zone_period(const struct zone *zone, int64_t second)
{
    const int64_t cycle = CALENDAR_CYCLE_DAYS * CALENDAR_DAY;
    struct zone_period period = {INT64_MIN, INT64_MAX, 0};
    int64_t shift = 0;
    size_t index;

    if (zone == NULL)
        return period;
    period.offset = zone->first;
    if (zone->has_cycle && second >= zone->repeats + cycle)
        shift = (second - zone->repeats) / cycle * cycle;
    index = changes_until(zone, second - shift);
    if (index > 0) {
        period.from = zone->changes[index - 1].second + shift;
        period.offset = zone->changes[index - 1].offset;
    }
    if (index < zone->count)
        period.until = zone->changes[index].second + shift;
    return period;
}

int64_t
zone_instant(const struct zone *zone, int64_t local)
{
    struct zone_period period = zone_period(zone, local - 2 * CALENDAR_DAY);

    while (period.until != INT64_MAX && local - period.offset >= period.until)
        period = zone_period(zone, period.until);
    if (period.from != INT64_MIN && local - period.offset < period.from)
        return period.from;
    return local - period.offset;
}

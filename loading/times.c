/* SPDX-License-Identifier: MIT */
#include "loading/times.h"

#include "core/civil_time.h"
#include "loading/time_pattern.h"

/* ---------------------------------------------------------------- unix --- */

/* The digits before the point. */
static bool
scan_units(struct time_scanner *scanner, uint64_t *units)
{
    const uint8_t *from = scanner->at;

    *units = 0;
    for (; scanner->at < scanner->end; scanner->at++) {
        uint64_t digit = (uint8_t)(*scanner->at - '0');

        if (digit > 9)
            break;
        if (*units > ((uint64_t)INT64_MAX - digit) / 10)
            return false;
        *units = *units * 10 + digit;
    }
    return scanner->at > from;
}

/* `in_second` units make a second. */
static bool
read_unix(struct time_scanner *scanner, uint32_t in_second, int64_t *second,
          uint32_t *nanosecond)
{
    bool is_negative = time_scan_byte(scanner, '-');
    uint32_t fraction = 0; /* of a unit: 10^9 of these are one */
    uint64_t units;

    if (!scan_units(scanner, &units))
        return false;
    if (time_scan_byte(scanner, '.') && !time_scan_fraction(scanner, &fraction))
        return false;
    if (scanner->at != scanner->end || fraction % in_second != 0)
        return false;
    *second = (int64_t)(units / in_second);
    *nanosecond = (uint32_t)(units % in_second) * (1000000000 / in_second) +
                  fraction / in_second;
    if (is_negative) {
        *second = -*second - (*nanosecond > 0);
        *nanosecond = *nanosecond > 0 ? 1000000000 - *nanosecond : 0;
    }
    return true;
}

/* ------------------------------------------------------------- formats --- */

static const struct unix_format {
    const char *name;
    uint32_t in_second;
} unix_formats[] = {
    {"unix", 1},
    {"unix_ms", 1000},
    {"unix_us", 1000000},
    {"unix_ns", 1000000000},
};

#define UNIX_FORMAT_COUNT (sizeof(unix_formats) / sizeof(unix_formats[0]))

static bool
is_name(struct colander_slice format, const char *name)
{
    return colander_slice_equal(format, colander_slice_text(name));
}

/* Units in a second; 0 where the format is another. */
static uint32_t
unix_units(struct colander_slice format)
{
    if (format.size == 0 || format.data[0] != 'u')
        return 0;
    for (size_t i = 0; i < UNIX_FORMAT_COUNT; i++) {
        if (is_name(format, unix_formats[i].name))
            return unix_formats[i].in_second;
    }
    return 0;
}

static bool
read_one(struct colander_slice format, struct colander_slice text,
         int64_t *second, uint32_t *nanosecond)
{
    struct time_scanner scanner = {text.data, text.data + text.size};
    struct civil_time time = CIVIL_TIME_FIRST;
    uint32_t in_second = unix_units(format);

    if (in_second > 0)
        return read_unix(&scanner, in_second, second, nanosecond);
    if (!(is_name(format, "rfc3339")
              ? time_scan_rfc3339(&scanner, &time)
              : time_pattern_read(format, &scanner, &time)) ||
        scanner.at != scanner.end)
        return false;
    *nanosecond = time.nanosecond;
    return civil_time_second(&time, second);
}

/* Takes the first line of *formats. */
static struct colander_slice
next_format(const char **formats)
{
    size_t size = strcspn(*formats, "\n");
    struct colander_slice format = colander_slice_of(*formats, size);

    *formats += size;
    if (**formats == '\n')
        ++*formats;
    return format;
}

bool
times_read(const char *format, struct colander_slice text, int64_t *second,
           uint32_t *nanosecond)
{
    const char *left = format == NULL ? "rfc3339" : format;

    while (*left != '\0') {
        if (read_one(next_format(&left), text, second, nanosecond))
            return true;
    }
    return false;
}

enum colander_code
times_check_format(const char *format, struct colander_error *err)
{
    const char *left = format;

    do {
        struct colander_slice one = next_format(&left);
        enum colander_code code = COLANDER_OK;

        if (is_name(one, "rfc3339") || unix_units(one) > 0)
            continue;
        if (memchr(one.data, '%', one.size) == NULL)
            return COLANDER_FAIL(
                err, COLANDER_INVALID,
                "time format '%.*s' is not rfc3339, unix, unix_ms, "
                "unix_us, unix_ns, or a pattern such as '%%Y-%%m-%%d'",
                one.size < 200 ? (int)one.size : 200, (const char *)one.data);
        code = time_pattern_check(one, err);
        if (code != COLANDER_OK)
            return code;
    } while (*left != '\0');
    return COLANDER_OK;
}

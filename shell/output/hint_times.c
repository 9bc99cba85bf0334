/*
 * Columns that look like times: see hint_parts.h. SPDX-License-Identifier: MIT
 */
#include "shell/output/hint_parts.h"

#include <ctype.h>

/* What times look like that `load --type` can read. A letter of a shape stands
 * for any, a digit too; + is a sign. */
static const struct time_shape {
    const char *shape;
    const char *type;
} time_shapes[] = {
    {"aaa aaa 00 00:00:00 +0000 0000", "time:%a %b %d %H:%M:%S %z %Y"},
    {"aaa, 00 aaa 0000 00:00:00 +0000", "time:%a, %d %b %Y %H:%M:%S %z"},
    {"00/aaa/0000:00:00:00 +0000", "time:%d/%b/%Y:%H:%M:%S %z"},
    {"00.00.0000", "time:%d.%m.%Y"},
};

static bool
has_shape(struct colander_slice text, const char *shape)
{
    if (text.size != strlen(shape))
        return false;
    for (size_t i = 0; i < text.size; i++) {
        const uint8_t byte = text.data[i];

        if (shape[i] == 'a'   ? !isalpha(byte)
            : shape[i] == '0' ? !isdigit(byte)
            : shape[i] == '+' ? byte != '+' && byte != '-'
                              : byte != (uint8_t)shape[i])
            return false;
    }
    return true;
}

/* Returns the type that reads the value as a time, or NULL. */
static const char *
time_type(const struct colander_value *value)
{
    static const char day[] = "2015-03-24";
    struct colander_times times;

    if (value->type != COLANDER_STRING)
        return NULL;
    if (value->bytes.size >= strlen(day) && value->bytes.data[0] != '@' &&
        colander_times_read(value->bytes, &times))
        return "time";
    for (size_t i = 0; i < sizeof(time_shapes) / sizeof(time_shapes[0]); i++) {
        if (has_shape(value->bytes, time_shapes[i].shape))
            return time_shapes[i].type;
    }
    return NULL;
}

/* Returns the type that reads the texts of the column as times, or NULL if it
 * has other values. Its extremes are looked at: a text that is not a time is
 * very likely one of them. */
static const char *
column_time_type(const struct column_stat *column)
{
    const char *type = time_type(&column->first);

    for (int other = 0; other < COLUMN_TYPES; other++) {
        if (column->type_counts[other] > 0 && other != COLANDER_STRING &&
            other != COLANDER_NULL)
            return NULL;
    }
    return type == time_type(&column->smallest) &&
                   type == time_type(&column->largest)
               ? type
               : NULL;
}

void
hint_add_times(const struct column_stats *stats, const char *const *paths,
               size_t path_count, struct report *report)
{
    const char *found = NULL;
    const char *type = NULL;
    uint64_t count = 0;

    for (size_t i = 0; i < column_stats_count(stats); i++) {
        const struct column_stat *column = column_stats_get(stats, i);
        const char *its_type = column_time_type(column);

        if (its_type == NULL || hint_is_listed(column->path, paths, path_count))
            continue;
        if (count++ == 0) {
            found = column->path;
            type = its_type;
        }
    }
    if (found == NULL)
        return;
    report_add(report, "%s", report->text.size > 0 ? "\n" : "");
    report_add_text(report, colander_slice_text(found));
    if (count > 1)
        report_add(report, " and %s", NUMBER_OF(count - 1, "other column"));
    report_add(report, " look%s like times: add --type %s",
               count > 1 ? "" : "s", strchr(type, ' ') != NULL ? "'" : "");
    report_add_text(report, colander_slice_text(found));
    report_add(report, "=%s%s to ask by time", type,
               strchr(type, ' ') != NULL ? "'" : "");
}

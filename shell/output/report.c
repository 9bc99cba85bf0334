/* See report.h. SPDX-License-Identifier: MIT */
#include "shell/report.h"
#include "shell/session.h"
#include "shell/text.h"

#include <inttypes.h>
#include <stdarg.h>

#define LABEL_WIDTH 8

static void
add_list(struct report *report, const char *format, va_list list)
{
    if (report->code == COLANDER_OK)
        report->code =
            text_append_list(&report->text, &report->err, format, list);
}

void
report_add(struct report *report, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    add_list(report, format, list);
    va_end(list);
}

void
report_line(struct report *report, const char *label, const char *format, ...)
{
    va_list list;

    report_add(report, "%s%-*s ", report->text.size == 0 ? "" : "\n",
               LABEL_WIDTH, label);
    report->part_count = 0;
    va_start(list, format);
    add_list(report, format, list);
    va_end(list);
}

void
report_add_text(struct report *report, struct colander_slice text)
{
    if (report->code == COLANDER_OK)
        report->code = text_append_printable(&report->text, text, &report->err);
}

void
report_add_part(struct report *report, uint64_t count, const char *what)
{
    if (count > 0)
        report_add(report, "%s%s %s", report->part_count++ == 0 ? "" : ", ",
                   THOUSANDS(count), what);
}

enum colander_code
report_print(struct report *report, FILE *file, struct colander_error *err)
{
    const enum colander_code code = report->code;

    if (code != COLANDER_OK && err != NULL)
        *err = report->err;
    if (code == COLANDER_OK && report->text.size > 0)
        fprintf(file, "%.*s\n", (int)report->text.size,
                (const char *)report->text.data);
    report_release(report);
    return code;
}

void
report_release(struct report *report)
{
    colander_buffer_release(&report->text);
    memset(report, 0, sizeof(*report));
}

void
report_finding(void *context, const char *file, const char *what)
{
    FILE *out = session_out(context);

    fprintf(out, "%s: %s\n", file, what);
    (void)fflush(out);
}

/* ------------------------------------------------------------- numbers --- */

struct report_text
report_number(uint64_t count, const char *what)
{
    struct report_text number;
    char digits[24];
    const int size = snprintf(digits, sizeof(digits), "%" PRIu64, count);
    char *at = number.text;

    for (int i = 0; i < size; i++) {
        if (i > 0 && (size - i) % 3 == 0)
            *at++ = ',';
        *at++ = digits[i];
    }
    *at = '\0';
    if (what != NULL)
        snprintf(at, (size_t)(number.text + sizeof(number.text) - at), " %s%s",
                 what, count == 1 ? "" : "s");
    return number;
}

struct report_text
report_size(uint64_t size)
{
    static const char *const units[] = {"kB", "MB", "GB", "TB"};
    struct report_text text;
    double amount = (double)size / 1000;
    size_t unit = 0;

    if (size < 1000)
        return report_number(size, "byte");
    while (amount >= 999.95 && unit + 1 < sizeof(units) / sizeof(units[0])) {
        amount /= 1000;
        unit++;
    }
    snprintf(text.text, sizeof(text.text), "%.1f %s", amount, units[unit]);
    return text;
}

struct report_text
report_time(uint64_t microseconds)
{
    const double ms = (double)microseconds / 1000;
    struct report_text text;

    if (ms >= 1000)
        snprintf(text.text, sizeof(text.text), "%.2f s", ms / 1000);
    else
        snprintf(text.text, sizeof(text.text), "%.*f ms", ms < 10 ? 2 : 0, ms);
    return text;
}

/* -------------------------------------------------------------- fields --- */

#define SIZES(name, member) FIELD(UINT64, name, colander_family_sizes, member)

static const struct field size_fields[] = {
    SIZES("rows", key_count),
    SIZES("sst_files", sst_count),
    SIZES("sst_bytes", sst_size),
    SIZES("unflushed_bytes", unflushed_size),
    FIELD_END,
};

static struct colander_value
value_of(const struct field *field, const void *object)
{
    uint64_t number;

    if (field->kind == FIELD_DOUBLE)
        return colander_double(*field_double(field, object));
    number = field_number(field, object);
    if (field->kind == FIELD_BOOLEAN)
        return colander_boolean(number != 0);
    if (field->kind == FIELD_UINT32_OR_AUTO && number == UINT32_MAX)
        return colander_text("auto");
    return colander_unsigned(number);
}

void
fields_add_columns(const struct field *fields, const void *object,
                   struct colander_row_builder *builder)
{
    for (; fields->name != NULL; fields++) {
        if (fields->kind > FIELD_CHOICE)
            colander_row_builder_add(builder, fields->name,
                                     value_of(fields, object));
    }
}

void
family_sizes_add_columns(const struct colander_family_sizes *sizes,
                         bool is_elsewhere,
                         struct colander_row_builder *builder)
{
    const bool lacks_rows =
        is_elsewhere && sizes->key_count == 0 && sizes->sst_count > 0;

    fields_add_columns(size_fields + lacks_rows, sizes, builder);
}

/*
 * Report: see report.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "shell/report.h"
#include "shell/text.h"

#include <stdarg.h>
#include <stdlib.h>

#define LABEL_WIDTH 8

void
report_add(struct report *report, const char *format, ...)
{
    va_list list;
    char *text = NULL;
    int size;

    if (report->code != COLANDER_OK)
        return;
    va_start(list, format);
    size = vasprintf(&text, format, list);
    va_end(list);
    if (size < 0) {
        report->code = COLANDER_FAIL(&report->err, COLANDER_NO_MEMORY,
                                     "no memory for a report");
        return;
    }
    report->code =
        colander_buffer_append(&report->text, text, (size_t)size, &report->err);
    free(text);
}

void
report_line(struct report *report, const char *label)
{
    report_add(report, "%s%-*s ", report->text.size == 0 ? "" : "\n",
               LABEL_WIDTH, label);
    report->part_count = 0;
}

void
report_add_text(struct report *report, struct colander_slice text)
{
    if (report->code == COLANDER_OK)
        report->code = text_append_printable(&report->text, text, &report->err);
}

void
report_add_count(struct report *report, uint64_t count)
{
    if (report->code == COLANDER_OK)
        report->code = text_append_count(&report->text, count, &report->err);
}

void
report_add_number(struct report *report, uint64_t count, const char *what)
{
    report_add_count(report, count);
    report_add(report, " %s%s", what, count == 1 ? "" : "s");
}

void
report_add_size(struct report *report, uint64_t size)
{
    static const char *const units[] = {"kB", "MB", "GB", "TB"};
    double amount = (double)size / 1000;
    size_t unit = 0;

    if (size < 1000) {
        report_add_number(report, size, "byte");
        return;
    }
    while (amount >= 999.95 && unit + 1 < sizeof(units) / sizeof(units[0])) {
        amount /= 1000;
        unit++;
    }
    report_add(report, "%.1f %s", amount, units[unit]);
}

void
report_add_part(struct report *report, uint64_t count, const char *what)
{
    if (count == 0)
        return;
    report_add(report, report->part_count++ == 0 ? "" : ", ");
    report_add_count(report, count);
    report_add(report, " %s", what);
}

enum colander_code
report_print(const struct report *report, FILE *file,
             struct colander_error *err)
{
    if (report->code != COLANDER_OK) {
        if (err != NULL)
            *err = report->err;
        return report->code;
    }
    if (report->text.size > 0)
        fprintf(file, "%.*s\n", (int)report->text.size,
                (const char *)report->text.data);
    return COLANDER_OK;
}

void
report_release(struct report *report)
{
    colander_buffer_release(&report->text);
    memset(report, 0, sizeof(*report));
}

/*
 * Filter reports: the value filters of a family, as lines and as JSON.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_FILTER_REPORT_H
#define SHELL_FILTER_REPORT_H

#include "shell/report.h"

struct filter_report {
    struct colander_filter_stats stats;
    struct colander_filter_measure measure;
    struct colander_filter_options options;
};

/* Waits until all filters are loaded, and reads their state. Release it also on
 * failure. */
COLANDER_CHECKED enum colander_code
filter_report_read(struct filter_report *filters,
                   struct colander_family *family, struct colander_error *err);

void filter_report_release(struct filter_report *filters);

/* Adds the lines of the family. */
void filter_report_add(const struct filter_report *filters,
                       struct report *report);

/* Adds the lines of the whole store: events since it was opened. */
void filter_report_add_store(const struct filter_report *filters,
                             struct report *report);

/* Adds all of it to a row. */
void filter_report_add_columns(const struct filter_report *filters,
                               struct colander_row_builder *builder);

#endif

/* See order_report.h. SPDX-License-Identifier: MIT */
#include "shell/order_report.h"

#ifdef COLANDER_FILTERS
#include "filters/option_fields.h"
#include "shell/text.h"

/* Adds the counts of the families. Returns false if all are 0. */
static bool
count(struct colander_family *const *families, size_t family_count,
      const char *path, struct colander_order_stats *sum, struct report *report)
{
    uint64_t total = 0;

    memset(sum, 0, sizeof(*sum));
    for (size_t i = 0; i < family_count && report->code == COLANDER_OK; i++) {
        struct colander_order_stats stats;

        report->code = colander_family_order_stats(families[i], path, &stats,
                                                   &report->err);
        for (const struct field *field = order_stats_fields;
             field->name != NULL; field++) {
            total += field_number(field, &stats);
            field_set_number(field, sum,
                             field_number(field, sum) +
                                 field_number(field, &stats));
        }
    }
    return total > 0 && report->code == COLANDER_OK;
}

void
order_report_add(struct colander_family *const *families, size_t family_count,
                 const char *path, struct report *report)
{
    struct colander_order_stats stats;
    const char *before = "no order: ";

    if (!count(families, family_count, path, &stats, report))
        return;
    if (stats.ordered_count > 0) {
        report_add(report, "in order: %s (", NUMBER_OF(stats.size, "byte"));
        report_add(report, "%s, ", NUMBER_OF(stats.listed_count, "value"));
        report_add(report, "%s)", NUMBER_OF(stats.group_count, "group"));
        before = "; not ";
    }
    for (const struct field *field = order_stats_fields; field->name != NULL;
         field++) {
        const uint64_t number = field_number(field, &stats);

        if (field->label == NULL || number == 0)
            continue;
        report_add(report, "%s", before);
        if (stats.ordered_count > 0)
            report_add(report, "in %s: ", NUMBER_OF(number, "part"));
        report_add(report, "%s", field->label);
        before = ", ";
    }
}

enum colander_code
order_report_add_columns(struct colander_family *family, const char *path,
                         struct colander_row_builder *builder,
                         struct colander_error *err)
{
    struct report report = REPORT_EMPTY;
    struct colander_order_stats stats;

    if (count(&family, 1, path, &stats, &report)) {
        colander_row_builder_begin_map(builder, "order");
        fields_add_columns(order_stats_fields, &stats, builder);
        colander_row_builder_end(builder);
    }
    if (report.code != COLANDER_OK)
        *err = report.err;
    return report.code;
}
#else
void
order_report_add(struct colander_family *const *families, size_t family_count,
                 const char *path, struct report *report)
{
    (void)families;
    (void)family_count;
    (void)path;
    (void)report;
}

enum colander_code
order_report_add_columns(struct colander_family *family, const char *path,
                         struct colander_row_builder *builder,
                         struct colander_error *err)
{
    (void)family;
    (void)path;
    (void)builder;
    (void)err;
    return COLANDER_OK;
}
#endif

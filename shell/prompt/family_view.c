/* See family_view.h. SPDX-License-Identifier: MIT */
#include "shell/prompt/family_view.h"
#include "shell/column_stats.h"

#include <ctype.h>

#define SAMPLE_ROWS 1000

/* Whether the name can be one of Lua. */
static bool
is_identifier(const char *name)
{
    size_t size = 0;

    while (isalnum((unsigned char)name[size]) || name[size] == '_')
        size++;
    return size > 0 && name[size] == '\0' && !isdigit((unsigned char)name[0]);
}

/* Returns the column for an example: the first with texts or numbers. */
static const struct column_stat *
choose_column(const struct column_stats *stats)
{
    for (size_t i = 0; i < column_stats_count(stats); i++) {
        const struct column_stat *column = column_stats_get(stats, i);

        if (is_identifier(column->path) &&
            (column->first.type == COLANDER_STRING ||
             column->first.type == COLANDER_INTEGER))
            return column;
    }
    return NULL;
}

/* Adds "tweets:find{user = "Smith"}:limit(10)". */
static void
add_example(const struct column_stats *stats, const char *name,
            struct report *report)
{
    const struct column_stat *column = choose_column(stats);
    struct colander_buffer value = COLANDER_BUFFER_EMPTY;

    report_line(report, "example",
                is_identifier(name) ? "%s:find" : "db:family(\"%s\"):find",
                name);
    if (column != NULL && colander_json_append_value(&value, &column->first,
                                                     NULL) == COLANDER_OK) {
        report_add(report, "{%s = ", column->path);
        report_add_text(report, colander_buffer_slice(&value));
        report_add(report, "}:limit(10)");
    } else {
        report_add(report, "():limit(10)");
    }
    colander_buffer_release(&value);
}

enum colander_code
family_view_print(struct colander_family *family, FILE *file,
                  struct colander_error *err)
{
    struct column_stats *stats = column_stats_create();
    struct colander_family_sizes sizes;
    struct report report = REPORT_EMPTY;
    enum colander_code code;

    if (stats == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for columns");
    code = colander_family_sizes(family, &sizes, err);
    if (code == COLANDER_OK)
        code = column_stats_read_sample(stats, family, SAMPLE_ROWS, err);
    if (code == COLANDER_OK) {
        report_line(&report, "family", "%s", "");
        report_add_text(&report,
                        colander_slice_text(colander_family_name(family)));
        if (sizes.key_count > 0 || sizes.sst_count == 0)
            report_line(&report, "rows", "about %s",
                        THOUSANDS(sizes.key_count));
        if (column_stats_row_count(stats) > 0) {
            column_stats_add(stats, sizes.key_count, NULL, &report);
            add_example(stats, colander_family_name(family), &report);
        }
        code = report_print(&report, file, err);
    }
    report_release(&report);
    column_stats_destroy(stats);
    return code;
}

/*
 * Column figures: see column_figures.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "shell/column_figures.h"
#include "shell/interrupt.h"
#include "shell/text.h"

#include <stdlib.h>

#define ROWS 10000           /* looked at */
#define LINES_MAX 20         /* columns shown to people */
#define COLUMNS_MAX 1000     /* told to programs: so that a row holds them, */
#define PATHS_MAX (1u << 20) /* as long as their paths have so many bytes */
#define PATH_WIDTH_MAX 32    /* cells of a line */

/* Those in most rows first, else as they were met. */
static int
compare_columns(const void *a, const void *b)
{
    const struct census_column *const *first = a;
    const struct census_column *const *second = b;

    if ((*first)->row_count != (*second)->row_count)
        return (*first)->row_count < (*second)->row_count ? 1 : -1;
    return *first < *second ? -1 : 1; /* they stand in one array */
}

static enum colander_code
sort_columns(struct column_figures *figures, struct colander_error *err)
{
    const size_t count = census_count(figures->census);

    figures->columns = calloc(count + 1, sizeof(*figures->columns));
    if (figures->columns == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for columns");
    for (size_t i = 0; i < count; i++)
        figures->columns[i] = census_column(figures->census, i);
    qsort(figures->columns, count, sizeof(*figures->columns), compare_columns);
    return COLANDER_OK;
}

enum colander_code
column_figures_read(struct column_figures *figures,
                    struct colander_family *family, struct colander_error *err)
{
    enum colander_code code;

    memset(figures, 0, sizeof(*figures));
    figures->census = census_create();
    if (figures->census == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for columns");
    code = census_sample(figures->census, family, ROWS, interrupt_watch,
                         &figures->sample, err);
    return code == COLANDER_OK ? sort_columns(figures, err) : code;
}

void
column_figures_release(struct column_figures *figures)
{
    census_destroy(figures->census);
    free(figures->columns);
    memset(figures, 0, sizeof(*figures));
}

/* ----------------------------------------------------------- for people --- */

static size_t
min(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Adds the path, cut to `width` cells or filled up to them. */
static void
add_path(const char *path, size_t width, struct report *report)
{
    struct colander_buffer shown = COLANDER_BUFFER_EMPTY;
    struct colander_slice text;
    bool is_cut;

    if (text_append_printable(&shown, colander_slice_text(path), NULL) !=
        COLANDER_OK) {
        colander_buffer_release(&shown);
        return; /* short of memory, which what follows tells */
    }
    text = colander_buffer_slice(&shown);
    is_cut = text_width(text) > width;
    if (is_cut)
        text.size = text_fit(text, width - 1);
    report_add_text(report, text);
    if (is_cut)
        report_add(report, TEXT_ELLIPSIS);
    report_add(report, "%*s", (int)(width - text_width(text) - is_cut), "");
    colander_buffer_release(&shown);
}

static void
add_share(const struct column_figures *figures,
          const struct census_column *column, struct report *report)
{
    const double percent =
        100.0 * (double)column->row_count / (double)figures->sample.row_count;

    if (percent < 0.1)
        report_add(report, "  < 0.1 %%");
    else
        report_add(report, "  %5.1f %%", percent);
}

static void
add_types(const struct census_column *column, struct report *report)
{
    const char *before = "  ";

    for (int type = 0; type < CENSUS_TYPES; type++) {
        if (column->type_counts[type] == 0)
            continue;
        report_add(report, "%s%s", before,
                   colander_type_name((enum colander_type)type));
        before = ", ";
    }
}

/* Says of which rows it is told. */
static void
add_sample(const struct column_figures *figures, uint64_t key_count,
           struct report *report)
{
    const struct census_sample *sample = &figures->sample;

    report_line(report, "columns");
    report_add(report, sample->is_cut ? "more than " : "");
    report_add_count(report, census_count(figures->census));
    report_add(report, sample->is_all ? " in all " : " in a sample of ");
    report_add_number(report, sample->row_count, "row");
    if (sample->is_all)
        return;
    report_add(report, " of about ");
    report_add_count(report, key_count);
}

void
column_figures_add(const struct column_figures *figures, uint64_t key_count,
                   struct report *report)
{
    const size_t count = census_count(figures->census);
    const size_t shown = min(count, LINES_MAX);
    size_t width = 0;

    add_sample(figures, key_count, report);
    for (size_t i = 0; i < shown; i++) {
        const size_t own =
            text_width(colander_slice_text(figures->columns[i]->path));

        width = own > width ? own : width;
    }
    width = min(width, PATH_WIDTH_MAX);
    for (size_t i = 0; i < shown; i++) {
        report_line(report, "");
        add_path(figures->columns[i]->path, width, report);
        add_share(figures, figures->columns[i], report);
        add_types(figures->columns[i], report);
    }
    if (count > shown) {
        report_line(report, "");
        report_add(report, "and ");
        report_add_count(report, count - shown);
        report_add(report, " more");
    }
}

/* --------------------------------------------------------- for programs --- */

void
column_figures_describe(const struct census_column *column,
                        struct colander_row_builder *builder)
{
    colander_row_builder_add(builder, "column", colander_text(column->path));
    colander_row_builder_add(builder, "rows",
                             colander_unsigned(column->row_count));
    colander_row_builder_begin_map(builder, "types");
    for (int type = 0; type < CENSUS_TYPES; type++) {
        if (column->type_counts[type] > 0)
            colander_row_builder_add(
                builder, colander_type_name((enum colander_type)type),
                colander_unsigned(column->type_counts[type]));
    }
    colander_row_builder_end(builder);
}

/* How many columns are told. */
static size_t
count_told(const struct column_figures *figures)
{
    const size_t count = min(census_count(figures->census), COLUMNS_MAX);
    size_t size = 0;

    for (size_t i = 0; i < count; i++) {
        size += strlen(figures->columns[i]->path);
        if (size > PATHS_MAX)
            return i;
    }
    return count;
}

void
column_figures_add_columns(const struct column_figures *figures,
                           struct colander_row_builder *builder)
{
    const struct census_sample *sample = &figures->sample;
    const size_t count = census_count(figures->census);
    const size_t told = count_told(figures);

    colander_row_builder_add(builder, "sampled_rows",
                             colander_unsigned(sample->row_count));
    colander_row_builder_add(builder, "sampled_all",
                             colander_boolean(sample->is_all));
    colander_row_builder_add(builder, "column_count", colander_unsigned(count));
    colander_row_builder_add(builder, "columns_cut",
                             colander_boolean(told < count || sample->is_cut));
    colander_row_builder_begin_array(builder, "columns");
    for (size_t i = 0; i < told; i++) {
        const struct census_column *column = figures->columns[i];

        colander_row_builder_begin_map(builder, NULL);
        column_figures_describe(column, builder);
        colander_row_builder_add(builder, "share",
                                 colander_double((double)column->row_count /
                                                 (double)sample->row_count));
        colander_row_builder_end(builder);
    }
    colander_row_builder_end(builder);
}

/*
 * The command columns: lists the columns that rows have.
 *
 * SPDX-License-Identifier: MIT
 */
#include "shell/column_stats.h"
#include "shell/command.h"
#include "shell/output.h"
#include "shell/pager.h"

#define ROWS 10000 /* read without --rows */

static enum colander_code
print_columns(const struct column_stats *stats, struct output *output,
              struct colander_error *err)
{
    struct colander_row_builder *builder = colander_row_builder_create();
    enum colander_code code = COLANDER_OK;

    if (builder == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a row");
    for (size_t i = 0; i < column_stats_count(stats) && code == COLANDER_OK;
         i++) {
        struct colander_result result = {.row = {NULL, 0}};

        column_stat_add_columns(column_stats_get(stats, i), builder);
        code = colander_row_builder_finish(builder, &result.row, err);
        if (code == COLANDER_OK)
            code = output_row(output, &result, err);
    }
    if (code == COLANDER_OK)
        code = output_finish(output, err);
    colander_row_builder_destroy(builder);
    return code;
}

/* Says that there may be more rows. */
static enum colander_code
print_limit(uint64_t row_count, struct colander_error *err)
{
    struct report report = REPORT_EMPTY;

    report_add(&report, "[of the first %s: see --rows]",
               NUMBER_OF(row_count, "row"));
    pager_end(); /* a terminal shows the rows first */
    (void)fflush(stdout);
    return report_print(&report, stderr, err);
}

static enum session_exit
run_columns(struct session *session, const struct arguments *arguments)
{
    struct output_options options = {.has_no_key = true};
    uint64_t row_limit = ROWS;
    struct colander_family *family = NULL;
    struct column_stats *stats = column_stats_create();
    struct output *output = NULL;
    struct colander_error err;
    enum colander_code code;

    code = session_format(session, arguments_value(arguments, "format"),
                          OUTPUT_TABLE, &options.format, &err);
    if (code == COLANDER_OK)
        code = arguments_number(arguments, "rows", &row_limit, &err);
    if (code == COLANDER_OK && stats == NULL)
        code = COLANDER_FAIL(&err, COLANDER_NO_MEMORY, "no memory for columns");
    if (code == COLANDER_OK)
        code = session_family(session, arguments->words[0], &family, &err);
    if (code == COLANDER_OK)
        code = column_stats_read_first(stats, family, row_limit, &err);
    if (code == COLANDER_OK)
        code = output_create(stdout, &options, &output, &err);
    if (code == COLANDER_OK)
        code = print_columns(stats, output, &err);
    if (code == COLANDER_OK && column_stats_row_count(stats) == row_limit)
        code = print_limit(row_limit, &err);
    output_destroy(output);
    colander_family_close(family);
    column_stats_destroy(stats);
    return code == COLANDER_OK ? SESSION_FINE : session_misused(session, &err);
}

static const struct argument_option options[] = {
    OPTION("rows", "N", "read the first N rows (10000)"),
    OPTION_FORMAT("table"),
    OPTIONS_END,
};

const struct command command_columns = {
    .name = "columns",
    .words = "FAMILY [OPTION...]",
    .summary = "list the columns of a family, with their types",
    .help =
        "Lists the columns that rows of a family have, at any depth: the\n"
        "number of rows that have the column, and the number of values of\n"
        "each type. A column inside another one is shown by its path, such\n"
        "as user.name; the elements of an array are [].\n",
    .examples = "  colander columns demo tweets\n"
                "  colander columns demo sensors --rows 100000 --format csv\n",
    .options = options,
    .store = COMMAND_READS,
    .word_count_min = 1,
    .is_paged = true,
    .run = run_columns,
};

/*
 * The command columns: lists the columns that rows have.
 *
 * SPDX-License-Identifier: MIT
 */
#include "shell/column_figures.h"
#include "shell/commands.h"
#include "shell/interrupt.h"
#include "shell/output.h"
#include "shell/pager.h"
#include "shell/report.h"

#define ROWS 10000 /* looked at unless told so */

static enum colander_code
show(const struct census *census, struct output *output,
     struct colander_error *err)
{
    struct colander_row_builder *builder = colander_row_builder_create();
    enum colander_code code = COLANDER_OK;

    if (builder == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a row");
    for (size_t i = 0; i < census_count(census) && code == COLANDER_OK; i++) {
        struct colander_result result;

        memset(&result, 0, sizeof(result));
        column_figures_describe(census_column(census, i), builder);
        code = colander_row_builder_finish(builder, &result.row, err);
        if (code == COLANDER_OK)
            code = output_row(output, &result, err);
    }
    if (code == COLANDER_OK)
        code = output_finish(output, err);
    colander_row_builder_destroy(builder);
    return code;
}

/* Tells that there may be more rows. */
static enum colander_code
tell_limit(uint64_t row_count, struct colander_error *err)
{
    struct report report = REPORT_EMPTY;
    enum colander_code code;

    report_add(&report, "[of the first ");
    report_add_number(&report, row_count, "row");
    report_add(&report, ": see --rows]");
    pager_end(); /* so that the two keep their order on a terminal */
    (void)fflush(stdout);
    code = report_print(&report, stderr, err);
    report_release(&report);
    return code;
}

/* Takes the census and shows it. */
static enum colander_code
run(const struct session *session, const struct arguments *arguments,
    struct colander_error *err)
{
    struct output_options options = {.has_no_key = true};
    uint64_t row_limit = ROWS;
    uint64_t row_count = 0;
    struct colander_family *family = NULL;
    struct census *census = census_create();
    struct output *output = NULL;
    enum colander_code code;

    if (census == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for columns");
    code = session_format(session, arguments_value(arguments, "format"),
                          OUTPUT_TABLE, &options.format, err);
    if (code == COLANDER_OK)
        code = arguments_number(arguments, "rows", &row_limit, err);
    if (code == COLANDER_OK)
        code = session_family(session, arguments->words[0], &family, err);
    if (code == COLANDER_OK)
        code = census_take(census, family, row_limit, interrupt_watch,
                           &row_count, err);
    if (code == COLANDER_OK)
        code = output_create(stdout, &options, &output, err);
    if (code == COLANDER_OK)
        code = show(census, output, err);
    if (code == COLANDER_OK && row_count == row_limit)
        code = tell_limit(row_count, err);
    output_destroy(output);
    colander_family_close(family);
    census_destroy(census);
    return code;
}

static enum session_exit
run_columns(struct session *session, const struct arguments *arguments)
{
    struct colander_error err;

    return run(session, arguments, &err) == COLANDER_OK
               ? SESSION_FINE
               : session_misused(session, &err);
}

static const struct argument_option options[] = {
    {"rows", true, false},
    {"format", true, false},
    {NULL, false, false},
};

static const char help[] =
    "Lists the columns that rows of a family have, at any depth: in how many\n"
    "rows each is, and how many values of which types it has. A column inside\n"
    "another is told by its path, the elements of an array by [].\n"
    "\n"
    "options:\n"
    "  --rows N                looks at the first N rows (10,000)\n"
    "  --format FORMAT         jsonl, json, csv, msgpack, table or line (on a\n"
    "                          terminal: table, else: jsonl)\n";

const struct command command_columns = {
    "columns",
    "FAMILY [OPTION...]",
    "the columns that rows have, and their types",
    help,
    COMMAND_READS,
    options,
    1,
    1,
    SIZE_MAX,
    run_columns,
};

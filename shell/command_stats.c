/*
 * The command stats: what families hold, and what finding in them costs.
 *
 * SPDX-License-Identifier: MIT
 */
#include "shell/column_figures.h"
#include "shell/commands.h"
#include "shell/filter_figures.h"
#include "shell/output.h"
#include "shell/report.h"

/* The figures of one family. */
struct family_stats {
    const char *name;
    struct colander_family_sizes sizes;
    struct filter_figures filters;
    struct column_figures columns;
};

static enum colander_code
read_family(const struct session *session, const char *name,
            struct family_stats *stats, struct colander_error *err)
{
    struct colander_family *family = NULL;
    enum colander_code code;

    memset(stats, 0, sizeof(*stats));
    stats->name = name;
    code = session_family(session, name, &family, err);
    if (code == COLANDER_OK)
        code = colander_family_sizes(family, &stats->sizes, err);
    if (code == COLANDER_OK)
        code = filter_figures_read(&stats->filters, family, err);
    if (code == COLANDER_OK)
        code = column_figures_read(&stats->columns, family, err);
    colander_family_close(family);
    return code;
}

/* ----------------------------------------------------------- for people --- */

/* "L0 2 (3.1 MB), L6 12 (700.0 MB)" */
static void
add_levels(const struct colander_family_sizes *sizes, struct report *report)
{
    const char *before = "";

    if (sizes->sst_count == 0)
        return;
    report_line(report, "levels");
    for (int i = 0; i < COLANDER_LEVELS_MAX; i++) {
        if (sizes->levels[i].sst_count == 0)
            continue;
        report_add(report, "%sL%d ", before, i);
        report_add_count(report, sizes->levels[i].sst_count);
        report_add(report, " (");
        report_add_size(report, sizes->levels[i].sst_size);
        report_add(report, ")");
        before = ", ";
    }
}

static void
add_family(const struct family_stats *stats, struct report *report)
{
    report_line(report, "family");
    report_add_text(report, colander_slice_text(stats->name));
    report_line(report, "rows");
    report_add(report, "about ");
    report_add_count(report, stats->sizes.key_count);
    report_line(report, "files");
    report_add_number(report, stats->sizes.sst_count, "SST file");
    report_add(report, ", ");
    report_add_number(report, stats->sizes.sst_size, "byte");
    report_add(report, "; ");
    report_add_number(report, stats->sizes.unflushed_size, "byte");
    report_add(report, " for rows in no file");
    add_levels(&stats->sizes, report);
    filter_figures_add(&stats->filters, report);
    column_figures_add(&stats->columns, stats->sizes.key_count, report);
}

static enum colander_code
show_family(const struct family_stats *stats, bool is_last,
            struct colander_error *err)
{
    struct report report = REPORT_EMPTY;
    enum colander_code code;

    add_family(stats, &report);
    if (is_last)
        filter_figures_add_store(&stats->filters, &report);
    else
        report_add(&report, "\n");
    code = report_print(&report, stdout, err);
    report_release(&report);
    return code;
}

/* --------------------------------------------------------- for programs --- */

static void
add_level_array(const struct colander_family_sizes *sizes,
                struct colander_row_builder *builder)
{
    colander_row_builder_begin_array(builder, "levels");
    for (int i = 0; i < COLANDER_LEVELS_MAX; i++) {
        if (sizes->levels[i].sst_count == 0)
            continue;
        colander_row_builder_begin_map(builder, NULL);
        colander_row_builder_add(builder, "level", colander_integer(i));
        colander_row_builder_add(builder, "sst_files",
                                 colander_unsigned(sizes->levels[i].sst_count));
        colander_row_builder_add(builder, "sst_bytes",
                                 colander_unsigned(sizes->levels[i].sst_size));
        colander_row_builder_end(builder);
    }
    colander_row_builder_end(builder);
}

static enum colander_code
print_row(struct output *output, struct colander_row_builder *builder,
          const struct family_stats *stats, struct colander_error *err)
{
    struct colander_buffer key = COLANDER_BUFFER_EMPTY;
    struct colander_result result;
    enum colander_code code;

    memset(&result, 0, sizeof(result));
    colander_row_builder_add(builder, "rows",
                             colander_unsigned(stats->sizes.key_count));
    colander_row_builder_add(builder, "sst_files",
                             colander_unsigned(stats->sizes.sst_count));
    colander_row_builder_add(builder, "sst_bytes",
                             colander_unsigned(stats->sizes.sst_size));
    colander_row_builder_add(builder, "unflushed_bytes",
                             colander_unsigned(stats->sizes.unflushed_size));
    add_level_array(&stats->sizes, builder);
    filter_figures_add_columns(&stats->filters, builder);
    column_figures_add_columns(&stats->columns, builder);
    code = colander_row_builder_finish(builder, &result.row, err);
    if (code == COLANDER_OK)
        code = colander_key_text(stats->name, &key, err);
    result.key = colander_buffer_slice(&key);
    if (code == COLANDER_OK)
        code = output_row(output, &result, err);
    colander_buffer_release(&key);
    return code;
}

/* Shows the family as a line of JSON whose _key is its name. */
static enum colander_code
show_json(const struct family_stats *stats, struct colander_error *err)
{
    const struct output_options options = {.format = OUTPUT_JSONL};
    struct colander_row_builder *builder = colander_row_builder_create();
    struct output *output = NULL;
    enum colander_code code;

    if (builder == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a row");
    code = output_create(stdout, &options, &output, err);
    if (code == COLANDER_OK)
        code = print_row(output, builder, stats, err);
    if (code == COLANDER_OK)
        code = output_finish(output, err);
    output_destroy(output);
    colander_row_builder_destroy(builder);
    return code;
}

/* ------------------------------------------------------------------ run --- */

static enum colander_code
show(const struct session *session, const char *name, bool is_last,
     bool is_json, struct colander_error *err)
{
    struct family_stats stats;
    enum colander_code code = read_family(session, name, &stats, err);

    if (code == COLANDER_OK)
        code = is_json ? show_json(&stats, err)
                       : show_family(&stats, is_last, err);
    filter_figures_release(&stats.filters);
    column_figures_release(&stats.columns);
    return code;
}

static enum colander_code
show_all(const struct session *session, bool is_json,
         struct colander_error *err)
{
    struct colander_names names = {NULL, 0};
    enum colander_code code =
        colander_store_families(session->store, &names, err);

    for (size_t i = 0; i < names.count && code == COLANDER_OK; i++)
        code =
            show(session, names.names[i], i + 1 == names.count, is_json, err);
    colander_names_release(&names);
    return code;
}

static enum session_exit
run_stats(struct session *session, const struct arguments *arguments)
{
    bool is_json = arguments_has(arguments, "json");
    struct colander_error err;
    enum colander_code code;

    if (arguments->word_count > 0)
        code = show(session, arguments->words[0], true, is_json, &err);
    else
        code = show_all(session, is_json, &err);
    return code == COLANDER_OK ? SESSION_FINE : session_misused(session, &err);
}

static const struct argument_option options[] = {
    {"json", false, false},
    {NULL, false, false},
};

static const char help[] =
    "Tells of each family, or of one: about how many rows it has (one that "
    "was\n"
    "overwritten may count twice); its SST files, their bytes, and how many "
    "of\n"
    "them are on each level (L0 is where rows come in, the last is where most\n"
    "stay); which columns rows have.\n"
    "\n"
    "Of value filters: how many files have one, what they take on disk and in\n"
    "memory, their options, and how often they are wrong: \"maybes\" is of "
    "the\n"
    "answers of the filters in memory when they are asked for values that no "
    "row\n"
    "has, made up for it. Each wrong one costs a look into a filter on disk,\n"
    "which lets few of them through to rows. Of the store: how many filters "
    "were\n"
    "made, found damaged or could not be made since it was opened.\n"
    "\n"
    "Columns are those of some 10,000 rows, spread over all keys, or of all\n"
    "where there are no more: in how many rows each is, and the types of its\n"
    "values; the first 20 (colander columns lists all of the first rows).\n"
    "\n"
    "options:\n"
    "  --json                  a line of JSON for each family, with up to "
    "1,000\n"
    "                          columns (docs/stats.md tells what is in it)\n";

const struct command command_stats = {
    "stats",
    "[FAMILY] [--json]",
    "what families hold: files, columns, filters",
    help,
    COMMAND_READS,
    options,
    0,
    1,
    SIZE_MAX,
    run_stats,
};

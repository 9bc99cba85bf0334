/*
 * The command stats: what families hold, and how their filters perform.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/source.h"
#include "shell/column_stats.h"
#include "shell/command.h"
#include "shell/family_set.h"
#include "shell/filter_report.h"
#include "shell/output.h"

struct family_stats {
    const char *name;
    struct colander_family *family;
    bool is_here; /* or else its filters are elsewhere */
    struct colander_family_sizes sizes;
#ifdef COLANDER_FILTERS
    struct filter_report filters;
#endif
    struct column_stats *columns;
};

static enum colander_code
read_family(const struct session *session, struct family_stats *stats,
            struct colander_error *err)
{
    enum colander_code code =
        session_family(session, stats->name, &stats->family, err);

    if (code == COLANDER_OK)
        code = colander_family_sizes(stats->family, &stats->sizes, err);
    stats->is_here =
        code == COLANDER_OK && session->reader == NULL &&
        !colander_store_has_source(colander_family_store(stats->family));
#ifdef COLANDER_FILTERS
    if (stats->is_here)
        code = filter_report_read(&stats->filters, stats->family, err);
#endif
    if (code == COLANDER_OK)
        code = column_stats_read_sample(stats->columns, stats->family,
                                        COLUMN_STATS_ROWS, err);
    return code;
}

/* --------------------------------------------------------------- lines --- */

/* "L0 2 (3.1 MB), L6 12 (700.0 MB)" */
static void
add_levels(const struct colander_family_sizes *sizes, struct report *report)
{
    const char *before = "";

    if (sizes->sst_count == 0)
        return;
    report_line(report, "levels", "%s", "");
    for (int i = 0; i < COLANDER_LEVELS_MAX; i++) {
        if (sizes->levels[i].sst_count == 0)
            continue;
        report_add(report, "%sL%d %s (%s)", before, i,
                   THOUSANDS(sizes->levels[i].sst_count),
                   SIZE_OF(sizes->levels[i].sst_size));
        before = ", ";
    }
}

static enum colander_code
print_lines(FILE *file, const struct family_stats *stats, bool is_last,
            struct colander_error *err)
{
    const struct colander_family_sizes *sizes = &stats->sizes;
    struct report report = REPORT_EMPTY;

    report_line(&report, "family", "%s", "");
    report_add_text(&report, colander_slice_text(stats->name));
    if (sizes->key_count == 0 && sizes->sst_count > 0) /* elsewhere */
        report_line(&report, "rows", "not known without reading all files");
    else
        report_line(&report, "rows", "about %s", THOUSANDS(sizes->key_count));
    report_line(&report, "files", "%s, %s; %s of rows in no file",
                NUMBER_OF(sizes->sst_count, "SST file"),
                NUMBER_OF(sizes->sst_size, "byte"),
                NUMBER_OF(sizes->unflushed_size, "byte"));
    add_levels(sizes, &report);
    if (!stats->is_here)
        report_line(
            &report, "filters", "%s",
            colander_store_has_source(colander_family_store(stats->family))
                ? "of several stores: not added up"
                : "of a backup: they are read as far as finds need");
#ifdef COLANDER_FILTERS
    else
        filter_report_add(&stats->filters, &report);
#endif
    column_stats_add(stats->columns, sizes->key_count,
                     stats->is_here ? stats->family : NULL, &report);
#ifdef COLANDER_FILTERS
    if (is_last && stats->is_here)
        filter_report_add_store(&stats->filters, &report);
#endif
    if (!is_last)
        report_add(&report, "\n");
    return report_print(&report, file, err);
}

/* ---------------------------------------------------------------- JSON --- */

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

/* Prints the family as a line of JSON whose _key is its name. */
static enum colander_code
print_json(FILE *file, const struct family_stats *stats,
           struct colander_error *err)
{
    struct colander_row_builder *builder = colander_row_builder_create();
    struct colander_buffer key = COLANDER_BUFFER_EMPTY;
    struct colander_buffer json = COLANDER_BUFFER_EMPTY;
    struct colander_slice row;
    enum colander_code code;

    if (builder == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a row");
    family_sizes_add_columns(&stats->sizes, !stats->is_here, builder);
    add_level_array(&stats->sizes, builder);
#ifdef COLANDER_FILTERS
    if (stats->is_here)
        filter_report_add_columns(&stats->filters, builder);
#endif
    code = column_stats_add_columns(
        stats->columns, stats->is_here ? stats->family : NULL, builder, err);
    if (code == COLANDER_OK)
        code = colander_row_builder_finish(builder, &row, err);
    if (code == COLANDER_OK)
        code = colander_key_text(stats->name, &key, err);
    if (code == COLANDER_OK)
        code = colander_json_append_row(&json, colander_buffer_slice(&key), row,
                                        err);
    if (code == COLANDER_OK)
        fprintf(file, "%.*s\n", (int)json.size, (const char *)json.data);
    colander_buffer_release(&json);
    colander_buffer_release(&key);
    colander_row_builder_destroy(builder);
    return code;
}

/* ----------------------------------------------------------------- run --- */

static enum colander_code
print_family(const struct session *session, const char *name, bool is_last,
             bool is_json, struct colander_error *err)
{
    struct family_stats stats;
    enum colander_code code;

    memset(&stats, 0, sizeof(stats));
    stats.name = name;
    stats.columns = column_stats_create();
    if (stats.columns == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for columns");
    code = read_family(session, &stats, err);
    if (code == COLANDER_OK)
        code = is_json
                   ? print_json(session_out(session), &stats, err)
                   : print_lines(session_out(session), &stats, is_last, err);
#ifdef COLANDER_FILTERS
    filter_report_release(&stats.filters);
#endif
    column_stats_destroy(stats.columns);
    colander_family_close(stats.family);
    return code;
}

/* Describes all families of the store, or those of a set. */
static enum colander_code
print_families(const struct session *session, const struct family_set *set,
               bool is_json, struct colander_error *err)
{
    struct colander_names all = {NULL, 0};
    enum colander_code code = COLANDER_OK;

    if (set == NULL)
        code = colander_store_families(session->store, &all, err);
    for (size_t i = 0; i < all.count && code == COLANDER_OK; i++)
        code = print_family(session, all.names[i], i + 1 == all.count, is_json,
                            err);
    for (size_t i = 0; set != NULL && i < set->count && code == COLANDER_OK;
         i++)
        code = print_family(session, colander_family_name(set->families[i]),
                            i + 1 == set->count, is_json, err);
    colander_names_release(&all);
    return code;
}

static enum session_exit
run_stats(struct session *session, const struct arguments *arguments)
{
    const bool is_json = arguments_has(arguments, "json");
    struct family_set set;
    struct colander_error err;
    enum colander_code code;

    if (arguments->word_count == 0) {
        code = print_families(session, NULL, is_json, &err);
    } else {
        code = family_set_open(&set, session, arguments->words[0], NULL, &err);
        if (code == COLANDER_OK)
            code = print_families(session, &set, is_json, &err);
        family_set_release(&set);
    }
    return code == COLANDER_OK ? SESSION_FINE : session_misused(session, &err);
}

static const struct argument_option options[] = {
    OPTION_FLAG("json", "print one line of JSON per family, with up to 1,000\n"
                        "columns (docs/stats.md describes it)"),
    OPTIONS_END,
};

const struct command command_stats = {
    .name = "stats",
    .words = "[FAMILY] [--json]",
    .summary = "show the sizes, columns and filters of families",
    .help =
        "Describes each family, or one: its approximate number of rows (a\n"
        "row that was overwritten may count twice), its SST files and their\n"
        "levels, its value filters, and the columns that its rows have.\n"
        "\n"
        "False positives are measured: the filters are probed for values\n"
        "that no row has. The first number is for the filters in memory.\n"
        "Each false positive there costs a read of a filter on disk. Those\n"
        "that this filter does not rule out cost a read of rows.\n"
        "\n"
        "Columns are those of all rows, or of a sample of about 10,000 rows\n"
        "from all parts of the family. The 20 most frequent are shown, with\n"
        "what filters have of their order: by it ranges and prefixes find\n"
        "rows, or they read all rows that have the column.\n",
    .examples = "  colander stats demo\n"
                "  colander stats demo tweets --json\n",
    .options = options,
    .store = COMMAND_READS,
    .word_count_max = 1,
    .is_paged = true,
    .run = run_stats,
};

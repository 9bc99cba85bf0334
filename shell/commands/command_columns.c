/*
 * The command columns: lists the columns that rows have.
 *
 * SPDX-License-Identifier: MIT
 */
#include "shell/column_stats.h"
#include "shell/command.h"
#include "shell/family_set.h"
#include "shell/output.h"
#include "shell/pager.h"

/* Which columns are printed. */
struct chosen {
    uint64_t depth;   /* names and [] of a path, at most */
    const char *like; /* part of a path, in any case; NULL: any */
};

/* Returns the number of names and [] in the path. */
static uint64_t
depth_of(const char *path)
{
    uint64_t depth = 1;

    for (; *path != '\0'; path++) {
        if (path[0] == '\\' && path[1] != '\0')
            path++;
        else
            depth += *path == '.' || *path == '[';
    }
    return depth;
}

static bool
is_chosen(const struct chosen *chosen, const char *path)
{
    return depth_of(path) <= chosen->depth &&
           (chosen->like == NULL || strcasestr(path, chosen->like) != NULL);
}

static enum colander_code
print_columns(const struct column_stats *stats, const struct chosen *chosen,
              struct output *output, struct colander_error *err)
{
    struct colander_row_builder *builder = colander_row_builder_create();
    enum colander_code code = COLANDER_OK;

    if (builder == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a row");
    for (size_t i = 0; i < column_stats_count(stats) && code == COLANDER_OK;
         i++) {
        const struct column_stat *column = column_stats_get(stats, i);
        struct colander_result result = {.row = {NULL, 0}};

        if (!is_chosen(chosen, column->path))
            continue;
        column_stat_add_columns(column, builder);
        column_stat_add_values(column, builder);
        code = colander_row_builder_finish(builder, &result.row, err);
        if (code == COLANDER_OK)
            code = output_row(output, &result, err);
    }
    if (code == COLANDER_OK)
        code = output_finish(output, err);
    colander_row_builder_destroy(builder);
    return code;
}

/* Says what was left out, and that there may be more columns. */
static enum colander_code
print_notes(const struct session *session, const struct column_stats *stats,
            const struct output *output, const struct family_set *families,
            struct colander_error *err)
{
    const uint64_t key_count = family_set_key_count(families);
    struct report report = REPORT_EMPTY;

    output_add_left_out(output, &report);
    if (!column_stats_is_all(stats)) {
        report_add(&report, "%s[in a sample of %s",
                   report.text.size > 0 ? "\n" : "",
                   NUMBER_OF(column_stats_row_count(stats), "row"));
        if (key_count > 0) /* that of a backup is not known */
            report_add(&report, " of about %s", THOUSANDS(key_count));
        report_add(&report, ": see --rows]");
    }
    if (session->client == NULL)
        pager_end(); /* a terminal shows the rows first */
    (void)fflush(session_out(session));
    return report_print(&report, session_err(session), err);
}

/* Reads the options. */
static enum colander_code
read_options(const struct session *session, const struct arguments *arguments,
             struct output_options *options, struct chosen *chosen,
             uint64_t *rows, struct colander_error *err)
{
    enum colander_code code;

    code = session_format(session, arguments_value(arguments, "format"),
                          OUTPUT_TABLE, options, err);
    chosen->like = arguments_value(arguments, "like");
    chosen->depth = UINT64_MAX;
    *rows = COLUMN_STATS_ROWS;
    if (code == COLANDER_OK)
        code = arguments_number(arguments, "depth", &chosen->depth, err);
    if (code == COLANDER_OK)
        code = arguments_number(arguments, "rows", rows, err);
    if (arguments_has(arguments, "all"))
        *rows = UINT64_MAX;
    return code;
}

/* Reads a sample of about that size, with equal parts of all families, of one
 * row at least. */
static enum colander_code
read_sample(struct column_stats *stats, const struct family_set *families,
            uint64_t row_count, struct colander_error *err)
{
    const uint64_t part = row_count / families->count;
    const uint64_t share = part == 0 && row_count > 0 ? 1 : part;
    enum colander_code code = COLANDER_OK;

    for (size_t i = 0; i < families->count && code == COLANDER_OK; i++)
        code = column_stats_read_sample(
            stats, families->families[i],
            row_count == UINT64_MAX ? row_count
                                    : column_stats_row_count(stats) + share,
            err);
    return code;
}

static enum session_exit
run_columns(struct session *session, const struct arguments *arguments)
{
    struct output_options options = {.has_no_key = true};
    struct family_set families;
    struct column_stats *stats = column_stats_create();
    struct output *output = NULL;
    struct chosen chosen;
    uint64_t row_count;
    struct colander_error err;
    enum colander_code code;

    memset(&families, 0, sizeof(families));
    code =
        read_options(session, arguments, &options, &chosen, &row_count, &err);
    if (code == COLANDER_OK && stats == NULL)
        code = COLANDER_FAIL(&err, COLANDER_NO_MEMORY, "no memory for columns");
    if (code == COLANDER_OK)
        code = family_set_open(&families, session, arguments->words[0], NULL,
                               &err);
    if (code == COLANDER_OK)
        code = read_sample(stats, &families, row_count, &err);
    if (code == COLANDER_OK)
        code = output_create(session_out(session), &options, &output, &err);
    if (code == COLANDER_OK)
        code = print_columns(stats, &chosen, output, &err);
    if (code == COLANDER_OK)
        session_add_fact(session, "rows", column_stats_row_count(stats));
    if (code == COLANDER_OK)
        code = print_notes(session, stats, output, &families, &err);
    output_destroy(output);
    family_set_release(&families);
    column_stats_destroy(stats);
    return code == COLANDER_OK ? SESSION_FINE : session_misused(session, &err);
}

static const struct argument_option options[] = {
    OPTION("like", "TEXT", "only columns whose path has TEXT in it"),
    OPTION("depth", "N", "only paths of at most N names and []"),
    OPTION("rows", "N", "look at about N rows (10000)"),
    OPTION_FLAG("all", "look at all rows"),
    OPTION_FORMAT("table"),
    OPTIONS_END,
};

const struct command command_columns = {
    .name = "columns",
    .words = "FAMILY [OPTION...]",
    .summary = "list the columns of a family, with their types",
    .help =
        "Lists the columns that rows of a family have, at any depth, the\n"
        "most frequent first: the number of rows that have the column, the\n"
        "number of values of each type, one of the values, the smallest and\n"
        "the largest. A column inside another one is shown by its path, such\n"
        "as user.name; the elements of an array are []. In a large family\n"
        "these are counts of a sample, which is spread over all keys.\n",
    .examples = "  colander columns demo tweets --depth 1\n"
                "  colander columns demo tweets --like hashtag\n"
                "  colander columns demo sensors --all --format csv\n",
    .options = options,
    .store = COMMAND_READS,
    .word_count_min = 1,
    .is_paged = true,
    .run = run_columns,
};

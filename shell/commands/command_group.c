/*
 * The command group: counts and sums up rows with equal values.
 *
 * SPDX-License-Identifier: MIT
 */
#include "shell/command.h"
#include "shell/find_run.h"
#include "shell/group_request.h"
#include "shell/output.h"
#include "shell/pager.h"
#include "shell/text.h"

#include <stdlib.h>

/* Everything that runs. */
struct group_run {
    struct group_request *asked;
    struct find_run find;
    struct colander_groups *groups;
    struct output *output;
    bool shows_local;                     /* buckets as times of their zone */
    struct colander_row_builder *builder; /* of rows with these */
    struct colander_buffer text;
    const char **unseen;         /* paths that no group has had */
    const char **unseen_results; /* of these, the columns of the result */
    size_t unseen_count;
    uint64_t group_count; /* printed */
};

/* --------------------------------------------------------------- groups --- */

static enum colander_code
add_row(void *groups, const struct colander_result *result,
        struct colander_error *err)
{
    return colander_groups_add(groups, result, NULL, err);
}

/* Groups all rows. Expressions of Lua need them one by one. */
static enum colander_code
read_rows(struct group_run *run, struct colander_error *err)
{
    struct explanation *explanation = &run->find.explanation;
    const struct request *request = &run->asked->request;
    const struct family_set *families = &request->families;
    enum colander_code code = COLANDER_OK;

    run->find.take = add_row;
    run->find.context = run->groups;
    if (request->expressions != NULL)
        code = find_run_read(&run->find, err);
    for (size_t i = 0; i < families->count && code == COLANDER_OK &&
                       request->expressions == NULL;
         i++) {
        struct colander_explain counts;

        code = colander_family_group(families->families[i], &request->query,
                                     run->groups, &counts, err);
        if (code == COLANDER_OK)
            explanation_take_counts(explanation, &counts);
        else if (code == COLANDER_DROPPED && families->is_selection)
            code = COLANDER_OK; /* before its first row: it has none */
    }
    if (request->expressions == NULL)
        explanation->row_count = explanation->counts.rows_returned;
    if (code == COLANDER_LIMIT)
        colander_error_context(err, "--memory");
    return code;
}

/* Lists the columns of the result, to find those that no row has. */
static enum colander_code
list_columns(struct group_run *run, struct colander_error *err)
{
    const struct colander_grouping *grouping = &run->asked->grouping;

    run->unseen = calloc(2 * run->asked->path_count, sizeof(*run->unseen));
    if (run->unseen == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for columns");
    run->unseen_results = run->unseen + run->asked->path_count;
    for (size_t i = 0; i < run->asked->path_count; i++) {
        const char *path =
            i < grouping->key_count
                ? grouping->keys[i].path
                : grouping->measures[i - grouping->key_count].path;

        if (path == NULL)
            continue;
        run->unseen_results[run->unseen_count] = run->asked->paths[i];
        run->unseen[run->unseen_count++] = path;
    }
    return COLANDER_OK;
}

/* Removes the columns that a group has. */
static enum colander_code
see_group(struct group_run *run, struct colander_slice row,
          struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    for (size_t i = 0; i < run->unseen_count && code == COLANDER_OK;) {
        struct colander_value value;
        bool found;

        code =
            colander_row_get(row, run->unseen_results[i], &value, &found, err);
        if (!found || value.type == COLANDER_NULL ||
            (value.type == COLANDER_INTEGER && value.integer == 0)) {
            i++;
            continue;
        }
        run->unseen[i] = run->unseen[--run->unseen_count];
        run->unseen_results[i] = run->unseen_results[run->unseen_count];
    }
    return code;
}

/* Replaces a bucket by the time on the clocks of its zone, as a text: it can be
 * pasted into a condition. One that RFC 3339 cannot write stays as it is. */
static enum colander_code
make_local(struct group_run *run, const char *name,
           struct colander_value *value, struct colander_error *err)
{
    const int32_t offset =
        colander_groups_offset(run->groups, name, value->second);
    const struct colander_value local =
        colander_timestamp(value->second + offset, 0);
    const int minutes = abs(offset) / 60;
    struct colander_buffer *text = &run->text;
    enum colander_code code;

    if (offset == 0 || offset % 60 != 0)
        return COLANDER_OK;
    colander_buffer_clear(text);
    code = text_append_value(text, &local, SIZE_MAX, err);
    if (code != COLANDER_OK || text->size != strlen("2026-03-28T00:00:00Z"))
        return code;
    text->size--; /* the Z */
    code = text_append_format(text, err, "%c%02d:%02d", offset < 0 ? '-' : '+',
                              minutes / 60, minutes % 60);
    *value = colander_string(colander_buffer_slice(text));
    return code;
}

/* Makes all buckets of a zone in the row local. */
static enum colander_code
make_all_local(struct group_run *run, struct colander_slice *row,
               struct colander_error *err)
{
    const struct colander_grouping *grouping = &run->asked->grouping;
    const size_t count = run->asked->path_count;
    enum colander_code code = COLANDER_OK;

    for (size_t i = 0; i < count && code == COLANDER_OK; i++) {
        const bool is_key = i < grouping->key_count;
        const char *name =
            is_key ? grouping->keys[i].name
                   : grouping->measures[i - grouping->key_count].name;
        struct colander_value value;
        bool found;

        code =
            colander_row_get(*row, run->asked->paths[i], &value, &found, err);
        if (code != COLANDER_OK || !found)
            continue;
        if (is_key && grouping->keys[i].zone != NULL &&
            value.type == COLANDER_TIMESTAMP)
            code = make_local(run, name, &value, err);
        colander_row_builder_add(run->builder, name, value);
    }
    return code == COLANDER_OK
               ? colander_row_builder_finish(run->builder, row, err)
               : code;
}

static enum colander_code
print_groups(struct group_run *run, struct colander_error *err)
{
    enum colander_code code = list_columns(run, err);
    bool is_group = true;

    while (code == COLANDER_OK && is_group) {
        struct colander_result result;

        memset(&result, 0, sizeof(result));
        code = colander_groups_next(run->groups, &is_group, &result.row, err);
        if (code == COLANDER_LIMIT)
            colander_error_context(err, "--memory");
        if (code != COLANDER_OK || !is_group)
            break;
        run->group_count++;
        code = see_group(run, result.row, err);
        if (code == COLANDER_OK && run->shows_local)
            code = make_all_local(run, &result.row, err);
        if (code == COLANDER_OK)
            code = output_row(run->output, &result, err);
    }
    if (code == COLANDER_OK)
        code = output_finish(run->output, err);
    return code;
}

/* ---------------------------------------------------------------- notes --- */

static void
begin_line(struct report *report)
{
    if (report->text.size > 0)
        report_add(report, "\n");
}

/* Adds how many values a measure could not use. */
static void
add_left_out(const struct group_run *run, const char *name, const char *what,
             struct report *report)
{
    const uint64_t count = colander_groups_left_out(run->groups, name);

    if (count == 0)
        return;
    begin_line(report);
    report_add(report, "[");
    report_add_text(report, colander_slice_text(name));
    report_add(report, ": %s left out: no %s]", NUMBER_OF(count, "value"),
               what);
}

static const char *
wanted(enum colander_aggregate aggregate)
{
    switch (aggregate) {
    case COLANDER_MIN:
    case COLANDER_MAX:
        return "scalar";
    case COLANDER_FIRST:
    case COLANDER_LAST:
        return "time in the row";
    default:
        return "number";
    }
}

static void
add_all_left_out(const struct group_run *run, struct report *report)
{
    const struct colander_grouping *grouping = &run->asked->grouping;

    for (size_t i = 0; i < grouping->key_count; i++)
        add_left_out(run, grouping->keys[i].name, "time", report);
    for (size_t i = 0; i < grouping->measure_count; i++)
        add_left_out(run, grouping->measures[i].name,
                     wanted(grouping->measures[i].aggregate), report);
}

/* Adds why there are no rows, or which columns none of them has. */
static void
add_hint(const struct group_run *run, struct report *report)
{
    const struct hint_question question = {
        .family = run->asked->request.families.model,
        .families = run->asked->request.families.families,
        .family_count = run->asked->request.families.count,
        .paths = run->unseen,
        .path_count = run->unseen_count,
    };
    struct report hint = REPORT_EMPTY;

    find_run_add_hint(&run->find, &hint);
    if (run->find.explanation.row_count > 0 && run->group_count > 0 &&
        run->unseen_count > 0) {
        hint_add(&question, &hint);
        if (run->asked->grouping.time_path != NULL)
            hint_add_column(question.family, run->asked->grouping.time_path,
                            &hint);
    }
    if (hint.text.size > 0) {
        begin_line(report);
        report_add(report, "%.*s", (int)hint.text.size,
                   (const char *)hint.text.data);
    }
    report_release(&hint);
}

/* Prints on standard error what was read, and what was left out. */
static enum colander_code
print_notes(struct group_run *run, const struct session *session, bool explains)
{
    const bool shows_costs = session_shows_costs(session);
    struct report report = REPORT_EMPTY;

    if (session_shows_notes(session))
        output_add_left_out(run->output, &report);
    add_all_left_out(run, &report);
    add_hint(run, &report);
    if (explains || shows_costs)
        run->find.explanation.key_count =
            family_set_key_count(&run->asked->request.families);
    if (explains || shows_costs || session_shows_notes(session)) {
        begin_line(&report);
        if (explains)
            report_line(&report, "groups", "%s", "");
        report_add(&report, "%s",
                   NUMBER_OF(colander_groups_count(run->groups), "group"));
    }
    if (explains)
        explanation_add(&run->find.explanation, &report);
    else if (shows_costs) {
        report_add(&report, " of ");
        explanation_add_counts(&run->find.explanation, &report);
    }
    if (session->client == NULL)
        pager_end(); /* it comes after the groups */
    (void)fflush(session_out(session));
    return report_print(&report, session_err(session), NULL);
}

/* ------------------------------------------------------------------ run --- */

static enum colander_code
open_output(struct group_run *run, const struct session *session,
            const struct arguments *arguments, struct colander_error *err)
{
    struct output_options options = {
        .has_no_key = true,
        .paths = run->asked->paths,
        .path_count = run->asked->path_count,
    };
    enum colander_code code =
        session_format(session, arguments_value(arguments, "format"),
                       OUTPUT_TABLE, &options, err);

    run->shows_local = false;
    for (size_t i = 0; i < run->asked->grouping.key_count; i++)
        run->shows_local |= run->asked->grouping.keys[i].zone != NULL &&
                            options.format != OUTPUT_MSGPACK;
    run->builder = colander_row_builder_create();
    if (code == COLANDER_OK && run->builder == NULL)
        code = COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a group");
    return code == COLANDER_OK ? output_create(session_out(session), &options,
                                               &run->output, err)
                               : code;
}

static enum session_exit
run_grouping(struct session *session, const struct arguments *arguments,
             struct group_request *asked)
{
    struct group_run run = {.asked = asked};
    struct colander_error err;
    enum session_exit status = SESSION_FINE;
    enum colander_code code;

    run.find.request = &asked->request;
    run.find.explanation.request = &asked->request;
    run.find.explanation.family = arguments->words[0];
    code = group_request_read(asked, session, arguments,
                              asked->request.families.model, &err);
    hint_missing_init(&run.find.missing, NULL, 0, NULL, asked->request.where);
    if (code == COLANDER_OK)
        code = colander_groups_create(&asked->grouping, &run.groups, &err);
    if (code == COLANDER_OK)
        code = open_output(&run, session, arguments, &err);
    if (code == COLANDER_OK)
        code = read_rows(&run, &err);
    if (code == COLANDER_OK)
        code = print_groups(&run, &err);
    session_add_fact(session, "groups", run.group_count);
    session_add_fact(session, "rows", run.find.explanation.row_count);
    if (code != COLANDER_OK)
        status = session_misused(session, &err);
    else if (print_notes(&run, session, arguments_has(arguments, "explain")) !=
             COLANDER_OK)
        status = SESSION_FAILED;
    free(run.unseen);
    colander_row_builder_destroy(run.builder);
    colander_buffer_release(&run.text);
    output_destroy(run.output);
    colander_groups_destroy(run.groups);
    hint_missing_release(&run.find.missing);
    explanation_release(&run.find.explanation);
    return status;
}

static enum session_exit
run_group(struct session *session, const struct arguments *arguments)
{
    struct group_request asked;
    enum session_exit status;

    memset(&asked, 0, sizeof(asked));
    colander_grouping_init(&asked.grouping);
    status = request_read(&asked.request, session, arguments);
    if (status == SESSION_FINE)
        status = run_grouping(session, arguments, &asked);
    group_request_release(&asked);
    return status;
}

/* clang-format off */
static const struct argument_option options[] = {
    OPTION_LIST("by", "COL[,COL]",
                "group by these columns, or by buckets of time:\n"
                "'bucket(COL,SIZE)', 'bucket(COL,SIZE,ZONE)' with a\n"
                "size such as 15m, 1h, 1d, 1w, 1mo or 1y, and a\n"
                "zone such as Europe/Berlin or local. With 'tags[]' a\n"
                "row is in the group of each of its tags"),
    OPTION_GROUP("measures, in the order of the output; --avg a,b is two"),
    { "count", NULL, "number of rows (the default)", NULL, true },
    OPTION_LIST("sum", "COL", "sum of its numbers"),
    OPTION_LIST("avg", "COL", "average of its numbers"),
    OPTION_LIST("min", "COL", "least value"),
    OPTION_LIST("max", "COL", "greatest value"),
    OPTION_LIST("first", "COL", "value at the least time"),
    OPTION_LIST("last", "COL", "value at the greatest time"),
    OPTION("time", "COL", "the times of --first and --last (default: the\n"
           "family's time column)"),
    OPTION_LIST("distinct", "COL", "number of different values"),
    OPTION_LIST("approx-distinct", "COL",
                "the same within 2 % in 95 of 100 cases, in little\n"
                "memory"),
    OPTION_LIST("p50", "COL", "median of its numbers, within 1 %"),
    OPTION_LIST("p75", "COL", "75th percentile, within 1 %; and so on:"),
    OPTION_LIST("p90", "COL", "90th"),
    OPTION_LIST("p95", "COL", "95th"),
    OPTION_LIST("p99", "COL", "99th"),
    OPTION_LIST("p999", "COL", "99.9th"),
    REQUEST_OPTIONS,
    OPTION_GROUP("output"),
    OPTION_LIST("having", "CONDITION",
                "only groups for which this is true: 'count>10',\n"
                "'avg t<5 or max t>90'"),
    OPTION("order", "NAME[:desc]",
           "in the order of a column of the output (default:\n"
           "in that of --by)"),
    OPTION("top", "N", "the N groups with the greatest first measure"),
    OPTION("limit", "N", "print at most N groups"),
    OPTION("fill", "WHAT", "add buckets without rows, with null or 0, or what\n"
           "the bucket before has (prev)"),
    OPTION("memory", "SIZE", "let groups take at most SIZE (1g)"),
    OPTION_FORMAT("table"),
    OPTION_FLAG("explain", "also print how rows were found and what was read"),
    OPTION_FLAG("scan", "read every row instead of using value filters"),
    OPTIONS_END,
};
/* clang-format on */

const struct command command_group = {
    .name = "group",
    .words = "FAMILY [CONDITION...] [OPTION...]",
    .summary = "count and sum up rows with equal values",
    .help =
        "Groups the rows of a family that meet every condition (see colander\n"
        "find --help), and prints a row for each group. Without --by all rows\n"
        "are one group. Rows without a column of --by, and those that have\n"
        "null there, are groups of their own.\n"
        "\n"
        "All measures are exact, except percentiles and --approx-distinct.\n"
        "Null and missing values do not count. Values that a measure is not\n"
        "for, such as texts in a sum, are left out, and their number is\n"
        "printed.\n",
    .examples =
        "  colander group demo tweets --by lang --count --avg likes\n"
        "  colander group demo tweets lang=en --by user --top 5\n"
        "  colander group data readings --since 7d --by 'bucket(at,1h)' \\\n"
        "    --by sensor --avg t --max t --p95 latency --fill null\n",
    .options = options,
    .store = COMMAND_READS,
    .word_count_min = 1,
    .word_count_max = SIZE_MAX - 1,
    .is_paged = true,
    .run = run_group,
};

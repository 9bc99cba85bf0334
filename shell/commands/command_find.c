/*
 * The command find: prints or counts the rows that match.
 *
 * SPDX-License-Identifier: MIT
 */
#include "shell/command.h"
#include "shell/find_run.h"
#include "shell/output.h"
#include "shell/pager.h"

#include <inttypes.h>

/* --------------------------------------------------------------- notes --- */

/* Prints notes on standard error: why nothing was found, what a table left out,
 * what was read. */
static enum colander_code
print_notes(struct find_run *run, const struct session *session, bool is_whole,
            bool explains)
{
    const bool shows_costs = session_shows_costs(session);
    const bool has_rows = run->context != NULL && session_shows_notes(session);
    struct report report = REPORT_EMPTY;

    if (has_rows)
        output_add_left_out(run->context, &report);
    if (is_whole && !session_reads_objects(session)) /* it reads many rows */
        find_run_add_hint(run, &report);
    if (report.text.size > 0 && (explains || shows_costs || has_rows))
        report_add(&report, "\n");
    if (explains || shows_costs)
        run->explanation.key_count =
            family_set_key_count(&run->request->families);
    if (explains)
        explanation_add(&run->explanation, &report);
    else if (shows_costs)
        explanation_add_counts(&run->explanation, &report);
    if (explains || shows_costs)
        session_add_reads(session, &report);
    else if (has_rows)
        report_add(&report, "%s", NUMBER_OF(run->explanation.row_count, "row"));
    if (session->client == NULL)
        pager_end(); /* it comes after the rows */
    (void)fflush(session_out(session));
    return report_print(&report, session_err(session), NULL);
}

/* ----------------------------------------------------------------- run --- */

static enum colander_code
print_row(void *output, const struct colander_result *result,
          struct colander_error *err)
{
    return output_row(output, result, err);
}

/* Prints the rows, or their number. */
static enum colander_code
show(struct find_run *run, const struct session *session,
     struct colander_error *err)
{
    enum colander_code code = find_run_read(run, err);
    enum colander_code finished = COLANDER_OK;

    if (run->context == NULL && code == COLANDER_OK) {
        fprintf(session_out(session), "%" PRIu64 "\n",
                run->explanation.row_count);
        return output_flush(session_out(session), err);
    }
    if (run->context != NULL) /* an interrupted find prints what it found */
        finished =
            output_finish(run->context, code == COLANDER_OK ? err : NULL);
    return code == COLANDER_OK ? finished : code;
}

static enum colander_code
open_output(struct find_run *run, const struct session *session,
            const struct arguments *arguments, struct colander_error *err)
{
    const struct request *request = run->request;
    struct output *output = NULL;
    struct output_options options = {.format = OUTPUT_JSONL};
    enum colander_code code;

    code = session_format(session, arguments_value(arguments, "format"),
                          OUTPUT_TABLE, &options, err);
    if (code != COLANDER_OK || arguments_has(arguments, "count"))
        return code;
    options.paths = request->selection.paths;
    options.path_count = request->selection.count;
    options.shows_matches = request->is_any;
    options.where = request->where;
    code = output_create(session_out(session), &options, &output, err);
    run->context = output;
    return code;
}

static enum session_exit
run_request(struct session *session, const struct arguments *arguments,
            const struct request *request)
{
    struct find_run run = {
        .request = request,
        .explanation = {.request = request, .family = arguments->words[0]},
        .names_families = true,
    };
    struct colander_error err;
    enum colander_code code;
    enum session_exit status = SESSION_FINE;

    code = open_output(&run, session, arguments, &err);
    run.take = run.context == NULL ? NULL : print_row;
    hint_missing_init(&run.missing, request->selection.paths,
                      request->selection.count, request->order, request->where);
    if (code == COLANDER_OK)
        code = show(&run, session, &err);
    session_add_fact(session, "rows", run.explanation.row_count);
    if (code != COLANDER_OK)
        status = session_misused(session, &err);
    if (code == COLANDER_OK || code == COLANDER_CANCELLED)
        code = print_notes(&run, session, code == COLANDER_OK,
                           arguments_has(arguments, "explain"));
    if (code == COLANDER_NO_MEMORY && status == SESSION_FINE)
        status = SESSION_FAILED;
    hint_missing_release(&run.missing);
    output_destroy(run.context);
    explanation_release(&run.explanation);
    return status;
}

static enum session_exit
run_find(struct session *session, const struct arguments *arguments)
{
    struct request request;
    enum session_exit status;

    status = request_read(&request, session, arguments);
    if (status == SESSION_FINE)
        status = run_request(session, arguments, &request);
    request_release(&request);
    return status;
}

static const struct argument_option options[] = {
    REQUEST_OPTIONS,
    OPTION_GROUP("output"),
    OPTION_LIST("select", "COL[,COL]", "print only these columns"),
    REQUEST_ORDER_OPTIONS,
    OPTION("limit", "N", "print at most N rows"),
    OPTION_FLAG("reverse", "start at the last key"),
    OPTION_FLAG("count", "print only the number of rows"),
    OPTION_FORMAT("table"),
    OPTION_FLAG("explain", "also print how rows were found, what was read,\n"
                           "and which columns matched"),
    OPTION_FLAG("scan", "read every row instead of using value filters"),
    OPTIONS_END,
};

const struct command command_find = {
    .name = "find",
    .words = "FAMILY [CONDITION...] [OPTION...]",
    .summary = "print the rows that meet conditions",
    .help =
        "Prints the rows of a family that meet every condition, in key\n"
        "order. FAMILY may select several, which are read as they are at one\n"
        "moment, one after another: 'logs/*', or 'logs/{day}' for all "
        "families\n"
        "by day. --since and --until ask only those that may have such times.\n"
        "\n"
        "conditions:\n"
        "  COL=VALUE             the column equals VALUE\n"
        "  COL!=VALUE            it has another value, not a map or an array\n"
        "  COL<VALUE  COL<=VALUE  COL>VALUE  COL>=VALUE\n"
        "                        it has the type of VALUE, and the comparison\n"
        "                        is true\n"
        "  COL=[VALUE,VALUE]     it equals one of them\n"
        "  COL~TEXT              it is a text that begins with TEXT\n"
        "  COL?                  it exists\n"
        "  COL!                  it is missing\n"
        "  WORD  'WORDS'         some column is a text with all these words\n"
        "  '\"PHRASE\"'          with these words, one after the other\n"
        "  COL:WORDS  'COL:\"PHRASE\"'\n"
        "                        the column is such a text\n"
        "  COL~~TEXT             it is a text with TEXT in it\n"
        "  COL=~PATTERN  COL!~PATTERN\n"
        "                        an RE2 pattern matches some of it, or none\n"
        "  '~~TEXT'  '=~PATTERN' some column is such a text\n"
        "\n"
        "Words match whatever their case; rain* is the beginning of one. With\n"
        "-i the case of other texts does not matter either. What is in very\n"
        "many words, and a piece or pattern without a letter or number, reads\n"
        "every row unless another condition narrows the find.\n"
        "\n"
        "COL may be a path: user.name, tags[].text. A VALUE that is a JSON\n"
        "number, true, false or null has that type; anything else is a text.\n"
        "A number also equals the text that is written so: id=1e5. Double\n"
        "quotes make it only a text, \"5\"; a text that begins with\n"
        "= < > ~ ' \" [ or a space needs them. In a shell, put conditions in\n"
        "single quotes: 'likes>=100'.\n"
        "\n"
        "A text that is a time, a date or a month is compared with times\n"
        "too: at=2026-11-01 is that day in UTC, at~2026-11 that month. A time\n"
        "after @ is not a text: @2026-11-01T10:00+02:00, @now, @now-7d.\n"
        "\n"
        "The words or, not, ( and ) join conditions in other ways:\n"
        "lang=en or lang=pl not 'likes<9'.\n",
    .examples = "  colander find demo tweets user=Smith 'likes>900' --limit 2\n"
                "  colander find demo tweets rain 'text:\"cold coffee\"'\n"
                "  colander find demo tweets --any Houston --count --explain\n"
                "  colander find data logs level=error --since 1h\n",
    .options = options,
    .store = COMMAND_READS,
    .word_count_min = 1,
    .word_count_max = SIZE_MAX - 1,
    .is_paged = true,
    .run = run_find,
};

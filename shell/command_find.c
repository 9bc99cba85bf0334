/*
 * The command find: shows or counts the rows that match.
 *
 * SPDX-License-Identifier: MIT
 */
#include "shell/commands.h"
#include "shell/output.h"
#include "shell/pager.h"
#include "shell/search.h"

#include <inttypes.h>

/* One find under way. */
struct find {
    struct search search;
    struct output *output; /* NULL: only counted */
};

static enum colander_code
show_row(void *taker, const struct colander_result *result,
         struct colander_error *err)
{
    struct find *find = taker;

    return output_row(find->output, result, err);
}

/* ---------------------------------------------------------- figures --- */

/* How many rows there are: for what a find did not have to read. */
static void
count_keys(struct find *find)
{
    struct colander_family_sizes sizes;

    if (colander_family_sizes(find->search.family, &sizes, NULL) == COLANDER_OK)
        find->search.explanation.key_count = sizes.key_count;
}

/* Tells on standard error what there is to tell about the find. */
static enum colander_code
report(struct find *find, bool explains, bool shows_counts,
       struct colander_error *err)
{
    struct report report = REPORT_EMPTY;
    enum colander_code code = COLANDER_OK;

    if (shows_counts && find->output != NULL)
        code = output_append_left_out(find->output, &report.text, err);
    if (code == COLANDER_OK && report.text.size > 0)
        code = colander_buffer_append(&report.text, "\n", 1, err);
    if (explains || shows_counts)
        count_keys(find);
    if (explains)
        explanation_add(&find->search.explanation, &report);
    else if (shows_counts)
        explanation_add_counts(&find->search.explanation, &report);
    if (code == COLANDER_OK) {
        pager_end(); /* it comes behind the rows */
        code = report_print(&report, stderr, err);
    }
    report_release(&report);
    return code;
}

/* -------------------------------------------------------------- run --- */

/* Gives the rows to the output, or only their number. */
static enum colander_code
show(struct find *find, struct colander_error *err)
{
    enum colander_code code = search_run(&find->search, err);
    enum colander_code finished = COLANDER_OK;

    if (find->output == NULL && code == COLANDER_OK) {
        printf("%" PRIu64 "\n",
               explanation_row_count(&find->search.explanation));
        return output_flush(stdout, err);
    }
    if (find->output != NULL) /* also what an interrupted find has found */
        finished =
            output_finish(find->output, code == COLANDER_OK ? err : NULL);
    return code == COLANDER_OK ? finished : code;
}

static enum colander_code
open_output(struct find *find, const struct session *session,
            const struct arguments *arguments, struct colander_error *err)
{
    struct output_options options = {.format = OUTPUT_JSONL};
    enum colander_code code;

    code = session_format(session, arguments_value(arguments, "format"),
                          OUTPUT_TABLE, &options.format, err);
    if (code != COLANDER_OK || arguments_has(arguments, "count"))
        return code;
    options.paths = find->search.request->selection.paths;
    options.path_count = find->search.request->selection.count;
    options.shows_matches = find->search.request->is_any;
    return output_create(stdout, &options, &find->output, err);
}

static enum session_exit
run_request(struct session *session, const struct arguments *arguments,
            const struct request *request)
{
    struct find find;
    struct colander_error err;
    enum colander_code code;
    enum session_exit status = SESSION_FINE;

    find.output = NULL;
    search_init(&find.search, request);
    code = open_output(&find, session, arguments, &err);
    if (code == COLANDER_OK)
        code = session_family(session, arguments->words[0], &find.search.family,
                              &err);
    find.search.explanation.family = arguments->words[0];
    find.search.taker = &find;
    find.search.take = find.output == NULL ? NULL : show_row;
    if (code == COLANDER_OK)
        code = show(&find, &err);
    if (code != COLANDER_OK)
        status = session_misused(session, &err);
    if (code == COLANDER_OK || code == COLANDER_CANCELLED)
        code = report(&find, arguments_has(arguments, "explain"),
                      session_shows_counts(session), NULL);
    if (code == COLANDER_NO_MEMORY && status == SESSION_FINE)
        status = SESSION_FAILED;
    output_destroy(find.output);
    colander_family_close(find.search.family);
    search_release(&find.search);
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
    {"any", true, true},       {"where", true, true},
    {"select", true, true},    {"limit", true, false},
    {"reverse", false, false}, {"count", false, false},
    {"explain", false, false}, {"format", true, false},
    {"key", true, false},      {"prefix", true, false},
    {"from", true, false},     {"to", true, false},
    {"scan", false, false},    {NULL, false, false},
};

static const char help[] =
    "Shows the rows of a family that meet every condition, in key order.\n"
    "\n"
    "conditions:\n"
    "  COL=VALUE  COL!=VALUE   equal; there and not equal\n"
    "  COL<VALUE  COL<=VALUE  COL>VALUE  COL>=VALUE\n"
    "  COL=[VALUE,VALUE]       equal to one of them\n"
    "  COL~TEXT                begins with TEXT\n"
    "  COL?  COL!              is there; is not there\n"
    "  --any VALUE             some column, at any depth, equals VALUE\n"
    "  --where EXPRESSION      one of Lua holds, as 'likes > 2 * #tags'\n"
    "\n"
    "5, -2.5, 1e3, true, false and null are typed; \"5\" in double quotes and\n"
    "everything else is text; what begins with one of = < > ~ ' or a space\n"
    "needs double quotes. COL may lead inwards: user.name, tags[].text.\n"
    "Most conditions need quotes in a shell: 'likes>=100'.\n"
    "\n"
    "keys (a VALUE, or a list such as '[\"sensor-7\",1600000000]'):\n"
    "  --key K                 the row with this key\n"
    "  --prefix K              rows whose key begins with these parts\n"
    "  --from K  --to K        rows from this key, up to this key\n"
    "\n"
    "options:\n"
    "  --select COL[,COL]      only these columns\n"
    "  --limit N               at most N rows\n"
    "  --reverse               from the last key to the first\n"
    "  --count                 only how many rows\n"
    "  --explain               how rows were found, what was read, and which\n"
    "                          columns matched\n"
    "  --scan                  reads every row, as without value filters: to\n"
    "                          compare\n"
    "  --format FORMAT         jsonl, json, csv, msgpack, table or line (on a\n"
    "                          terminal: table, else: jsonl)\n";

const struct command command_find = {
    "find",
    "FAMILY [CONDITION...] [OPTION...]",
    "the rows that meet conditions",
    help,
    COMMAND_READS,
    options,
    1,
    SIZE_MAX - 1,
    SIZE_MAX,
    run_find,
};

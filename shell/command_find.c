/*
 * The command find: shows or counts the rows that match.
 *
 * SPDX-License-Identifier: MIT
 */
#include "shell/commands.h"
#include "shell/explanation.h"
#include "shell/interrupt.h"
#include "shell/output.h"
#include "shell/pager.h"

#include <inttypes.h>
#include <time.h>

/* One find under way. */
struct find {
    const struct request *request;
    struct colander_family *family;
    struct output *output; /* NULL: only counted */
    uint64_t row_count;    /* shown, or counted */
    struct explanation explanation;
};

/* ------------------------------------------------------------- rows --- */

static uint64_t
now_us(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now); /* every Linux has this one */
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

/* Shows a row, or only counts it. */
static enum colander_code
show_row(struct find *find, const struct colander_result *result,
         struct colander_error *err)
{
    find->row_count++;
    return find->output == NULL ? COLANDER_OK
                                : output_row(find->output, result, err);
}

/* Asks the expressions, and counts what they say. */
static enum colander_code
ask_expressions(struct find *find, const struct colander_result *result,
                bool *accepts, struct colander_error *err)
{
    struct explanation *explanation = &find->explanation;
    bool is_timed = find->request->query.is_timed;
    uint64_t start = is_timed ? now_us() : 0;
    enum colander_code code;

    code = where_accepts(find->request->expressions, result->key, result->row,
                         accepts, err);
    if (is_timed)
        explanation->where_time += now_us() - start;
    if (code == COLANDER_OK && *accepts)
        explanation->rows_accepted++;
    else if (code == COLANDER_OK)
        explanation->rows_rejected++;
    return code;
}

/* Shows a row that meets the conditions, cut down to the selection, if the
 * expressions let it through: they see all of it. */
static enum colander_code
take_row(struct find *find, const struct colander_result *result,
         struct colander_error *err)
{
    const struct selection *selection = &find->request->selection;
    struct colander_buffer cut = COLANDER_BUFFER_EMPTY;
    struct colander_result shown = *result;
    enum colander_code code;
    bool accepts = false;

    if (find->request->expressions == NULL)
        return show_row(find, result, err);
    code = ask_expressions(find, result, &accepts, err);
    if (code == COLANDER_OK && accepts && selection->count > 0) {
        code = colander_row_select(result->row, selection->paths,
                                   selection->count, &cut, err);
        shown.row = colander_buffer_slice(&cut);
    }
    if (code == COLANDER_OK && accepts)
        code = show_row(find, &shown, err);
    colander_buffer_release(&cut);
    return code;
}

static enum colander_code
search(struct find *find, struct colander_error *err)
{
    struct colander_cursor *cursor = NULL;
    enum colander_code code;

    code =
        colander_family_find(find->family, &find->request->query, &cursor, err);
    if (code != COLANDER_OK)
        return code;
    interrupt_watch(cursor);
    while (find->row_count < find->request->limit) {
        struct colander_result result;
        bool is_row = false;

        code = colander_cursor_next(cursor, &is_row, &result, err);
        if (code == COLANDER_OK && is_row)
            code = take_row(find, &result, err);
        if (code != COLANDER_OK || !is_row)
            break;
    }
    interrupt_watch(NULL);
    explanation_take_cursor(&find->explanation, cursor);
    colander_cursor_close(cursor);
    return code;
}

/* Takes the row if it matches. */
static enum colander_code
take_if_match(struct find *find, struct colander_slice row,
              struct colander_matches *matches, struct colander_error *err)
{
    const struct colander_query *query = &find->request->query;
    struct colander_buffer cut = COLANDER_BUFFER_EMPTY;
    struct colander_result result;
    enum colander_code code = COLANDER_OK;
    bool is_match = true;

    memset(&result, 0, sizeof(result));
    result.key = colander_buffer_slice(&find->request->key);
    result.row = row;
    if (query->where != NULL) {
        code = colander_predicate_evaluate(query->where, row, &is_match,
                                           matches, err);
        result.columns = colander_matches_columns(matches);
    }
    if (code == COLANDER_OK && query->path_count > 0) {
        code = colander_row_select(row, query->paths, query->path_count, &cut,
                                   err);
        result.row = colander_buffer_slice(&cut);
    }
    if (code == COLANDER_OK && is_match && find->request->limit > 0) {
        find->explanation.counts.rows_returned = 1;
        explanation_take_row(&find->explanation, &result.columns);
        code = take_row(find, &result, err);
    }
    colander_buffer_release(&cut);
    return code;
}

/* A find with --key: no scan, one get. */
static enum colander_code
look_up(struct find *find, struct colander_error *err)
{
    struct colander_matches *matches = colander_matches_create();
    struct colander_buffer row = COLANDER_BUFFER_EMPTY;
    struct colander_explain *counts = &find->explanation.counts;
    uint64_t start = now_us();
    enum colander_code code;
    bool found = false;

    if (matches == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for matches");
    code = colander_family_get(find->family,
                               colander_buffer_slice(&find->request->key), NULL,
                               &row, &found, err);
    counts->read_time = now_us() - start;
    if (code == COLANDER_OK && found) {
        counts->rows_read = 1;
        counts->bytes_read = row.size;
        code = take_if_match(find, colander_buffer_slice(&row), matches, err);
    }
    colander_buffer_release(&row);
    colander_matches_destroy(matches);
    return code;
}

/* ---------------------------------------------------------- figures --- */

/* How many rows there are: for what a find did not have to read. */
static void
count_keys(struct find *find)
{
    struct colander_family_sizes sizes;

    if (colander_family_sizes(find->family, &sizes, NULL) == COLANDER_OK)
        find->explanation.key_count = sizes.key_count;
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
        explanation_add(&find->explanation, &report);
    else if (shows_counts)
        explanation_add_counts(&find->explanation, &report);
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
    bool is_get = find->request->key.size > 0;
    enum colander_code code = is_get ? look_up(find, err) : search(find, err);
    enum colander_code finished = COLANDER_OK;

    if (find->output == NULL && code == COLANDER_OK) {
        printf("%" PRIu64 "\n", explanation_row_count(&find->explanation));
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
    options.paths = find->request->selection.paths;
    options.path_count = find->request->selection.count;
    options.shows_matches = find->request->is_any;
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

    memset(&find, 0, sizeof(find));
    find.request = request;
    find.explanation.request = request;
    code = open_output(&find, session, arguments, &err);
    if (code == COLANDER_OK)
        code = session_family(session, arguments->words[0], &find.family, &err);
    find.explanation.family = arguments->words[0];
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
    colander_family_close(find.family);
    explanation_release(&find.explanation);
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
    "  --format FORMAT         jsonl, json, csv, table or line (on a\n"
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

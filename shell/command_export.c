/*
 * The command export: writes rows for programs, to a pipe or a file.
 *
 * CSV has the names of all columns before the first row. A find lets its rows
 * wait in a temporary file until it knows them; of a whole family that might
 * take more room than there is, and in a file system in memory it would take
 * memory. So an export reads its rows twice, in one snapshot: the first time
 * for the names alone.
 *
 * SPDX-License-Identifier: MIT
 */
#include "shell/clock.h"
#include "shell/commands.h"
#include "shell/interrupt.h"
#include "shell/output.h"
#include "shell/result_file.h"
#include "shell/search.h"

#include <unistd.h>

/* One export under way. */
struct export_job {
    struct request request;
    struct colander_family *family;
    struct colander_snapshot *snapshot; /* NULL: rows are read once */
    struct output_options options;
    struct result_file result;
    struct output *output;
    uint64_t row_count;
};

/* ---------------------------------------------------------------- rows --- */

static enum colander_code
learn_row(void *taker, const struct colander_result *result,
          struct colander_error *err)
{
    return output_learn(taker, result, err);
}

static enum colander_code
write_row(void *taker, const struct colander_result *result,
          struct colander_error *err)
{
    return output_row(taker, result, err);
}

/* Gives all rows to `take`, and counts them. */
static enum colander_code
read_rows(struct export_job *job, search_taker take, struct colander_error *err)
{
    struct search search;
    enum colander_code code;

    search_init(&search, &job->request);
    search.family = job->family;
    search.take = take;
    search.taker = job->output;
    code = search_run(&search, err);
    job->row_count = search.row_count;
    search_release(&search);
    return code;
}

static enum colander_code
write_rows(struct export_job *job, struct colander_error *err)
{
    enum colander_code code;

    code = output_create(job->result.file, &job->options, &job->output, err);
    if (code == COLANDER_OK && job->options.learns_columns)
        code = read_rows(job, learn_row, err);
    if (code == COLANDER_OK)
        code = read_rows(job, write_row, err);
    if (code == COLANDER_OK) /* else it has no end: it is not whole */
        code = output_finish(job->output, err);
    output_destroy(job->output);
    job->output = NULL;
    return code;
}

/* -------------------------------------------------------------- telling --- */

/* Tells how much it was, where somebody looks, or where rows went out of
 * sight. */
static enum colander_code
tell(const struct export_job *job, double seconds, struct colander_error *err)
{
    struct report report = REPORT_EMPTY;
    enum colander_code code;
    uint64_t size;

    if (job->result.name == NULL && !isatty(STDERR_FILENO))
        return COLANDER_OK;
    report_add(&report, "exported ");
    report_add_number(&report, job->row_count, "row");
    if (result_file_size(&job->result, &size)) {
        report_add(&report, ", ");
        report_add_size(&report, size);
    }
    report_add(&report, " in %.*f s", seconds < 1 ? 2 : 1, seconds);
    code = report_print(&report, stderr, err);
    report_release(&report);
    return code;
}

/* ------------------------------------------------------------------ run --- */

/* Always for programs, whatever the shell shows otherwise. */
static enum colander_code
choose_format(struct export_job *job, const struct arguments *arguments,
              struct colander_error *err)
{
    const char *name = arguments_value(arguments, "format");
    struct output_options *options = &job->options;
    enum colander_code code;

    options->format = OUTPUT_JSONL;
    code = name == NULL ? COLANDER_OK
                        : output_format_parse(name, &options->format, err);
    if (code == COLANDER_OK && options->format >= OUTPUT_TABLE)
        code = COLANDER_FAIL(err, COLANDER_INVALID,
                             "'%s' is for people: an export is jsonl, json, "
                             "csv or msgpack",
                             name);
    options->paths = job->request.selection.paths;
    options->path_count = job->request.selection.count;
    options->learns_columns =
        options->format == OUTPUT_CSV && options->path_count == 0;
    return code;
}

static enum colander_code
take_snapshot(struct export_job *job, const struct session *session,
              struct colander_error *err)
{
    enum colander_code code =
        colander_store_snapshot(session->store, &job->snapshot, err);

    job->request.query.snapshot = job->snapshot;
    return code;
}

static enum colander_code
run(struct export_job *job, const struct session *session,
    const struct arguments *arguments, struct colander_error *err)
{
    const double start = clock_seconds();
    enum colander_code code;

    job->request.query.tells_columns = false;
    code = choose_format(job, arguments, err);
    if (code == COLANDER_OK)
        code = session_family(session, arguments->words[0], &job->family, err);
    if (code == COLANDER_OK && job->options.learns_columns)
        code = take_snapshot(job, session, err);
    if (code == COLANDER_OK)
        code = result_file_open(&job->result,
                                arguments_value(arguments, "output"), err);
    if (code == COLANDER_OK)
        code = write_rows(job, err);
    if (code == COLANDER_OK)
        code = result_file_finish(&job->result, err);
    if (code == COLANDER_OK)
        code = tell(job, clock_seconds() - start, err);
    return code;
}

static enum session_exit
run_export(struct session *session, const struct arguments *arguments)
{
    struct export_job job;
    struct colander_error err;
    enum session_exit status;

    memset(&job, 0, sizeof(job));
    status = request_read(&job.request, session, arguments);
    if (status == SESSION_FINE &&
        run(&job, session, arguments, &err) != COLANDER_OK)
        status = session_misused(session, &err);
    result_file_release(&job.result);
    colander_snapshot_release(job.snapshot);
    colander_family_close(job.family);
    request_release(&job.request);
    return status;
}

static const struct argument_option options[] = {
    {"any", true, true},    {"where", true, true},   {"select", true, true},
    {"limit", true, false}, {"format", true, false}, {"output", true, false},
    {"key", true, false},   {"prefix", true, false}, {"from", true, false},
    {"to", true, false},    {NULL, false, false},
};

static const char help[] =
    "Writes the rows of a family, or those that meet every condition, in key\n"
    "order and for programs: never a table, never through a pager. "
    "Conditions,\n"
    "expressions and keys are those of find (colander find --help).\n"
    "\n"
    "options:\n"
    "  --format FORMAT         jsonl: a JSON object a line (if nothing is "
    "said)\n"
    "                          json: one array of them\n"
    "                          csv: a line of names, then a line for each row\n"
    "                          msgpack: one map after another; exact\n"
    "  --output FILE           there and not to standard output. FILE has its\n"
    "                          name only once it is whole\n"
    "  --select COL[,COL]      only these columns\n"
    "  --limit N               at most N rows\n"
    "  --any VALUE  --where EXPRESSION  --key K  --prefix K  --from K  --to K\n"
    "\n"
    "msgpack keeps all that a row has. JSON turns binaries, timestamps and\n"
    "extensions into texts or maps, CSV all values into texts.\n";

const struct command command_export = {
    "export",
    "FAMILY [CONDITION...] [OPTION...]",
    "rows for programs, to a pipe or a file",
    help,
    COMMAND_READS,
    options,
    1,
    SIZE_MAX - 1,
    SIZE_MAX,
    run_export,
};

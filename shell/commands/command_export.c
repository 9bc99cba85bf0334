/*
 * The command export: writes rows for programs, to a pipe or a file.
 *
 * CSV begins with the names of all columns. A find learns them by keeping its
 * rows in a temporary file. For a whole family that could take more space than
 * there is, or memory if the file system is in memory. So an export reads its
 * rows twice in one snapshot, first for the names.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/clock.h"
#include "shell/command.h"
#include "shell/find_run.h"
#include "shell/output.h"
#include "shell/result_file.h"

struct export_job {
    const struct session *session;
    struct request request;
    struct colander_snapshot *snapshot; /* of one family that is read twice */
    struct output_options options;
    struct result_file result;
    struct output *output;
    uint64_t row_count;
};

/* ---------------------------------------------------------------- rows --- */

static enum colander_code
learn_row(void *output, const struct colander_result *result,
          struct colander_error *err)
{
    return output_learn(output, result, err);
}

static enum colander_code
print_row(void *output, const struct colander_result *result,
          struct colander_error *err)
{
    return output_row(output, result, err);
}

/* Passes all rows to `take`, and counts them. */
static enum colander_code
read_rows(struct export_job *job, find_taker take, struct colander_error *err)
{
    struct find_run run = {
        .request = &job->request,
        .explanation = {.request = &job->request},
        .take = take,
        .context = job->output,
    };
    struct report report = REPORT_EMPTY;
    enum colander_code code;

    if (take == print_row)
        hint_missing_init(&run.missing, job->request.selection.paths,
                          job->request.selection.count, NULL,
                          job->request.where);
    code = find_run_read(&run, err);
    job->row_count = run.explanation.row_count;
    if (code == COLANDER_OK && take == print_row)
        find_run_add_hint(&run, &report);
    if (code == COLANDER_OK && report.text.size > 0)
        code = report_print(&report, session_err(job->session), err);
    hint_missing_release(&run.missing);
    explanation_release(&run.explanation);
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
        code = read_rows(job, print_row, err);
    if (code == COLANDER_OK) /* what failed has no end, as it is not whole */
        code = output_finish(job->output, err);
    output_destroy(job->output);
    job->output = NULL;
    return code;
}

/* ------------------------------------------------------------- summary --- */

/* Prints a summary if a user can see it, or if the rows went to a file. */
static enum colander_code
print_summary(const struct export_job *job, double seconds,
              struct colander_error *err)
{
    struct report report = REPORT_EMPTY;
    uint64_t size;

    if (job->result.name == NULL && !session_err_is_terminal(job->session))
        return COLANDER_OK;
    report_add(&report, "exported %s", NUMBER_OF(job->row_count, "row"));
    if (result_file_size(&job->result, &size))
        report_add(&report, ", %s", SIZE_OF(size));
    report_add(&report, " in %.*f s", seconds < 1 ? 2 : 1, seconds);
    return report_print(&report, session_err(job->session), err);
}

/* ------------------------------------------------------------------ run --- */

/* The format is one for programs, whatever .mode says. */
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
                             "csv, tsv or msgpack",
                             name);
    options->paths = job->request.selection.paths;
    options->path_count = job->request.selection.count;
    options->learns_columns =
        (options->format == OUTPUT_CSV || options->format == OUTPUT_TSV) &&
        options->path_count == 0;
    return code;
}

/* A file is made by the process that wants it. */
static enum colander_code
open_result(struct export_job *job, const char *name,
            struct colander_error *err)
{
    const bool is_client = job->session->client != NULL;
    enum colander_code code;

    code = result_file_open(&job->result, is_client ? NULL : name,
                            session_out(job->session), err);
    job->result.name = name;
    return code;
}

/* Takes a snapshot for rows that are read twice. */
static enum colander_code
begin_reading(struct export_job *job, const struct session *session,
              struct colander_error *err)
{
    enum colander_code code;

    if (!job->options.learns_columns || job->request.families.snapshot != NULL)
        return COLANDER_OK;
    code = colander_store_snapshot(session->store, &job->snapshot, err);
    job->request.query.snapshot = job->snapshot;
    return code;
}

static enum colander_code
run(struct export_job *job, const struct session *session,
    const struct arguments *arguments, struct colander_error *err)
{
    const double start = clock_seconds();
    enum colander_code code;

    job->request.query.reports_columns = false;
    code = choose_format(job, arguments, err);
    if (code == COLANDER_OK)
        code = begin_reading(job, session, err);
    if (code == COLANDER_OK)
        code = open_result(job, arguments_value(arguments, "output"), err);
    if (code == COLANDER_OK)
        code = write_rows(job, err);
    if (code == COLANDER_OK)
        code = result_file_finish(&job->result, err);
    if (code == COLANDER_OK)
        code = print_summary(job, clock_seconds() - start, err);
    return code;
}

static enum session_exit
run_export(struct session *session, const struct arguments *arguments)
{
    struct export_job job;
    struct colander_error err;
    enum session_exit status;

    memset(&job, 0, sizeof(job));
    job.session = session;
    status = request_read(&job.request, session, arguments);
    if (status == SESSION_FINE &&
        run(&job, session, arguments, &err) != COLANDER_OK)
        status = session_misused(session, &err);
    result_file_release(&job.result);
    colander_snapshot_release(job.snapshot);
    request_release(&job.request);
    return status;
}

static const struct argument_option options[] = {
    OPTION("format", "FORMAT",
           "jsonl: one JSON object per line (the default)\n"
           "json: one array of such objects\n"
           "csv: a header, then one line per row\n"
           "msgpack: one map after another; exact"),
    OPTION("output", "FILE",
           "write to FILE, which gets its name only once it\n"
           "is complete"),
    OPTION_SELECT,
    OPTION("limit", "N", "write at most N rows"),
    OPTION_GROUP("conditions and keys, as in find"),
    OPTION_LIST("any", "VALUE", "some column equals VALUE"),
    OPTION_LIST("search", "TEXT", "some column is a text with these words"),
    OPTION_FLAG("i", "texts are compared whatever their case"),
    OPTION_LIST("where", "EXPRESSION", "a Lua expression is true"),
    OPTION("since", "TIME", "the family's time column is TIME or later"),
    OPTION("until", "TIME", "it is earlier than TIME"),
    OPTION("key", "K", "the row with this key"),
    OPTION("prefix", "K", "rows whose key begins with these parts"),
    OPTION("from", "K", "rows from this key on"),
    OPTION("to", "K",
           "rows up to this key, and those whose key begins with it"),
    OPTIONS_END,
};

const struct command command_export = {
    .name = "export",
    .words = "FAMILY [CONDITION...] [OPTION...]",
    .summary = "write rows for other programs",
    .help = "Writes the rows of a family that meet every condition, in key\n"
            "order, to standard output or to a file. The output is for\n"
            "programs: it is never a table and never goes through a pager.\n"
            "Conditions are those of find (colander find --help).\n"
            "\n"
            "msgpack keeps everything. JSON turns binaries, timestamps and\n"
            "other extensions into texts or maps. CSV turns all values into\n"
            "texts.\n",
    .examples =
        "  colander export demo tweets lang=pl >pl.jsonl\n"
        "  colander export demo sensors --format csv --output sensors.csv\n",
    .options = options,
    .store = COMMAND_READS,
    .word_count_min = 1,
    .word_count_max = SIZE_MAX - 1,
    .run = run_export,
};

/*
 * The command load: reads files of records into a family.
 *
 * SPDX-License-Identifier: MIT
 */
#include "loading/load.h"
#include "shell/command.h"
#include "shell/commands/progress.h"
#include "shell/interrupt.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define REJECTS_SHOWN 10 /* one by one; the others are counted */

struct load_command {
    const struct session *session;
    struct colander_load_options options;
    struct colander_load *load;
    struct colander_schema *schema;
    struct argument_list key;
    const char **nulls; /* owned; the texts are not */
    struct progress progress;
    uint64_t rejects_allowed;
    uint64_t shown_count;
};

static struct colander_load *running; /* for stop */

static void
stop(void)
{
    colander_load_cancel(running);
}

/* -------------------------------------------------------------- options --- */

static enum colander_code
read_duplicates(const struct arguments *arguments,
                enum colander_load_duplicates *duplicates,
                struct colander_error *err)
{
    static const char *const names[] = {"replace", "keep", "patch", "error"};
    const char *text = arguments_value(arguments, "on-duplicate");

    if (text == NULL)
        return COLANDER_OK;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(text, names[i]) == 0) {
            *duplicates = (enum colander_load_duplicates)i;
            return COLANDER_OK;
        }
    }
    return COLANDER_FAIL(err, COLANDER_INVALID,
                         "--on-duplicate must be replace, keep, patch or "
                         "error, not '%s'",
                         text);
}

static enum colander_code
read_csv_options(struct load_command *command,
                 const struct arguments *arguments, struct colander_error *err)
{
    struct colander_load_options *options = &command->options;
    const char *delimiter = arguments_value(arguments, "delimiter");

    options->guesses = !arguments_has(arguments, "no-guess");
    command->nulls =
        calloc(arguments->choice_count + 1, sizeof(*command->nulls));
    if (command->nulls == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for options");
    for (size_t i = 0; i < arguments->choice_count; i++) {
        const struct argument_choice *choice = &arguments->choices[i];

        if (strcmp(choice->option->name, "null") == 0)
            command->nulls[options->null_count++] = choice->value;
    }
    options->nulls = command->nulls;
    if (delimiter == NULL)
        return COLANDER_OK;
    if (strcmp(delimiter, "\\t") == 0)
        delimiter = "\t";
    if (strlen(delimiter) != 1)
        return COLANDER_FAIL(
            err, COLANDER_INVALID,
            "--delimiter must be one ASCII character or \\t, not "
            "'%s'",
            delimiter);
    options->delimiter = delimiter[0];
    return COLANDER_OK;
}

/* Reads the schema, and the options that override it. */
static enum colander_code
read_schema(struct load_command *command, const struct arguments *arguments,
            struct colander_error *err)
{
    struct colander_load_options *options = &command->options;
    const char *name = arguments_value(arguments, "schema");
    enum colander_code code = COLANDER_OK;

    if (name != NULL)
        code = colander_schema_open(name, &command->schema, err);
    if (code == COLANDER_OK && arguments_has(arguments, "key"))
        code = arguments_list(arguments, "key", &command->key, err);
    if (code == COLANDER_OK)
        code = read_csv_options(command, arguments, err);
    options->schema = command->schema;
    options->key = command->key.paths;
    options->key_count = command->key.count;
    return code;
}

static enum colander_code
read_options(struct load_command *command, const struct arguments *arguments,
             struct colander_error *err)
{
    struct colander_load_options *options = &command->options;
    uint64_t record_size;
    enum colander_code code;

    colander_load_options_init(options);
    record_size = options->record_size;
    options->format = arguments_value(arguments, "format");
    options->rejects = arguments_value(arguments, "rejects");
    options->resumes = arguments_has(arguments, "resume");
    options->is_bulk = arguments_has(arguments, "bulk");
    code = read_duplicates(arguments, &options->duplicates, err);
    if (code == COLANDER_OK)
        code = arguments_number(arguments, "max-errors", &options->rejects_max,
                                err);
    if (code == COLANDER_OK)
        code = arguments_size(arguments, "record-size", &record_size, err);
    options->record_size = (size_t)record_size;
    command->rejects_allowed =
        arguments_has(arguments, "max-errors") ? options->rejects_max : 0;
    return code == COLANDER_OK ? read_schema(command, arguments, err) : code;
}

/* -------------------------------------------------------------- reports --- */

static void
report_reject(void *context, const struct colander_load_reject *reject)
{
    struct load_command *command = context;

    if (command->shown_count++ >= REJECTS_SHOWN)
        return;
    progress_hide(&command->progress);
    session_complain(command->session, SESSION_FINE,
                     "%s:%" PRIu64 ":%" PRIu64 ": %s", reject->file,
                     reject->line, reject->column, reject->reason);
}

static void
report_progress(void *context, const struct colander_load_stats *stats)
{
    struct load_command *command = context;

    progress_show(&command->progress, stats);
}

/* Prints the summary of a load, failed or not. */
static void
summarize(struct load_command *command)
{
    struct report report = REPORT_EMPTY;

    if (command->shown_count > REJECTS_SHOWN)
        session_complain(command->session, SESSION_FINE,
                         "%" PRIu64 " more records were rejected",
                         command->shown_count - REJECTS_SHOWN);
    (void)fflush(stdout);
    progress_add_summary(&command->progress, colander_load_stats(command->load),
                         &report);
    (void)!report_print(&report, stderr, NULL);
}

/* Prints how the load ended, and what to do next. */
static enum session_exit
conclude(struct load_command *command, enum colander_code code,
         const struct colander_error *err)
{
    const struct colander_load_options *options = &command->options;
    const struct colander_load_stats *stats =
        colander_load_stats(command->load);
    enum session_exit status = SESSION_FINE;

    progress_hide(&command->progress);
    if (code != COLANDER_OK)
        status = session_misused(command->session, err);
    if (code == COLANDER_LIMIT && stats->reject_count > options->rejects_max)
        status = SESSION_REJECTED;
    summarize(command);
    if (status != SESSION_FINE && status != SESSION_USAGE &&
        !options->is_bulk && stats->text_size > 0)
        fprintf(stderr, "to continue from the resume point, add --resume\n");
    if (status == SESSION_FINE &&
        stats->reject_count > command->rejects_allowed)
        status = SESSION_REJECTED;
    return status;
}

/* ------------------------------------------------------------------ run --- */

static enum session_exit
load_files(struct load_command *command, const char *const *files, size_t count)
{
    struct colander_error err;
    enum colander_code code;

    if (strcmp(files[0], "-") == 0 && isatty(STDIN_FILENO) == 1)
        fprintf(stderr, "type records, then Ctrl-D; or name files to load\n");
    progress_begin(&command->progress);
    running = command->load;
    interrupt_set_stop(stop);
    if (interrupt_happened())
        stop();
    code = colander_load_run(command->load, files, count, &err);
    interrupt_set_stop(NULL);
    return conclude(command, code, &err);
}

static enum session_exit
run_load(struct session *session, const struct arguments *arguments)
{
    static const char *const standard_input[] = {"-"};
    const bool has_files = arguments->word_count > 1;
    struct load_command command = {.session = session};
    struct colander_family *family = NULL;
    struct colander_error err;
    enum session_exit status;
    enum colander_code code;

    if (!has_files && session->dot_commands != NULL)
        return session_complain(session, SESSION_USAGE, "FILE is missing");
    code = read_options(&command, arguments, &err);
    command.options.report_reject = report_reject;
    command.options.report_progress = report_progress;
    command.options.context = &command;
    if (code == COLANDER_OK)
        code = colander_family_open(session->store, arguments->words[0],
                                    &family, &err);
    if (code == COLANDER_OK)
        code = colander_load_create(session->store, family, &command.options,
                                    &command.load, &err);
    if (code != COLANDER_OK)
        status = session_misused(session, &err);
    else
        status = load_files(&command,
                            has_files ? arguments->words + 1 : standard_input,
                            has_files ? arguments->word_count - 1 : 1);
    colander_load_destroy(command.load);
    colander_family_close(family);
    colander_schema_close(command.schema);
    argument_list_release(&command.key);
    free(command.nulls);
    return status;
}

static const struct argument_option options[] = {
    OPTION("format", "FORMAT",
           "jsonl, json, csv, tsv or msgpack (guessed from name\n"
           "and content)"),
    OPTION_LIST("key", "COL[,COL]",
                "columns that make the key (default: _key, or a new\n"
                "key that sorts by time)"),
    OPTION("schema", "NAME|FILE",
           "how to read the records: tweet, sensor, air-quality\n"
           "or a file"),
    OPTION_LIST("null", "TEXT",
                "store fields of CSV that are TEXT as null, such as\n"
                "NA; may be repeated"),
    OPTION("delimiter", "CHARACTER",
           "between fields of CSV (default: comma, tab or\n"
           "semicolon, the most frequent in the header)"),
    OPTION_FLAG("no-guess", "store fields of CSV as texts"),
    OPTION("on-duplicate", "WHAT",
           "if the key has a row: replace it, keep it, patch it,\n"
           "or error: reject the record (default: replace)"),
    OPTION("rejects", "FILE", "write rejected records to FILE, unchanged"),
    OPTION("max-errors", "N",
           "stop after more than N rejected records (default:\n"
           "never stop, but exit with 3 if there are any)"),
    OPTION("record-size", "SIZE", "reject records over SIZE (default: 8m)"),
    OPTION_FLAG("resume", "continue where the last load of the same files\n"
                          "stopped"),
    OPTION_FLAG("bulk", "faster, for a family without rows: all rows appear\n"
                        "at the end, or none"),
    OPTIONS_END,
};

const struct command command_load = {
    .name = "load",
    .words = "FAMILY [FILE...] [OPTION...]",
    .summary = "load files of JSON, CSV or msgpack",
    .help =
        "Loads records into a family, which is created if it does not\n"
        "exist. Records are JSON lines, JSON arrays and objects, CSV or TSV\n"
        "with a header, or msgpack; plain or compressed with gzip or zstd.\n"
        "Without a FILE, or with -, reads standard input.\n"
        "\n"
        "A record that cannot be read is rejected, and the load continues. A\n"
        "JSON file with a broken string or bracket, or with text after its\n"
        "array, ends the load there: repair it and add --resume.\n",
    .examples = "  colander load data people people.csv --key id\n"
                "  colander load data tweets tweets.jsonl.gz --schema tweet\n"
                "  colander load data tweets tweets.jsonl.gz --schema tweet "
                "--resume\n",
    .options = options,
    .store = COMMAND_WRITES,
    .word_count_min = 1,
    .word_count_max = SIZE_MAX - 1,
    .run = run_load,
};

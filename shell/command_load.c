/*
 * The command load: files of records, read into a family.
 *
 * SPDX-License-Identifier: MIT
 */
#include "shell/commands.h"
#include "shell/interrupt.h"
#include "shell/progress.h"
#include "shell/schema_file.h"
#include "shell/selection.h"
#include "shell/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define REJECTS_TOLD 10 /* one by one; the others are counted */

/* A load under way. */
struct load {
    const struct session *session;
    struct loading_options options;
    struct loading_figures figures;
    struct schema *schema;
    struct progress progress;
    uint64_t errors_allowed;
    uint64_t told_count;
};

static atomic_bool stops;

static void
stop(void)
{
    atomic_store(&stops, true);
}

/* -------------------------------------------------------------- options --- */

static enum colander_code
read_duplicates(const struct arguments *arguments,
                enum loading_duplicates *duplicates, struct colander_error *err)
{
    static const char *const names[] = {"replace", "keep", "patch", "error"};
    const char *text = arguments_value(arguments, "on-duplicate");

    if (text == NULL)
        return COLANDER_OK;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(text, names[i]) == 0) {
            *duplicates = (enum loading_duplicates)i;
            return COLANDER_OK;
        }
    }
    return COLANDER_FAIL(err, COLANDER_INVALID,
                         "no --on-duplicate '%s': there are replace, keep, "
                         "patch and error",
                         text);
}

static enum colander_code
check_key_path(const char *path, struct colander_error *err)
{
    if (strcmp(path, COLANDER_KEY_COLUMN) == 0)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "'%s' is no column: a record that has it needs no "
                             "--key",
                             path);
    if (strstr(path, "[]") != NULL)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "'%s' leads to several values: a key needs one",
                             path);
    return schema_check_path(path, err);
}

/* The columns of --key take the place of the schema's. */
static enum colander_code
read_key(const struct arguments *arguments, struct schema *schema,
         struct colander_error *err)
{
    struct selection columns = SELECTION_EMPTY;
    struct schema_texts key = {NULL, 0};
    enum colander_code code;

    if (!arguments_has(arguments, "key"))
        return COLANDER_OK;
    code = selection_parse(&columns, arguments, "key", err);
    for (size_t i = 0; i < columns.count && code == COLANDER_OK; i++) {
        code = check_key_path(columns.paths[i], err);
        if (code == COLANDER_OK)
            code = schema_texts_add(&key, columns.paths[i], err);
        else
            colander_error_context(err, "--key");
    }
    selection_release(&columns);
    if (code == COLANDER_OK && key.count > COLANDER_KEY_PARTS_MAX)
        code = COLANDER_FAIL(err, COLANDER_INVALID,
                             "--key: a key has %d columns at most",
                             COLANDER_KEY_PARTS_MAX);
    if (code == COLANDER_OK) {
        schema_texts_release(&schema->key);
        schema->key = key;
    } else {
        schema_texts_release(&key);
    }
    return code;
}

static enum colander_code
read_csv_options(const struct arguments *arguments, struct schema *schema,
                 struct colander_error *err)
{
    const char *delimiter = arguments_value(arguments, "delimiter");
    enum colander_code code = COLANDER_OK;

    for (size_t i = 0; i < arguments->choice_count; i++) {
        const struct argument_choice *choice = &arguments->choices[i];

        if (code == COLANDER_OK && strcmp(choice->option->name, "null") == 0)
            code = schema_texts_add(&schema->nulls, choice->value, err);
    }
    if (code != COLANDER_OK || delimiter == NULL)
        return code;
    if (strcmp(delimiter, "\\t") == 0)
        delimiter = "\t";
    if (strlen(delimiter) != 1 || strchr("\"\r\n", delimiter[0]) != NULL ||
        (unsigned char)delimiter[0] >= 0x80)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "--delimiter is one character of ASCII, or \\t, "
                             "not '%s'",
                             delimiter);
    schema->delimiter = delimiter[0];
    return COLANDER_OK;
}

/* The schema that is named, and what other options say on top of it. */
static enum colander_code
read_schema(const struct arguments *arguments, struct schema **schema,
            struct colander_error *err)
{
    const char *name = arguments_value(arguments, "schema");
    enum colander_code code = COLANDER_OK;

    if (name != NULL)
        code = schema_file_read(name, schema, err);
    else if ((*schema = schema_create()) == NULL)
        code = COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a schema");
    if (code == COLANDER_OK)
        code = read_key(arguments, *schema, err);
    if (code == COLANDER_OK)
        code = read_csv_options(arguments, *schema, err);
    if (code == COLANDER_OK && arguments_has(arguments, "no-guess"))
        (*schema)->guesses = false;
    return code;
}

static enum colander_code
read_options(struct load *load, const struct arguments *arguments,
             struct colander_error *err)
{
    struct loading_options *options = &load->options;
    uint64_t record_size;
    enum colander_code code;

    loading_options_init(options);
    record_size = options->record_size;
    options->format = arguments_value(arguments, "format");
    options->rejects = arguments_value(arguments, "rejects");
    options->resumes = arguments_has(arguments, "resume");
    options->is_bulk = arguments_has(arguments, "bulk");
    code = read_duplicates(arguments, &options->duplicates, err);
    if (code == COLANDER_OK)
        code = arguments_number(arguments, "max-errors", &options->errors_max,
                                err);
    if (code == COLANDER_OK)
        code = arguments_size(arguments, "record-size", &record_size, err);
    if (code == COLANDER_OK &&
        (record_size < 1024 || record_size > COLANDER_JSON_SIZE_MAX))
        code = COLANDER_FAIL(err, COLANDER_INVALID,
                             "--record-size is from 1k to %um",
                             COLANDER_JSON_SIZE_MAX >> 20);
    options->record_size = (size_t)record_size;
    load->errors_allowed =
        arguments_has(arguments, "max-errors") ? options->errors_max : 0;
    if (code == COLANDER_OK)
        code = read_schema(arguments, &load->schema, err);
    options->schema = load->schema;
    return code;
}

/* The file of rejects is cut before the others are read: it may be none of
 * them. */
static enum colander_code
check_rejects(const struct loading_options *options, const char *const *files,
              size_t count, struct colander_error *err)
{
    struct stat rejects;
    struct stat file;

    if (options->rejects == NULL || stat(options->rejects, &rejects) != 0)
        return COLANDER_OK;
    for (size_t i = 0; i < count; i++) {
        bool is_input = strcmp(files[i], "-") == 0;

        if ((is_input ? fstat(STDIN_FILENO, &file) : stat(files[i], &file)) ==
                0 &&
            file.st_dev == rejects.st_dev && file.st_ino == rejects.st_ino)
            return COLANDER_FAIL(err, COLANDER_INVALID,
                                 "--rejects is '%s', which is to be loaded",
                                 files[i]);
    }
    return COLANDER_OK;
}

/* --------------------------------------------------------------- tells --- */

static void
complain(void *context, const char *text, bool is_reject)
{
    struct load *load = context;

    if (is_reject && load->told_count++ >= REJECTS_TOLD)
        return;
    progress_hide(&load->progress);
    session_complain(load->session, "%s", text);
}

static void
show_progress(void *context, const struct loading_figures *figures)
{
    struct load *load = context;

    progress_show(&load->progress, figures);
}

/* What is said at the end, however the load went. */
static void
summarize(struct load *load)
{
    struct colander_buffer text = COLANDER_BUFFER_EMPTY;

    if (load->told_count > REJECTS_TOLD)
        session_complain(load->session, "%" PRIu64 " more were rejected",
                         load->told_count - REJECTS_TOLD);
    (void)fflush(stdout);
    if (progress_append_summary(&load->progress, &load->figures, &text, NULL) ==
        COLANDER_OK)
        fprintf(stderr, "%.*s\n", (int)text.size, (const char *)text.data);
    colander_buffer_release(&text);
}

/* How the program exits, and what is to be done next. */
static enum session_exit
conclude(struct load *load, enum colander_code code,
         const struct colander_error *err)
{
    const struct loading_figures *figures = &load->figures;
    enum session_exit status = SESSION_FINE;

    progress_hide(&load->progress);
    if (code != COLANDER_OK)
        status = session_misused(load->session, err);
    if (code == COLANDER_LIMIT &&
        figures->reject_count > load->options.errors_max)
        status = SESSION_REJECTED;
    summarize(load);
    if (status != SESSION_FINE && status != SESSION_USAGE &&
        !load->options.is_bulk && figures->text_size > 0)
        fprintf(stderr, "to go on from there: the same, with --resume\n");
    else if (status != SESSION_FINE && load->options.is_bulk)
        fprintf(stderr, "no row was loaded\n");
    if (status == SESSION_FINE && figures->reject_count > load->errors_allowed)
        status = SESSION_REJECTED;
    return status;
}

/* ------------------------------------------------------------------ run --- */

/* Gives a family that the load creates the options of the schema. */
static enum colander_code
set_family_options(const struct schema *schema, struct colander_family *family,
                   struct colander_error *err)
{
#ifdef COLANDER_FILTERS
    struct colander_filter_options options;

    colander_filter_options_init(&options);
    if (schema->left_out.count == 0 && schema->fp_rate == 0 &&
        schema->bits_per_value == 0 && schema->rows_per_segment == UINT32_MAX)
        return COLANDER_OK;
    options.left_out = (const char *const *)schema->left_out.texts;
    options.left_out_count = schema->left_out.count;
    options.bits_per_value = schema->bits_per_value;
    options.rows_per_segment = schema->rows_per_segment;
    if (schema->fp_rate > 0)
        options.fp_rate = schema->fp_rate;
    return colander_family_set_filters(family, &options, err);
#else
    (void)schema;
    (void)family;
    (void)err;
    return COLANDER_OK;
#endif
}

static enum colander_code
load_files(struct load *load, const char *name, const char *const *files,
           size_t count, struct colander_error *err)
{
    struct colander_store *store = load->session->store;
    struct colander_family *family = NULL;
    enum colander_code code = colander_family_open(store, name, &family, err);

    if (code == COLANDER_OK && !colander_family_exists(family))
        code = set_family_options(load->schema, family, err);
    if (code == COLANDER_OK) {
        atomic_store(&stops, interrupt_happened());
        interrupt_set_stop(stop);
        code = loading_run(store, family, files, count, &load->options,
                           &load->figures, err);
        interrupt_set_stop(NULL);
    }
    colander_family_close(family);
    return code;
}

static enum session_exit
run_load(struct session *session, const struct arguments *arguments)
{
    static const char *const standard_input[] = {"-"};
    const char *const *files = arguments->words + 1;
    size_t count = arguments->word_count - 1;
    struct load load = {.session = session};
    struct colander_error err;
    enum session_exit status;
    enum colander_code code;

    if (count == 0 && session->is_shell) {
        session_complain(session, "expected the name of a file");
        return SESSION_USAGE;
    }
    if (count == 0) {
        files = standard_input;
        count = 1;
    }
    code = read_options(&load, arguments, &err);
    if (code == COLANDER_OK)
        code = check_rejects(&load.options, files, count, &err);
    if (code != COLANDER_OK) {
        schema_destroy(load.schema);
        return session_misused(session, &err);
    }
    load.options.stops = &stops;
    load.options.complain = complain;
    load.options.progress = show_progress;
    load.options.context = &load;
    if (strcmp(files[0], "-") == 0 && isatty(STDIN_FILENO) == 1)
        fprintf(stderr, "type records; Ctrl-D ends them\n");
    progress_begin(&load.progress);
    code = load_files(&load, arguments->words[0], files, count, &err);
    status = conclude(&load, code, &err);
    schema_destroy(load.schema);
    return status;
}

static const struct argument_option options[] = {
    {"format", true, false},       {"key", true, true},
    {"schema", true, false},       {"null", true, true},
    {"delimiter", true, false},    {"no-guess", false, false},
    {"on-duplicate", true, false}, {"rejects", true, false},
    {"max-errors", true, false},   {"record-size", true, false},
    {"resume", false, false},      {"bulk", false, false},
    {NULL, false, false},
};

static const char help[] =
    "Loads records into a family, which is made if there is none: JSON lines,\n"
    "JSON arrays and objects, CSV and TSV with a line of names, msgpack; also\n"
    "compressed with gzip or zstd. No FILE, or -, is standard input.\n"
    "\n"
    "A record that cannot be read is rejected, and the load goes on.\n"
    "\n"
    "options:\n"
    "  --format FORMAT         jsonl, json, csv, tsv or msgpack (guessed from\n"
    "                          name and content)\n"
    "  --key COL[,COL]         columns that make the key (_key, where a "
    "record\n"
    "                          has it, else a new key that sorts by time)\n"
    "  --schema NAME|FILE      how the records are read: tweet, sensor,\n"
    "                          air-quality, or a file of your own\n"
    "  --null TEXT             a field of CSV that is null, as NA; repeatable\n"
    "  --delimiter CHARACTER   between fields of CSV (comma, tab, semicolon:\n"
    "                          as the line of names has it)\n"
    "  --no-guess              fields of CSV are texts, whatever they look "
    "like\n"
    "  --on-duplicate WHAT     replace, keep, patch or error: what becomes of "
    "a\n"
    "                          record whose key has a row (replace)\n"
    "  --rejects FILE          keeps records that are rejected, as they were\n"
    "  --max-errors N          stops when more than N are rejected (goes on, "
    "and\n"
    "                          exits with 3 if any was)\n"
    "  --record-size SIZE      the largest record that is read (8m)\n"
    "  --resume                goes on where the last load of the same files\n"
    "                          stopped, also after a crash\n"
    "  --bulk                  into a family without rows: faster, and all "
    "rows\n"
    "                          appear at the end, or none\n";

const struct command command_load = {
    "load",
    "FAMILY [FILE...] [OPTION...]",
    "records of files, into a family",
    help,
    COMMAND_WRITES,
    options,
    1,
    SIZE_MAX - 1,
    SIZE_MAX,
    run_load,
};

/*
 * The command load: reads files of records into a family.
 *
 * SPDX-License-Identifier: MIT
 */
#include "loading/load.h"
#include "shell/command.h"
#include "shell/commands/keeper.h"
#include "shell/commands/progress.h"
#include "shell/filter_words.h"
#include "shell/hint.h"
#include "shell/interrupt.h"
#include "shell/load_items.h"
#include "shell/load_notes.h"
#include "shell/load_request.h"
#include "shell/load_turn.h"
#include "shell/row_count.h"
#include "shell/stop.h"
#ifdef COLANDER_SERVER
#include "shell/service.h"
#endif

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define REJECTS_LISTED 100 /* for a request */

struct load_command {
    const struct session *session;
    struct colander_family *family;
    struct load_request asked;
    struct colander_load *load;
    struct progress progress;
    struct load_items items;          /* of a request that has some */
    struct colander_error items_fail; /* OK, or why they cannot be printed */
    bool had_family;                  /* before the load */
    bool is_shared;                   /* others use the store meanwhile */
    bool is_vain; /* the load failed or rejected records, and wrote no row */
    uint64_t listed_count;  /* rejected records, in an answer */
    uint64_t lacking_count; /* rejected records without a key column */
};

/* -------------------------------------------------------------- reports --- */

/* Returns what a request is answered with; NULL: it is a command line. */
static struct colander_row_builder *
facts_of(const struct load_command *command)
{
    const struct session_client *client = command->session->client;

    return client == NULL ? NULL : client->facts;
}

/* Whether a request is answered with the status of each of its items. */
static bool
answers_items(const struct load_command *command)
{
    const char *format = command->asked.options.format;

    return facts_of(command) != NULL && format != NULL &&
           strcmp(format, "elasticsearch") == 0;
}

static void
report_item(void *context, const struct colander_load_item *item)
{
    struct load_command *command = context;

    if (command->items_fail.code == COLANDER_OK &&
        load_items_take(&command->items, item, &command->items_fail) !=
            COLANDER_OK)
        colander_load_cancel(command->load);
}

/* Adds a reject to the answer of a request. */
static void
list_reject(struct load_command *command,
            const struct colander_load_reject *reject)
{
    struct colander_row_builder *facts = facts_of(command);

    if (answers_items(command) || command->listed_count++ >= REJECTS_LISTED)
        return;
    if (command->listed_count == 1)
        colander_row_builder_begin_array(facts, "rejects");
    colander_row_builder_begin_map(facts, NULL);
    colander_row_builder_add(facts, "line", colander_unsigned(reject->line));
    colander_row_builder_add(facts, "column",
                             colander_unsigned(reject->column));
    session_add_text(command->session, "reason", reject->reason);
    colander_row_builder_end(facts);
}

/* Adds how far the load came to the answer of a request. */
static void
list_counts(const struct load_command *command)
{
    const struct session *session = command->session;
    const struct colander_load_stats *stats =
        colander_load_stats(command->load);

    if (command->listed_count > 0)
        colander_row_builder_end(facts_of(command)); /* of the rejects */
    session_add_fact(session, "rows", stats->row_count);
    if (stats->knows_new) {
        session_add_fact(session, "new", stats->new_count);
        session_add_fact(session, "replaced", stats->replaced_count);
    }
    session_add_fact(session, "kept", stats->kept_count);
    session_add_fact(session, "rejected", stats->reject_count);
    if (command->asked.partition != NULL)
        session_add_fact(session, "families", stats->family_count);
}

static void
report_reject(void *context, const struct colander_load_reject *reject)
{
    struct load_command *command = context;

    if (facts_of(command) != NULL) {
        list_reject(command, reject);
        return;
    }
    if (reject->lacks_key && command->lacking_count++ > 0)
        return; /* most are likely to lack it */
    if (!progress_prints_reject(&command->progress))
        return;
    session_complain(command->session, SESSION_FINE,
                     "%s:%" PRIu64 ":%" PRIu64 ": %s", reject->file,
                     reject->line, reject->column, reject->reason);
}

static void
report_lost(void *context, const char *file)
{
    struct load_command *command = context;

    progress_hide(&command->progress);
    session_complain(command->session, SESSION_FINE,
                     "%s: it was cut or replaced, and what was loaded last is "
                     "in no file that it was rotated to: the load begins with "
                     "it, and lines may be missing",
                     file);
}

static void
report_progress(void *context, const struct colander_load_stats *stats)
{
    struct load_command *command = context;

    progress_show(&command->progress, stats);
}

/* Returns how many rows the family has; about, if counting them takes long
 * compared with the load, or is interrupted. */
static uint64_t
count_rows(const struct load_command *command, bool *is_exact)
{
    const struct colander_load_stats *stats =
        colander_load_stats(command->load);
    struct colander_family_sizes sizes = {.key_count = 0};
    struct colander_error ignored;
    uint64_t count = 0;

    (void)!colander_family_sizes(command->family, &sizes, &ignored);
    *is_exact = sizes.key_count / 4 <= stats->row_count &&
                row_count(command->family, NULL, UINT64_MAX, &count,
                          &ignored) == COLANDER_OK;
    return *is_exact ? count : sizes.key_count;
}

/* Prints the summary of a load, failed or not. */
static void
summarize(struct load_command *command)
{
    const struct colander_load_stats *stats =
        colander_load_stats(command->load);
    struct progress_rows rows = {UINT64_MAX, true, "replaced"};
    struct report report = REPORT_EMPTY;

    progress_end_rejects(&command->progress);
    if (command->lacking_count > 1)
        session_complain(command->session, SESSION_FINE,
                         "%s without a column for the key",
                         NUMBER_OF(command->lacking_count - 1, "more record"));
    (void)fflush(session_out(command->session));
    if (!stats->knows_new && command->asked.partition == NULL)
        rows.count = count_rows(command, &rows.is_exact);
    if (command->asked.options.duplicates == COLANDER_LOAD_PATCH)
        rows.replaced = "patched";
    progress_add_summary(&command->progress, stats, &rows, &report);
    (void)!report_print(&report, session_err(command->session), NULL);
}

/* Prints which columns of --type no row has, as their names may be wrong, and
 * which others seem to need one. */
static void
print_types(const struct load_command *command,
            const struct arguments *arguments)
{
    const bool may_need = !arguments_has(arguments, "schema") &&
                          facts_of(command) == NULL &&
                          colander_load_stats(command->load)->row_count > 0;
    char **columns = calloc(arguments->choice_count + 1, sizeof(*columns));
    struct report report = REPORT_EMPTY;
    size_t count = 0;

    for (size_t i = 0; i < arguments->choice_count && columns != NULL; i++) {
        const struct argument_choice *choice = &arguments->choices[i];
        const char *type;

        if (strcmp(choice->option->name, "type") == 0 &&
            load_request_split(choice, &columns[count], &type, NULL) ==
                COLANDER_OK)
            count++;
    }
    if (columns != NULL && (count > 0 || may_need))
        hint_add_types(command->family, (const char *const *)columns, count,
                       may_need, &report);
    if (filter_words_given(arguments) != NULL)
        filter_words_add_notes(command->family, &report);
    for (size_t i = 0; i < count; i++)
        free(columns[i]);
    free(columns);
    session_add_hints(command->session, &report, NULL);
    (void)!report_print(&report, session_err(command->session), NULL);
}

/* Answers a request. What is wrong with its records is not wrong with the
 * store. */
static enum session_exit
answer_request(struct load_command *command, enum colander_code code,
               const struct colander_error *err)
{
    const struct colander_load_stats *stats =
        colander_load_stats(command->load);
    struct colander_error failure;

    if (answers_items(command))
        load_items_end(&command->items);
    if (answers_items(command) && code == COLANDER_OK)
        return SESSION_FINE;
    list_counts(command);
    if (code == COLANDER_OK)
        return SESSION_FINE;
    failure =
        command->items_fail.code == COLANDER_OK ? *err : command->items_fail;
    if (stats->is_damaged ||
        stats->reject_count > command->asked.options.rejects_max)
        failure.code = COLANDER_INVALID;
    return session_misused(command->session, &failure);
}

/* Prints how the load ended, and what to do next. */
static enum session_exit
conclude(struct load_command *command, enum colander_code code,
         const struct colander_error *err)
{
    const struct session_client *client = command->session->client;
    const struct colander_load_options *options = &command->asked.options;
    const struct colander_load_stats *stats =
        colander_load_stats(command->load);
    enum session_exit status = SESSION_FINE;

    if (options->follows && code == COLANDER_CANCELLED && interrupt_happened())
        code = COLANDER_OK; /* nothing else ends it */
    command->is_vain =
        stats->row_count == 0 &&
        (code != COLANDER_OK || (stats->reject_count > 0 && !options->follows));
    progress_hide(&command->progress);
    if (client != NULL)
        client->count_load(client->context, stats->row_count,
                           stats->reject_count);
    if (facts_of(command) != NULL)
        return answer_request(command, code, err);
    if (code != COLANDER_OK)
        status = session_misused(command->session, err);
    if (code == COLANDER_LIMIT && stats->reject_count > options->rejects_max)
        status = SESSION_REJECTED;
    if (code == COLANDER_OK || stats->text_size > 0 || stats->row_count > 0)
        summarize(command);
    load_notes_print(command->load, session_err(command->session));
    if (status != SESSION_FINE && status != SESSION_USAGE &&
        !options->is_bulk && stats->text_size > 0 &&
        (command->had_family || stats->row_count > 0))
        fprintf(session_err(command->session),
                "to continue from the resume point, add --resume\n");
    if (status == SESSION_FINE &&
        stats->reject_count > command->asked.rejects_allowed)
        status = SESSION_REJECTED;
    return status;
}

/* ------------------------------------------------------------------ run --- */

/* Runs the load, while others use the store if it is shared. Their loads take
 * turns with it. */
static enum colander_code
run_shared(struct load_command *command, const char *const *files, size_t count,
           struct colander_error *err)
{
    struct load_turn turn = {NULL, colander_family_name(command->family), files,
                             count, NULL};
    enum colander_code code = COLANDER_OK;
#ifdef COLANDER_SERVER
    struct service *service = NULL;
#endif

    (void)load_turn_begin(&turn, false); /* the first one */
#ifdef COLANDER_SERVER
    if (command->is_shared)
        code = service_start(command->session, NULL, &service, err);
#endif
    if (code == COLANDER_OK)
        code = colander_load_run(command->load, files, count, err);
    load_turn_end(&turn);
#ifdef COLANDER_SERVER
    service_stop(service);
#endif
    return code;
}

static enum session_exit
load_files(struct load_command *command, const char *const *files, size_t count)
{
    const struct session *session = command->session;
    const bool is_client = session->client != NULL;
    struct keeper *keeper = NULL;
    struct colander_error err;
    enum colander_code code = COLANDER_OK;

    if (strcmp(files[0], "-") == 0 &&
        (is_client ? session->client->in_is_terminal
                   : isatty(STDIN_FILENO) == 1))
        fprintf(session_err(session),
                "type records, then Ctrl-D; or name files to load\n");
    if (command->asked.options.follows && access(files[0], F_OK) != 0)
        fprintf(stderr, "%s does not exist yet: waiting for it\n", files[0]);
    progress_begin(&command->progress, session);
    if (answers_items(command))
        load_items_begin(&command->items, session);
    if (is_client) { /* its files end if it leaves */
        struct load_turn turn = {NULL, colander_family_name(command->family),
                                 files, count, session->client->files};

        code = load_turn_begin(&turn, command->asked.options.resumes)
                   ? colander_load_run(command->load, files, count, &err)
                   : COLANDER_FAIL(&err, COLANDER_CANCELLED, "cancelled");
        load_turn_end(&turn);
        return conclude(command, code, &err);
    }
    (void)stop_begin(command->asked.options.follows);
    stop_cancels(command->load);
    if (command->asked.options.follows)
        code = keeper_start(command->session, &keeper, &err);
    if (code == COLANDER_OK)
        code = run_shared(command, files, count, &err);
    keeper_stop(keeper);
    stop_end();
    return conclude(command, code, &err);
}

/* Drops a family that the load created and left without a row, unless others
 * may have filled it meanwhile. */
static void
drop_family(const struct load_command *command)
{
    struct colander_error ignored;

    if (!command->had_family && command->is_vain &&
        command->session->client == NULL && !command->is_shared &&
        colander_family_exists(command->family))
        (void)!colander_family_drop(command->family, &ignored);
}

/* Opens the family of a load. Items name their own, if the name is empty: then
 * nothing is written to this one. */
static enum colander_code
open_family(struct load_command *command, const char *name,
            struct colander_error *err)
{
    const char *format = command->asked.options.format;

    command->asked.options.items_name_families =
        name[0] == '\0' && format != NULL &&
        strcmp(format, "elasticsearch") == 0;
    return colander_family_open(
        command->session->store,
        command->asked.options.items_name_families ? "items" : name,
        &command->family, err);
}

static enum session_exit
run_load(struct session *session, const struct arguments *arguments)
{
    static const char *const standard_input[] = {"-"};
    const bool has_files = arguments->word_count > 1;
    struct load_command command = {.session = session};
    struct colander_error err;
    enum session_exit status;
    enum colander_code code;

    if (!has_files && session->dot_commands != NULL)
        return session_complain(session, SESSION_USAGE, "FILE is missing");
    if (arguments_has(arguments, "share") &&
        arguments_has(arguments, "no-share"))
        return session_complain(session, SESSION_USAGE,
                                "--share and --no-share exclude each other");
    command.is_shared =
        session->client == NULL && arguments_has(arguments, "share");
    code = load_request_read(&command.asked, session, arguments, &err);
    command.asked.options.report_reject = report_reject;
    command.asked.options.report_progress = report_progress;
    command.asked.options.report_lost = report_lost;
    command.asked.options.context = &command;
    if (session->client != NULL) {
        command.asked.options.take_memory = load_turn_take_memory;
        command.asked.options.give_memory = load_turn_give_memory;
    }
    if (code == COLANDER_OK && answers_items(&command))
        command.asked.options.report_item = report_item;
    if (code == COLANDER_OK)
        code = open_family(&command, arguments->words[0], &err);
    if (code == COLANDER_OK)
        command.had_family = colander_family_exists(command.family);
    if (code == COLANDER_OK && filter_words_given(arguments) != NULL)
        code = filter_words_set(command.family, arguments, &err);
    if (code == COLANDER_OK)
        code =
            colander_load_create(session->store, command.family,
                                 &command.asked.options, &command.load, &err);
    if (code != COLANDER_OK)
        status = session_misused(session, &err);
    else
        status = load_files(&command,
                            has_files ? arguments->words + 1 : standard_input,
                            has_files ? arguments->word_count - 1 : 1);
    if (status == SESSION_FINE && !answers_items(&command) &&
        command.asked.partition == NULL)
        print_types(&command, arguments);
    colander_load_destroy(command.load);
    drop_family(&command);
    colander_family_close(command.family);
    load_request_release(&command.asked);
    return status;
}

static const struct argument_option options[] = {
    OPTION("format", "FORMAT",
           "jsonl, json, csv, tsv, msgpack, influx (line protocol)\n"
           "or elasticsearch (actions of its _bulk; guessed from\n"
           "name and content)"),
    OPTION_LIST("key", "COL[,COL]",
                "columns that make the key, or :hash, a hash of the\n"
                "record (default: _key, or a new key that sorts by time)"),
    OPTION("schema", "NAME|FILE",
           "how to read the records: tweet, sensor, air-quality\n"
           "or a file"),
    OPTION_LIST("type", "COL=TYPE",
                "string, integer, number, boolean, time or time:FORMAT,\n"
                "such as at=time:%d.%m.%Y; may be repeated"),
    OPTIONS_OF_TEXTS,
    OPTIONS_FILTERED,
    OPTION_FLAG("no-words", "the same as --words off"),
    OPTION_LIST("add", "COL=VALUE",
                "add a column to each record; may be repeated"),
    OPTION("add-file-name", "COL",
           "add a column with the name of the file, without\n"
           "folder and endings such as .csv.gz"),
    OPTION("partition", "COL:UNIT",
           "put each row into the family of its time in COL: of its\n"
           "hour, day or month, which FAMILY names: 'logs/{day}'"),
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
    OPTION_FLAG("follow", "then load each line that is appended to FILE, also\n"
                          "after it was rotated, until Ctrl-C or SIGTERM"),
#ifdef COLANDER_SERVER
    OPTION_FLAG("share", "other commands use the store meanwhile, as they use\n"
                         "that of colander serve"),
#endif
    OPTION_FLAG("sync",
                "the rows are on the disk at the end, and survive a power\n"
                "failure"),
    OPTION_FLAG("bulk", "faster, for a family without rows: all rows appear\n"
                        "at the end, or none"),
    OPTIONS_END,
};

#ifdef COLANDER_CLUSTER
extern const struct command command_send;
#endif

const struct command command_load = {
    .name = "load",
    .words = "FAMILY [FILE...] [OPTION...]",
#ifdef COLANDER_CLUSTER
    .for_topics = &command_send,
#endif
    .summary = "load files of JSON, CSV or msgpack",
    .help =
        "Loads records into a family, which is created if it does not\n"
        "exist. Records are JSON lines, JSON arrays and objects, CSV or TSV\n"
        "with a header, or msgpack; plain or compressed with gzip or zstd.\n"
        "Without a FILE, or with -, reads standard input.\n"
        "\n"
        "A record that cannot be read is rejected, and the load continues. A\n"
        "JSON file with a broken string or bracket, or with text after its\n"
        "array, ends the load there: repair it and add --resume.\n"
        "\n"
        "--follow continues where the last load of FILE stopped.\n"
        "\n"
        "With kafka://BROKER[,BROKER...]/TOPIC instead of STORE and FAMILY,\n"
        "records are sent to a topic: see colander load kafka://b1/t --help.\n",
    .examples = "  colander load data people people.csv --key id\n"
                "  colander load data tweets tweets.jsonl.gz --schema tweet\n"
                "  colander load data tweets tweets.jsonl.gz --schema tweet "
                "--resume\n"
                "  colander load data logs app.jsonl --follow\n"
                "  colander load data 'logs/{day}' app.jsonl --partition "
                "at:day\n",
    .options = options,
    .store = COMMAND_WRITES,
    .word_count_min = 1,
    .word_count_max = SIZE_MAX - 1,
    .reads_files = true,
    .run = run_load,
};

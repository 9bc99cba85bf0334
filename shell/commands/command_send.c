/*
 * The command load with an address of a topic, or of a cluster and one of its
 * families: sends records to it.
 *
 * How far each file was sent is kept as load keeps it, in a small store of its
 * own, in a family for each topic of a cluster.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cluster/topic.h"
#include "loading/load.h"
#include "shell/broker_options.h"
#include "shell/cluster_load.h"
#include "shell/command.h"
#include "shell/commands/progress.h"
#include "shell/load_request.h"
#include "shell/stop.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

struct send_command {
    struct session *session;
    struct load_request asked;
    struct broker_options brokers;
    struct cluster_load cluster; /* without a topic: none is named */
    struct topic_writer *writer;
    struct colander_load_sink sink;
    struct colander_family *places;
    struct colander_load *load;
    struct progress progress;
    const char *operation;      /* --op; NULL: put */
    uint64_t partition_by;      /* parts of the key of a row */
    struct colander_buffer key; /* of a record: their text */
};

/* ----------------------------------------------------------------- sink --- */

static enum colander_code
begin(void *context, uint64_t id, struct colander_error *err)
{
    struct send_command *command = context;

    (void)err;
    topic_writer_begin(command->writer, id);
    return COLANDER_OK;
}

static enum colander_code
put(void *context, uint64_t at, struct colander_slice key,
    struct colander_slice record, struct colander_error *err)
{
    struct send_command *command = context;
    enum colander_code code = COLANDER_OK;

    colander_buffer_clear(&command->key);
    if (key.size > 0)
        code = colander_load_partition_key(key, (size_t)command->partition_by,
                                           &command->key, err);
    return code == COLANDER_OK
               ? topic_writer_put(command->writer, at, command->operation,
                                  colander_buffer_slice(&command->key), record,
                                  err)
               : code;
}

static enum colander_code
acknowledged(void *context, bool waits, bool *any, uint64_t *at,
             struct colander_error *err)
{
    struct send_command *command = context;
    enum colander_code code = COLANDER_OK;

    if (waits)
        code = topic_writer_flush(command->writer, err);
    return code == COLANDER_OK
               ? topic_writer_acknowledged(command->writer, any, at, err)
               : code;
}

/* -------------------------------------------------------------- reports --- */

static void
report_reject(void *context, const struct colander_load_reject *reject)
{
    struct send_command *command = context;

    if (!progress_prints_reject(&command->progress))
        return;
    session_complain(command->session, SESSION_FINE,
                     "%s:%" PRIu64 ":%" PRIu64 ": %s", reject->file,
                     reject->line, reject->column, reject->reason);
}

static void
report_progress(void *context, const struct colander_load_stats *stats)
{
    struct send_command *command = context;

    progress_show(&command->progress, stats);
}

static void
summarize(struct send_command *command)
{
    const struct colander_load_stats *stats =
        colander_load_stats(command->load);
    struct report report = REPORT_EMPTY;

    progress_end_rejects(&command->progress);
    report_add(&report, "%s sent", NUMBER_OF(stats->row_count, "record"));
    if (stats->reject_count > 0)
        report_add(&report, "; %s rejected", THOUSANDS(stats->reject_count));
    if (stats->files_skipped > 0)
        report_add(&report, "; %s sent before",
                   NUMBER_OF(stats->files_skipped, "file"));
    (void)!report_print(&report, session_err(command->session), NULL);
}

/* ------------------------------------------------------------------ run --- */

/* Opens the store that keeps places: --place, or one below the user's folder
 * for such things. */
static enum colander_code
open_places(struct send_command *command, const struct arguments *arguments,
            struct colander_error *err)
{
    const char *given = arguments_value(arguments, "place");
    const char *state = getenv("XDG_STATE_HOME");
    const char *home = getenv("HOME");
    const bool has_state = state != NULL && state[0] == '/';
    enum colander_code code;
    char path[4096];
    int size;

    if (given == NULL && !has_state && (home == NULL || home[0] != '/'))
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "there is no HOME: say with --place where the "
                             "place in each file is kept");
    size = given != NULL ? snprintf(path, sizeof(path), "%s", given)
                         : snprintf(path, sizeof(path), "%s%s/colander",
                                    has_state ? state : home,
                                    has_state ? "" : "/.local/state");
    if (size < 0 || (size_t)size >= sizeof(path) - sizeof("/places"))
        return COLANDER_FAIL(err, COLANDER_INVALID, "--place is too long");
    for (char *at = strchr(path + 1, '/'); given == NULL && at != NULL;
         at = strchr(at + 1, '/')) {
        *at = '\0';
        (void)mkdir(path, 0777); /* opening the store fails if it must */
        *at = '/';
    }
    if (given == NULL) {
        (void)mkdir(path, 0700);
        strcat(path, "/places");
    }
    code = session_open(command->session, path, COLANDER_OPEN_OR_CREATE, err);
    if (code == COLANDER_BUSY)
        colander_error_context(err,
                               "another load to a topic keeps its places "
                               "there, one at a time: wait for its end, or "
                               "give this one another --place DIR");
    return code;
}

/* Opens the family of places: TOPIC@CLUSTER, or without an id of the cluster,
 * TOPIC@BROKERS; with --op the topic has a colon and that after it. */
static enum colander_code
open_family(struct send_command *command, const char *address,
            struct colander_error *err)
{
    const char *topic = strrchr(address, '/') + 1;
    const char *brokers = strstr(address, "//") + 2;
    const char *cluster = topic_writer_cluster(command->writer);
    const char *operation = command->operation;
    struct colander_buffer name = COLANDER_BUFFER_EMPTY;
    enum colander_code code =
        colander_buffer_append(&name, topic, strlen(topic), err);

    if (code == COLANDER_OK && operation != NULL)
        code = colander_buffer_append(&name, ":", 1, err);
    if (code == COLANDER_OK && operation != NULL)
        code = colander_buffer_append(&name, operation, strlen(operation), err);
    if (code == COLANDER_OK)
        code = colander_buffer_append(&name, "@", 1, err);
    if (code == COLANDER_OK)
        code =
            cluster[0] == '\0'
                ? colander_buffer_append(&name, brokers, strcspn(brokers, "/"),
                                         err)
                : colander_buffer_append(&name, cluster, strlen(cluster), err);
    if (code == COLANDER_OK)
        code = colander_buffer_append(&name, "", 1, err);
    if (code == COLANDER_OK)
        code = colander_family_open(command->session->store,
                                    (const char *)name.data, &command->places,
                                    err);
    colander_buffer_release(&name);
    return code;
}

/* Sets what decides which records there are and where they go, beside the file:
 * the writer, and these options. */
static enum colander_code
set_spread(struct send_command *command, const struct arguments *arguments,
           struct colander_error *err)
{
    static const char *const names[] = {"format",       "key",     "schema",
                                        "partition-by", "null",    "precision",
                                        "delimiter",    "no-guess"};
    const size_t named = 4; /* options whose names count, too: not those of
                             * before, whose loads go on after an upgrade */
    const char **texts =
        calloc(2 * arguments->choice_count + 2, sizeof(*texts));
    size_t count = 0;

    if (texts == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a load");
    if (command->cluster.topic != NULL)
        texts[count++] = (const char *)command->cluster.text.data;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        for (size_t j = 0; j < arguments->choice_count; j++) {
            const struct argument_choice *choice = &arguments->choices[j];

            if (strcmp(choice->option->name, names[i]) != 0)
                continue;
            if (i >= named)
                texts[count++] = names[i];
            if (choice->value != NULL)
                texts[count++] = choice->value;
        }
    }
    command->sink.spread = topic_writer_spread(command->writer, texts, count);
    free(texts);
    return COLANDER_OK;
}

static enum colander_code
open_load(struct send_command *command, const struct arguments *arguments,
          struct colander_error *err)
{
    struct colander_load_options *options = &command->asked.options;
    enum colander_code code = open_places(command, arguments, err);

    if (code == COLANDER_OK)
        code =
            topic_writer_open(&command->brokers.options, &command->writer, err);
    if (code == COLANDER_OK && command->cluster.topic != NULL)
        code = cluster_load_check(&command->cluster,
                                  topic_writer_partition_count(command->writer),
                                  err);
    if (code == COLANDER_OK)
        code = open_family(command, command->brokers.options.address, err);
    if (code == COLANDER_OK)
        code = set_spread(command, arguments, err);
    options->sink = &command->sink;
    options->report_reject = report_reject;
    options->report_progress = report_progress;
    options->context = command;
    if (code == COLANDER_OK)
        code = colander_load_create(command->session->store, command->places,
                                    options, &command->load, err);
    return code;
}

static enum session_exit
conclude(struct send_command *command, enum colander_code code,
         const struct colander_error *err)
{
    enum session_exit status = SESSION_FINE;
    uint64_t rejects = 0;

    progress_hide(&command->progress);
    if (code != COLANDER_OK)
        status = session_misused(command->session, err);
    if (command->load != NULL)
        rejects = colander_load_stats(command->load)->reject_count;
    if (code == COLANDER_OK)
        summarize(command);
    else if (command->load != NULL &&
             (code == COLANDER_IO || code == COLANDER_CANCELLED))
        fprintf(stderr, "to continue where records were acknowledged, add "
                        "--resume\n");
    if (rejects > command->asked.rejects_allowed &&
        (code == COLANDER_OK || code == COLANDER_LIMIT))
        status = SESSION_REJECTED;
    return status;
}

/* Reads --op. Requires that all else was read. */
static enum colander_code
read_operation(struct send_command *command, const struct arguments *arguments,
               struct colander_error *err)
{
    const struct colander_load_options *options = &command->asked.options;
    const struct cluster_family *family = &command->cluster.family;
    const char *operation = arguments_value(arguments, "op");

    command->operation = operation;
    if (operation == NULL)
        return COLANDER_OK;
    if (strcmp(operation, "patch") == 0)
        command->sink.operation = COLANDER_LOAD_OPERATION_PATCH;
    else if (strcmp(operation, "delete") == 0)
        command->sink.operation = COLANDER_LOAD_OPERATION_DELETE;
    else
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "--op must be patch or delete, not '%s'",
                             operation);
    if (family->name != NULL && family->key.count == 0)
        return COLANDER_FAIL(
            err, COLANDER_INVALID,
            "--op: family '%s' has no key columns, so its rows "
            "stay as they are",
            family->name);
    if (command->sink.operation == COLANDER_LOAD_OPERATION_PATCH &&
        options->key_count > 0 &&
        strcmp(options->key[0], COLANDER_LOAD_HASH) == 0)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "--op patch: the key is a hash of the record, and "
                             "a patch has another one than its row");
    return COLANDER_OK;
}

/* Reads the options, and what the definition of a family says. */
static enum colander_code
read_options(struct send_command *command, const struct arguments *arguments,
             bool is_cluster, struct colander_error *err)
{
    enum colander_code code =
        load_request_read(&command->asked, command->session, arguments, err);

    if (code == COLANDER_OK)
        code = broker_options_read(&command->brokers, arguments,
                                   arguments->words[0], err);
    if (code == COLANDER_OK)
        code = arguments_number(arguments, "partition-by",
                                &command->partition_by, err);
    if (code == COLANDER_OK && command->partition_by == 0)
        code = COLANDER_FAIL(err, COLANDER_INVALID,
                             "--partition-by must be 1 or more");
    if (code == COLANDER_OK && is_cluster)
        code = cluster_load_open(&command->cluster, arguments, &command->asked,
                                 &command->brokers, err);
    if (command->cluster.family.partition_by > 0)
        command->partition_by = command->cluster.family.partition_by;
    command->sink.format = command->cluster.family.format;
    return code == COLANDER_OK ? read_operation(command, arguments, err) : code;
}

static enum session_exit
run_send(struct session *session, const struct arguments *arguments)
{
    static const char *const standard_input[] = {"-"};
    const bool is_cluster = session_is_address(arguments->words[0]);
    const size_t first = is_cluster ? 2 : 1; /* of the files */
    const bool has_files = arguments->word_count > first;
    struct send_command command = {.session = session, .partition_by = 1};
    struct colander_error err;
    enum session_exit status;
    enum colander_code code;

    if (arguments->word_count < first)
        return session_complain(session, SESSION_USAGE,
                                "FAMILY is missing: records of the cluster at "
                                "'%s' are of one",
                                arguments->words[0]);
    command.sink = (struct colander_load_sink){.context = &command,
                                               .begin = begin,
                                               .put = put,
                                               .acknowledged = acknowledged};
    code = read_options(&command, arguments, is_cluster, &err);
    command.brokers.options.is_stopped = stop_begin(true);
    progress_begin(&command.progress, session);
    if (code == COLANDER_OK)
        code = open_load(&command, arguments, &err);
    stop_cancels(command.load);
    if (code == COLANDER_OK)
        code = colander_load_run(
            command.load, has_files ? arguments->words + first : standard_input,
            has_files ? arguments->word_count - first : 1, &err);
    stop_end();
    status = conclude(&command, code, &err);
    topic_writer_close(command.writer);
    colander_load_destroy(command.load);
    colander_family_close(command.places);
    broker_options_release(&command.brokers);
    cluster_load_release(&command.cluster);
    load_request_release(&command.asked);
    colander_buffer_release(&command.key);
    return session_finish(session, status);
}

static const struct argument_option options[] = {
    OPTION("format", "FORMAT",
           "jsonl, json, csv, tsv, msgpack or influx (guessed from\n"
           "name and content)"),
    OPTION_LIST("key", "COL[,COL]",
                "columns that make the key of a row: records with the\n"
                "same first column are in one partition (default: _key,\n"
                "or else they are spread)"),
    OPTION("partition-by", "K",
           "put records with the same first K columns of the key\n"
           "into one partition (default: 1)"),
    OPTION("op", "patch|delete",
           "what a record does: its columns are merged into the row\n"
           "of its key, or that row is deleted (default: it is the\n"
           "row)"),
    OPTION("schema", "NAME|FILE",
           "how to read the records: tweet, sensor, air-quality\n"
           "or a file"),
    OPTIONS_OF_TEXTS,
    OPTION("rejects", "FILE", "write rejected records to FILE, unchanged"),
    OPTION("max-errors", "N",
           "stop after more than N rejected records (default:\n"
           "never stop, but exit with 3 if there are any)"),
    OPTION("record-size", "SIZE", "reject records over SIZE (default: 8m)"),
    OPTION_FLAG("resume", "continue after the records that were acknowledged"),
    OPTION("place", "DIR",
           "keep how far each file was sent in DIR (default:\n"
           "~/.local/state/colander/places). One load at a time can\n"
           "use it"),
    OPTION_BROKERS,
    OPTIONS_END,
};

const struct command command_send = {
    .name = "load",
    .words = "kafka://BROKER[:PORT][,...]/TOPIC [FILE...] [OPTION...]\n"
             "       colander load CLUSTER FAMILY [FILE...] [OPTION...]",
    .summary = "send files of JSON, CSV or msgpack to a topic of Kafka",
    .help =
        "Sends records to a topic: those of JSON and msgpack as they are,\n"
        "others as JSON objects. Without a FILE, or with -, reads standard\n"
        "input. A record that cannot be read is rejected, and not sent.\n"
        "\n"
        "With the address of a cluster, s3://BUCKET/PREFIX or file:///PATH,\n"
        "they are sent to the topic of FAMILY. Its definition says what the\n"
        "options --key, --partition-by and --schema say of a topic, and in\n"
        "which format they are sent.\n"
        "\n"
        "Ends once brokers have acknowledged all records, each by all "
        "replicas\n"
        "in sync. A load that was stopped is resumed after those that were\n"
        "acknowledged, and may send some once more: these are marked, so that\n"
        "follow leaves them out. Other readers have to do that themselves.\n",
    .examples =
        "  colander load kafka://b1:9092/tweets tweets.jsonl.gz --key id\n"
        "  colander load kafka://b1:9092/tweets tweets.jsonl.gz --key id "
        "--resume\n"
        "  colander load s3://bucket/prod tweets tweets.jsonl.gz --resume\n"
        "  echo '{\"id\":7}' | colander load s3://bucket/prod tweets --op "
        "delete\n",
    .options = options,
    .store = COMMAND_OPENS,
    .word_count_min = 1,
    .word_count_max = SIZE_MAX - 1,
    .run = run_send,
};

/*
 * The command follow: reads topics of Kafka into a family.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cluster/topic.h"
#include "columns/words.h"
#include "loading/load.h"
#include "node/topic_stream.h"
#include "shell/broker_options.h"
#include "shell/command.h"
#include "shell/commands/keeper.h"
#include "shell/commands/progress.h"
#include "shell/interrupt.h"
#include "shell/load_notes.h"
#include "shell/load_request.h"
#include "shell/stop.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define REJECTS_NAME ".rejects"

struct follow_command {
    const struct session *session;
    struct colander_family *family;
    struct colander_family *rejects;
    struct load_request asked;
    struct broker_options brokers;
    struct topic_reader_options options;
    struct topic_reader *reader;
    struct colander_load_stream stream;
    struct colander_load *load;
    struct progress progress;
    uint64_t partition_by; /* parts of the key */
    struct topic_stream records;
    bool is_cut_off; /* that was said */
};

/* -------------------------------------------------------------- reports --- */

static void
report_reject(void *context, const struct colander_load_reject *reject)
{
    struct follow_command *command = context;
    const struct colander_load_place *place = reject->place;

    if (!progress_prints_reject(&command->progress))
        return;
    session_complain(command->session, SESSION_FINE,
                     "%s/%d offset %" PRId64 ", byte %" PRIu64 ": %s",
                     place->topic, (int)place->partition, place->offset,
                     reject->column, reject->reason);
}

/* Says when no broker answers, and when one answers again. */
static void
report_brokers(struct follow_command *command,
               const struct topic_reader_state *state)
{
    if (state->is_cut_off == command->is_cut_off)
        return;
    command->is_cut_off = state->is_cut_off;
    progress_hide(&command->progress);
    if (state->is_cut_off)
        session_complain(command->session, SESSION_FINE,
                         "no broker answers, trying on: %s", state->trouble);
    else
        session_complain(command->session, SESSION_FINE,
                         "a broker answers again");
}

static void
report_progress(void *context, const struct colander_load_stats *stats)
{
    struct follow_command *command = context;
    struct topic_reader_state state;
    struct report line = REPORT_EMPTY;

    topic_reader_state(command->reader, &state);
    report_brokers(command, &state);
    if (!progress_is_due(&command->progress))
        return;
    progress_add_line(&command->progress, &line, stats);
    report_add(&line, ", %s behind", NUMBER_OF(state.lag, "record"));
    progress_print(&command->progress, &line);
}

static void
summarize(struct follow_command *command)
{
    struct progress_rows rows = {UINT64_MAX, true, "replaced"};
    struct topic_reader_state state;
    struct report report = REPORT_EMPTY;
    const struct colander_load_stats *stats =
        colander_load_stats(command->load);

    topic_reader_state(command->reader, &state);
    progress_end_rejects(&command->progress);
    if (command->asked.options.duplicates == COLANDER_LOAD_PATCH)
        rows.replaced = "patched";
    progress_add_summary(&command->progress, stats, &rows, &report);
    if (stats->patch_count > 0)
        report_add(&report, "; %s",
                   NUMBER_OF(stats->patch_count, "patch record"));
    if (stats->delete_count > 0)
        report_add(&report, "; %s", NUMBER_OF(stats->delete_count, "delete"));
    if (stats->retain_count > 0)
        report_add(&report, "; %s, which deleted %s",
                   NUMBER_OF(stats->retain_count, "retain record"),
                   NUMBER_OF(stats->expired_count, "row"));
    report_add(&report, "; %s behind, in %s", NUMBER_OF(state.lag, "record"),
               NUMBER_OF(state.partition_count, "partition"));
    if (state.sent_twice > 0)
        report_add(&report, "; %s sent twice were left out",
                   NUMBER_OF(state.sent_twice, "record"));
    if (state.lost > 0)
        report_add(&report, "; up to %s lost and skipped",
                   NUMBER_OF(state.lost, "record"));
    (void)!report_print(&report, session_err(command->session), NULL);
    load_notes_print(command->load, session_err(command->session));
}

/* ------------------------------------------------------------------ run --- */

/* Reads --from: beginning, end, or a time. */
static enum colander_code
read_from(const struct arguments *arguments,
          struct topic_reader_options *options, struct colander_error *err)
{
    const char *text = arguments_value(arguments, "from");
    struct colander_times times;

    if (text == NULL || strcmp(text, "beginning") == 0)
        return COLANDER_OK;
    options->from = TOPIC_FROM_END;
    if (strcmp(text, "end") == 0)
        return COLANDER_OK;
    options->from = TOPIC_FROM_TIME;
    if (!colander_times_read(colander_slice_text(text), &times) ||
        times.first.second < 0)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "--from must be beginning, end or a time such as "
                             "2026-01-31T12:00:00Z, not '%s'",
                             text);
    options->from_ms =
        times.first.second * 1000 + times.first.nanosecond / 1000000;
    return COLANDER_OK;
}

static enum colander_code
read_options(struct follow_command *command, const struct arguments *arguments,
             struct colander_error *err)
{
    enum colander_code code =
        load_request_read(&command->asked, command->session, arguments, err);

    command->options.is_once = arguments_has(arguments, "once");
    command->options.restarts = arguments_has(arguments, "restart");
    command->options.skips_lost = arguments_has(arguments, "skip-lost");
    if (code == COLANDER_OK)
        code = read_from(arguments, &command->options, err);
    if (code == COLANDER_OK)
        code = arguments_number(arguments, "partition-by",
                                &command->partition_by, err);
    if (code == COLANDER_OK)
        code = broker_options_read(&command->brokers, arguments,
                                   arguments->words[1], err);
    command->options.brokers = command->brokers.options;
    return code;
}

/* Opens the family, and the one that gets rejected records. Of families by time
 * these are in FAMILY.rejects, too, without the unit. */
static enum colander_code
open_families(struct follow_command *command, const char *name,
              struct colander_error *err)
{
    struct colander_buffer rejects = COLANDER_BUFFER_EMPTY;
    const char *brace = strchr(name, '{');
    size_t size = brace == NULL ? strlen(name) : (size_t)(brace - name);
    enum colander_code code = colander_family_open(command->session->store,
                                                   name, &command->family, err);

    while (size > 0 && brace != NULL && strchr("/-._", name[size - 1]) != NULL)
        size--;
    if (code == COLANDER_OK)
        code = colander_buffer_append(&rejects, name, size, err);
    if (code == COLANDER_OK)
        code = colander_buffer_append(&rejects, REJECTS_NAME,
                                      sizeof(REJECTS_NAME), err);
    if (code == COLANDER_OK)
        code = colander_family_open(command->session->store,
                                    (const char *)rejects.data,
                                    &command->rejects, err);
    colander_buffer_release(&rejects);
    return code;
}

static enum colander_code
open_load(struct follow_command *command, const char *name,
          struct colander_error *err)
{
    struct colander_load_options *options = &command->asked.options;
    enum colander_code code = open_families(command, name, err);

    command->stream = topic_stream(&command->records, command->rejects,
                                   (size_t)command->partition_by);
    options->stream = &command->stream;
    options->report_reject = report_reject;
    options->report_progress = report_progress;
    options->context = command;
    if (code == COLANDER_OK)
        code = colander_load_create(command->session->store, command->family,
                                    options, &command->load, err);
    if (code == COLANDER_OK)
        code = topic_reader_open(command->session->store, command->family,
                                 &command->options, &command->reader, err);
    command->records.reader = command->reader;
    return code;
}

static enum session_exit
conclude(struct follow_command *command, enum colander_code code,
         const struct colander_error *err)
{
    const struct colander_load_options *options = &command->asked.options;
    enum session_exit status = SESSION_FINE;
    uint64_t rejects = 0;

    progress_hide(&command->progress);
    if (code == COLANDER_CANCELLED && interrupt_happened())
        code = COLANDER_OK; /* nothing else ends it */
    if (command->reader != NULL) {
        rejects = colander_load_stats(command->load)->reject_count;
        summarize(command);
    }
    if (code != COLANDER_OK)
        status = session_misused(command->session, err);
    if (code == COLANDER_LIMIT && rejects > options->rejects_max)
        status = SESSION_REJECTED;
    if (status == SESSION_FINE && command->options.is_once &&
        rejects > command->asked.rejects_allowed)
        status = SESSION_REJECTED;
    return status;
}

static enum session_exit
run_follow(struct session *session, const struct arguments *arguments)
{
    struct follow_command command = {.session = session};
    struct keeper *keeper = NULL;
    struct colander_error err;
    enum session_exit status;
    enum colander_code code;

    if (session->client != NULL)
        return session_complain(session, SESSION_USAGE,
                                "a topic is followed by the process that has "
                                "the store open: end the server first");
    code = read_options(&command, arguments, &err);
    command.options.brokers.is_stopped = stop_begin(true);
    progress_begin(&command.progress, session);
    if (code == COLANDER_OK)
        code = open_load(&command, arguments->words[0], &err);
    stop_cancels(command.load);
    if (code == COLANDER_OK)
        code = keeper_start(session, &keeper, &err);
    if (code == COLANDER_OK)
        code = colander_load_run(command.load, &arguments->words[1], 1, &err);
    keeper_stop(keeper);
    stop_end();
    status = conclude(&command, code, &err);
    colander_load_destroy(command.load);
    topic_reader_close(command.reader);
    colander_family_close(command.rejects);
    colander_family_close(command.family);
    broker_options_release(&command.brokers);
    load_request_release(&command.asked);
    return status;
}

static const struct argument_option options[] = {
    OPTION("from", "WHERE",
           "where a partition begins that was not followed before:\n"
           "beginning, end, or a time (default: beginning)"),
    OPTION_FLAG("once",
                "end at what is the end of the topics at the beginning"),
    OPTION_FLAG("restart", "forget how far the topics were followed"),
    OPTION_FLAG("skip-lost",
                "go on if brokers have removed records that were not\n"
                "followed yet"),
    OPTION_BROKERS,
    OPTION("format", "FORMAT",
           "of each record: json or msgpack (default: json)"),
    OPTION_LIST("key", "COL[,COL]",
                "columns that make the key, or :hash, a hash of the\n"
                "record (default: _key, or the record's time, topic,\n"
                "partition and offset)"),
    OPTION("schema", "NAME|FILE",
           "how to read the records: tweet, sensor, air-quality\n"
           "or a file"),
    OPTION_LIST("type", "COL=TYPE",
                "string, integer, number, boolean, time or time:FORMAT,\n"
                "such as at=time:%d.%m.%Y; may be repeated"),
    OPTION_LIST("add", "COL=VALUE",
                "add a column to each record; may be repeated"),
    OPTION("partition", "COL:UNIT",
           "put each row into the family of its time in COL: of its\n"
           "hour, day or month, which FAMILY names: 'logs/{day}'"),
    OPTION("partition-by", "K",
           "reject a record whose Kafka key is not the text of the\n"
           "first K parts of its row's key (default: it may be any)"),
    OPTION("on-duplicate", "WHAT",
           "if the key has a row: replace it, keep it, patch it,\n"
           "or error: reject the record (default: replace)"),
    OPTION("max-errors", "N",
           "stop after more than N rejected records (default:\n"
           "never stop)"),
    OPTION("record-size", "SIZE", "reject records over SIZE (default: 8m)"),
    OPTIONS_END,
};

const struct command command_follow = {
    .name = "follow",
    .words = "FAMILY ADDRESS [OPTION...]",
    .summary = "load what topics of Kafka have, and what they get",
    .help =
        "Loads the records of topics into a family, and then each new one,\n"
        "until Ctrl-C or SIGTERM. ADDRESS is "
        "kafka://BROKER[:PORT][,...]/TOPIC\n"
        "[,TOPIC...]. Records are as load reads them. How far each partition\n"
        "was followed is kept in the store, together with the rows: follow\n"
        "continues there, and each record is loaded once, also if the program\n"
        "is killed.\n"
        "\n"
        "A record that cannot be read becomes a row of the family\n"
        "FAMILY.rejects, with the reason, under its topic, partition and\n"
        "offset. One with the header op: patch or op: delete patches or\n"
        "deletes the row of its key, and a null deletes the row whose key is\n"
        "the text of its Kafka key. One with op: retain deletes old rows. If "
        "records were removed before they were "
        "followed, or a\n"
        "topic was created again, follow says so and ends.\n",
    .examples =
        "  colander follow data tweets kafka://b1:9092/tweets --schema tweet\n"
        "  colander follow data logs kafka://b1,b2,b3/app,db --key id --once\n"
        "  colander follow data logs kafka://b1/app --set "
        "security.protocol=ssl\n",
    .options = options,
    .store = COMMAND_WRITES,
    .word_count_min = 2,
    .run = run_follow,
};

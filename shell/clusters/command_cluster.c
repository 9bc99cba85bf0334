/*
 * The command cluster: creates a cluster, defines its families, and shows what
 * is there.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cluster/definition.h"
#include "columns/words.h"
#include "shell/broker_options.h"
#include "shell/clusters/cluster_repartition.h"
#include "shell/clusters/cluster_retain.h"
#include "shell/clusters/cluster_status.h"
#include "shell/command.h"
#include "shell/interrupt.h"
#include "shell/load_request.h"
#include "shell/report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define RETENTION_SECONDS ((int64_t)7 * 86400)
#define RETENTION_MAX ((int64_t)100 * 365 * 86400)
#define MEMBERS_SECONDS 3600 /* the same, of the topic of the members */
#define REPLICAS 2
#define STATUS_WAIT_MS 10000 /* for brokers */
#define NODES_SECONDS 3      /* nodes are waited for, */
#define NODES_SECONDS_MAX 600

struct cluster_command {
    struct session *session;
    const struct arguments *arguments;
    const char *address;
    struct cluster *cluster; /* but of create */
    struct broker_options brokers;
    char *topic; /* kafka://BROKERS/TOPIC; owned */
    struct topic_wanted wanted;
    struct topic_made made;
    struct report report;
};

/* -------------------------------------------------------------- options --- */

struct action {
    const char *name;
    const char *const *options; /* those it has, then NULL */
    size_t word_count;          /* with its name */
    enum colander_code (*run)(struct cluster_command *command,
                              struct colander_error *err);
};

static enum colander_code
check_options(const struct action *action, const struct arguments *arguments,
              struct colander_error *err)
{
    for (size_t i = 0; i < arguments->choice_count; i++) {
        const char *name = arguments->choices[i].option->name;
        const char *const *known = action->options;

        while (*known != NULL && strcmp(*known, name) != 0)
            known++;
        if (*known == NULL)
            return COLANDER_FAIL(err, COLANDER_INVALID,
                                 "--%s is not an option of 'cluster %s'", name,
                                 action->name);
    }
    return COLANDER_OK;
}

/* Reads a number from 1 up; *number stays if the option is missing. */
static enum colander_code
read_count(const struct arguments *arguments, const char *name, uint32_t most,
           uint32_t *number, struct colander_error *err)
{
    uint64_t read = *number;
    enum colander_code code = arguments_number(arguments, name, &read, err);

    if (code == COLANDER_OK && arguments_has(arguments, name) &&
        (read == 0 || read > most))
        code = COLANDER_FAIL(err, COLANDER_INVALID,
                             "--%s must be 1 to %" PRIu32 ", not %" PRIu64,
                             name, most, read);
    *number = (uint32_t)read;
    return code;
}

/* Reads what a new topic is to be. */
static enum colander_code
read_topic(struct cluster_command *command, struct colander_error *err)
{
    const char *retention =
        arguments_value(command->arguments, "log-retention");
    int64_t seconds = RETENTION_SECONDS;

    if (retention != NULL &&
        (!colander_duration_read(colander_slice_text(retention), &seconds) ||
         seconds <= 0 || seconds > RETENTION_MAX))
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "--log-retention must be a time such as 7d or "
                             "36h, at most 100 years, not '%s'",
                             retention);
    command->wanted.retention_seconds = (uint64_t)seconds;
    command->wanted.is_there = arguments_has(command->arguments, "topic");
    return read_count(command->arguments, "log-replicas", 100,
                      &command->wanted.copy_count, err);
}

/* Opens the cluster, and says how its brokers are reached. */
static enum colander_code
open_cluster(struct cluster_command *command, struct colander_error *err)
{
    enum colander_code code =
        cluster_open(command->address, &command->cluster, err);

    return code == COLANDER_OK
               ? broker_options_add(
                     &command->brokers,
                     &cluster_definition(command->cluster)->settings, err)
               : code;
}

/* --------------------------------------------------------------- topics --- */

/* Returns one text, or NULL. The caller frees it. */
static char *
joined(const char *first, const char *second, const char *third)
{
    char *text;

    return first != NULL && asprintf(&text, "%s%s%s", first, second, third) >= 0
               ? text
               : NULL;
}

/* Creates or checks a topic. */
static enum colander_code
make_topic(struct cluster_command *command, const char *log, const char *name,
           struct colander_error *err)
{
    enum colander_code code;

    free(command->topic);
    command->topic = joined(log, "/", name);
    if (command->topic == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory for an address");
    command->brokers.options.address = command->topic;
    code = topic_create(&command->brokers.options, &command->wanted,
                        &command->made, err);
    if (code == COLANDER_IO && command->made.copy_count > 0) { /* one answers */
        const struct colander_error cause = *err;

        return COLANDER_FAIL(err, code,
                             "%s; one that is there already can be named with "
                             "--topic",
                             cause.message);
    }
    return code;
}

static void
report_topic(struct cluster_command *command, const char *label,
             const char *name)
{
    const struct topic_made *made = &command->made;
    struct report *report = &command->report;

    report_line(report, label, "%s, ", name);
    report_add(report, "%s", made->is_new ? "created: " : "was there: ");
    report_add(report, "%s", NUMBER_OF(made->partition_count, "partition"));
    if (!made->is_new)
        return;
    report_add(report, " on %s", NUMBER_OF(made->copy_count, "broker"));
    if (made->copy_count < 2)
        report_line(report, "note",
                    "a broker that is lost takes its records "
                    "with it: topics should be on three");
}

/* --------------------------------------------------------------- create --- */

/* Returns a copy of the last part of an address, or NULL. */
static char *
last_part(const char *address)
{
    size_t end = strlen(address);
    size_t begin;

    while (end > 0 && address[end - 1] == '/')
        end--;
    begin = end;
    while (begin > 0 && address[begin - 1] != '/')
        begin--;
    return strndup(address + begin, end - begin);
}

static enum colander_code
read_cluster(const struct cluster_command *command,
             struct cluster_definition *definition, struct colander_error *err)
{
    const struct arguments *arguments = command->arguments;
    const char *name = arguments_value(arguments, "name");
    const char *log = arguments_value(arguments, "log");
    const char *topic = arguments_value(arguments, "topic");
    const struct topic_broker_options *brokers = &command->brokers.options;
    enum colander_code code = COLANDER_OK;

    if (log == NULL)
        return COLANDER_FAIL(
            err, COLANDER_INVALID,
            "which brokers? --log kafka://BROKER[:PORT][,...]");
    definition->name =
        name == NULL ? last_part(command->address) : strdup(name);
    definition->log = strdup(log);
    definition->members = topic != NULL
                              ? strdup(topic)
                              : joined(definition->name, "-members", "");
    if (definition->name == NULL || definition->log == NULL ||
        definition->members == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory for a cluster");
    code = cluster_name_check(definition->name, err);
    if (code != COLANDER_OK) {
        colander_error_context(err, "%s",
                               name == NULL ? "the cluster needs "
                                              "another --name"
                                            : "--name");
        return code;
    }
    for (size_t i = 0; i < brokers->setting_count && code == COLANDER_OK; i++) {
        code =
            cluster_pairs_add(&definition->settings, brokers->settings[i], err);
        if (code != COLANDER_OK)
            colander_error_context(err, "--set");
    }
    return code;
}

static enum colander_code
run_create(struct cluster_command *command, struct colander_error *err)
{
    struct cluster_definition definition = {.name = NULL};
    enum colander_code code = read_cluster(command, &definition, err);

    command->wanted.partition_count = 1;
    if (code == COLANDER_OK)
        code = read_topic(command, err);
    if (!arguments_has(command->arguments, "log-retention"))
        command->wanted.retention_seconds = MEMBERS_SECONDS;
    if (code == COLANDER_OK)
        code = cluster_may_create(command->address, &definition, err);
    if (code == COLANDER_OK)
        code = make_topic(command, definition.log, definition.members, err);
    if (code == COLANDER_OK)
        code = cluster_create(command->address, &definition, err);
    if (code == COLANDER_OK) {
        report_line(&command->report, "cluster", "%s, created",
                    definition.name);
        report_line(&command->report, "log", "%s", definition.log);
        report_topic(command, "members", definition.members);
    }
    cluster_definition_release(&definition);
    return code;
}

/* --------------------------------------------------------------- family --- */

/* Copies the schema's text, and its key unless --key says another. */
static enum colander_code
copy_schema(const struct load_request *asked, struct cluster_family *family,
            struct colander_error *err)
{
    const struct colander_schema *schema = asked->schema;
    const struct colander_slice text = schema == NULL
                                           ? colander_slice_of("", 0)
                                           : colander_schema_text(schema);
    enum colander_code code = COLANDER_OK;

    for (size_t i = 0; i < asked->key.count && code == COLANDER_OK; i++)
        code = cluster_texts_add(&family->key, asked->key.paths[i], err);
    for (size_t i = 0;
         schema != NULL && asked->key.count == 0 &&
         colander_schema_key(schema, i) != NULL && code == COLANDER_OK;
         i++)
        code = cluster_texts_add(&family->key, colander_schema_key(schema, i),
                                 err);
    if (code != COLANDER_OK || text.size == 0)
        return code;
    if (memchr(text.data, '\0', text.size) != NULL)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "--schema: the text has a zero byte");
    family->schema = strndup((const char *)text.data, text.size);
    return family->schema != NULL ? COLANDER_OK
                                  : COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                                                  "no memory for a schema");
}

static enum colander_code
copy_types(const struct arguments *arguments, struct cluster_family *family,
           struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    for (size_t i = 0; i < arguments->choice_count && code == COLANDER_OK;
         i++) {
        if (strcmp(arguments->choices[i].option->name, "type") == 0)
            code = cluster_pairs_add(&family->types,
                                     arguments->choices[i].value, err);
    }
    if (code != COLANDER_OK)
        colander_error_context(err, "--type");
    return code;
}

/* Reads how records become rows, and whether loads can do that. */
static enum colander_code
read_rows(const struct cluster_command *command, struct cluster_family *family,
          struct colander_error *err)
{
    struct load_request asked = {.schema = NULL};
    enum colander_code code =
        load_request_read(&asked, command->session, command->arguments, err);

    if (code == COLANDER_OK)
        code = colander_load_options_check(&asked.options, err);
    if (code == COLANDER_OK)
        code = copy_schema(&asked, family, err);
    if (code == COLANDER_OK)
        code = copy_types(command->arguments, family, err);
    load_request_release(&asked);
    return code;
}

static char *
copy_or(const char *value, const char *usual)
{
    return strdup(value == NULL ? usual : value);
}

static enum colander_code
read_family(const struct cluster_command *command,
            struct cluster_family *family, struct colander_error *err)
{
    const struct arguments *arguments = command->arguments;
    const struct cluster_definition *cluster =
        cluster_definition(command->cluster);
    const char *topic = arguments_value(arguments, "topic");
    uint64_t record_size = 0;
    enum colander_code code = read_rows(command, family, err);

    if (code != COLANDER_OK)
        return code;
    family->name = strdup(arguments->words[2]);
    family->format = copy_or(arguments_value(arguments, "format"), "json");
    family->on_duplicate =
        copy_or(arguments_value(arguments, "on-duplicate"), "replace");
    family->topic = topic != NULL
                        ? strdup(topic)
                        : joined(cluster->name, ".", arguments->words[2]);
    if (family->name == NULL || family->format == NULL ||
        family->on_duplicate == NULL || family->topic == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a family");
    family->replica_count = REPLICAS;
    family->partition_by = family->key.count > 0 ? 1 : 0;
    code = read_count(arguments, "partitions", CLUSTER_PARTITIONS_MAX,
                      &family->partition_count, err);
    if (code == COLANDER_OK)
        code = read_count(arguments, "replicas", CLUSTER_REPLICAS_MAX,
                          &family->replica_count, err);
    if (code == COLANDER_OK)
        code = read_count(arguments, "partition-by", COLANDER_KEY_PARTS_MAX,
                          &family->partition_by, err);
    if (code == COLANDER_OK)
        code = arguments_size(arguments, "record-size", &record_size, err);
    if (record_size > UINT32_MAX)
        record_size = UINT32_MAX; /* it is refused */
    family->record_size = (uint32_t)record_size;
    if (family->record_size == CLUSTER_RECORD_SIZE)
        family->record_size = 0; /* a definition has the same bytes */
    if (code == COLANDER_OK && family->partition_count == 0 && topic == NULL)
        code = COLANDER_FAIL(err, COLANDER_INVALID,
                             "how many partitions? --partitions N, about four "
                             "for each node that there will ever be: another "
                             "number takes a stop of all that write to it");
    return code;
}

/* Makes the topic, unless --topic names it, and then defines the family: so one
 * that is defined has a topic. */
static enum colander_code
define(struct cluster_command *command, struct cluster_family *family,
       bool *is_new, struct colander_error *err)
{
    const char *log = cluster_definition(command->cluster)->log;
    bool is_there;
    enum colander_code code = COLANDER_OK;

    command->wanted.partition_count = family->partition_count;
    if (command->wanted.is_there)
        code = make_topic(command, log, family->topic, err);
    if (command->wanted.is_there && code == COLANDER_OK)
        family->partition_count = command->made.partition_count;
    if (code == COLANDER_OK)
        code = cluster_may_define(command->cluster, family, &is_there, err);
    if (code == COLANDER_OK && !command->wanted.is_there)
        code = make_topic(command, log, family->topic, err);
    return code == COLANDER_OK
               ? cluster_define(command->cluster, family, is_new, err)
               : code;
}

static enum colander_code
run_family(struct cluster_command *command, struct colander_error *err)
{
    struct cluster_family family = {.name = NULL};
    bool is_new = false;
    enum colander_code code =
        cluster_name_check(command->arguments->words[2], err);

    if (code == COLANDER_OK)
        code = read_topic(command, err);
    if (code == COLANDER_OK)
        code = open_cluster(command, err);
    if (code == COLANDER_OK)
        code = read_family(command, &family, err);
    if (code == COLANDER_OK)
        code = define(command, &family, &is_new, err);
    if (code == COLANDER_OK) {
        report_line(&command->report, "family", "%s, %s", family.name,
                    is_new ? "defined" : "was defined so before");
        report_topic(command, "topic", family.topic);
    }
    cluster_family_release(&family);
    return code;
}

/* --------------------------------------------------------------- retain --- */

static enum colander_code
run_retain(struct cluster_command *command, struct colander_error *err)
{
    enum colander_code code = open_cluster(command, err);

    return code == COLANDER_OK
               ? cluster_retain(command->session, command->arguments,
                                command->cluster, &command->brokers.options,
                                &command->report, err)
               : code;
}

/* ---------------------------------------------------------- repartition --- */

#ifdef COLANDER_SERVER
static enum colander_code
run_repartition(struct cluster_command *command, struct colander_error *err)
{
    const struct arguments *arguments = command->arguments;
    struct repartition_options options = {
        .family = arguments->words[2],
        .directory = arguments_value(arguments, "dir"),
        .topic = arguments_value(arguments, "topic"),
        .address = command->address,
        .setting_count = command->brokers.options.setting_count,
    };
    enum colander_code code = read_topic(command, err);

    if (code == COLANDER_OK)
        code = read_count(arguments, "partitions", CLUSTER_PARTITIONS_MAX,
                          &options.partition_count, err);
    if (code == COLANDER_OK && options.partition_count == 0)
        code = COLANDER_FAIL(err, COLANDER_INVALID,
                             "how many partitions? --partitions N");
    if (code == COLANDER_OK && options.directory == NULL)
        code = COLANDER_FAIL(err, COLANDER_INVALID,
                             "where is room for all rows? --dir DIR");
    if (code == COLANDER_OK)
        code = open_cluster(command, err);
    options.wanted = command->wanted;
    options.brokers = command->brokers.options;
    options.settings = options.brokers.settings; /* the cluster's are first */
    options.settings += options.brokers.setting_count - options.setting_count;
    return code == COLANDER_OK
               ? cluster_repartition(command->session, command->cluster,
                                     &options, &command->report, err)
               : code;
}
#else
static enum colander_code
run_repartition(struct cluster_command *command, struct colander_error *err)
{
    (void)command;
    return COLANDER_FAIL(err, COLANDER_INVALID,
                         "this program was built without nodes: "
                         "COLANDER_SERVER=OFF");
}
#endif

/* --------------------------------------------------------------- status --- */

static enum colander_code
read_wait(const struct arguments *arguments, unsigned *wait_ms,
          struct colander_error *err)
{
    const char *text = arguments_value(arguments, "wait");
    int64_t seconds = NODES_SECONDS;

    if (text != NULL &&
        (!colander_duration_read(colander_slice_text(text), &seconds) ||
         seconds <= 0 || seconds > NODES_SECONDS_MAX))
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "--wait must be a time such as 10s, at most ten "
                             "minutes, not '%s'",
                             text);
    *wait_ms = (unsigned)seconds * 1000;
    return COLANDER_OK;
}

/* Finds the cluster of the node in whose server a client's command runs. */
static enum colander_code
find_cluster(struct cluster_command *command, struct colander_error *err)
{
    const struct session *session = command->session;
    const struct topic_broker_options *known = session->cluster_brokers;

    if (session->client == NULL)
        return COLANDER_OK;
    if (session->cluster == NULL)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "this server is not a node of a cluster");
    if (arguments_has(command->arguments, "set") ||
        arguments_has(command->arguments, "settings"))
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "--set and --settings are those of the node");
    command->address = session->cluster;
    command->brokers.options = *known;
    return COLANDER_OK;
}

static enum colander_code
run_status(struct cluster_command *command, struct colander_error *err)
{
    struct cluster_status_options options = {
        .session = command->session,
        .brokers = &command->brokers.options,
        .is_json = arguments_has(command->arguments, "json"),
    };
    struct cluster_status_found found = {false, 0};
    enum colander_code code =
        read_wait(command->arguments, &options.wait_ms, err);

    if (code == COLANDER_OK)
        code = find_cluster(command, err);
    if (code == COLANDER_OK)
        code = open_cluster(command, err);
    options.cluster = command->cluster;
    command->brokers.options.wait_ms = STATUS_WAIT_MS;
    if (code == COLANDER_OK)
        code = cluster_status_print(&options, &found, err);
    if (code == COLANDER_OK && found.is_damaged)
        code =
            COLANDER_FAIL(err, COLANDER_CORRUPT, "something could not be read");
    else if (code == COLANDER_OK && found.lack_count > 0)
        code = COLANDER_FAIL(err, COLANDER_NOT_FOUND, "something is missing");
    return code;
}

/* ------------------------------------------------------------------ run --- */

static const char *const create_options[] = {
    "log",           "name", "topic",    "log-replicas",
    "log-retention", "set",  "settings", NULL,
};

static const char *const family_options[] = {
    "partitions",    "replicas", "key",      "partition-by", "schema",
    "type",          "format",   "topic",    "on-duplicate", "log-replicas",
    "log-retention", "set",      "settings", "record-size",  NULL,
};

static const char *const retain_options[] = {
    "older-than", "before", "time", "yes", "set", "settings", NULL,
};

static const char *const repartition_options[] = {
    "partitions",    "dir", "topic",    "log-replicas",
    "log-retention", "set", "settings", NULL,
};

static const char *const status_options[] = {"json", "wait", "set", "settings",
                                             NULL};

static const struct action actions[] = {
    {"create", create_options, 2, run_create},
    {"family", family_options, 3, run_family},
    {"retain", retain_options, 3, run_retain},
    {"repartition", repartition_options, 3, run_repartition},
    {"status", status_options, 2, run_status},
    {NULL, NULL, 0, NULL},
};

static enum colander_code
find_action(const struct arguments *arguments, const struct action **action,
            struct colander_error *err)
{
    const struct action *found = actions;

    while (found->name != NULL && strcmp(found->name, arguments->words[0]) != 0)
        found++;
    *action = found;
    if (found->name == NULL)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "'cluster %s' is not known: create, family, "
                             "retain, repartition or status",
                             arguments->words[0]);
    if (arguments->word_count < found->word_count)
        return COLANDER_FAIL(err, COLANDER_INVALID, "NAME is missing");
    if (arguments->word_count > found->word_count)
        return COLANDER_FAIL(err, COLANDER_INVALID, "unexpected argument '%s'",
                             arguments->words[found->word_count]);
    return check_options(found, arguments, err);
}

/* Has a node do it, whose address is the second word. */
static enum session_exit
run_at_node(struct session *session, const struct arguments *arguments)
{
    struct arguments shifted = *arguments;
    enum session_exit status = SESSION_FINE;

    if (strcmp(arguments->words[0], "status") != 0)
        return session_complain(session, SESSION_USAGE,
                                "a node only shows the status: 'cluster %s' "
                                "needs the address of the cluster",
                                arguments->words[0]);
    arguments_shift(&shifted);
    (void)command_run_elsewhere(session, &shifted, &status);
    return status;
}

static enum session_exit
run_cluster(struct session *session, const struct arguments *arguments)
{
    struct cluster_command command = {.session = session,
                                      .arguments = arguments,
                                      .address = arguments->words[1],
                                      .report = REPORT_EMPTY};
    const struct action *action;
    struct colander_error err;
    enum colander_code code = find_action(arguments, &action, &err);

    if (code == COLANDER_OK && session->client == NULL &&
        command_is_elsewhere(command.address))
        return run_at_node(session, arguments);
    if (code == COLANDER_OK && session->client != NULL &&
        action->run != run_status)
        code = COLANDER_FAIL(&err, COLANDER_INVALID,
                             "a node only shows the status");
    if (code == COLANDER_OK && session->client == NULL)
        code = broker_options_read(&command.brokers, arguments, NULL, &err);
    if (session->client == NULL)
        interrupt_ends_program();
    if (code == COLANDER_OK)
        code = action->run(&command, &err);
    if (code == COLANDER_OK)
        code = report_print(&command.report, session_out(session), &err);
    else
        report_release(&command.report);
    cluster_close(command.cluster);
    broker_options_release(&command.brokers);
    free(command.topic);
    return code == COLANDER_OK ? SESSION_FINE : session_misused(session, &err);
}

static const struct argument_option options[] = {
    OPTION_GROUP("of create"),
    OPTION("log", "kafka://BROKER[:PORT][,...]", "brokers that keep the log"),
    OPTION("name", "NAME",
           "of the cluster (default: the last part of ADDRESS)"),
    OPTION_GROUP("of family"),
    OPTION("partitions", "N",
           "of its topic, and of the family; about four for each\n"
           "node that there will ever be"),
    OPTION("replicas", "N", "how many nodes have each partition (default: 2)"),
    OPTION_LIST("key", "COL[,COL]",
                "columns that make the key of a row (default: those of\n"
                "the schema; if there are none, a row gets the key\n"
                "[time, topic, partition, offset])"),
    OPTION("partition-by", "N",
           "rows with the same first N columns of the key are in\n"
           "one partition (default: 1)"),
    OPTION("schema", "NAME|FILE",
           "how to read the records: tweet, sensor, air-quality\n"
           "or a file. The cluster keeps its text"),
    OPTION_LIST("type", "COL=TYPE",
                "string, integer, number, boolean, time or time:FORMAT;\n"
                "may be repeated"),
    OPTION("format", "FORMAT",
           "of each record: json or msgpack (default: json)"),
    OPTION("on-duplicate", "WHAT",
           "if the key has a row: replace it, keep it, patch it,\n"
           "or error: reject the record (default: replace)"),
    OPTION("record-size", "SIZE", "reject records over SIZE (default: 8m)"),
    OPTION_GROUP("of both"),
    OPTION("topic", "NAME",
           "use this topic, which is there, instead of creating\n"
           "NAME-members, or CLUSTER.NAME of a family"),
    OPTION("log-replicas", "N",
           "how many brokers have each record of a new topic\n"
           "(default: 3, or all if there are fewer)"),
    OPTION("log-retention", "TIME",
           "how long brokers keep records of a new topic, such as\n"
           "36h (default: 7d; of NAME-members: 1h)"),
    OPTION_GROUP("of repartition"),
    OPTION("dir", "DIR",
           "where its partitions are made as they are now: it\n"
           "needs room for all rows, and can be removed later"),
    OPTION_GROUP("of retain"),
    OPTION("older-than", "TIME",
           "rows that are older go, by the clock of this machine,\n"
           "such as 30d"),
    OPTION("before", "TIME", "rows before that time go, such as 2026-01-31"),
    OPTION("time", "COL",
           "the column with the times of rows (that of the family's schema)"),
    OPTION_FLAG("yes", "do not ask at a terminal"),
    OPTION_GROUP("of all"),
    OPTION_BROKERS,
    OPTION_GROUP("of status"),
    OPTION_FLAG("json", "print a line of JSON for the cluster, one for each\n"
                        "family, and one for what is missing"),
    OPTION("wait", "DURATION",
           "for nodes that were there, and may be gone: longer than\n"
           "a fifth of what they have as --lost-after (default: 3s)"),
    OPTIONS_END,
};

const struct command command_cluster = {
    .name = "cluster",
    .words = "create|family|retain|repartition|status ADDRESS [NAME] "
             "[OPTION...]",
    .summary = "create a cluster, define its families, show what is there",
    .help =
        "A cluster is at ADDRESS, s3://BUCKET/PREFIX or file:///PATH, where\n"
        "checkpoints of its partitions are kept, and has a log: topics of "
        "Kafka.\n"
        "\n"
        "create makes a cluster, and the topic by which its nodes know of "
        "each\n"
        "other. With --set the options of librdkafka are kept for all who use\n"
        "the cluster; passwords are not, and belong in a --settings file on\n"
        "each machine.\n"
        "\n"
        "family defines the family NAME: its topic, which is created, and how\n"
        "records there become rows. A definition never changes, but for the\n"
        "number of partitions.\n"
        "\n"
        "retain deletes the old rows of the family NAME: it sends a record to\n"
        "all partitions of its topic, by which each node deletes the same "
        "rows.\n"
        "\n"
        "repartition gives the family NAME another number of partitions: it "
        "sends\n"
        "all rows to a new topic, which is then that of the family. Stop what\n"
        "writes to the old one before.\n"
        "\n"
        "status shows the nodes that are alive, the families, and of each\n"
        "partition which nodes have it and how far they are, the newest\n"
        "checkpoint, and the offsets that the log has. Then it says what is\n"
        "missing, and what to do. The exit status is 4 if something cannot be\n"
        "read, and 1 if something is missing. ADDRESS may be that of a node,\n"
        "http://HOST:PORT, which then looks.\n",
    .examples =
        "  colander cluster create s3://bucket/prod --log "
        "kafka://b1:9092,b2:9092\n"
        "  colander cluster family s3://bucket/prod tweets --partitions 16 \\\n"
        "      --key id --schema tweet\n"
        "  colander cluster retain s3://bucket/prod tweets --older-than 30d "
        "\\\n"
        "      --time created_at\n"
        "  colander cluster status s3://bucket/prod\n"
        "  colander cluster status http://10.0.0.7:7411\n",
    .options = options,
    .store = COMMAND_OPENS,
    .runs_at_node = true,
    .word_count_min = 2,
    .word_count_max = 3,
    .run = run_cluster,
};

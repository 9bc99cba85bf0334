/* See cluster_status.h. SPDX-License-Identifier: MIT */
#include "shell/clusters/cluster_status.h"
#include "cluster/cluster.h"
#include "cluster/survey.h"
#include "columns/json.h"
#include "core/clock.h"
#include "shell/report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define LOOK_NS 20000000 /* between two looks at what was heard */
#define LOST_WAITS 20    /* after which one is lost that was heard */

/* The newest checkpoint of a partition. */
struct newest {
    struct cluster_backup backup; /* without a number: there is none */
    char problem[300];
};

/* What is known of a family. */
struct known {
    struct cluster_family family;
    char *problem;           /* why it cannot be read; NULL: it can */
    const char *name;        /* borrowed */
    struct newest *newest;   /* by partition */
    struct topic_ends *ends; /* the same; NULL: unknown */
    size_t end_count;
    int64_t retention_ms;  /* of the topic; negative: unknown */
    char log_problem[600]; /* why ends are unknown */
};

struct status {
    const struct session *session;
    struct cluster *cluster;
    const struct topic_broker_options *brokers;
    unsigned wait_ms; /* for nodes that may be there */
    struct report report;
    struct colander_row_builder *builder; /* of lines of JSON; NULL: none */
    struct known *families;
    size_t family_count;
    struct member *members;
    size_t member_count;
    bool has_survey;
    struct survey survey;
    char members_problem[600];   /* why there is none */
    struct survey_places places; /* of the partition that is looked at */
    struct cluster_texts lacks;  /* sentences about what is missing */
    bool is_damaged;
    bool is_cut_off; /* no broker answers */
    bool is_short;   /* of memory for lacks */
};

/* -------------------------------------------------------------- looking --- */

static enum colander_code
keep_newest(void *context, const struct cluster_backup *backup,
            struct colander_error *err)
{
    struct newest *newest = context;

    (void)err;
    newest->backup = *backup;
    newest->backup.problem = NULL;
    (void)snprintf(newest->problem, sizeof(newest->problem), "%s",
                   backup->problem == NULL ? "" : backup->problem);
    return COLANDER_OK;
}

static enum colander_code
find_newest(struct status *status, struct known *known,
            struct colander_error *err)
{
    const uint32_t count = known->family.partition_count;
    enum colander_code code = COLANDER_OK;

    known->newest = calloc(count, sizeof(*known->newest));
    if (known->newest == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a status");
    for (uint32_t i = 0; i < count && code == COLANDER_OK; i++) {
        char *address;

        code = cluster_partition_address(status->cluster, known->family.name, i,
                                         &address, err);
        if (code == COLANDER_OK)
            code = cluster_list(address, keep_newest, &known->newest[i], err);
        free(address);
        status->is_damaged |= known->newest[i].problem[0] != '\0';
    }
    return code;
}

/* Asks brokers for the ends of the topic, until none answers. */
static void
find_ends(struct status *status, struct known *known)
{
    struct topic_broker_options brokers = *status->brokers;
    struct colander_error err;
    char *address;

    if (status->is_cut_off) {
        (void)snprintf(known->log_problem, sizeof(known->log_problem),
                       "not asked, as no broker answers");
        return;
    }
    if (asprintf(&address, "%s/%s", cluster_definition(status->cluster)->log,
                 known->family.topic) < 0)
        return;
    brokers.address = address;
    if (topic_ends(&brokers, &known->ends, &known->end_count,
                   &known->retention_ms, &err) != COLANDER_OK) {
        status->is_cut_off = err.code == COLANDER_IO;
        (void)snprintf(known->log_problem, sizeof(known->log_problem), "%s",
                       err.message);
    } else if (known->end_count != known->family.partition_count) {
        (void)snprintf(known->log_problem, sizeof(known->log_problem),
                       "topic '%s' has %zu partitions now, not %" PRIu32,
                       known->family.topic, known->end_count,
                       known->family.partition_count);
    }
    status->is_damaged |= known->log_problem[0] != '\0';
    free(address);
}

static enum colander_code
read_family(struct status *status, struct known *known, const char *name,
            struct colander_error *err)
{
    struct colander_error problem;
    enum colander_code code;

    known->name = name;
    known->retention_ms = -1;
    code = cluster_family(status->cluster, name, &known->family, &problem);
    if (code == COLANDER_NO_MEMORY || code == COLANDER_IO)
        return COLANDER_FAIL(err, code, "%s", problem.message);
    if (code != COLANDER_OK) {
        status->is_damaged = true;
        known->problem = strdup(problem.message);
        return known->problem != NULL
                   ? COLANDER_OK
                   : COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory");
    }
    code = find_newest(status, known, err);
    if (code == COLANDER_OK)
        find_ends(status, known);
    return code;
}

static enum colander_code
read_families(struct status *status, const struct cluster_texts *names,
              struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    status->families = calloc(names->count + 1, sizeof(*status->families));
    if (status->families == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a status");
    for (size_t i = 0; i < names->count && code == COLANDER_OK; i++)
        code = read_family(status, &status->families[status->family_count++],
                           names->items[i], err);
    return code;
}

static void
release_families(struct status *status)
{
    for (size_t i = 0; i < status->family_count; i++) {
        struct known *known = &status->families[i];

        cluster_family_release(&known->family);
        free(known->problem);
        free(known->newest);
        free(known->ends);
    }
    free(status->families);
}

/* ---------------------------------------------------------------- nodes --- */

/* Waits until all nodes that may be there were heard, or brokers do not
 * answer. */
static void
await_nodes(struct status *status, struct members *members)
{
    const struct timespec pause = {0, LOOK_NS};
    const uint64_t wait_us = status->brokers->wait_ms * UINT64_C(1000);
    const uint64_t begun = clock_us();
    struct members_state state;

    members_state(members, &state);
    while (!state.has_settled && !status->is_cut_off &&
           clock_us() - begun < wait_us) {
        (void)nanosleep(&pause, NULL);
        members_state(members, &state);
    }
    if (state.has_settled)
        return;
    status->is_damaged = true;
    (void)snprintf(status->members_problem, sizeof(status->members_problem),
                   "topic '%s' could not be read%s%s",
                   cluster_definition(status->cluster)->members,
                   state.problem[0] != '\0' ? ": " : "", state.problem);
}

/* Takes what nodes say. */
static enum colander_code
hear_nodes(struct status *status, struct members *members,
           struct colander_error *err)
{
    enum colander_code code;

    if (members != NULL)
        await_nodes(status, members);
    if (status->members_problem[0] != '\0')
        return COLANDER_OK;
    code = members_list(members, &status->members, &status->member_count, err);
    if (code != COLANDER_OK)
        return code;
    status->has_survey = true;
    return survey_init(&status->survey, status->members, status->member_count,
                       err);
}

/* Begins to listen, reads what objects and log have, and then has heard what
 * nodes say. */
static enum colander_code
look(struct status *status, const struct cluster_texts *names,
     struct colander_error *err)
{
    const struct cluster_definition *definition =
        cluster_definition(status->cluster);
    struct members_options options = {.brokers = *status->brokers,
                                      .cluster = definition->id,
                                      .say_ms = status->wait_ms / 2,
                                      .lost_ms = LOST_WAITS * status->wait_ms};
    struct members *members = NULL;
    struct colander_error problem;
    char *topic;
    enum colander_code code;

    if (asprintf(&topic, "%s/%s", definition->log, definition->members) < 0)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a topic");
    options.brokers.address = topic;
    code = members_open(&options, &members, &problem);
    if (code == COLANDER_NO_MEMORY) {
        (void)COLANDER_FAIL(err, code, "%s", problem.message);
    } else if (code != COLANDER_OK) {
        status->is_damaged = true;
        (void)snprintf(status->members_problem, sizeof(status->members_problem),
                       "%s", problem.message);
        code = COLANDER_OK;
    }
    if (code == COLANDER_OK)
        code = read_families(status, names, err);
    if (code == COLANDER_OK)
        code = hear_nodes(status, members, err);
    members_close(members);
    free(topic);
    return code;
}

/* ------------------------------------------------------------- missing --- */

static void
keep_sentence(void *context, const char *sentence)
{
    struct status *status = context;

    if (cluster_texts_add(&status->lacks, sentence, NULL) != COLANDER_OK)
        status->is_short = true;
}

static enum colander_code
judge_partition(struct status *status, const struct known *known,
                uint32_t number, struct colander_error *err)
{
    const struct newest *newest = &known->newest[number];
    const bool has_ends = number < known->end_count;
    const struct survey_log log = {
        .low = has_ends ? known->ends[number].low : -1,
        .high = has_ends ? known->ends[number].high : -1,
        .retention_ms = known->retention_ms,
        .checkpoint = (int64_t)newest->backup.number - 1,
        .checkpoint_time = newest->backup.made,
        .now = (int64_t)time(NULL),
    };
    enum colander_code code = COLANDER_OK;

    if (status->has_survey)
        code = survey_find(&status->survey, &known->family, number,
                           &status->places, err);
    if (status->has_survey && code == COLANDER_OK)
        survey_partition_lacks(&status->survey, &known->family, number,
                               &status->places, keep_sentence, status);
    survey_log_lacks(&known->family, number, &log, keep_sentence, status);
    return code;
}

/* Finds out what is missing. */
static enum colander_code
judge(struct status *status, struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    if (status->has_survey)
        survey_lacks(&status->survey, keep_sentence, status);
    for (size_t i = 0; i < status->family_count && code == COLANDER_OK; i++) {
        const struct known *known = &status->families[i];

        if (known->problem != NULL)
            continue;
        if (status->has_survey)
            survey_family_lacks(&status->survey, &known->family, keep_sentence,
                                status);
        for (uint32_t j = 0;
             j < known->family.partition_count && code == COLANDER_OK; j++)
            code = judge_partition(status, known, j, err);
    }
    if (code == COLANDER_OK && status->is_short)
        code = COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a status");
    return code;
}

/* ----------------------------------------------------------- for people --- */

static void
format_time(int64_t seconds, char text[32])
{
    const time_t time = (time_t)seconds;
    struct tm utc;

    (void)gmtime_r(&time, &utc);
    (void)strftime(text, 32, "%Y-%m-%dT%H:%M:%SZ", &utc);
}

/* Adds how long ago that was, by this machine's clock. */
static void
add_age(struct report *report, int64_t seconds)
{
    static const struct {
        int64_t seconds;
        const char *name;
    } units[] = {{86400, "day"}, {3600, "hour"}, {60, "minute"}, {1, "second"}};
    const int64_t now = (int64_t)time(NULL);
    const int64_t age = now < seconds ? 0 : now - seconds;
    size_t i = 0;

    while (i < 3 && age < 2 * units[i].seconds)
        i++;
    report_add(report, " (%s ago)",
               NUMBER_OF((uint64_t)(age / units[i].seconds), units[i].name));
}

/* Adds where a partition is at a node. */
static void
add_place(struct report *report, const struct survey_place *place)
{
    const struct node_text_partition *said = place->said;

    report_add(report, "%s", place->node->name);
    if (said == NULL) {
        report_add(report, " has not begun");
        return;
    }
    if (said->phase == NODE_TEXT_STOPPED)
        report_add(report, " has stopped");
    else if (said->phase == NODE_TEXT_WAITING)
        report_add(report, " waits");
    else if (said->phase == NODE_TEXT_OPENING)
        report_add(report, " opens it");
    if (said->applied >= 0)
        report_add(report, " at %" PRId64, said->applied);
    else if (said->is_served)
        report_add(report, " is up to date");
    if (said->lag > 0)
        report_add(report, " (%s to go)", THOUSANDS((uint64_t)said->lag));
}

/* Adds where a partition is. */
static enum colander_code
add_places(struct status *status, const struct known *known, uint32_t number,
           struct colander_error *err)
{
    struct survey_places *places = &status->places;
    enum colander_code code =
        survey_find(&status->survey, &known->family, number, places, err);

    for (size_t i = 0; code == COLANDER_OK && i < places->count; i++) {
        report_add(&status->report, "%s%s", i == 0 ? "" : ", ",
                   places->items[i].is_owner ? "" : "also ");
        add_place(&status->report, &places->items[i]);
    }
    if (code == COLANDER_OK && places->count > 0)
        report_add(&status->report, "; ");
    return code;
}

static enum colander_code
add_partition(struct status *status, const struct known *known, uint32_t number,
              struct colander_error *err)
{
    const struct newest *newest = &known->newest[number];
    struct report *report = &status->report;
    enum colander_code code = COLANDER_OK;
    char label[16];
    char made[32];

    (void)snprintf(label, sizeof(label), "  %04" PRIu32, number);
    format_time(newest->backup.made, made);
    report_line(report, label, "%s", "");
    if (status->has_survey)
        code = add_places(status, known, number, err);
    if (newest->backup.number == 0) {
        report_add(report, "no checkpoint");
    } else {
        report_add(report, "checkpoint at %" PRIu64 " of %s",
                   newest->backup.number - 1, made);
        add_age(report, newest->backup.made);
        if (newest->problem[0] != '\0')
            report_add(report, ", %s", newest->problem);
        else
            report_add(report, ", %s", SIZE_OF(newest->backup.size));
    }
    if (number < known->end_count)
        report_add(report, "; the log has offsets %" PRId64 " to %" PRId64,
                   known->ends[number].low, known->ends[number].high);
    return code;
}

static enum colander_code
add_family(struct status *status, const struct known *known,
           struct colander_error *err)
{
    const struct cluster_family *family = &known->family;
    struct report *report = &status->report;
    enum colander_code code = COLANDER_OK;

    if (known->problem != NULL) {
        report_line(report, "family", "%s: %s", known->name, known->problem);
        return COLANDER_OK;
    }
    report_line(report, "family", "%s: topic %s, %s, %s", family->name,
                family->topic, NUMBER_OF(family->partition_count, "partition"),
                NUMBER_OF(family->replica_count, "replica"));
    for (size_t i = 0; i < family->key.count; i++)
        report_add(report, "%s%s", i == 0 ? ", key " : ",",
                   family->key.items[i]);
    if (known->log_problem[0] != '\0')
        report_line(report, "  log", "%s", known->log_problem);
    for (uint32_t i = 0; i < family->partition_count && code == COLANDER_OK;
         i++)
        code = add_partition(status, known, i, err);
    return code;
}

static void
add_nodes(struct status *status)
{
    struct report *report = &status->report;

    if (!status->has_survey) {
        report_line(report, "nodes", "%s", status->members_problem);
        return;
    }
    report_line(report, "nodes", "%s alive",
                status->survey.count == 0 ? "none"
                                          : THOUSANDS(status->survey.count));
    for (size_t i = 0; i < status->survey.count; i++) {
        const struct survey_node *node = &status->survey.nodes[i];

        report_line(report, "  node", "%s at %s", node->name,
                    node->said.address);
        if (node->said.version[0] != '\0')
            report_add(report, ", version %s", node->said.version);
        report_add(report, ", %s, heard %s ago",
                   NUMBER_OF(node->said.count, "partition"),
                   TIME_OF(node->age_ms * 1000));
    }
}

/* Adds all of it. */
static enum colander_code
add_all(struct status *status, struct colander_error *err)
{
    const struct cluster_definition *definition =
        cluster_definition(status->cluster);
    struct report *report = &status->report;
    enum colander_code code = COLANDER_OK;

    report_line(report, "cluster", "%s, %s %s", definition->name,
                THOUSANDS(status->family_count),
                status->family_count == 1 ? "family" : "families");
    report_line(report, "log", "%s", definition->log);
    add_nodes(status);
    for (size_t i = 0; i < status->family_count && code == COLANDER_OK; i++)
        code = add_family(status, &status->families[i], err);
    for (size_t i = 0; i < status->lacks.count; i++)
        report_line(report, "missing", "%s", status->lacks.items[i]);
    return code == COLANDER_OK
               ? report_print(report, session_out(status->session), err)
               : code;
}

/* ----------------------------------------------------------------- JSON --- */

/* Prints what the builder has, as a line. */
static enum colander_code
print_line(struct status *status, struct colander_error *err)
{
    struct colander_buffer json = COLANDER_BUFFER_EMPTY;
    struct colander_value value = {.type = COLANDER_MAP};
    FILE *out = session_out(status->session);
    enum colander_code code =
        colander_row_builder_finish(status->builder, &value.bytes, err);

    if (code == COLANDER_OK)
        code = colander_json_append_value(&json, &value, err);
    if (code == COLANDER_OK)
        fprintf(out, "%.*s\n", (int)json.size, (const char *)json.data);
    colander_buffer_release(&json);
    return code == COLANDER_OK ? output_flush(out, err) : code;
}

static enum colander_code
build_partition(struct status *status, const struct known *known,
                uint32_t number, struct colander_error *err)
{
    struct colander_row_builder *builder = status->builder;
    const struct newest *newest = &known->newest[number];
    enum colander_code code = COLANDER_OK;

    colander_row_builder_begin_map(builder, NULL);
    colander_row_builder_add(builder, "partition", colander_integer(number));
    if (newest->backup.number != 0) {
        colander_row_builder_begin_map(builder, "checkpoint");
        colander_row_builder_add(builder, "number",
                                 colander_unsigned(newest->backup.number));
        colander_row_builder_add(builder, "offset",
                                 colander_unsigned(newest->backup.number - 1));
        colander_row_builder_add(builder, "made",
                                 colander_timestamp(newest->backup.made, 0));
        if (newest->problem[0] != '\0')
            colander_row_builder_add(builder, "problem",
                                     colander_text(newest->problem));
        else
            colander_row_builder_add(builder, "bytes",
                                     colander_unsigned(newest->backup.size));
        colander_row_builder_end(builder);
    }
    if (number < known->end_count) {
        colander_row_builder_add(builder, "low",
                                 colander_integer(known->ends[number].low));
        colander_row_builder_add(builder, "high",
                                 colander_integer(known->ends[number].high));
    }
    if (status->has_survey) {
        code = survey_find(&status->survey, &known->family, number,
                           &status->places, err);
        if (code == COLANDER_OK)
            survey_build_places(&status->places, builder);
    }
    colander_row_builder_end(builder);
    return code;
}

static enum colander_code
print_family(struct status *status, const struct known *known,
             struct colander_error *err)
{
    struct colander_row_builder *builder = status->builder;
    const struct cluster_family *family = &known->family;
    enum colander_code code = COLANDER_OK;

    colander_row_builder_add(builder, "family", colander_text(known->name));
    if (known->problem != NULL) {
        colander_row_builder_add(builder, "problem",
                                 colander_text(known->problem));
        return print_line(status, err);
    }
    colander_row_builder_add(builder, "topic", colander_text(family->topic));
    if (known->retention_ms >= 0)
        colander_row_builder_add(builder, "retention_ms",
                                 colander_integer(known->retention_ms));
    colander_row_builder_add(builder, "replicas",
                             colander_integer(family->replica_count));
    colander_row_builder_begin_array(builder, "key");
    for (size_t i = 0; i < family->key.count; i++)
        colander_row_builder_add(builder, NULL,
                                 colander_text(family->key.items[i]));
    colander_row_builder_end(builder);
    if (known->log_problem[0] != '\0')
        colander_row_builder_add(builder, "log_problem",
                                 colander_text(known->log_problem));
    colander_row_builder_begin_array(builder, "partitions");
    for (uint32_t i = 0; i < family->partition_count && code == COLANDER_OK;
         i++)
        code = build_partition(status, known, i, err);
    colander_row_builder_end(builder);
    return code == COLANDER_OK ? print_line(status, err) : code;
}

/* Prints all of it. */
static enum colander_code
print_all(struct status *status, struct colander_error *err)
{
    const struct cluster_definition *definition =
        cluster_definition(status->cluster);
    struct colander_row_builder *builder = status->builder;
    enum colander_code code;

    colander_row_builder_add(builder, "cluster",
                             colander_text(definition->name));
    colander_row_builder_add(builder, "log", colander_text(definition->log));
    colander_row_builder_add(builder, "members",
                             colander_text(definition->members));
    if (status->has_survey)
        survey_build_nodes(&status->survey, builder);
    else
        colander_row_builder_add(builder, "members_problem",
                                 colander_text(status->members_problem));
    code = print_line(status, err);
    for (size_t i = 0; i < status->family_count && code == COLANDER_OK; i++)
        code = print_family(status, &status->families[i], err);
    if (code != COLANDER_OK)
        return code;
    colander_row_builder_begin_array(builder, "missing");
    for (size_t i = 0; i < status->lacks.count; i++)
        colander_row_builder_add(builder, NULL,
                                 colander_text(status->lacks.items[i]));
    colander_row_builder_end(builder);
    return print_line(status, err);
}

/* --------------------------------------------------------------- status --- */

enum colander_code
cluster_status_print(const struct cluster_status_options *options,
                     struct cluster_status_found *found,
                     struct colander_error *err)
{
    struct status status = {.session = options->session,
                            .cluster = options->cluster,
                            .brokers = options->brokers,
                            .wait_ms = options->wait_ms,
                            .report = REPORT_EMPTY};
    struct cluster_texts names = {NULL, 0, 0};
    enum colander_code code =
        cluster_family_names(options->cluster, &names, err);

    if (options->is_json && code == COLANDER_OK) {
        status.builder = colander_row_builder_create();
        if (status.builder == NULL)
            code = COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                                 "no memory for a status");
    }
    if (code == COLANDER_OK)
        code = look(&status, &names, err);
    if (code == COLANDER_OK)
        code = judge(&status, err);
    if (code == COLANDER_OK)
        code =
            options->is_json ? print_all(&status, err) : add_all(&status, err);
    found->is_damaged = status.is_damaged;
    found->lack_count = status.lacks.count;
    report_release(&status.report);
    colander_row_builder_destroy(status.builder);
    cluster_texts_release(&status.lacks);
    survey_places_release(&status.places);
    survey_release(&status.survey);
    members_list_release(status.members, status.member_count);
    release_families(&status);
    cluster_texts_release(&names);
    return code;
}

/* See cluster_status.h. SPDX-License-Identifier: MIT */
#include "shell/clusters/cluster_status.h"
#include "cluster/cluster.h"
#include "columns/json.h"
#include "shell/report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

struct status {
    const struct session *session;
    struct cluster *cluster;
    const struct topic_broker_options *brokers;
    struct report report;
    struct colander_row_builder *builder; /* of lines of JSON; NULL: none */
    bool is_damaged;
    bool is_cut_off; /* no broker answers */
};

/* The newest checkpoint of a partition. */
struct newest {
    struct cluster_backup backup; /* without a number: there is none */
    char problem[300];
};

/* What is known of a family. */
struct known {
    struct cluster_family family;
    struct newest *newest;   /* by partition */
    struct topic_ends *ends; /* the same; NULL: unknown */
    size_t end_count;
    char log_problem[600]; /* why they are unknown */
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
        char folder[CLUSTER_FOLDER_SIZE];
        char *address;

        code = cluster_partition_address(
            status->cluster, cluster_family_folder(&known->family, folder), i,
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
    if (topic_ends(&brokers, &known->ends, &known->end_count, &err) !=
        COLANDER_OK) {
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

static void
release(struct known *known)
{
    cluster_family_release(&known->family);
    free(known->newest);
    free(known->ends);
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

static void
add_partition(struct status *status, const struct known *known, uint32_t number)
{
    const struct newest *newest = &known->newest[number];
    struct report *report = &status->report;
    char label[16];
    char made[32];

    (void)snprintf(label, sizeof(label), "  %04" PRIu32, number);
    format_time(newest->backup.made, made);
    if (newest->backup.number == 0) {
        report_line(report, label, "no checkpoint");
    } else {
        report_line(report, label, "checkpoint %06" PRIu64 " of %s",
                    newest->backup.number, made);
        add_age(report, newest->backup.made);
        if (newest->problem[0] != '\0')
            report_add(report, ", %s", newest->problem);
        else
            report_add(report, ", %s", SIZE_OF(newest->backup.size));
    }
    if (number < known->end_count)
        report_add(report, "; the log has offsets %" PRId64 " to %" PRId64,
                   known->ends[number].low, known->ends[number].high);
}

static void
add_family(struct status *status, const struct known *known)
{
    const struct cluster_family *family = &known->family;
    struct report *report = &status->report;

    report_line(report, "family", "%s: topic %s, %s, %s", family->name,
                family->topic, NUMBER_OF(family->partition_count, "partition"),
                NUMBER_OF(family->replica_count, "replica"));
    for (size_t i = 0; i < family->key.count; i++)
        report_add(report, "%s%s", i == 0 ? ", key " : ",",
                   family->key.items[i]);
    if (known->log_problem[0] != '\0')
        report_line(report, "  log", "%s", known->log_problem);
    for (uint32_t i = 0; i < family->partition_count; i++)
        add_partition(status, known, i);
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

static void
build_partition(struct colander_row_builder *builder, const struct known *known,
                uint32_t number)
{
    const struct newest *newest = &known->newest[number];

    colander_row_builder_begin_map(builder, NULL);
    colander_row_builder_add(builder, "partition", colander_integer(number));
    if (newest->backup.number != 0) {
        colander_row_builder_begin_map(builder, "checkpoint");
        colander_row_builder_add(builder, "number",
                                 colander_unsigned(newest->backup.number));
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
    colander_row_builder_end(builder);
}

static enum colander_code
print_family(struct status *status, const struct known *known,
             struct colander_error *err)
{
    struct colander_row_builder *builder = status->builder;
    const struct cluster_family *family = &known->family;

    colander_row_builder_add(builder, "family", colander_text(family->name));
    colander_row_builder_add(builder, "topic", colander_text(family->topic));
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
    for (uint32_t i = 0; i < family->partition_count; i++)
        build_partition(builder, known, i);
    colander_row_builder_end(builder);
    return print_line(status, err);
}

/* --------------------------------------------------------------- status --- */

/* Names a family that cannot be read. */
static enum colander_code
show_problem(struct status *status, const char *name, const char *problem,
             struct colander_error *err)
{
    status->is_damaged = true;
    if (status->builder == NULL) {
        report_line(&status->report, "family", "%s: %s", name, problem);
        return COLANDER_OK;
    }
    colander_row_builder_add(status->builder, "family", colander_text(name));
    colander_row_builder_add(status->builder, "problem",
                             colander_text(problem));
    return print_line(status, err);
}

static enum colander_code
show_family(struct status *status, const char *name, struct colander_error *err)
{
    struct colander_error problem;
    struct known known = {.newest = NULL};
    enum colander_code code =
        cluster_family(status->cluster, name, &known.family, &problem);

    if (code == COLANDER_NO_MEMORY || code == COLANDER_IO)
        return COLANDER_FAIL(err, code, "%s", problem.message);
    if (code != COLANDER_OK)
        return show_problem(status, name, problem.message, err);
    code = find_newest(status, &known, err);
    if (code == COLANDER_OK)
        find_ends(status, &known);
    if (code == COLANDER_OK && status->builder == NULL)
        add_family(status, &known);
    else if (code == COLANDER_OK)
        code = print_family(status, &known, err);
    release(&known);
    return code;
}

static enum colander_code
show_cluster(struct status *status, size_t family_count,
             struct colander_error *err)
{
    const struct cluster_definition *definition =
        cluster_definition(status->cluster);

    if (status->builder == NULL) {
        report_line(&status->report, "cluster", "%s, %s %s", definition->name,
                    THOUSANDS(family_count),
                    family_count == 1 ? "family" : "families");
        report_line(&status->report, "log", "%s", definition->log);
        return COLANDER_OK;
    }
    colander_row_builder_add(status->builder, "cluster",
                             colander_text(definition->name));
    colander_row_builder_add(status->builder, "log",
                             colander_text(definition->log));
    colander_row_builder_add(status->builder, "members",
                             colander_text(definition->members));
    return print_line(status, err);
}

enum colander_code
cluster_status_print(const struct session *session, struct cluster *cluster,
                     const struct topic_broker_options *brokers, bool is_json,
                     bool *is_damaged, struct colander_error *err)
{
    struct status status = {.session = session,
                            .cluster = cluster,
                            .brokers = brokers,
                            .report = REPORT_EMPTY};
    struct cluster_texts names = {NULL, 0, 0};
    enum colander_code code = cluster_family_names(cluster, &names, err);

    if (is_json && code == COLANDER_OK) {
        status.builder = colander_row_builder_create();
        if (status.builder == NULL)
            code = COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                                 "no memory for a status");
    }
    if (code == COLANDER_OK)
        code = show_cluster(&status, names.count, err);
    for (size_t i = 0; i < names.count && code == COLANDER_OK; i++)
        code = show_family(&status, names.items[i], err);
    if (code == COLANDER_OK && !is_json)
        code = report_print(&status.report, session_out(session), err);
    else
        report_release(&status.report);
    *is_damaged = status.is_damaged;
    colander_row_builder_destroy(status.builder);
    cluster_texts_release(&names);
    return code;
}

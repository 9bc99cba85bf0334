/*
 * The status of a cluster as lines: for people, and of JSON.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/json.h"
#include "shell/clusters/cluster_status_inside.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

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

enum colander_code
status_print_lines(struct status *status, struct colander_error *err)
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

enum colander_code
status_print_json(struct status *status, struct colander_error *err)
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

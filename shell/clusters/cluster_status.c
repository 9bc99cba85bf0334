/*
 * What the status of a cluster knows, and what is missing.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/clock.h"
#include "shell/clusters/cluster_status_inside.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define LOOK_NS 20000000 /* between two looks at what was heard */
#define LOST_WAITS 20    /* after which one is lost that was heard */

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
            code = cluster_list(address, NULL, keep_newest, &known->newest[i],
                                err);
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
    const uint64_t wait_us =
        ((uint64_t)status->brokers->wait_ms + status->wait_ms) * 1000;
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
        cluster_family_names(options->cluster, &names, NULL, err);

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
        code = options->is_json ? status_print_json(&status, err)
                                : status_print_lines(&status, err);
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

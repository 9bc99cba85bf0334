/*
 * What a node knows of its cluster, for those who look after it.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cluster/survey.h"
#include "node/node_inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* What the node hears, and the families that it knows, each with its last
 * generation. */
struct view {
    struct member *members;
    size_t member_count;
    bool has_settled;
    struct survey survey;
    struct node_family **families;
    size_t family_count;
    struct survey_places places; /* of the partition that is looked at */
};

/* Makes a list of a node that is alone. */
static enum colander_code
list_self(struct node *node, struct view *view, struct colander_error *err)
{
    struct colander_buffer details = COLANDER_BUFFER_EMPTY;
    enum colander_code code;

    view->members = calloc(1, sizeof(*view->members));
    if (view->members == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a node");
    view->member_count = 1;
    view->members->name = strdup("alone");
    if (view->members->name == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a node");
    code = node_make_text(node, &view->members->text, &details, err);
    if (code == COLANDER_OK)
        code = colander_buffer_append(&view->members->text, details.data,
                                      details.size, err);
    colander_buffer_release(&details);
    return code;
}

/* Copies the list of families, which stay. */
static enum colander_code
list_families(struct node *node, struct view *view, struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    pthread_mutex_lock(&node->mutex);
    view->families = calloc(node->family_count + 1, sizeof(*view->families));
    if (view->families == NULL)
        code = COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for families");
    for (size_t i = 0; code == COLANDER_OK && i < node->family_count; i++) {
        if (node->families[i]->after == NULL)
            view->families[view->family_count++] = node->families[i];
    }
    pthread_mutex_unlock(&node->mutex);
    return code;
}

static enum colander_code
view_init(struct view *view, struct node *node, struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    memset(view, 0, sizeof(*view));
    if (!atomic_load(&node->has_joined)) { /* it knows nothing yet */
        view->has_settled = false;
    } else if (node->members == NULL) {
        view->has_settled = true;
        code = list_self(node, view, err);
    } else {
        view->has_settled = members_has_settled(node->members);
        code = members_list(node->members, &view->members, &view->member_count,
                            err);
    }
    if (code == COLANDER_OK)
        code =
            survey_init(&view->survey, view->members, view->member_count, err);
    if (code == COLANDER_OK)
        code = list_families(node, view, err);
    return code;
}

static void
view_release(struct view *view)
{
    survey_places_release(&view->places);
    survey_release(&view->survey);
    members_list_release(view->members, view->member_count);
    free(view->families);
}

/* --------------------------------------------------------------- /nodes --- */

static enum colander_code
build_family(struct view *view, const struct cluster_family *family,
             struct colander_row_builder *builder, struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    colander_row_builder_begin_map(builder, NULL);
    colander_row_builder_add(builder, "family", colander_text(family->name));
    colander_row_builder_add(builder, "topic", colander_text(family->topic));
    colander_row_builder_add(builder, "replicas",
                             colander_integer(family->replica_count));
    colander_row_builder_begin_array(builder, "partitions");
    for (uint32_t i = 0; i < family->partition_count && code == COLANDER_OK;
         i++) {
        code = survey_find(&view->survey, family, i, &view->places, err);
        if (code != COLANDER_OK)
            break;
        colander_row_builder_begin_map(builder, NULL);
        colander_row_builder_add(builder, "partition", colander_integer(i));
        survey_build_places(&view->places, builder);
        colander_row_builder_end(builder);
    }
    colander_row_builder_end(builder);
    colander_row_builder_end(builder);
    return code;
}

static void
build_sentence(void *builder, const char *sentence)
{
    colander_row_builder_add(builder, NULL, colander_text(sentence));
}

static enum colander_code
add_lacks(struct view *view, survey_take *take, void *context,
          struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    survey_lacks(&view->survey, take, context);
    for (size_t i = 0; i < view->family_count; i++) {
        const struct cluster_family *family = &view->families[i]->definition;

        survey_family_lacks(&view->survey, family, take, context);
        for (uint32_t j = 0; j < family->partition_count && code == COLANDER_OK;
             j++) {
            code = survey_find(&view->survey, family, j, &view->places, err);
            if (code == COLANDER_OK)
                survey_partition_lacks(&view->survey, family, j, &view->places,
                                       take, context);
        }
    }
    return code;
}

enum colander_code
node_describe(void *context, struct colander_row_builder *builder,
              struct colander_error *err)
{
    struct node *node = context;
    struct view view;
    enum colander_code code = view_init(&view, node, err);

    if (code == COLANDER_OK) {
        colander_row_builder_add(
            builder, "cluster",
            colander_text(cluster_definition(node->cluster)->name));
        if (node->options.name != NULL)
            colander_row_builder_add(builder, "node",
                                     colander_text(node->options.name));
        colander_row_builder_add(builder, "settled",
                                 colander_boolean(view.has_settled));
        survey_build_nodes(&view.survey, builder);
        colander_row_builder_begin_array(builder, "families");
        for (size_t i = 0; i < view.family_count && code == COLANDER_OK; i++)
            code = build_family(&view, &view.families[i]->definition, builder,
                                err);
        colander_row_builder_end(builder);
        colander_row_builder_begin_array(builder, "missing");
        if (!view.has_settled)
            build_sentence(builder,
                           "this node has not heard the others yet, or not "
                           "any more: what it shows of them may be old");
        if (code == COLANDER_OK)
            code = add_lacks(&view, build_sentence, builder, err);
        colander_row_builder_end(builder);
    }
    view_release(&view);
    return code;
}

/* -------------------------------------------------------------- metrics --- */

static int64_t
applied_of(const struct node_partition *partition)
{
    return partition->applied;
}

static int64_t
lag_of(const struct node_partition *partition)
{
    return partition->phase == NODE_FOLLOWING ? (int64_t)partition->lag : -1;
}

static int64_t
caught_up_of(const struct node_partition *partition)
{
    return partition->is_caught_up;
}

static int64_t
stopped_of(const struct node_partition *partition)
{
    return partition->phase == NODE_STOPPED;
}

static int64_t
failing_of(const struct node_partition *partition)
{
    return partition->problem[0] != '\0' ||
           partition->checkpoint_problem[0] != '\0';
}

static int64_t
checkpoint_age_of(const struct node_partition *partition)
{
    const int64_t age = (int64_t)time(NULL) - partition->checkpoint_time;

    if (partition->checkpoint < 0)
        return -1;
    return age < 0 ? 0 : age;
}

/* Those of a partition; a negative number is left out. */
static const struct {
    const char *name;
    const char *help;
    int64_t (*get)(const struct node_partition *partition);
} of_partition[] = {
    {"partition_applied_offset",
     "Offset of the next record of the log that this node reads.", applied_of},
    {"partition_lag", "Records that the log has after those that were read.",
     lag_of},
    {"partition_caught_up",
     "1: this node is up to date and serves the partition.", caught_up_of},
    {"partition_stopped", "1: the log does not continue where the store ends.",
     stopped_of},
    {"partition_failing",
     "1: reading or a checkpoint has failed, and is tried again.", failing_of},
    {"partition_checkpoint_age_seconds",
     "Seconds since the last checkpoint was made.", checkpoint_age_of},
};

static void
count_sentence(void *context, const char *sentence)
{
    (void)sentence;
    ++*(int64_t *)context;
}

/* Those of the cluster. */
static enum colander_code
measure_cluster(struct node *node, server_take_metric *take, void *context,
                struct colander_error *err)
{
    struct server_metric metric = {
        .name = "members_alive",
        .help = "Nodes of the cluster that this one hears, itself included."};
    int64_t lack_count = 0;
    struct view view;
    enum colander_code code = view_init(&view, node, err);

    if (code == COLANDER_OK)
        code = add_lacks(&view, count_sentence, &lack_count, err);
    if (code == COLANDER_OK) {
        metric.value = (int64_t)view.member_count;
        take(context, &metric);
        metric.name = "members_settled";
        metric.help = "1: this node hears what the others say.";
        metric.value = view.has_settled;
        take(context, &metric);
        metric.name = "cluster_missing";
        metric.help = "Sentences that GET /nodes has about what is missing.";
        metric.value = lack_count + !view.has_settled;
        take(context, &metric);
    }
    view_release(&view);
    return code;
}

enum colander_code
node_measure(void *context, server_take_metric *take, void *take_context,
             struct colander_error *err)
{
    struct node *node = context;
    struct node_partition *partitions = NULL;
    size_t count = 0;
    enum colander_code code = measure_cluster(node, take, take_context, err);

    if (code == COLANDER_OK)
        code = node_partitions(node, &partitions, &count, err);
    for (size_t i = 0; i < sizeof(of_partition) / sizeof(of_partition[0]);
         i++) {
        for (size_t j = 0; j < count; j++) {
            const struct server_metric metric = {
                .name = of_partition[i].name,
                .help = of_partition[i].help,
                .family = partitions[j].family,
                .partition = partitions[j].number,
                .value = of_partition[i].get(&partitions[j]),
            };

            if (metric.value >= 0)
                take(take_context, &metric);
        }
    }
    node_partitions_release(partitions, count);
    return code;
}

/* See survey.h. SPDX-License-Identifier: MIT */
#include "cluster/survey.h"
#include "cluster/placement.h"
#include "cluster/text.h"
#include "core/array.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECKPOINT_SHARE 3 /* how often its age must go into the retention */
#define NAME_SIZE (CLUSTER_FOLDER_SIZE + 20) /* of a partition, with its end */

enum colander_code
survey_init(struct survey *survey, const struct member *members, size_t count,
            struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    survey->count = 0;
    survey->nodes = calloc(count + 1, sizeof(*survey->nodes));
    if (survey->nodes == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for nodes");
    for (size_t i = 0; i < count && code == COLANDER_OK; i++) {
        struct survey_node *node = &survey->nodes[survey->count++];

        node->name = members[i].name;
        node->age_ms = members[i].age_ms;
        code = node_text_read(colander_buffer_slice(&members[i].text),
                              &node->said, err);
    }
    return code;
}

void
survey_release(struct survey *survey)
{
    for (size_t i = 0; i < survey->count; i++)
        node_text_release(&survey->nodes[i].said);
    free(survey->nodes);
    memset(survey, 0, sizeof(*survey));
}

static void
name_partition(char name[NAME_SIZE], const struct cluster_family *family,
               uint32_t number)
{
    char folder[CLUSTER_FOLDER_SIZE];

    (void)snprintf(name, NAME_SIZE, "%s/%04" PRIu32,
                   cluster_family_folder(family, folder), number);
}

static size_t
find_owners(const struct survey *survey, const struct cluster_family *family,
            uint32_t number, size_t owners[CLUSTER_REPLICAS_MAX])
{
    const char *names[MEMBERS_MAX + 1];
    size_t count = survey->count < MEMBERS_MAX ? survey->count : MEMBERS_MAX;

    for (size_t i = 0; i < count; i++)
        names[i] = survey->nodes[i].name;
    return placement_owners(family->name, number, names, count,
                            family->replica_count, owners);
}

static bool
is_in(const size_t *owners, size_t count, size_t node)
{
    for (size_t i = 0; i < count; i++) {
        if (owners[i] == node)
            return true;
    }
    return false;
}

enum colander_code
survey_find(const struct survey *survey, const struct cluster_family *family,
            uint32_t number, struct survey_places *places,
            struct colander_error *err)
{
    size_t owners[CLUSTER_REPLICAS_MAX];
    char name[NAME_SIZE];
    enum colander_code code;

    places->count = 0;
    places->owner_count = find_owners(survey, family, number, owners);
    name_partition(name, family, number);
    code =
        array_reserve(&places->items, 0, &places->capacity, survey->count, err);
    for (size_t i = 0; i < places->owner_count && code == COLANDER_OK; i++) {
        const struct survey_node *node = &survey->nodes[owners[i]];

        places->items[places->count++] = (struct survey_place){
            node, true, node_text_find(&node->said, name)};
    }
    for (size_t i = 0; i < survey->count && code == COLANDER_OK; i++) {
        const struct survey_node *node = &survey->nodes[i];
        const struct node_text_partition *said =
            node_text_find(&node->said, name);

        if (said != NULL && !is_in(owners, places->owner_count, i))
            places->items[places->count++] =
                (struct survey_place){node, false, said};
    }
    return code;
}

void
survey_places_release(struct survey_places *places)
{
    free(places->items);
    memset(places, 0, sizeof(*places));
}

/* ----------------------------------------------------------------- JSON --- */

static void
build_text(struct colander_row_builder *builder, const char *name,
           const char *text)
{
    if (text[0] != '\0')
        colander_row_builder_add(builder, name, colander_text(text));
}

static void
build_number(struct colander_row_builder *builder, const char *name,
             int64_t number)
{
    if (number >= 0)
        colander_row_builder_add(builder, name, colander_integer(number));
}

void
survey_build_nodes(const struct survey *survey,
                   struct colander_row_builder *builder)
{
    colander_row_builder_begin_array(builder, "nodes");
    for (size_t i = 0; i < survey->count; i++) {
        const struct survey_node *node = &survey->nodes[i];

        colander_row_builder_begin_map(builder, NULL);
        colander_row_builder_add(builder, "node", colander_text(node->name));
        build_text(builder, "address", node->said.address);
        build_text(builder, "version", node->said.version);
        colander_row_builder_add(builder, "age_ms",
                                 colander_unsigned(node->age_ms));
        colander_row_builder_add(builder, "partitions",
                                 colander_unsigned(node->said.count));
        build_text(builder, "problem", node->said.problem);
        colander_row_builder_end(builder);
    }
    colander_row_builder_end(builder);
}

static void
build_said(const struct node_text_partition *said,
           struct colander_row_builder *builder)
{
    colander_row_builder_add(builder, "up_to_date",
                             colander_boolean(said->is_served));
    build_text(builder, "phase", node_text_phase_name(said->phase));
    build_number(builder, "applied", said->applied);
    build_number(builder, "lag", said->lag);
    build_number(builder, "checkpoint", said->checkpoint);
    if (said->checkpoint >= 0 && said->checkpoint_time >= 0)
        colander_row_builder_add(builder, "checkpoint_made",
                                 colander_timestamp(said->checkpoint_time, 0));
    build_text(builder, "problem", said->problem);
}

void
survey_build_places(const struct survey_places *places,
                    struct colander_row_builder *builder)
{
    colander_row_builder_begin_array(builder, "nodes");
    for (size_t i = 0; i < places->count; i++) {
        const struct survey_place *place = &places->items[i];

        colander_row_builder_begin_map(builder, NULL);
        colander_row_builder_add(builder, "node",
                                 colander_text(place->node->name));
        colander_row_builder_add(builder, "owner",
                                 colander_boolean(place->is_owner));
        if (place->said != NULL)
            build_said(place->said, builder);
        colander_row_builder_end(builder);
    }
    colander_row_builder_end(builder);
}

/* ------------------------------------------------------ what is missing --- */

/* Passes a sentence on, if there is memory for it, and empties it. */
static void
pass(struct text *sentence, survey_take *take, void *context)
{
    const char *string = text_string(sentence);

    if (!sentence->is_short)
        take(context, string);
    text_clear(sentence);
}

void
survey_lacks(const struct survey *survey, survey_take *take, void *context)
{
    struct text sentence = TEXT_EMPTY;

    if (survey->count == 0)
        take(context,
             "no node is alive, so finds read checkpoints only: start one with "
             "colander serve CLUSTER --dir DIR --listen ADDRESS:PORT "
             "--token-file FILE");
    for (size_t i = 0; i < survey->count; i++) {
        if (survey->nodes[i].said.problem[0] == '\0')
            continue;
        text_add(&sentence, "node %s: %s", survey->nodes[i].name,
                 survey->nodes[i].said.problem);
        pass(&sentence, take, context);
    }
    text_release(&sentence);
}

void
survey_family_lacks(const struct survey *survey,
                    const struct cluster_family *family, survey_take *take,
                    void *context)
{
    struct text sentence = TEXT_EMPTY;

    if (survey->count > 0 && survey->count < family->replica_count) {
        text_add(&sentence,
                 "family %s is to have %" PRIu32
                 " replicas, and %zu node%s alive: "
                 "start more",
                 family->name, family->replica_count, survey->count,
                 survey->count == 1 ? " is" : "s are");
        pass(&sentence, take, context);
    }
    text_release(&sentence);
}

/* Adds the owners that do not serve the partition, and what they lack. */
static void
add_owners(struct text *sentence, const struct survey_places *places)
{
    const char *before = ": ";

    for (size_t i = 0; i < places->owner_count; i++) {
        const struct survey_place *place = &places->items[i];
        const struct node_text_partition *said = place->said;

        if (said != NULL && said->is_served)
            continue;
        text_add(sentence, "%s%s ", before, place->node->name);
        before = ", ";
        if (said == NULL)
            text_add(sentence, "has not begun, wait or see what it prints");
        else if (said->phase == NODE_TEXT_OPENING)
            text_add(sentence, "opens or restores its store, wait");
        else if (said->phase == NODE_TEXT_FOLLOWING && said->lag >= 0)
            text_add(sentence, "has %" PRId64 " record%s to read, wait",
                     said->lag, said->lag == 1 ? "" : "s");
        else
            text_add(sentence, "has a problem");
    }
}

static void
add_stopped(struct text *sentence, const char *name, const char *node,
            const char *problem)
{
    text_add(sentence,
             "%s has stopped at %s: %s. It continues if another node makes a "
             "newer checkpoint; docs/cluster.md says what can be done without",
             name, node, problem);
}

void
survey_partition_lacks(const struct survey *survey,
                       const struct cluster_family *family, uint32_t number,
                       const struct survey_places *places, survey_take *take,
                       void *context)
{
    struct text sentence = TEXT_EMPTY;
    size_t serving_count = 0; /* owners */
    bool is_served = false;
    char name[NAME_SIZE];

    name_partition(name, family, number);
    for (size_t i = 0; i < places->count; i++) {
        const struct survey_place *place = &places->items[i];
        const struct node_text_partition *said = place->said;

        if (said == NULL)
            continue;
        is_served = is_served || said->is_served;
        serving_count += said->is_served && place->is_owner;
        if (said->phase == NODE_TEXT_STOPPED)
            add_stopped(&sentence, name, place->node->name, said->problem);
        else if (said->problem[0] != '\0')
            text_add(&sentence, "%s at %s: %s", name, place->node->name,
                     said->problem);
        if (sentence.bytes.size > 0)
            pass(&sentence, take, context);
    }
    if (survey->count > 0 && !is_served)
        text_add(&sentence, "%s is served by no node, so finds fail", name);
    else if (serving_count < places->owner_count)
        text_add(&sentence, "%s is served by %zu of its %zu owners", name,
                 serving_count, places->owner_count);
    if (sentence.bytes.size > 0) {
        add_owners(&sentence, places);
        pass(&sentence, take, context);
    }
    text_release(&sentence);
}

/* Adds a time, rounded down. */
static void
add_time(struct text *sentence, int64_t seconds)
{
    static const struct {
        int64_t seconds;
        const char *name;
    } units[] = {{86400, "day"}, {3600, "hour"}, {60, "minute"}, {1, "second"}};
    size_t i = 0;

    while (i < 3 && seconds < 2 * units[i].seconds)
        i++;
    text_add(sentence, "%" PRId64 " %s%s", seconds / units[i].seconds,
             units[i].name, seconds / units[i].seconds == 1 ? "" : "s");
}

void
survey_log_lacks(const struct cluster_family *family, uint32_t number,
                 const struct survey_log *log, survey_take *take, void *context)
{
    const int64_t retention = log->retention_ms / 1000;
    const int64_t age = log->now - log->checkpoint_time;
    struct text sentence = TEXT_EMPTY;
    char name[NAME_SIZE];

    if (log->checkpoint < 0 || log->high < 0 || log->checkpoint >= log->high)
        return; /* the log has nothing that it lacks */
    name_partition(name, family, number);
    if (log->checkpoint < log->low) {
        text_add(&sentence,
                 "%s: its newest checkpoint ends before offset %" PRId64
                 ", and the log begins at %" PRId64
                 ", so a store that is lost does not come back: see what its "
                 "nodes print of checkpoints",
                 name, log->checkpoint, log->low);
    } else if (log->retention_ms >= 0 && age > 0 &&
               age > retention / CHECKPOINT_SHARE) {
        text_add(&sentence, "%s: its newest checkpoint is ", name);
        add_time(&sentence, age);
        text_add(&sentence, " old, and brokers keep records for ");
        add_time(&sentence, retention);
        text_add(&sentence,
                 ": see what its nodes print of checkpoints, or set a longer "
                 "retention.ms of topic %s",
                 family->topic);
    }
    if (sentence.bytes.size > 0)
        pass(&sentence, take, context);
    text_release(&sentence);
}

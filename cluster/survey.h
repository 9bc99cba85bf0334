/*
 * A survey: what the nodes of a cluster say (node_text.h), put together by
 * partition; and sentences that say what is missing, and what to do.
 *
 * It asks no one: members.h has what nodes say, definition.h the families,
 * topic.h what the log has, and cluster.h the checkpoints. So all who show a
 * status say the same.
 *
 * Life: survey_init -> survey_find, ... -> survey_release
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef CLUSTER_SURVEY_H
#define CLUSTER_SURVEY_H

#include "cluster/definition.h"
#include "cluster/members.h"
#include "cluster/node_text.h"

/* A node that is alive. */
struct survey_node {
    const char *name; /* borrowed from the member */
    uint64_t age_ms;  /* since it was heard */
    struct node_text said;
};

struct survey {
    struct survey_node *nodes; /* in the order of the members */
    size_t count;
};

/* Reads what members say; the list is borrowed until release. Release it also
 * on failure. */
COLANDER_CHECKED enum colander_code survey_init(struct survey *survey,
                                                const struct member *members,
                                                size_t count,
                                                struct colander_error *err);

void survey_release(struct survey *survey);

/* A node that owns a partition or has it. */
struct survey_place {
    const struct survey_node *node;
    bool is_owner;
    const struct node_text_partition *said; /* NULL: nothing */
};

/* Where a partition is. Starts zeroed. */
struct survey_places {
    struct survey_place *items; /* owners in their order, then others; owned */
    size_t count;
    size_t owner_count;
    size_t capacity;
};

/* Finds where a partition is, in place of what was found before. */
COLANDER_CHECKED enum colander_code
survey_find(const struct survey *survey, const struct cluster_family *family,
            uint32_t number, struct survey_places *places,
            struct colander_error *err);

void survey_places_release(struct survey_places *places);

/* Add an array "nodes": of the cluster, and of a partition. */
void survey_build_nodes(const struct survey *survey,
                        struct colander_row_builder *builder);
void survey_build_places(const struct survey_places *places,
                         struct colander_row_builder *builder);

/* ---------------------------------------------------------- what is missing */

/* What objects and log have of a partition. Numbers are negative if they are
 * unknown, or there is none. */
struct survey_log {
    int64_t low; /* the log has records from here on, */
    int64_t high;
    int64_t retention_ms;    /* at least for so long; negative: forever, too */
    int64_t checkpoint;      /* the newest one has all before this offset */
    int64_t checkpoint_time; /* in seconds since 1970 */
    int64_t now;             /* the same */
};

/* Takes a sentence, borrowed. */
typedef void survey_take(void *context, const char *sentence);

/* What the nodes lack, and what a family does. */
void survey_lacks(const struct survey *survey, survey_take *take,
                  void *context);
void survey_family_lacks(const struct survey *survey,
                         const struct cluster_family *family, survey_take *take,
                         void *context);

/* What a partition lacks by what nodes say, and by what log and objects
 * have. */
void survey_partition_lacks(const struct survey *survey,
                            const struct cluster_family *family,
                            uint32_t number, const struct survey_places *places,
                            survey_take *take, void *context);
void survey_log_lacks(const struct cluster_family *family, uint32_t number,
                      const struct survey_log *log, survey_take *take,
                      void *context);

#endif

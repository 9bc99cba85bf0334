/*
 * A family of a cluster gets another number of partitions.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_CLUSTER_REPARTITION_H
#define SHELL_CLUSTER_REPARTITION_H

#include "cluster/definition.h"
#include "cluster/topic.h"
#include "shell/arguments.h"
#include "shell/report.h"
#include "shell/session.h"

/* What is asked for. Borrowed. */
struct repartition_options {
    const char *family;
    const char *directory; /* for partitions as they are now */
    const char *topic;     /* that is there and empty; NULL: one is created */
    uint32_t partition_count;
    const char *address;                 /* of the cluster */
    struct topic_wanted wanted;          /* of a new topic */
    struct topic_broker_options brokers; /* but for their address; with the
                                          * settings of the cluster */
    const char *const *settings;         /* of librdkafka, without these */
    size_t setting_count;
};

/* Sends all rows of the family to another topic, and then defines its next
 * generation. Adds what was done to the report. */
COLANDER_CHECKED enum colander_code
cluster_repartition(const struct session *session, struct cluster *cluster,
                    const struct repartition_options *options,
                    struct report *report, struct colander_error *err);

#endif

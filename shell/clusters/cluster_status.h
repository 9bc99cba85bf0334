/*
 * The status of a cluster: what its objects, its log and its nodes have, and
 * what is missing.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_CLUSTER_STATUS_H
#define SHELL_CLUSTER_STATUS_H

#include "cluster/definition.h"
#include "cluster/topic.h"
#include "shell/session.h"

struct cluster_status_options {
    const struct session *session;
    struct cluster *cluster;
    const struct topic_broker_options *brokers; /* how they are reached, but not
                                                 * where */
    unsigned wait_ms; /* for nodes that were there, and may be gone */
    bool is_json;     /* lines of JSON, and not for people */
};

struct cluster_status_found {
    bool is_damaged;   /* something could not be read, and is named */
    size_t lack_count; /* sentences about what is missing */
};

/* Prints it. */
COLANDER_CHECKED enum colander_code
cluster_status_print(const struct cluster_status_options *options,
                     struct cluster_status_found *found,
                     struct colander_error *err);

#endif

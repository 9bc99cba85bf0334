/*
 * The status of a cluster: what its objects and its log have.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_CLUSTER_STATUS_H
#define SHELL_CLUSTER_STATUS_H

#include "cluster/definition.h"
#include "cluster/topic.h"
#include "shell/session.h"

/* Prints it, for people or as lines of JSON. `brokers` says how these are
 * reached, but not where. What cannot be read is named; *is_damaged: there was
 * something. */
COLANDER_CHECKED enum colander_code
cluster_status_print(const struct session *session, struct cluster *cluster,
                     const struct topic_broker_options *brokers, bool is_json,
                     bool *is_damaged, struct colander_error *err);

#endif

/*
 * The retention of a cluster's family: a record in its log.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_CLUSTER_RETAIN_H
#define SHELL_CLUSTER_RETAIN_H

#include "cluster/definition.h"
#include "cluster/topic.h"
#include "shell/arguments.h"
#include "shell/report.h"
#include "shell/session.h"

/* Sends a retain to all partitions of the family that the arguments name, after
 * a question if there is a terminal. `brokers` says how these are reached, but
 * not where. Adds what was done to the report. */
COLANDER_CHECKED enum colander_code
cluster_retain(const struct session *session, const struct arguments *arguments,
               struct cluster *cluster,
               const struct topic_broker_options *brokers,
               struct report *report, struct colander_error *err);

#endif

/*
 * A family of a cluster as where records are sent to: its topic, and how its
 * definition says that they are read and spread.
 *
 * Life: a zeroed struct -> open -> release, also after a failure
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_CLUSTER_LOAD_H
#define SHELL_CLUSTER_LOAD_H

#include "cluster/definition.h"
#include "node/family_load.h"
#include "shell/broker_options.h"
#include "shell/load_request.h"

struct cluster_load {
    struct cluster *cluster; /* whose settings the brokers borrow */
    struct cluster_family family;
    struct family_load rows;
    struct colander_buffer text; /* the definition, which ends with a zero */
    char *topic;                 /* kafka://BROKERS/TOPIC; owned */
};

/* Opens the family of the second word of the cluster at the address in the
 * first one. Sets what the definition says in the request, and where brokers
 * are. Fails with INVALID if an option says otherwise. What was asked, and the
 * brokers, borrow from `load`. */
COLANDER_CHECKED enum colander_code
cluster_load_open(struct cluster_load *load, const struct arguments *arguments,
                  struct load_request *asked, struct broker_options *brokers,
                  struct colander_error *err);

/* Fails with INVALID if the topic has another number of partitions than the
 * family. */
COLANDER_CHECKED enum colander_code
cluster_load_check(const struct cluster_load *load, uint32_t partition_count,
                   struct colander_error *err);

void cluster_load_release(struct cluster_load *load);

#endif

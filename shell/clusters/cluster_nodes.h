/*
 * The nodes of a cluster, as what they say of themselves tells: those that may
 * be asked.
 *
 * Life: cluster_nodes_open -> next, ... -> cluster_nodes_close
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_CLUSTER_NODES_H
#define SHELL_CLUSTER_NODES_H

#include "cluster/definition.h"

struct cluster_nodes;

/* Begins to listen. `settings_file` has options of librdkafka (NULL: none). All
 * is borrowed until close. */
COLANDER_CHECKED enum colander_code
cluster_nodes_open(const struct cluster_definition *cluster,
                   const char *settings_file, struct cluster_nodes **nodes,
                   struct colander_error *err);

/* Returns the address of a node that was not returned before, borrowed until
 * close, or NULL if none speaks. Waits for that a few seconds. */
COLANDER_CHECKED enum colander_code
cluster_nodes_next(struct cluster_nodes *nodes, const char **address,
                   struct colander_error *err);

/* Whether one has spoken meanwhile: it runs, whether or not it can be asked. */
bool cluster_nodes_is_alive(const struct cluster_nodes *nodes);

/* Whether no broker has said what nodes have said before. */
bool cluster_nodes_is_deaf(const struct cluster_nodes *nodes);

/* NULL is allowed. */
void cluster_nodes_close(struct cluster_nodes *nodes);

#endif

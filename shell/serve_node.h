/*
 * The node of a cluster that a serve runs.
 *
 * Life: a zeroed struct -> open -> join, when the server answers -> close
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_SERVE_NODE_H
#define SHELL_SERVE_NODE_H

#include "cluster/definition.h"
#include "node/node.h"
#include "serve/serve.h"
#include "shell/broker_options.h"
#include "shell/session.h"

struct serve_node {
    struct broker_options brokers;
    struct node_options options;
    const char *advertised; /* where others ask it; NULL: where it listens */
    char name[CLUSTER_NAME_MAX + 1];
    struct node *node;
};

/* Opens the node of the cluster at `address` as the store of the session, for
 * reading. Sets what the server needs to know, whose other options are set. */
COLANDER_CHECKED enum colander_code
serve_node_open(struct serve_node *serving, struct session *session,
                const struct arguments *arguments, const char *address,
                struct server_options *server, struct colander_error *err);

/* Begins to have partitions. `address` is that of the server, or NULL. */
COLANDER_CHECKED enum colander_code serve_node_join(struct serve_node *serving,
                                                    const char *address,
                                                    bool has_tls,
                                                    struct colander_error *err);

/* Closes the node, if it is open, and takes it from the session. */
COLANDER_CHECKED enum colander_code
serve_node_close(struct serve_node *serving, struct session *session,
                 struct colander_error *err);

#endif

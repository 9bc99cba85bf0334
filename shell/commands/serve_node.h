/*
 * The node of a cluster that a serve runs.
 *
 * Life: a zeroed struct -> open -> close
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_COMMANDS_SERVE_NODE_H
#define SHELL_COMMANDS_SERVE_NODE_H

#include "node/node.h"
#include "shell/broker_options.h"
#include "shell/session.h"

struct serve_node {
    struct broker_options brokers;
    struct node_options options;
    struct node *node;
};

/* Opens the node of the cluster at `address` as the store of the session, for
 * reading. */
COLANDER_CHECKED enum colander_code
serve_node_open(struct serve_node *serving, struct session *session,
                const struct arguments *arguments, const char *address,
                struct colander_error *err);

/* Closes the node, if it is open, and takes it from the session. */
COLANDER_CHECKED enum colander_code
serve_node_close(struct serve_node *serving, struct session *session,
                 struct colander_error *err);

#endif

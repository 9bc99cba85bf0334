/*
 * Commands that read a cluster whose address they are given: a node runs them,
 * or else they read its checkpoints.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_CLUSTER_FIND_H
#define SHELL_CLUSTER_FIND_H

#include "shell/arguments.h"
#include "shell/session.h"

enum cluster_find {
    CLUSTER_FIND_NONE, /* there is no cluster */
    CLUSTER_FIND_RAN,  /* the command has run, or failed with a message */
    CLUSTER_FIND_OPEN, /* the checkpoints are the store of the session */
};

/* Has a node of the cluster at the address in the first word run the command
 * that runs, or opens its checkpoints, and says so. Sets *status if that was
 * all. `is_whole`: it may read all families. */
enum cluster_find cluster_find(struct session *session,
                               const struct arguments *arguments, bool is_whole,
                               enum session_exit *status);

#endif

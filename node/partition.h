/*
 * Partitions: the store of one, and the thread that follows its log.
 *
 * Life: partition_start -> partition_checkpoint, ... -> partition_stop ->
 *       partition_join -> partition_checkpoint -> partition_free
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef NODE_PARTITION_H
#define NODE_PARTITION_H

#include "cluster/definition.h"
#include "cluster/topic.h"
#include "node/node.h"

/* What the partitions of a node have together. Borrowed. */
struct partition_setup {
    const struct node_options *options;
    const char *directory; /* of the node, absolute */
    const struct cluster *cluster;
    const struct cluster_family *family;
    struct colander_budget *budget;
    struct topic_client *client;
    uint32_t number;
    const atomic_bool *is_ending; /* checkpoints that are being made end */

    /* The stores that can be read have changed: partition_store returns another
     * one, or NULL. Before a store is closed, the thread of the partition calls
     * this, and the store must not be used any more when it returns. */
    void (*changed)(void *context);
    void *context;
};

struct partition;

/* Starts the thread. The store is made, or restored, and its log is followed
 * until the partition is stopped. What fails is tried again. */
COLANDER_CHECKED enum colander_code
partition_start(const struct partition_setup *setup,
                struct partition **partition, struct colander_error *err);

/* Returns the store, or NULL if it is not open, has not all rows of the
 * generation before, or has stopped. Only in `changed`. Sets *is_caught_up to
 * whether it has once had all that the log had, but for what came in the last
 * seconds. */
struct colander_store *partition_store(struct partition *partition,
                                       bool *is_caught_up);

/* Whether all its rows are those whose key decides for it. */
bool partition_is_placed(const struct partition *partition);

/* Returns "FAMILY/0017", with which the path of the store ends. Borrowed. */
const char *partition_name(const struct partition *partition);

void partition_state(struct partition *partition, struct node_partition *state);

/* Looks which checkpoint is the newest, if that is not known yet. */
void partition_look(struct partition *partition);

/* Makes a checkpoint, if there are records that the last one does not have. A
 * store that is not open has none. `is_last`: the node ends, and waits for no
 * server that does not answer. */
COLANDER_CHECKED enum colander_code
partition_checkpoint(struct partition *partition, bool is_last,
                     struct colander_error *err);

/* Makes the thread end, and does not wait. With `gives_up` it then closes the
 * store, when no cursor uses it, and removes it: others have the partition. */
void partition_stop(struct partition *partition, bool gives_up);

/* Whether the thread has ended, of a partition that others have now. */
bool partition_has_ended(const struct partition *partition);

/* Waits for the thread. The store stays open. */
void partition_join(struct partition *partition);

/* Closes the store and frees the partition. */
COLANDER_CHECKED enum colander_code partition_free(struct partition *partition,
                                                   struct colander_error *err);

#endif

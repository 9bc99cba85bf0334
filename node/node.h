/*
 * Nodes: what a process does for a cluster.
 *
 * A node has a store for each partition that is its to have, in its directory.
 * It reads the records of the partition from the log into it, with the place
 * in the log as a mark in the same batch, and sends it to the objects of the
 * cluster now and then: a checkpoint. What is in a store depends on the log and
 * the definition of the family alone. So a node may be killed at any time, and
 * a store that is lost is made again from the last checkpoint and the log after
 * it; and nothing is wrong if two nodes have the same partition.
 *
 *     DIRECTORY/LOCK           held while the node runs
 *     DIRECTORY/FAMILY/0017/   the store of a partition
 *
 * What reads stores reads all partitions as one (columns/union.h), also those
 * that are at other nodes. Rejected records are in the family FAMILY.rejects.
 *
 * Nodes tell each other in a topic that they are there, and which partitions
 * they serve. Each computes alone which partitions are its own. It gives one up
 * only when those serve it who own it now; until then both have it.
 *
 * Life:    node_open -> node_join -> node_store, node_partitions -> node_leave
 *          -> node_close
 * Threads: any number of them; open, join, leave and close by one
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef NODE_NODE_H
#define NODE_NODE_H

#include "columns/columns.h"
#include "serve/serve.h"

#include <stdatomic.h>

/* Borrowed until node_close. */
struct node_options {
    const char *cluster;   /* its address */
    const char *directory; /* created if it is missing */
    const char *name;      /* of this node, which no other one has; NULL: it is
                            * alone, and has all partitions */
    const char *only;      /* the one family that it has, for a while, and of
                            * which it makes no checkpoints; NULL: all */

    /* Of librdkafka, each NAME=VALUE, beside those of the cluster; and a file
     * of such lines, which may have secrets. */
    const char *const *settings;
    size_t setting_count;
    const char *settings_file; /* NULL: none */

    unsigned checkpoint_ms; /* between two checkpoints of a partition; 0: ten
                              * minutes */
    uint64_t checkpoints;   /* how many are kept; 0: three */
    unsigned look_ms;       /* how often new families are looked for; 0: ten
                             * seconds, or lost_ms if that is less */
    unsigned say_ms;     /* how often it says that it is there; 0: a second */
    unsigned lost_ms;    /* another one that has not said so for that long is
                         * lost; 0: ten seconds */
    const char *token;   /* that all nodes want; NULL: none */
    const char *ca_file; /* certificates that sign theirs; NULL: those of the
                          * system */
    uint64_t memory_budget; /* bytes of all stores; 0: the default */

    /* Gets a line about what happened, of any thread. */
    void (*say)(void *context, const char *line);
    void *context;
};

struct node;

/* Opens the cluster. Fails with BUSY if another process has the directory, with
 * INVALID if that is of another cluster, and as cluster_open. */
COLANDER_CHECKED enum colander_code
node_open(const struct node_options *options, struct node **node,
          struct colander_error *err);

/* Begins to have partitions. Other nodes ask at `address` (copied), as
 * http://10.0.0.7:7411, for what is in its stores (node_open_parts); NULL if it
 * is alone. */
COLANDER_CHECKED enum colander_code
node_join(struct node *node, const char *address, struct colander_error *err);

/* Returns a store, for reading, that has the rows of all partitions. Borrowed.
 * Its name is that of the directory. */
struct colander_store *node_store(const struct node *node);

/* Opens a store that has the partitions of this node with these names, such as
 * rows/0017: for the server, when other nodes ask. `node` is struct node *. */
enum colander_code node_open_parts(void *node, const char *const *names,
                                   size_t count, struct colander_store **part,
                                   struct colander_error *err);

/* How long after the definition of a later generation of a family was put it is
 * known to all nodes whose views are fresh. */
#define NODE_HEARD_MS 12000

/* Opens a view of node_store (columns/union.h) that has applied what the log
 * has now of the family, or of what is beside it, as its rejects; NULL, or a
 * name that selects several: of all. Waits for that at most wait_ms, and fails
 * with BUSY then, or with CANCELLED once is_over returns true. With is_partial,
 * of what can be read. `node` is struct node *. */
enum colander_code node_open_fresh(void *node, const char *family,
                                   bool is_partial, unsigned wait_ms,
                                   bool (*is_over)(void *context),
                                   void *context, struct colander_store **view,
                                   struct colander_error *err);

enum node_phase {
    NODE_OPENING,   /* its store is made or restored */
    NODE_FOLLOWING, /* records are read */
    NODE_WAITING,   /* to try again, because of `problem` */
    NODE_STOPPED,   /* the same: the log does not continue where the store
                     * ends, and there is no newer checkpoint */
};

/* A partition. The texts are owned. */
struct node_partition {
    char *family;
    uint32_t number;
    enum node_phase phase;
    char problem[700];       /* "": none */
    int64_t applied;         /* the offset of the next record; negative: its
                              * store is not open yet */
    uint64_t lag;            /* records that brokers have after it */
    bool is_caught_up;       /* it once had all since it was opened, but for
                              * those of the last seconds */
    uint64_t rows;           /* written since the node was opened */
    uint64_t rejects;        /* rejected since then */
    int64_t checkpoint;      /* the last one has all before this offset;
                              * negative: there is none */
    int64_t checkpoint_time; /* when it was made, in seconds since 1970 */
    char checkpoint_problem[700]; /* why the last one failed; "": it did not */
};

/* Lists the partitions, by family and number, but for those of generations that
 * have a later one. Release with node_partitions_release. */
COLANDER_CHECKED enum colander_code
node_partitions(struct node *node, struct node_partition **partitions,
                size_t *count, struct colander_error *err);

void node_partitions_release(struct node_partition *partitions, size_t count);

/* Describe the cluster as this node knows it, for the server (serve/serve.h).
 * `node` is struct node *. */
enum colander_code node_describe(void *node,
                                 struct colander_row_builder *builder,
                                 struct colander_error *err);
enum colander_code node_measure(void *node, server_take_metric *take,
                                void *context, struct colander_error *err);

/* Makes checkpoints, with which others begin, says goodbye, and waits until all
 * have heard it: the server that they ask should answer until then. For a node
 * that has not joined, or is alone, there is nothing to do. */
void node_leave(struct node *node);

/* Ends reading, makes the last checkpoints, and closes the stores. Cursors,
 * families and snapshots of node_store must be closed by then. A failure is
 * that of a checkpoint or a close; the node is closed in any case, and what it
 * had read is in its directory. NULL is allowed. */
COLANDER_CHECKED enum colander_code node_close(struct node *node,
                                               struct colander_error *err);

#endif

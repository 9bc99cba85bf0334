/*
 * Private to node.c and arrange.c: a node, and which partitions it has.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef NODE_NODE_INSIDE_H
#define NODE_NODE_INSIDE_H

#include "cluster/members.h"
#include "node/partition.h"
#include "node/routing.h"

#include <pthread.h>

#define NODE_AGAIN_US 100000 /* until what failed for memory is tried again */

/* A family, and its partitions. */
struct node_family {
    struct cluster_family definition;
    struct partition **partitions; /* by number; NULL: it is not here */
    struct node_family *before;    /* its last generation; NULL: none */
    struct node_family *after;     /* and the next one */
    uint64_t mark;                 /* of its definitions, when they were read */
    bool is_routed;     /* each partition has a store, here or elsewhere */
    bool was_read;      /* it is the generation that is read, or was */
    uint64_t hidden_us; /* since when a later one is read; 0: none is */
    bool has_looked;    /* for stores of before in the directory */
};

struct node {
    struct node_options options;
    char *directory; /* its absolute path */
    int lock;        /* a descriptor; -1: none */
    struct cluster *cluster;
    struct colander_budget *budget;
    struct routing_options routes;
    struct routing *routing;
    char *address;         /* where others ask this node */
    char *topic;           /* of the members */
    const char **settings; /* of librdkafka: those of the cluster first */
    struct topic_broker_options brokers; /* has both */
    struct topic_client *client;         /* that all partitions read with */
    struct members *members;             /* NULL: it is alone */
    enum colander_code left; /* why a checkpoint was not made when it left, */
    struct colander_error left_error; /* so that no other one is tried */
    atomic_bool has_joined; /* members and address stay what they are */
    bool has_problem;       /* that was printed; of its thread */
    pthread_t keeper;       /* starts, ends and frees partitions */
    bool has_keeper;
    pthread_t saver; /* makes checkpoints */
    bool has_saver;
    atomic_bool is_ending; /* these two wait for nothing */
    atomic_bool has_left;  /* finds wait for brokers no longer */
    pthread_t looker;      /* looks for families */
    bool has_looker;
    _Atomic uint64_t looked_us; /* when it last began to, and then knew all */
    pthread_mutex_t saving;     /* while it uses partitions, or one is freed */

    /* Taken before the other one. */
    pthread_mutex_t routing_lock; /* of routing_set, and */
    struct member *nodes;         /* those alive */
    size_t node_count;

    pthread_mutex_t mutex; /* of what follows, if it is changed */
    pthread_cond_t woken;
    struct node_family **families; /* in the order in which they were found */
    size_t family_count;
    size_t family_capacity;
    bool is_stopped;
};

/* Returns how often it looks for families. */
unsigned node_look_ms(const struct node *node);

/* Calls `visit` for each partition that the node has; `only_last`: of the last
 * generation of each family. */
void node_visit_partitions(struct node *node, bool only_last,
                           void (*visit)(void *context,
                                         struct partition *partition),
                           void *context);

/* Adds families that were defined since. One thread at a time. */
COLANDER_CHECKED enum colander_code
node_look_for_families(struct node *node, struct colander_error *err);

void node_free_family(struct node_family *family);

/* Routes all partitions, to where they are now. Waits for memory, if there is
 * none: a store that is to be closed must not be used. */
void node_route(struct node *node);

/* Has the partitions that are this node's, as far as it is known which. */
COLANDER_CHECKED enum colander_code node_arrange(struct node *node,
                                                 struct colander_error *err);

/* Says where this node is, what it serves, and how far that is. */
COLANDER_CHECKED enum colander_code node_say(struct node *node,
                                             struct colander_error *err);

/* Appends what is said: the text, and details after it. */
COLANDER_CHECKED enum colander_code
node_make_text(struct node *node, struct colander_buffer *text,
               struct colander_buffer *details, struct colander_error *err);

#endif

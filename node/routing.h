/*
 * Routing: where each partition is read: here, at another node, or nowhere.
 *
 * Life:    routing_open -> routing_set, ... -> routing_close
 * Threads: routing_set by one at a time; what reads the stores by any
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef NODE_ROUTING_H
#define NODE_ROUTING_H

#include "cluster/definition.h"
#include "columns/columns.h"

struct routing_options {
    const char *name;    /* of the stores, in messages */
    const char *token;   /* that other nodes want; NULL: none */
    const char *ca_file; /* certificates that sign theirs; NULL: the system's */
};

/* Where a partition is read. */
struct route {
    const char *partition;        /* FAMILY/0017 */
    struct colander_store *store; /* here; NULL: it is not */
    const char *address; /* of the node that is asked if it is not read here;
                            * NULL: it is read here, or nowhere */
    uint32_t number;     /* the partition's, */
    const struct cluster_family *family; /* of this family, borrowed */
    bool is_placed;      /* all its rows are those whose key decides for it,
                            * wherever it is read */
    const char *second;  /* of the node that is asked if that fails; NULL: none
                            * does */
    const char *problem; /* why it is read nowhere, as "it has stopped: ...";
                            * NULL: that is not known */
    bool is_hidden;      /* it is for other nodes only */
};

struct routing;

/* The options are borrowed until close. */
COLANDER_CHECKED enum colander_code
routing_open(const struct routing_options *options, struct routing **routing,
             struct colander_error *err);

/* Return stores for reading: one that has all partitions, those of other nodes,
 * too, and one that has those that are here. Borrowed until close. */
struct colander_store *routing_all(const struct routing *routing);
struct colander_store *routing_here(const struct routing *routing);

/* Sets where all partitions are read from now on, in this order. A store that
 * is not among them is not used by new reads once this returns. It fails only
 * with NO_MEMORY; some partitions may then be read where they were before, so
 * it is to be tried again. */
COLANDER_CHECKED enum colander_code routing_set(struct routing *routing,
                                                const struct route *routes,
                                                size_t count,
                                                struct colander_error *err);

/* NULL is allowed. */
COLANDER_CHECKED enum colander_code routing_close(struct routing *routing,
                                                  struct colander_error *err);

#endif

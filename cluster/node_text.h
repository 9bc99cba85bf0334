/*
 * Node text: what a node says of itself, as the text of a member (members.h).
 *
 * The text has where the node is asked and which partitions it serves. Its
 * details are for people: how far each partition is, and what is wrong with it.
 * FORMAT.md has the lines. What others say is checked: all texts are printable
 * ASCII, and what is malformed is left out.
 *
 * Life:   NODE_TEXT_EMPTY -> add_..., -> members_say -> release
 *         node_text_read -> node_text_release
 * Memory: what is read borrows from one copy of the text, which it owns
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef CLUSTER_NODE_TEXT_H
#define CLUSTER_NODE_TEXT_H

#include "core/core.h"

enum node_text_phase {
    NODE_TEXT_UNKNOWN = 0, /* it does not say */
    NODE_TEXT_OPENING,
    NODE_TEXT_FOLLOWING,
    NODE_TEXT_WAITING,
    NODE_TEXT_STOPPED,
};

/* A partition of a node. Numbers are negative if they are unknown. */
struct node_text_partition {
    const char *name; /* FAMILY/0017 */
    bool is_served;   /* it has it, and it is up to date */
    enum node_text_phase phase;
    int64_t applied;         /* the offset of the next record */
    int64_t lag;             /* how many records brokers have from there on */
    int64_t checkpoint;      /* has all before this offset */
    int64_t checkpoint_time; /* in seconds since 1970 */
    const char *problem;     /* "": none */
};

struct node_text {
    const char *address;                    /* "": unknown */
    const char *version;                    /* "": unknown */
    const char *problem;                    /* "": none */
    struct node_text_partition *partitions; /* by name, each once */
    size_t count;
    char *lines; /* owned */
};

/* Reads a text. Of one that is malformed the address is "", and there are no
 * partitions. Release it also on failure. */
COLANDER_CHECKED enum colander_code node_text_read(struct colander_slice text,
                                                   struct node_text *read,
                                                   struct colander_error *err);

/* Returns the partition, or NULL. */
const struct node_text_partition *node_text_find(const struct node_text *text,
                                                 const char *name);

void node_text_release(struct node_text *text);

/* Returns "opening", "following", ..., or "" of UNKNOWN. */
const char *node_text_phase_name(enum node_text_phase phase);

/* Add lines of details: first the version, with a problem of the node ("":
 * none), then each partition. What there is no room for is left out. */
COLANDER_CHECKED enum colander_code
node_text_add_node(struct colander_buffer *details, const char *problem,
                   struct colander_error *err);
COLANDER_CHECKED enum colander_code
node_text_add_partition(struct colander_buffer *details,
                        const struct node_text_partition *partition,
                        struct colander_error *err);

/* Whether a line, which begins here, is the first one of details. */
bool node_text_is_detail(const char *line);

#endif

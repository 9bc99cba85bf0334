/*
 * Records of topics as a stream of a load, and marks that say how far they were
 * read.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef NODE_TOPIC_STREAM_H
#define NODE_TOPIC_STREAM_H

#include "cluster/topic.h"
#include "loading/load.h"

#define TOPIC_PLACED "placed" /* a mark of the family, and how */
#define TOPIC_PLACED_HOW "murmur2"

/* The context of a stream. */
struct topic_stream {
    struct topic_reader *reader; /* set before the load runs; borrowed */
    char fault[120];             /* of the last record */

    /* Whether all rows are in the partition that their key decides
     * (topic_partition_of), as others must be asked if they are not. */
    int32_t partition_count; /* of the topic; 0: this is not looked at */
    atomic_bool *is_placed;
    bool is_noted; /* a mark says so, TOPIC_PLACED */
};

/* Returns a stream, which borrows both. `partition_by`: see
 * colander_load_stream. */
struct colander_load_stream topic_stream(struct topic_stream *records,
                                         struct colander_family *rejects,
                                         size_t partition_by);

#endif

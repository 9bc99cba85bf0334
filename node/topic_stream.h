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

/* The context of a stream. */
struct topic_stream {
    struct topic_reader *reader; /* set before the load runs; borrowed */
    char fault[120];             /* of the last record */
};

/* Returns a stream, which borrows both. `partition_by`: see
 * colander_load_stream. */
struct colander_load_stream topic_stream(struct topic_stream *records,
                                         struct colander_family *rejects,
                                         size_t partition_by);

#endif

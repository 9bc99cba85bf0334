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

/* Returns the stream of a reader. Both are borrowed. */
struct colander_load_stream topic_stream(struct topic_reader *reader,
                                         struct colander_family *rejects);

#endif

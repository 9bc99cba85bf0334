/*
 * Topic marks: how far a partition was read, as marks of a family.
 *
 *     follow:TOPIC/PARTITION        offset, begun, and if known: hash, cluster
 *     follow:TOPIC/PARTITION/SLOT   load: the id of one, offset: the number of
 *                                   its last record, at: the offset of that
 *
 * There are as many slots as loads that are known, from 0 on. A new load takes
 * that of the one whose last record is the oldest.
 *
 * Values are encoded like rows, so that they can be read and extended.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef CLUSTER_TOPIC_MARK_H
#define CLUSTER_TOPIC_MARK_H

#include "columns/columns.h"

#define TOPIC_SLOTS_MAX 256 /* loads of a partition */
#define TOPIC_CLUSTER_MAX 64

struct topic_mark {
    int64_t offset; /* of the next record; in the mark of a load, the number of
                     * its last record */
    int64_t begun;  /* when reading began there, in ms since 1970: marks of
                     * loads with another time do not count */
    bool has_load;
    uint64_t load; /* its id, */
    int64_t at;    /* and the offset of its last record */
    bool has_hash;
    uint64_t hash;                   /* of the record before */
    char cluster[TOPIC_CLUSTER_MAX]; /* id, or its beginning; "": unknown */
};

/* Sets `name`; a negative `slot` is for the mark of the partition. */
COLANDER_CHECKED enum colander_code
topic_mark_name(struct colander_buffer *name, const char *topic,
                int32_t partition, int slot, struct colander_error *err);

COLANDER_CHECKED enum colander_code
topic_mark_encode(const struct topic_mark *mark, struct colander_buffer *value,
                  struct colander_error *err);

/* Reads a mark, if there is one. Fails with CORRUPT if it is not one. */
COLANDER_CHECKED enum colander_code
topic_mark_read(struct topic_mark *mark, struct colander_family *family,
                struct colander_slice name, bool *found,
                struct colander_error *err);

#endif

/*
 * Partition: the families of a load whose rows are in families by their time.
 *
 * They are opened when a row needs them. Those without a time column get it,
 * and the filter options of the family of the pattern: new ones, and those that
 * another program has created, or a load that was killed.
 *
 * Life:    a zeroed struct, its first members set -> begin -> place* -> release
 * Threads: one
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef LOADING_PARTITION_H
#define LOADING_PARTITION_H

#include "loading/chunk.h"

#define PARTITION_NEW_MAX 1000 /* families that a load creates */
#define PARTITION_HOUR_US UINT64_C(3600000000) /* or one that follows, in it */

/* A family, and its times. */
struct part {
    struct colander_family *family;
    int64_t from; /* seconds since 1970 */
    int64_t until;
};

struct partition {
    struct colander_store *store;
    struct colander_family *pattern; /* whose name it is: that of the load */
    const char *column;              /* of the times; NULL: no partition */
    struct part *parts;              /* in the order in which they were found */
    size_t count;
    size_t capacity;
    size_t last;         /* that was found */
    bool follows;        /* new families are counted for an hour */
    uint64_t hour_begun; /* of clock_us */
    size_t new_count;    /* created */
    size_t wanted_count; /* to be created for this chunk */
    struct colander_buffer name;
};

/* Gives the family of the pattern the time column. Fails with INVALID if it has
 * another one. */
COLANDER_CHECKED enum colander_code
partition_begin(const struct partition *partition, struct colander_error *err);

/* Sets the family of each row that waits in the chunk; without a column that of
 * the load. Creates those that do not exist. Families that were dropped are
 * closed first: requires that no batch has rows of them. Fails with LIMIT, and
 * creates none, if the load would have created too many, and with DROPPED if
 * one is dropped at this moment. */
COLANDER_CHECKED enum colander_code partition_place(struct partition *partition,
                                                    struct chunk *chunk,
                                                    struct colander_error *err);

/* Whether each waiting row has its family. */
bool partition_is_placed(const struct chunk *chunk);

/* Opens the last family of the pattern that has rows; NULL: there is none. The
 * caller closes it. */
COLANDER_CHECKED enum colander_code
partition_open_last(struct colander_store *store, const char *pattern,
                    struct colander_family **family,
                    struct colander_error *err);

void partition_release(struct partition *partition);

#endif

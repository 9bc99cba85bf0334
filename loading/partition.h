/*
 * Partition: the families of a load whose rows are in families by their time.
 *
 * They are opened when a row needs them. New ones get the filter options of the
 * family of the pattern, and the time column.
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
    size_t last; /* that was found */
    size_t new_count;
    struct colander_buffer name;
};

/* Gives the family of the pattern the time column. Fails with INVALID if it has
 * another one. */
COLANDER_CHECKED enum colander_code
partition_begin(const struct partition *partition, struct colander_error *err);

/* Sets the family of each row that waits in the chunk; without a column that of
 * the load. Creates those that do not exist. Families that were dropped are
 * closed first: requires that no batch has rows of them. Fails with INVALID if
 * the load has created too many, and with DROPPED if one is dropped at this
 * moment. */
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

/*
 * Group requests: the words and options of a grouping.
 *
 * Life:   a zeroed struct -> read -> groups are created and printed -> release
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_GROUP_REQUEST_H
#define SHELL_GROUP_REQUEST_H

#include "shell/request.h"

/* What is asked for, and the texts of it. */
struct group_request {
    struct request request; /* the rows */
    struct colander_group_key keys[COLANDER_GROUP_KEYS_MAX];
    struct colander_measure measures[COLANDER_GROUP_MEASURES_MAX];
    struct colander_grouping grouping;
    const char *paths[COLANDER_GROUP_KEYS_MAX +
                      COLANDER_GROUP_MEASURES_MAX]; /* of the columns of the
                                                     * result: their names,
                                                     * escaped */
    size_t path_count;
    char *texts[4 * (COLANDER_GROUP_KEYS_MAX + COLANDER_GROUP_MEASURES_MAX)];
    size_t text_count;
    char *order; /* the name of a column */
    struct colander_predicate *having;
    struct colander_buffer time_column;
};

/* Reads the options, after request_read has read those of the rows. Fails with
 * INVALID, and says what is wrong with them. */
COLANDER_CHECKED enum colander_code
group_request_read(struct group_request *asked, const struct session *session,
                   const struct arguments *arguments,
                   struct colander_family *family, struct colander_error *err);

/* Releases the request for rows, too. */
void group_request_release(struct group_request *asked);

#endif

/*
 * Request: a find as it was written, made into a query.
 *
 * Life:   read -> use the query -> release
 * Knows:  nothing of how rows are shown
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_REQUEST_H
#define SHELL_REQUEST_H

#include "shell/arguments.h"
#include "shell/selection.h"
#include "shell/session.h"
#include "shell/where.h"

struct request {
    struct colander_query query; /* borrows from what is below */
    struct colander_predicate *where;
    struct where *expressions; /* of --where; NULL: none. Then rows are asked
                                * for whole and without a limit */
    uint64_t limit;            /* of rows shown */
    struct selection selection;
    struct colander_buffer key; /* of --key; empty: not given */
    struct colander_buffer prefix;
    struct colander_buffer from;
    struct colander_buffer to;
    bool is_any;  /* asks for a value in whatever column */
    bool is_scan; /* every row is to be read */
};

/* Reads the conditions (the words behind the family) and the options, and
 * complains of what is wrong. Release it also on failure. */
COLANDER_CHECKED enum session_exit
request_read(struct request *request, const struct session *session,
             const struct arguments *arguments);

void request_release(struct request *request);

#endif

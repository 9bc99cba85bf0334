/*
 * Search: a request under way, which gives the rows that it asks for, one by
 * one. Ctrl-C ends it.
 *
 * Life:   init -> family and taker set -> run -> release
 * Knows:  nothing of what becomes of the rows
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_SEARCH_H
#define SHELL_SEARCH_H

#include "shell/explanation.h"

/* A row is borrowed until the taker returns; a failure ends the search. */
typedef enum colander_code (*search_taker)(void *taker,
                                           const struct colander_result *result,
                                           struct colander_error *err);

struct search {
    const struct request *request;
    struct colander_family *family; /* borrowed, as the taker is */
    search_taker take;              /* NULL: rows are only counted */
    void *taker;
    uint64_t row_count;             /* given, or counted */
    struct explanation explanation; /* of what it has done; the family's name
                                     * is the caller's to set */
};

/* The request is borrowed until release. */
void search_init(struct search *search, const struct request *request);

/* CANCELLED after a Ctrl-C. */
COLANDER_CHECKED enum colander_code search_run(struct search *search,
                                               struct colander_error *err);

void search_release(struct search *search);

#endif

/*
 * Find runs: a request that runs, and passes its rows on one by one. Ctrl-C
 * stops it.
 *
 * Life:   a zeroed struct, its request set -> read -> the explanation is
 *         released
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_FIND_RUN_H
#define SHELL_FIND_RUN_H

#include "shell/explanation.h"
#include "shell/hint.h"

/* Receives a row. A failure ends the run. */
typedef enum colander_code (*find_taker)(void *context,
                                         const struct colander_result *result,
                                         struct colander_error *err);

struct find_run {
    const struct request *request;  /* borrowed */
    struct colander_family *family; /* of the row that is passed on */
    find_taker take;                /* NULL: rows are only counted */
    void *context;                  /* of the taker */
    struct explanation explanation; /* the caller sets its request and name */
    struct hint_missing missing;    /* selected columns; the caller's to fill
                                     * and release */
    bool names_families; /* rows of several families say of which they are,
                          * unless that is not selected */
    uint64_t skipped;    /* rows that --skip left out */
};

/* Reads all rows. Fails with CANCELLED on Ctrl-C. */
COLANDER_CHECKED enum colander_code find_run_read(struct find_run *run,
                                                  struct colander_error *err);

/* Adds why the run has found nothing, if it has not. */
void find_run_add_hint(const struct find_run *run, struct report *report);

#endif

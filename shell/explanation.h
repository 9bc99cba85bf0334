/*
 * Explanation: what a find has done, told to people.
 *
 * Life:   EXPLANATION_EMPTY -> take_cursor or take_row -> add, add_counts ->
 *         release
 * Knows:  the counts of the library, and nothing of how they come about
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_EXPLANATION_H
#define SHELL_EXPLANATION_H

#include "colander.h"
#include "shell/report.h"
#include "shell/request.h"

#define EXPLANATION_COLUMNS_MAX 64 /* that matched, told by name */

struct explanation {
    const struct request *request;
    const char *family; /* its name; borrowed */
    struct colander_explain counts;
    uint64_t rows_accepted; /* by expressions, */
    uint64_t rows_rejected; /* of those that the cursor gave */
    uint64_t where_time;    /* microseconds that it took */
    uint64_t key_count;     /* of the family, about; 0: not known */
    struct report matched;  /* "user 3, text 1"; empty: none did */
};

#define EXPLANATION_EMPTY                                                      \
    {                                                                          \
        NULL, NULL, {0}, 0, 0, 0, 0, REPORT_EMPTY                              \
    }

/* Takes what a find tells before its cursor is closed. */
void explanation_take_cursor(struct explanation *explanation,
                             const struct colander_cursor *cursor);

/* Takes the columns that matched in the one row of a get. */
void explanation_take_row(struct explanation *explanation,
                          const struct colander_columns *columns);

/* How many rows the find has given. */
uint64_t explanation_row_count(const struct explanation *explanation);

/* Adds "3 rows: scanned 100,000 rows (9,000 bytes) in 12,345 microseconds", or
 * of how many rows some were read. */
void explanation_add_counts(const struct explanation *explanation,
                            struct report *report);

/* Adds all there is to tell, line by line. */
void explanation_add(const struct explanation *explanation,
                     struct report *report);

void explanation_release(struct explanation *explanation);

#endif

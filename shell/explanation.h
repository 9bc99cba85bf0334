/*
 * Explanations: how a find was run and what it read, as lines of text.
 *
 * Of several families it has the counts of all finds together.
 *
 * Life:   a zeroed struct -> take_cursor* -> add, add_counts -> release
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_EXPLANATION_H
#define SHELL_EXPLANATION_H

#include "colander.h"
#include "shell/report.h"
#include "shell/request.h"

#define EXPLANATION_COLUMNS_MAX 64 /* matched columns that are named */

struct explanation {
    const struct request *request;
    const char *family; /* its name, of one; borrowed */
    struct colander_explain counts;
    uint64_t find_count; /* whose counts these are, and */
    uint64_t plan_counts[COLANDER_PLAN_NOTHING + 1]; /* how many had each */
    uint64_t row_count;                              /* passed on, or counted */
    uint64_t rows_rejected; /* by expressions, of the rows of the cursor */
    uint64_t where_time;    /* microseconds of the expressions */
    uint64_t key_count;     /* of the family, approximately; 0: unknown */
    struct report matched;  /* "user 3, text 1"; empty: none */
    struct explanation_match *matches; /* the same, by column; owned */
    size_t match_count;
    size_t match_capacity;
};

/* Adds the counts of a find. */
void explanation_take_counts(struct explanation *explanation,
                             const struct colander_explain *counts);

/* Adds the counts of a find, and the columns that matched, before its cursor
 * is closed. */
void explanation_take_cursor(struct explanation *explanation,
                             const struct colander_cursor *cursor);

/* Adds "3 rows: scanned 100,000 rows (9.0 kB) in 12 ms", or
 * what part of the rows was read. */
void explanation_add_counts(const struct explanation *explanation,
                            struct report *report);

/* Adds everything, line by line. */
void explanation_add(const struct explanation *explanation,
                     struct report *report);

void explanation_release(struct explanation *explanation);

#endif

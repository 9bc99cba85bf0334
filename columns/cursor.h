/*
 * Cursors from the inside: a find gets its rows from a scan or from candidates.
 *
 * Both give the rows that match, in the order of the query; what is given of
 * them, and how many, is cursor.c's business.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_COLUMNS_CURSOR_H
#define COLANDER_COLUMNS_CURSOR_H

#include "columns/candidates.h"
#include "columns/matched.h"
#include "columns/range.h"
#include "columns/selection.h"

struct colander_cursor {
    struct colander_family *family;
    const struct colander_predicate *where;
    struct colander_snapshot *taken;      /* NULL: the query has its own */
    struct colander_engine_cursor *scan;  /* NULL: no scan */
    struct cursor_candidates *candidates; /* NULL: no candidates */
    struct selection selection;
    bool is_selecting;                /* not all columns */
    struct colander_buffer selected;  /* the row cut down */
    struct colander_matches *matches; /* NULL: not asked for */
    struct matched *matched;          /* NULL: not asked for */
    uint64_t limit;                   /* rows that may still come */
    uint32_t thread_count;            /* as in the query */
    bool is_timed;
    atomic_bool is_cancelled;
    struct colander_explain explain;
};

/* What a find asks of the engine. */
struct cursor_request {
    struct colander_engine_family *family;
    const struct colander_snapshot *snapshot; /* NULL: now */
    const struct byte_range *range;
    bool is_reverse;
};

/* CANCELLED when the cursor was cancelled. */
COLANDER_CHECKED enum colander_code
cursor_check_cancelled(const struct colander_cursor *cursor,
                       struct colander_error *err);

/* Microseconds of a clock, or 0 when the query is not timed. */
uint64_t cursor_clock(const struct colander_cursor *cursor);

/* Evaluates the query's predicate; a failure tells the row. */
COLANDER_CHECKED enum colander_code
cursor_evaluate(struct colander_cursor *cursor,
                const struct colander_result *result, bool *is_match,
                struct colander_error *err);

/*
 * Makes the plan: `cursor->candidates` is set when it is to read those, and
 * else `explain` says why it is not. `request->snapshot` may be replaced by one
 * that the cursor has taken.
 */
COLANDER_CHECKED enum colander_code cursor_plan(struct colander_cursor *cursor,
                                                struct cursor_request *request,
                                                struct colander_error *err);

/* Steps to the next candidate that matches; `result->key` is empty at the
 * end. */
COLANDER_CHECKED enum colander_code
cursor_step_candidates(struct colander_cursor *cursor,
                       struct colander_result *result,
                       struct colander_error *err);

/* Releases what cursor_plan has made. */
void cursor_close_candidates(struct colander_cursor *cursor);

#endif

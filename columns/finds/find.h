/*
 * A find, as its sources of rows know it: what is wanted, and what it costs so
 * far. The cursor owns it.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_COLUMNS_FINDS_FIND_H
#define COLANDER_COLUMNS_FINDS_FIND_H

#include "columns/candidates.h"
#include "columns/finds/predicate.h"
#include "columns/store.h"
#include "core/clock.h"

struct find {
    struct colander_family *family;
    const struct colander_predicate *where; /* NULL: every row */
    struct colander_matches *matches;       /* NULL: not asked for */
    struct colander_snapshot *taken;        /* NULL: the query has its own */
    uint64_t limit;                         /* rows that may still come */
    uint64_t expected;     /* rows after which it will probably be closed */
    uint32_t thread_count; /* as in the query */
    bool is_timed;
    atomic_bool is_cancelled;
    uint64_t pause_us; /* of the clock, when it is paused; 0: never */
    struct colander_explain explain;
};

/* What a find asks of the engine. */
struct find_request {
    struct engine_family *family;
    const struct colander_snapshot *snapshot; /* NULL: now */
    struct colander_slice from;  /* the first key; empty: no bound */
    struct colander_slice until; /* the first after it; empty: no bound */
    bool is_empty;               /* no key is in the range */
    bool is_reverse;
};

/* Sets *query to `given`, or to the defaults if that is NULL. */
COLANDER_CHECKED enum colander_code
query_accept(struct colander_query *query, const struct colander_query *given,
             struct colander_error *err);

/* As colander_family_find, but after about `expected` rows the cursor will
 * probably be closed. */
COLANDER_CHECKED enum colander_code
family_find_some(struct colander_family *family,
                 const struct colander_query *query, uint64_t expected,
                 struct colander_cursor **cursor, struct colander_error *err);

/* Lets the cursor explain the finds before it, too: their plan, and the counts
 * of all. */
void cursor_continue(struct colander_cursor *cursor,
                     const struct colander_explain *before);

/* Fails with CANCELLED if the find was cancelled. */
COLANDER_CHECKED static inline enum colander_code
find_check_cancelled(const struct find *find, struct colander_error *err)
{
    if (!atomic_load_explicit(&find->is_cancelled, memory_order_relaxed))
        return COLANDER_OK;
    return COLANDER_FAIL(err, COLANDER_CANCELLED, "the find was cancelled");
}

/* The same between two rows, where the find can also go on later: fails with
 * BUSY if it is paused. */
COLANDER_CHECKED static inline enum colander_code
find_check_pause(const struct find *find, struct colander_error *err)
{
    if (find->pause_us != 0 && clock_us() >= find->pause_us)
        return COLANDER_FAIL(err, COLANDER_BUSY, "the find is paused");
    return find_check_cancelled(find, err);
}

/* Returns microseconds of a clock, or 0 if the find is not timed. */
static inline uint64_t
find_clock(const struct find *find)
{
    return find->is_timed ? clock_us() : 0;
}

/* Evaluates the predicate. A failure names the row. */
COLANDER_CHECKED static inline enum colander_code
find_evaluate(struct find *find, const struct colander_result *result,
              bool *is_match, struct colander_error *err)
{
    enum colander_code code =
        predicate_evaluate(find->where, result->row, &find->is_cancelled,
                           is_match, find->matches, err);

    if (code == COLANDER_CANCELLED)
        return find_check_cancelled(find, err);
    if (code != COLANDER_OK)
        error_add_row(find->family, result->key, err);
    return code;
}

#endif

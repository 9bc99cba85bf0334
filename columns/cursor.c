/*
 * Finds: what a cursor gives of the rows that match.
 *
 * Where they come from is decided when a find starts: from candidates
 * (cursor_candidates.c), or else from a scan in key order.
 *
 * Life:   find -> next until there is no row -> close
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/cursor.h"
#include "columns/predicate.h"
#include "columns/store.h"

#include <stdlib.h>
#include <time.h>

void
colander_query_init(struct colander_query *query)
{
    memset(query, 0, sizeof(*query));
    query->limit = UINT64_MAX;
}

const char *
colander_plan_name(enum colander_plan plan)
{
    switch (plan) {
    case COLANDER_PLAN_SCAN:
        return "scan";
    case COLANDER_PLAN_CANDIDATES:
        return "candidates";
    case COLANDER_PLAN_NOTHING:
        return "nothing";
    }
    return "unknown";
}

enum colander_code
cursor_check_cancelled(const struct colander_cursor *cursor,
                       struct colander_error *err)
{
    if (!atomic_load_explicit(&cursor->is_cancelled, memory_order_relaxed))
        return COLANDER_OK;
    return COLANDER_FAIL(err, COLANDER_CANCELLED, "the find was cancelled");
}

uint64_t
cursor_clock(const struct colander_cursor *cursor)
{
    struct timespec now;

    if (!cursor->is_timed)
        return 0;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

enum colander_code
cursor_evaluate(struct colander_cursor *cursor,
                const struct colander_result *result, bool *is_match,
                struct colander_error *err)
{
    enum colander_code code =
        predicate_evaluate(cursor->where, result->row, &cursor->is_cancelled,
                           is_match, cursor->matches, err);

    if (code == COLANDER_CANCELLED)
        return cursor_check_cancelled(cursor, err);
    if (code != COLANDER_OK)
        tell_row(cursor->family, result->key, err);
    return code;
}

/* ---------------------------------------------------------------- find --- */

static enum colander_code
open_scan(struct colander_cursor *cursor, const struct cursor_request *request,
          struct colander_error *err)
{
    const struct colander_engine_cursor_options options = {
        .snapshot = request->snapshot,
        .from = request->range->from,
        .until = colander_buffer_slice(&request->range->until),
        .is_reverse = request->is_reverse,
        .skips_cache = cursor->limit == UINT64_MAX,
    };

    return colander_engine_cursor_open(request->family, &options, &cursor->scan,
                                       err);
}

/* Why no row can be there; NULL: one may. */
static const char *
nothing_reason(const struct colander_cursor *cursor,
               const struct cursor_request *request)
{
    if (request->family == NULL)
        return "the family has no rows yet";
    if (request->range->is_empty)
        return "no key is in the range";
    return cursor->limit == 0 ? "no row is wanted" : NULL;
}

static enum colander_code
plan(struct colander_cursor *cursor, struct cursor_request *request,
     struct colander_error *err)
{
    struct colander_explain *explain = &cursor->explain;
    const uint64_t start = cursor_clock(cursor);
    uint64_t planned;
    enum colander_code code;

    explain->reason = nothing_reason(cursor, request);
    if (explain->reason != NULL) {
        explain->plan = COLANDER_PLAN_NOTHING;
        return COLANDER_OK;
    }
    code = cursor_plan(cursor, request, err);
    planned = cursor_clock(cursor);
    explain->plan_time = planned - start;
    if (code != COLANDER_OK || explain->plan != COLANDER_PLAN_SCAN)
        return code;
    code = open_scan(cursor, request, err);
    explain->read_time = cursor_clock(cursor) - planned;
    return code;
}

static enum colander_code
start(struct colander_cursor *cursor, const struct colander_query *query,
      struct colander_error *err)
{
    struct byte_range range;
    struct cursor_request request = {NULL, query->snapshot, &range,
                                     query->is_reverse};
    enum colander_code code = byte_range_init(&range, &query->keys, err);

    if (code != COLANDER_OK)
        return code;
    code = family_find(cursor->family, &request.family, err);
    if (code == COLANDER_OK)
        code = plan(cursor, &request, err);
    byte_range_release(&range);
    return code;
}

/* Takes from the query what the cursor itself has to know. */
static enum colander_code
prepare(struct colander_cursor *cursor, const struct colander_query *query,
        struct colander_error *err)
{
    cursor->where = query->where;
    cursor->limit = query->limit;
    cursor->thread_count = query->thread_count;
    cursor->is_timed = query->is_timed;
    cursor->is_selecting = query->paths != NULL;
    if (query->tells_columns && query->where != NULL) {
        cursor->matches = colander_matches_create();
        cursor->matched = matched_create();
        if (cursor->matches == NULL || cursor->matched == NULL)
            return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                                 "cannot start a find");
    }
    if (!cursor->is_selecting)
        return COLANDER_OK;
    return selection_init(&cursor->selection, query->paths, query->path_count,
                          err);
}

enum colander_code
colander_family_find(struct colander_family *family,
                     const struct colander_query *query,
                     struct colander_cursor **cursor,
                     struct colander_error *err)
{
    struct colander_cursor *made = calloc(1, sizeof(*made));
    struct colander_query all;
    enum colander_code code;

    *cursor = NULL;
    colander_query_init(&all);
    if (query == NULL)
        query = &all;
    if (made == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "cannot start a find");
    made->family = family;
    code = prepare(made, query, err);
    if (code == COLANDER_OK)
        code = start(made, query, err);
    if (code != COLANDER_OK) {
        colander_cursor_close(made);
        return code;
    }
    *cursor = made;
    return COLANDER_OK;
}

void
colander_cursor_close(struct colander_cursor *cursor)
{
    if (cursor == NULL)
        return;
    cursor_close_candidates(cursor);
    colander_engine_cursor_close(cursor->scan);
    colander_snapshot_release(cursor->taken);
    selection_release(&cursor->selection);
    colander_buffer_release(&cursor->selected);
    colander_matches_destroy(cursor->matches);
    matched_destroy(cursor->matched);
    free(cursor);
}

void
colander_cursor_cancel(struct colander_cursor *cursor)
{
    atomic_store_explicit(&cursor->is_cancelled, true, memory_order_relaxed);
}

void
colander_cursor_explain(const struct colander_cursor *cursor,
                        struct colander_explain *explain)
{
    *explain = cursor->explain;
}

bool
colander_cursor_matched(const struct colander_cursor *cursor, size_t index,
                        const char **path, uint64_t *row_count)
{
    return cursor->matched != NULL &&
           matched_get(cursor->matched, index, path, row_count);
}

/* ---------------------------------------------------------------- next --- */

/* Steps to the next row that matches; `result->key` is empty at the end. */
static enum colander_code
step_scan(struct colander_cursor *cursor, struct colander_result *result,
          struct colander_error *err)
{
    struct colander_explain *explain = &cursor->explain;
    bool is_match = true;
    enum colander_code code;

    do {
        code = cursor_check_cancelled(cursor, err);
        if (code != COLANDER_OK)
            return code;
        code = colander_engine_cursor_next(cursor->scan, &result->key,
                                           &result->row, err);
        if (code == COLANDER_OK && result->key.data == NULL)
            return cursor_check_cancelled(cursor, err); /* it may be long ago */
        if (code != COLANDER_OK)
            return code;
        explain->rows_read++;
        explain->bytes_read += result->row.size;
        if (cursor->where == NULL)
            return COLANDER_OK;
        code = cursor_evaluate(cursor, result, &is_match, err);
    } while (code == COLANDER_OK && !is_match);
    return code;
}

static enum colander_code
step_to_match(struct colander_cursor *cursor, struct colander_result *result,
              struct colander_error *err)
{
    struct colander_explain *explain = &cursor->explain;
    const uint64_t start_time = cursor_clock(cursor);
    const uint64_t read_time = explain->read_time;
    enum colander_code code;
    uint64_t spent;

    if (cursor->scan != NULL) {
        code = step_scan(cursor, result, err);
        explain->read_time += cursor_clock(cursor) - start_time;
        return code;
    }
    code = cursor_step_candidates(cursor, result, err);
    /* What it took to get the keys is told as reading already. */
    spent = cursor_clock(cursor) - start_time;
    explain->verify_time += spent - (explain->read_time - read_time);
    return code;
}

/* Cuts the row that matched down to what is asked for. */
static enum colander_code
give(struct colander_cursor *cursor, struct colander_result *result,
     struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    if (cursor->matches != NULL)
        result->columns = colander_matches_columns(cursor->matches);
    if (cursor->is_selecting) {
        code = selection_apply(&cursor->selection, result->row,
                               &cursor->selected, err);
        if (code != COLANDER_OK)
            tell_row(cursor->family, result->key, err);
        result->row = colander_buffer_slice(&cursor->selected);
    }
    if (code == COLANDER_OK && cursor->matched != NULL)
        code = matched_add(cursor->matched, result->columns, err);
    return code;
}

enum colander_code
colander_cursor_next(struct colander_cursor *cursor, bool *is_row,
                     struct colander_result *result, struct colander_error *err)
{
    enum colander_code code;

    memset(result, 0, sizeof(*result));
    *is_row = false;
    if (cursor->explain.plan == COLANDER_PLAN_NOTHING &&
        cursor->candidates == NULL)
        return COLANDER_OK;
    if (cursor->limit == 0)
        return COLANDER_OK;
    code = step_to_match(cursor, result, err);
    if (code == COLANDER_OK && result->key.data != NULL) {
        code = give(cursor, result, err);
        *is_row = code == COLANDER_OK;
    }
    cursor->limit -= *is_row;
    cursor->explain.rows_returned += *is_row;
    return code;
}

enum colander_code
colander_family_count(struct colander_family *family,
                      const struct colander_query *query, uint64_t *count,
                      struct colander_error *err)
{
    struct colander_query counting;
    struct colander_cursor *cursor;
    struct colander_result result;
    enum colander_code code;
    bool is_row = true;

    colander_query_init(&counting);
    if (query != NULL)
        counting = *query;
    counting.paths = NULL;
    counting.tells_columns = false;
    *count = 0;
    code = colander_family_find(family, &counting, &cursor, err);
    while (code == COLANDER_OK && is_row) {
        code = colander_cursor_next(cursor, &is_row, &result, err);
        *count += code == COLANDER_OK && is_row;
    }
    colander_cursor_close(cursor);
    return code;
}

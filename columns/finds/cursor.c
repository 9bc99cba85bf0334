/*
 * Cursors: the rows of a find.
 *
 * When a find starts it chooses the source of its rows: candidates
 * (cursor_candidates.c), or a scan in key order.
 *
 * Life:   find -> next until there is no row -> close
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/finds/cursor_candidates.h"
#include "columns/finds/match_paths.h"
#include "columns/key.h"
#include "columns/range.h"
#include "columns/selection.h"
#include "core/engine.h"
#include "core/sized.h"
#include "core/zeroed.h"

#include <stdlib.h>

struct colander_cursor {
    struct find find;
    struct engine_cursor *scan;           /* NULL: no scan */
    struct cursor_candidates *candidates; /* NULL: no candidates */
    struct selection selection;
    bool is_exact;                     /* the range has only one key */
    bool is_selecting;                 /* not all columns */
    struct colander_buffer selected;   /* the row with only these columns */
    struct match_counts *match_counts; /* NULL: not asked for */
    bool keys_only;

    /* for seeks */
    struct engine_family *engine_family;      /* NULL: it did not exist */
    const struct colander_snapshot *snapshot; /* NULL: that of the scan */
    struct byte_range range;                  /* of the query */
    struct colander_buffer sought; /* a copy of the last key, and a zero byte */
    bool is_reverse;

    void *source_find; /* of a store with a source, which does it all; NULL */

    bool is_next;                   /* it goes on where other finds ended, */
    struct colander_explain before; /* which did this */
};

/* Of a cursor with a source. */
static const struct colander_source *
source_of(const struct colander_cursor *cursor)
{
    return &cursor->find.family->store->source;
}

void
colander_query_init_sized(struct colander_query *query, size_t struct_size)
{
    const struct colander_query every = {.limit = UINT64_MAX};

    sized_return(query, struct_size, &every, sizeof(every));
    memcpy(query, &struct_size, sizeof(struct_size));
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

/* ---------------------------------------------------------------- find --- */

static enum colander_code
open_scan(struct colander_cursor *cursor, const struct find_request *request,
          struct colander_error *err)
{
    const struct engine_cursor_options options = {
        .snapshot = request->snapshot,
        .from = colander_buffer_slice(&cursor->range.from),
        .until = colander_buffer_slice(&cursor->range.until),
        .is_reverse = request->is_reverse,
        .skips_cache = cursor->find.limit == UINT64_MAX,
    };

    return engine_cursor_open(request->family, &options, &cursor->scan, err);
}

/* Returns why there can be no row, or NULL if there may be one. */
static const char *
nothing_reason(const struct colander_cursor *cursor,
               const struct find_request *request)
{
    if (request->family == NULL)
        return "the family has no rows yet";
    if (request->is_empty)
        return "no key is in the range";
    return cursor->find.limit == 0 ? "no row is wanted" : NULL;
}

static enum colander_code
plan(struct colander_cursor *cursor, struct find_request *request,
     struct colander_error *err)
{
    struct colander_explain *explain = &cursor->find.explain;
    const uint64_t start = find_clock(&cursor->find);
    uint64_t planned;
    enum colander_code code = COLANDER_OK;

    explain->reason = nothing_reason(cursor, request);
    if (explain->reason != NULL) {
        explain->plan = COLANDER_PLAN_NOTHING;
        return COLANDER_OK;
    }
    if (cursor->is_exact) { /* reading one row costs less than any plan */
        explain->plan = COLANDER_PLAN_SCAN;
        explain->reason = "only one key is in the range";
    } else {
        code = cursor_candidates_open(&cursor->find, request,
                                      &cursor->candidates, err);
    }
    planned = find_clock(&cursor->find);
    explain->plan_time = planned - start;
    if (code != COLANDER_OK || explain->plan != COLANDER_PLAN_SCAN)
        return code;
    code = open_scan(cursor, request, err);
    explain->read_time = find_clock(&cursor->find) - planned;
    return code;
}

static enum colander_code
start(struct colander_cursor *cursor, const struct colander_query *query,
      struct colander_error *err)
{
    const struct colander_store *store = cursor->find.family->store;
    struct find_request request = {
        .snapshot = engine_snapshot_part(query->snapshot, store->engine),
        .is_reverse = query->is_reverse};
    struct byte_range *range = &cursor->range;
    enum colander_code code = byte_range_init(range, &query->keys, err);

    if (code == COLANDER_OK)
        code = family_engine(cursor->find.family, &request.family, err);
    if (code != COLANDER_OK)
        return code;
    cursor->engine_family = request.family;
    request.from = colander_buffer_slice(&range->from);
    request.until = colander_buffer_slice(&range->until);
    request.is_empty = range->is_empty;
    code = plan(cursor, &request, err);
    cursor->snapshot = request.snapshot;
    return code;
}

/* Copies what the cursor needs of the query. */
static enum colander_code
prepare(struct colander_cursor *cursor, const struct colander_query *query,
        struct colander_error *err)
{
    cursor->find.where = query->where;
    cursor->find.limit = query->limit;
    cursor->find.thread_count = query->thread_count;
    cursor->find.is_timed = query->is_timed;
    cursor->is_reverse = query->is_reverse;
    cursor->is_exact = query->keys.exact.size > 0;
    cursor->keys_only = query->keys_only;
    cursor->is_selecting = query->paths != NULL && !query->keys_only;
    if (query->reports_columns && query->where != NULL) {
        cursor->find.matches = colander_matches_create();
        cursor->match_counts = match_counts_create();
        if (cursor->find.matches == NULL || cursor->match_counts == NULL)
            return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                                 "cannot start a find");
    }
    if (!cursor->is_selecting)
        return COLANDER_OK;
    return selection_init(&cursor->selection, query->paths, query->path_count,
                          err);
}

enum colander_code
query_accept(struct colander_query *query, const struct colander_query *given,
             struct colander_error *err)
{
    enum colander_code code;

    colander_query_init(query);
    if (given == NULL)
        return COLANDER_OK;
    code =
        sized_accept(query, sizeof(*query), given, "members of the query", err);
    if (code == COLANDER_OK && (query->map == NULL) != (query->reduce == NULL))
        code = COLANDER_FAIL(err, COLANDER_INVALID,
                             "map and reduce need each other");
    if (code == COLANDER_OK && query->map != NULL && query->limit != UINT64_MAX)
        code = COLANDER_FAIL(err, COLANDER_INVALID,
                             "map and reduce exclude a limit");
    return code;
}

enum colander_code
family_find_some(struct colander_family *family,
                 const struct colander_query *query, uint64_t expected,
                 struct colander_cursor **cursor, struct colander_error *err)
{
    struct colander_cursor *created = zeroed(sizeof(*created));
    struct colander_query whole;
    enum colander_code code;

    *cursor = NULL;
    if (created == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "cannot start a find");
    created->find.family = family;
    created->find.expected = expected;
    code = query_accept(&whole, query, err);
    if (code == COLANDER_OK)
        code = prepare(created, &whole, err);
    if (code == COLANDER_OK && family->store->engine == NULL)
        code =
            source_of(created)->find(source_of(created)->context, family->name,
                                     &whole, &created->source_find, err);
    else if (code == COLANDER_OK)
        code = start(created, &whole, err);
    if (code != COLANDER_OK) {
        colander_cursor_close(created);
        return code;
    }
    *cursor = created;
    return COLANDER_OK;
}

enum colander_code
colander_family_find(struct colander_family *family,
                     const struct colander_query *query,
                     struct colander_cursor **cursor,
                     struct colander_error *err)
{
    return family_find_some(family, query, UINT64_MAX, cursor, err);
}

void
colander_cursor_close(struct colander_cursor *cursor)
{
    if (cursor == NULL)
        return;
    if (cursor->source_find != NULL)
        source_of(cursor)->find_close(cursor->source_find);
    cursor_candidates_close(cursor->candidates);
    engine_cursor_close(cursor->scan);
    colander_snapshot_release(cursor->find.taken);
    selection_release(&cursor->selection);
    colander_buffer_release(&cursor->selected);
    byte_range_release(&cursor->range);
    colander_buffer_release(&cursor->sought);
    colander_matches_destroy(cursor->find.matches);
    match_counts_destroy(cursor->match_counts);
    free(cursor);
}

void
colander_cursor_cancel(struct colander_cursor *cursor)
{
    atomic_store_explicit(&cursor->find.is_cancelled, true,
                          memory_order_relaxed);
    if (cursor->source_find != NULL)
        source_of(cursor)->find_cancel(cursor->source_find);
}

void
colander_cursor_pause(struct colander_cursor *cursor, uint64_t time_us)
{
    cursor->find.pause_us = time_us == 0 ? 0 : clock_us() + time_us;
    if (cursor->source_find != NULL)
        source_of(cursor)->find_pause(cursor->source_find, time_us);
}

static void
add_counts(struct colander_explain *all, const struct colander_explain *more)
{
    all->segments_read += more->segments_read;
    all->recent_found += more->recent_found;
    all->candidate_count += more->candidate_count;
    all->rows_read += more->rows_read;
    all->rows_verified += more->rows_verified;
    all->rows_returned += more->rows_returned;
    all->rows_gone += more->rows_gone;
    all->rows_false += more->rows_false;
    all->bytes_read += more->bytes_read;
    all->plan_time += more->plan_time;
    all->read_time += more->read_time;
    all->verify_time += more->verify_time;
    all->rows_direct += more->rows_direct;
    all->nodes_asked += more->nodes_asked;
    all->nodes_asked_again += more->nodes_asked_again;
}

void
colander_cursor_explain_sized(const struct colander_cursor *cursor,
                              struct colander_explain *explain,
                              size_t struct_size)
{
    struct colander_explain now = cursor->find.explain;
    struct colander_explain all;

    if (cursor->source_find != NULL) {
        source_of(cursor)->find_explain(cursor->source_find, &now);
        now.rows_returned = cursor->find.explain.rows_returned;
    }
    all = now;
    if (cursor->is_next) {
        all = cursor->before;
        add_counts(&all, &now);
    }
    sized_return(explain, struct_size, &all, sizeof(all));
}

/* Adds the counts from one member of the struct to before another. */
static void
add_range(struct colander_explain *sum, const struct colander_explain *more,
          size_t from, size_t until)
{
    for (size_t at = from; at < until; at += sizeof(uint64_t)) {
        uint64_t a, b;

        memcpy(&a, (const char *)sum + at, sizeof(a));
        memcpy(&b, (const char *)more + at, sizeof(b));
        a += b;
        memcpy((char *)sum + at, &a, sizeof(a));
    }
}

void
colander_explain_add(struct colander_explain *sum,
                     const struct colander_explain *more)
{
    add_range(sum, more, offsetof(struct colander_explain, rows_expected),
              offsetof(struct colander_explain, some_words));
    add_range(sum, more, offsetof(struct colander_explain, store_count),
              sizeof(*sum));
    if (sum->some_words[0] == '\0')
        memcpy(sum->some_words, more->some_words, sizeof(sum->some_words));
    if (more->plan < sum->plan || sum->plan == COLANDER_PLAN_NOTHING) {
        sum->plan = more->plan; /* the most that was read */
        sum->reason = more->reason;
    }
}

void
cursor_continue(struct colander_cursor *cursor,
                const struct colander_explain *before)
{
    cursor->is_next = true;
    cursor->before = *before;
}

bool
colander_cursor_matched(const struct colander_cursor *cursor, size_t index,
                        const char **path, uint64_t *row_count)
{
    return cursor->match_counts != NULL &&
           match_counts_get(cursor->match_counts, index, path, row_count);
}

/* ---------------------------------------------------------------- next --- */

/* Steps to the next row that matches; `result->key` is empty at the end. */
static enum colander_code
step_scan(struct colander_cursor *cursor, struct colander_result *result,
          struct colander_error *err)
{
    struct colander_explain *explain = &cursor->find.explain;
    bool is_match = true;
    bool is_row;
    enum colander_code code;

    do {
        code = find_check_pause(&cursor->find, err);
        if (code != COLANDER_OK)
            return code;
        code = engine_cursor_next(cursor->scan, &is_row, &result->key,
                                  &result->row, err);
        if (code == COLANDER_OK && !is_row)
            return find_check_cancelled(&cursor->find,
                                        err); /* the scan may have taken long */
        if (code != COLANDER_OK)
            return code;
        explain->rows_read++;
        explain->bytes_read += result->row.size;
        if (cursor->find.where == NULL)
            return COLANDER_OK;
        code = find_evaluate(&cursor->find, result, &is_match, err);
    } while (code == COLANDER_OK && !is_match);
    return code;
}

static enum colander_code
step_to_match(struct colander_cursor *cursor, struct colander_result *result,
              struct colander_error *err)
{
    struct colander_explain *explain = &cursor->find.explain;
    const uint64_t start_time = find_clock(&cursor->find);
    const uint64_t read_time = explain->read_time;
    enum colander_code code;
    uint64_t spent;

    if (cursor->scan != NULL) {
        code = step_scan(cursor, result, err);
        explain->read_time += find_clock(&cursor->find) - start_time;
        return code;
    }
    if (cursor->candidates == NULL)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "the last seek has failed: seek again");
    code = cursor_candidates_next(cursor->candidates, result, err);
    /* The time to get the keys is in read_time. */
    spent = find_clock(&cursor->find) - start_time;
    explain->verify_time += spent - (explain->read_time - read_time);
    return code;
}

/* Fills the rest of the result, with only the columns asked for. */
static enum colander_code
finish_result(struct colander_cursor *cursor, struct colander_result *result,
              struct colander_error *err)
{
    static const uint8_t empty_map = 0x80;
    enum colander_code code = COLANDER_OK;

    if (cursor->find.matches != NULL)
        result->columns = colander_matches_columns(cursor->find.matches);
    if (cursor->keys_only)
        result->row = colander_slice_of(&empty_map, 1);
    if (cursor->is_selecting) {
        code = selection_apply(&cursor->selection, result->row,
                               &cursor->selected, err);
        if (code != COLANDER_OK)
            error_add_row(cursor->find.family, result->key, err);
        result->row = colander_buffer_slice(&cursor->selected);
    }
    if (code == COLANDER_OK && cursor->match_counts != NULL)
        code = match_counts_add(cursor->match_counts, result->columns, err);
    return code;
}

/* A source does all but count. */
static enum colander_code
next_of_source(struct colander_cursor *cursor, bool *is_row,
               struct colander_result *result, struct colander_error *err)
{
    enum colander_code code = find_check_pause(&cursor->find, err);

    if (code == COLANDER_OK)
        code = source_of(cursor)->find_next(cursor->source_find, is_row, result,
                                            err);
    if (code == COLANDER_OK && *is_row && cursor->match_counts != NULL)
        code = match_counts_add(cursor->match_counts, result->columns, err);
    *is_row = *is_row && code == COLANDER_OK;
    return code;
}

enum colander_code
colander_cursor_next(struct colander_cursor *cursor, bool *is_row,
                     struct colander_result *result, struct colander_error *err)
{
    enum colander_code code;

    memset(result, 0, sizeof(*result));
    *is_row = false;
    if (cursor->find.explain.plan == COLANDER_PLAN_NOTHING &&
        cursor->candidates == NULL)
        return COLANDER_OK;
    if (cursor->find.limit == 0)
        return COLANDER_OK;
    code = cursor->source_find != NULL
               ? next_of_source(cursor, is_row, result, err)
               : step_to_match(cursor, result, err);
    if (code == COLANDER_OK && cursor->source_find == NULL &&
        result->key.data != NULL) {
        code = finish_result(cursor, result, err);
        *is_row = code == COLANDER_OK;
    }
    cursor->find.limit -= *is_row;
    cursor->find.explain.rows_returned += *is_row;
    return code;
}

/* ---------------------------------------------------------------- seek --- */

/* Returns a request for the rows of the query from the key in `sought` on. */
static struct find_request
request_from_sought(const struct colander_cursor *cursor)
{
    const struct colander_slice after = colander_buffer_slice(&cursor->sought);
    const struct colander_slice key =
        colander_slice_of(after.data, after.size - 1);
    struct find_request request = {
        .family = cursor->engine_family,
        .snapshot = cursor->snapshot,
        .from = colander_buffer_slice(&cursor->range.from),
        .until = colander_buffer_slice(&cursor->range.until),
        .is_reverse = cursor->is_reverse,
    };

    if (!cursor->is_reverse && colander_slice_compare(key, request.from) > 0)
        request.from = key;
    if (cursor->is_reverse && key.size > 0 &&
        (request.until.size == 0 ||
         colander_slice_compare(key, request.until) < 0))
        request.until = after;
    request.is_empty = request.until.size > 0 &&
                       colander_slice_compare(request.from, request.until) >= 0;
    return request;
}

/* Plans the find again for the rows from the key in `sought` on. */
static enum colander_code
plan_from_sought(struct colander_cursor *cursor, struct colander_error *err)
{
    struct find_request request = request_from_sought(cursor);
    enum colander_code code;

    cursor_candidates_close(cursor->candidates);
    cursor->candidates = NULL;
    memset(&cursor->find.explain, 0, sizeof(cursor->find.explain));
    cursor->find.explain.reason = "the last seek has failed";
    code = plan(cursor, &request, err);
    if (code == COLANDER_DROPPED)
        code = open_scan(cursor, &request, err); /* as in any open cursor */
    cursor->snapshot = request.snapshot;
    return code;
}

enum colander_code
colander_cursor_seek(struct colander_cursor *cursor, struct colander_slice key,
                     struct colander_error *err)
{
    enum colander_code code = find_check_cancelled(&cursor->find, err);
    const uint8_t zero = 0;

    if (code != COLANDER_OK)
        return code;
    if (key.size > 0 && !key_is_valid(key))
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "the key to seek is not an encoded key");
    if (cursor->source_find != NULL)
        return source_of(cursor)->find_seek(cursor->source_find, key, err);
    /* It may be the key of the row at which the cursor is. Candidates that
     * borrow the last key are closed before they are used again. */
    colander_buffer_clear(&cursor->sought);
    code = colander_buffer_reserve(&cursor->sought, key.size + 1, err);
    if (code == COLANDER_OK)
        code = colander_buffer_append(&cursor->sought, key.data, key.size, err);
    if (code == COLANDER_OK)
        code = colander_buffer_append(&cursor->sought, &zero, 1, err);
    key = colander_slice_of(cursor->sought.data, key.size);
    if (code == COLANDER_OK && cursor->scan == NULL)
        code = plan_from_sought(cursor, err);
    if (code == COLANDER_OK && cursor->scan != NULL)
        code = engine_cursor_seek(cursor->scan, key, false, err);
    return code;
}
